"""Test sets redrawn from a large one that is treated as the population (Berg-Kirkpatrick et al. 2012, section 4.2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simstudy.outputs import Outputs


def redraw(population: Outputs, size: int, draw: int, *, seed: int = 0) -> Outputs:
    """Test set number `draw` of `size` items, drawn from the population with replacement.

    Parameters
    ----------
    population
        Outputs on the large test set.
    size
        Items of the redrawn test set, at least 1.
    draw
        Number of the redrawn test set; it depends on (seed, draw) alone.

    Raises
    ------
    ValueError
        Where size is below 1.

    Examples
    --------
    >>> population = Outputs.from_statistics([[[1, 1], [0, 1], [1, 1]]], "accuracy")
    >>> redraw(population, 5, draw=1).n_items
    5
    """
    if size < 1:
        raise ValueError(f"size must be at least 1, not {size}")
    rng = np.random.default_rng([seed, draw])
    redrawn = population.take(rng.integers(population.n_items, size=size))
    return replace(redrawn, test_set=f"{population.test_set}, redrawn")
