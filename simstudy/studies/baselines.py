"""What calibration across domains is held against: halves of the home test set, without a change of domain."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from simstudy.analyses.calibration import calibration
from simstudy.engines.registry import TESTS
from simstudy.fingerprints import derived_seed
from simstudy.generators.redrawn import LEAST_SPLIT, at_least, halves
from simstudy.outputs import Outputs
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.definition import Comparison
from simstudy.studies.findings import RunContext

# Draws of halves need no finer p-values than bins have.
_HALVES_RESAMPLES = 100_000


def baseline(
    home: Outputs,
    elsewhere: Mapping[str, int],
    setting: Comparison,
    *,
    n_splits: int,
    seed: int,
    context: RunContext,
    **options: Any,
) -> pd.DataFrame:
    """The calibration that there would be without a change of domain, on halves of the home test set.

    Parameters
    ----------
    home
        The home test set.
    elsewhere
        Name of another test set -> its number of items. Half as many of the home's other half stand for it, since half
        the home test set is what p-values are from; or all of that half, where it has fewer.
    setting
        How pairs are compared.
    n_splits, seed
        How many random halves, and the seed of the splits.
    options
        Of `simstudy.calibration`.
    """
    draws = range(1, n_splits + 1) if n_units(home, setting.unit) >= LEAST_SPLIT else range(0)
    if not draws:
        # So few units have no halves, and the table no baseline.
        text, number = pd.Series(dtype=str), pd.Series(dtype=float)
        columns = dict.fromkeys(("relation", "elsewhere"), text)
        numbers = ("p_from", "p_to", "share", "low", "high", "n_items_elsewhere")
        return pd.DataFrame(columns | dict.fromkeys(numbers, number))
    parts = {draw: halves(home, draw, unit=setting.unit, seed=seed) for draw in draws}
    known = TESTS[setting.test].n_resamples
    fewer = {"n_resamples": min(setting.n_resamples or known, _HALVES_RESAMPLES)} if known else {}
    compared = run_comparisons(
        "halves of the home test set",
        [one for one, _ in parts.values()],
        [setting.model_copy(update=fewer)] * n_splits,
        [derived_seed(seed, "halves", draw) % 2**64 for draw in draws],
        context,
    )
    pairs = pd.concat(
        [
            # Halves of documents differ a little in their items; they are one test set all the same.
            table.assign(draw=draw, n_items=home.n_items // 2, relation=options.get("relation", table["relation"]))
            for table, draw in zip(compared, draws, strict=True)
        ],
        ignore_index=True,
    )
    others = {
        name: {draw: at_least(other, -(-n_items // 2), unit=setting.unit) for draw, (_, other) in parts.items()}
        for name, n_items in elsewhere.items()
    }
    options.pop("relation", None)
    return calibration(pairs, others, seed=seed, **options)


def n_units(outputs: Outputs, unit: str | None) -> int:
    """How many units a comparison has."""
    what = unit or outputs.natural_unit
    return outputs.n_items if what == "item" else int(outputs.labels(what).nunique())
