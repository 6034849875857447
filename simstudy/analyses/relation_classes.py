"""What analyses of Comparisons do with them: confidence, test sets and relation classes apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.tables import TEST_SET

#: The relation under which a table lists all classes together.
ALL_PAIRS = "all pairs"

#: What analyses ask of pairs: who, by how much, how surely, and of which families.
PAIR = ("system_a", "system_b", "family_a", "family_b", "gain", "p_value", "favours", "p_floor")


def confidence(pairs: pd.DataFrame) -> NDArray[np.float64]:
    """The confidence in each pair's gain, (P,): 1 - p, and 0 where the test speaks for the other system.

    Where the column ``favours`` names neither system, the confidence is 1 - p.

    Examples
    --------
    >>> pairs = pd.DataFrame({"system_a": ["a", "a", "b"], "system_b": ["b", "c", "c"], "p_value": [0.25, 0.25, 0.75],
    ...                       "favours": ["a", "c", ""]})
    >>> confidence(pairs).tolist()
    [0.75, 0.0, 0.25]
    """
    sure = 1 - pairs["p_value"].to_numpy(dtype=np.float64)
    if "favours" in pairs:
        sure[(pairs["favours"] == pairs["system_b"]).to_numpy()] = 0.0
    return sure


def relation_classes(
    pairs: pd.DataFrame, columns: Sequence[str] | None = None
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each test set's pairs by relation class, and all of them together where there is more than one class.

    Only the wanted columns are copied, as far as they are there, since a table may have a million pairs.
    """
    if columns is not None:
        pairs = pairs[[column for column in pairs if column in (*TEST_SET, "relation", *columns)]]
    grouped = pairs.groupby(TEST_SET, sort=False, observed=True)
    # A group is a copy of its rows: one test set of millions of pairs needs none.
    alone = grouped.ngroups == 1 and int(grouped.size().iloc[0]) == len(pairs)
    for values, of_test_set in [(tuple(pairs[name].iloc[0] for name in TEST_SET), pairs)] if alone else grouped:
        key = dict(zip(TEST_SET, values, strict=True))
        classes = sorted(of_test_set["relation"].unique(), reverse=True)
        for relation in classes:
            inside = of_test_set["relation"] == relation
            yield {**key, "relation": relation}, of_test_set if inside.all() else of_test_set[inside]
        if len(classes) > 1:
            yield {**key, "relation": ALL_PAIRS}, of_test_set
