"""What calibration across domains is held against, without a change of domain: halves, and redrawn test sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analyses.calibration import calibration
from simstudy.engines.registry import TESTS
from simstudy.outputs import TestSet
from simstudy.running.fingerprints import derived_seed
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.context import RunContext
from simstudy.truth.redrawn import LEAST_SPLIT, at_least, halves, redraw

# Draws of halves need no finer p-values than bins have.
_HALVES_RESAMPLES = 100_000


def baseline(
    home: TestSet, elsewhere: Mapping[str, int], *, n_splits: int, context: RunContext, **options: Any
) -> pd.DataFrame:
    """The calibration that there would be without a change of domain, on random halves of the home test set.

    `elsewhere` has the number of items of each other test set. Half as many of the home's other half stand for it,
    since half the home test set is what p-values are from; or all of that half, where it has fewer. `options` are those
    of `simstudy.calibration`.
    """
    draws = range(1, n_splits + 1) if n_units(home) >= LEAST_SPLIT else range(0)
    if not draws:
        # So few units have no halves, and the table no baseline.
        text, number = pd.Series(dtype=str), pd.Series(dtype=float)
        columns = dict.fromkeys(("relation", "elsewhere"), text)
        numbers = ("p_from", "p_to", "share", "low", "high", "n_items_elsewhere")
        return pd.DataFrame(columns | dict.fromkeys(numbers, number))
    settings, seed, n_items = home.settings, home.settings["seed"], home.outputs.n_items
    parts = {draw: halves(home.outputs, draw, unit=home.unit, seed=seed) for draw in draws}
    known = TESTS[settings["test"]].n_resamples
    fewer = {"n_resamples": min(settings["n_resamples"] or known, _HALVES_RESAMPLES)} if known else {}
    asked = [
        replace(home, outputs=one, settings={**settings, **fewer, "seed": derived_seed(seed, "halves", draw) % 2**64})
        for draw, (one, _) in parts.items()
    ]
    compared = run_comparisons("halves of the home test set", asked, context)
    pairs = pd.concat(
        [
            # Halves of documents differ a little in their items; they are one test set all the same.
            table.assign(draw=draw, n_items=n_items // 2, relation=options.get("relation", table["relation"]))
            for table, draw in zip(compared, draws, strict=True)
        ],
        ignore_index=True,
    )
    others = {
        name: {draw: at_least(other, -(-size // 2), unit=home.unit) for draw, (_, other) in parts.items()}
        for name, size in elsewhere.items()
    }
    options.pop("relation", None)
    return calibration(pairs, others, seed=seed, **options)


def compare_redrawn(population: TestSet, size: int, n_draws: int, context: RunContext) -> pd.DataFrame:
    """Test sets of so many units redrawn from a population, numbered in the column ``draw``.

    Each has resamples of its own. Documents differ in length, and so do test sets of as many documents: they are of
    one kind all the same, and have their median number of items.
    """
    draws, unit, seed = range(1, n_draws + 1), population.unit, population.settings["seed"]
    asked = [
        replace(
            population,
            outputs=redraw(population.outputs, size, draw, unit=unit, seed=seed),
            settings={**population.settings, "seed": derived_seed(seed, "redrawn", draw) % 2**64},
        )
        for draw in draws
    ]
    compared = run_comparisons("redrawn test sets", asked, context)
    n_items = int(np.median([pairs["n_items"].iloc[0] for pairs in compared]))
    drawn = [pairs.assign(draw=draw, n_items=n_items) for pairs, draw in zip(compared, draws, strict=True)]
    return pd.concat(drawn, ignore_index=True)


def n_units(test_set: TestSet) -> int:
    """How many units a comparison has."""
    outputs = test_set.outputs
    what = test_set.unit or outputs.natural_unit
    return outputs.n_items if what == "item" else int(outputs.labels(what).nunique())
