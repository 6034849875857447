"""A fixed mixed order of test sets, so that their initial segments are random samples of the whole."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

# A test set's order is fixed data: it has a seed of its own, which no study changes.
_ORDER_SEED = 20120712


def mixed_order(domains: Sequence[str]) -> NDArray[np.int64]:
    """An order of items in which every initial segment is a random sample of each domain, in the whole's proportions.

    Examples
    --------
    >>> order = mixed_order(["news"] * 4 + ["fiction"] * 2)
    >>> sorted(order[:3]) != [0, 1, 2], sum(order[:3] < 4)
    (True, np.int64(2))
    """
    shuffled = np.random.default_rng(_ORDER_SEED).permutation(len(domains))
    named = pd.Series(np.asarray(domains)[shuffled])
    grouped = named.groupby(named)
    place = (grouped.cumcount() + 0.5) / grouped.transform("size")
    order: NDArray[np.int64] = shuffled[place.sort_values(kind="stable").index.to_numpy()]
    return order
