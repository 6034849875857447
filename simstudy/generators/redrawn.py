"""Test sets redrawn from a large one that is treated as the population (Berg-Kirkpatrick et al. 2012, section 4.2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from simstudy.choices import check_seed, check_whole
from simstudy.outputs import Outputs


def redraw(population: Outputs, size: int, draw: int, *, unit: str | None = None, seed: int = 0) -> Outputs:
    """Test set number `draw` of `size` units, drawn from the population with replacement.

    Parameters
    ----------
    population
        Outputs on the large test set.
    size
        Units of the redrawn test set, at least 1.
    draw
        Number of the redrawn test set, at least 0; it depends on (seed, draw) alone.
    unit
        What is drawn: "item", or a column of the item table whose values name clusters; None: "cluster" where there is
        that column, as in `simstudy.compare`. A cluster that is drawn twice is two clusters of the redrawn test set.
    seed
        0 … 2^64 - 1.

    Raises
    ------
    ValueError
        For an argument outside its rule.

    Examples
    --------
    >>> population = Outputs.from_statistics([[[1, 1], [0, 1], [1, 1]]], "accuracy")
    >>> redraw(population, 5, draw=1).n_items
    5
    """
    check_whole("size", size, 1)
    check_whole("draw", draw, 0)
    check_seed(seed)
    rng = np.random.default_rng([seed, draw])
    name = f"{population.test_set}, redrawn"
    unit = unit or population.natural_unit
    if unit == "item":
        return replace(population.take(rng.integers(population.n_items, size=size)), test_set=name)
    labels = population.labels(unit)
    codes, clusters = pd.factorize(labels)
    members = [np.flatnonzero(codes == code) for code in range(len(clusters))]
    drawn = rng.integers(len(clusters), size=size)
    redrawn = population.take(np.concatenate([members[code] for code in drawn]))
    copies = np.repeat(
        [f"{clusters[code]}#{k}" for k, code in enumerate(drawn)], [len(members[code]) for code in drawn]
    )
    return replace(redrawn, items=redrawn.items.assign(**{unit: copies}), test_set=name)
