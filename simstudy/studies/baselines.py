"""What calibration across domains is held against, without a change of domain: halves, and redrawn test sets."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.comparisons.calibration import calibration
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs, TestSet
from simstudy.running.fingerprints import derived_seed
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.context import RunContext
from simstudy.truth.redrawn import LEAST_SPLIT, halves, redraw

# Draws of halves need no finer p-values than bins have.
_HALVES_RESAMPLES = 100_000

# The table of a test set that has no halves.
_NO_BASELINE = pd.DataFrame(
    {"relation": pd.Series(dtype=str), "elsewhere": pd.Series(dtype=str)}
    | dict.fromkeys(("p_from", "p_to", "share", "low", "high", "n_items_elsewhere"), pd.Series(dtype=float))
)


def baseline(
    home: TestSet, elsewhere: Mapping[str, int], *, n_splits: int, context: RunContext, **options: Any
) -> pd.DataFrame:
    """The calibration that there would be without a change of domain, on random halves of the home test set.

    `elsewhere` has the number of items of each other test set. Half as many of the home's other half stand for it, or
    all of that half where it has fewer: half the home test set is what p-values are from, too. `options` are those of
    `simstudy.calibration`, and one `relation` for all pairs.
    """
    if n_units(home) < LEAST_SPLIT:
        return _NO_BASELINE
    seed, n_items = home.settings["seed"], home.outputs.n_items
    parts = {k: halves(home.outputs, k, unit=home.unit, seed=seed) for k in range(1, n_splits + 1)}
    known = TESTS[home.settings["test"]].n_resamples
    fewer = {"n_resamples": min(home.settings["n_resamples"] or known, _HALVES_RESAMPLES)} if known else {}
    asked = {draw: _drawn(home, "halves", draw, half, **fewer) for draw, (half, _) in parts.items()}
    # Halves of documents differ a little in their items; they are one test set all the same.
    pairs = _compared("halves of the home test set", asked, context).assign(n_items=n_items // 2)
    if "relation" in options:
        pairs["relation"] = options.pop("relation")
    others = {
        name: {draw: at_least(other, -(-size // 2), unit=home.unit) for draw, (_, other) in parts.items()}
        for name, size in elsewhere.items()
    }
    return calibration(pairs, others, seed=seed, **options)


def compare_redrawn(population: TestSet, size: int, n_draws: int, context: RunContext) -> pd.DataFrame:
    """Test sets of so many units redrawn from a population, numbered in the column ``draw``, each with its own seed.

    Documents differ in length, and so do test sets of as many documents; all have their median number of items.
    """
    unit, seed = population.unit, population.settings["seed"]
    asked = {
        k: _drawn(population, "redrawn", k, redraw(population.outputs, size, k, unit=unit, seed=seed))
        for k in range(1, n_draws + 1)
    }
    pairs = _compared("redrawn test sets", asked, context)
    return pairs.assign(n_items=int(np.median(pairs.groupby("draw")["n_items"].first())))


def n_units(test_set: TestSet) -> int:
    """How many units a comparison has."""
    outputs = test_set.outputs
    what = test_set.unit or outputs.natural_unit
    return outputs.n_items if what == "item" else int(outputs.labels(what).nunique())


def beside(table: pd.DataFrame) -> pd.Series[float]:
    """The share that there would be without a change of domain: as measured on halves, else as expected."""
    measured = table["baseline"] if "baseline" in table else pd.Series(np.nan, index=table.index)
    return measured.where(measured.notna(), table["expected"])


def _drawn(test_set: TestSet, what: str, draw: int, outputs: Outputs, **changed: Any) -> TestSet:
    """What was drawn from a test set, with resamples of its own."""
    seed = derived_seed(test_set.settings["seed"], what, draw) % 2**64
    return replace(test_set, outputs=outputs, settings={**test_set.settings, **changed, "seed": seed})


def _compared(title: str, asked: Mapping[int, TestSet], context: RunContext) -> pd.DataFrame:
    compared = run_comparisons(title, list(asked.values()), context)
    return pd.concat([table.assign(draw=draw) for draw, table in zip(asked, compared, strict=True)], ignore_index=True)


def with_baseline(table: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    """A calibration across domains with what comes out where there is no other domain.

    The baseline is what `calibration` returned for halves of the home test set (`simstudy.truth.redrawn.halves`):
    p-values from one half, winners looked for on items of the other, for each test set elsewhere as many as keep the
    ratio of the two numbers of items. Then a share is comparable, although both sampling errors are larger; with the
    full number of items the baseline would be too high. What is lost to the domain is baseline less share.
    """
    names = {"share": "baseline", "low": "baseline_low", "high": "baseline_high"}
    keys = ["relation", "elsewhere", "p_from", "p_to"]
    renamed = baseline.rename(columns={**names, "n_items_elsewhere": "n_items_baseline"})
    return table.merge(renamed[[*keys, *names.values(), "n_items_baseline"]], on=keys, how="left")


def at_least(outputs: Outputs, n_items: int, *, unit: str | None = None) -> Outputs:
    """The first whole units of a test set that have so many items together, or all of it.

    Examples
    --------
    >>> items = pd.DataFrame({"id": list("pqrs"), "cluster": ["x", "x", "y", "y"]})
    >>> outputs = Outputs.from_statistics([[[1, 1]] * 4], "accuracy", items=items)
    >>> at_least(outputs, 1).n_items, at_least(outputs, 3).n_items, at_least(outputs, 9).n_items
    (2, 4, 4)
    """
    unit = unit or outputs.natural_unit
    if n_items >= outputs.n_items:
        return outputs
    if unit == "item":
        return outputs.head(n_items)
    labels = outputs.labels(unit).to_numpy()
    return outputs.take(np.flatnonzero(np.isin(labels, pd.unique(labels[:n_items]))))
