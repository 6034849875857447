"""Test sets redrawn from a large one that is treated as the population (Berg-Kirkpatrick et al. 2012, section 4.2)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from simstudy.outputs import Outputs, check_outputs
from simstudy.truth.models import generator
from simstudy.validation import InputError, check_seed, check_text, check_whole

#: Units that a test set must have to be split: two each.
LEAST_SPLIT = 4


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
    check_outputs("population", population)
    check_whole("size", size, 1)
    _check_draw(unit, draw, seed)
    rng = generator(seed, draw)
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


def halves(outputs: Outputs, draw: int, *, unit: str | None = None, seed: int = 0) -> tuple[Outputs, Outputs]:
    """The test set in two halves that share no unit, at random; draw, unit and seed are as in `redraw`.

    Where the number of units is odd, the other half has one more. Its units are in random order, so that its initial
    segments are random samples. A ValueError says where there are fewer than four.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 1], [0, 1], [1, 1], [0, 1]]], "accuracy")
    >>> one, other = halves(outputs, draw=1)
    >>> sorted([*one.items["id"], *other.items["id"]])
    ['0', '1', '2', '3']
    """
    check_outputs("outputs", outputs)
    _check_draw(unit, draw, seed)
    unit = unit or outputs.natural_unit
    codes = np.arange(outputs.n_items) if unit == "item" else pd.factorize(outputs.labels(unit))[0]
    n_units = int(codes.max()) + 1
    if n_units < LEAST_SPLIT:
        raise InputError("outputs", f"must have at least {LEAST_SPLIT} units ({unit}) to be split", n_units)
    place = generator(seed, draw, purpose=1).permutation(n_units)[codes]
    order = np.argsort(place, kind="stable")
    first = place[order] < n_units // 2
    one, other = np.sort(order[first]), order[~first]
    return outputs.take(one), outputs.take(other)


def _check_draw(unit: object, draw: object, seed: object) -> None:
    check_text("unit", unit, "the name of a column of the items", or_none=True)
    check_whole("draw", draw, 0, 2**32)
    check_seed(seed)
