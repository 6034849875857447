"""Comparing all pairs on many test sets: one cell a test set, kept when done, with a progress bar over resamples."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from simstudy.cells import Cell
from simstudy.comparisons.comparing import compare
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from simstudy.progress import advanced
from simstudy.studies.definition import Comparison
from simstudy.studies.interface import RunContext


def run_comparisons(
    title: str, asked: Sequence[tuple[Outputs, Comparison, int]], context: RunContext
) -> list[pd.DataFrame]:
    """Compare on each test set, with its settings and seed, one after the other, each with all threads.

    `title` is that of the progress bar; finished comparisons are kept where the context says.
    """
    cells = [
        Cell(
            label=f"comparing on {outputs.test_set}, {outputs.n_items} items",
            description={
                "kind": "comparison",
                "outputs": outputs.fingerprint(),
                "settings": setting.model_dump(),
                "seed": seed,
            },
            arguments=(outputs, setting, seed, context.n_jobs),
        )
        for outputs, setting, seed in asked
    ]
    return context.run(title, _compared, cells, amount=lambda cell: _resamples(cell.arguments[1]), here=True)


def compare_by_items(
    whole: Sequence[tuple[Outputs, Comparison, int]], context: RunContext
) -> list[pd.DataFrame | None]:
    """The same by items, where units are the natural ones and these are others: what taking items one by one says."""
    asked = [setting.unit is None and outputs.natural_unit != "item" for outputs, setting, _ in whole]
    by_items = [
        (outputs, setting.model_copy(update={"unit": "item"}), seed)
        for (outputs, setting, seed), other in zip(whole, asked, strict=True)
        if other
    ]
    found = iter(run_comparisons("the same by items", by_items, context) if by_items else [])
    return [next(found) if other else None for other in asked]


def _compared(outputs: Outputs, setting: Comparison, seed: int, n_jobs: int) -> pd.DataFrame:
    return compare(outputs, seed=seed, n_jobs=n_jobs, progress=advanced, **setting.model_dump()).frame


def _resamples(setting: Comparison) -> int:
    return setting.n_resamples or TESTS[setting.test].n_resamples or 1
