"""Comparing all pairs on many test sets: one cell a test set, kept when done, with a progress bar over resamples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd

from simstudy.cells import Cell
from simstudy.engines.comparisons import compare
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from simstudy.runner import progress_bar, run_cells
from simstudy.studies.definition import Comparison
from simstudy.studies.interface import RunContext


def run_comparisons(
    title: str, asked: Sequence[tuple[Outputs, Comparison, int]], context: RunContext
) -> list[pd.DataFrame]:
    """Compare on each test set, with its settings and seed, one after the other, each with all threads.

    `title` is that of the progress bar; finished comparisons are kept where the context says.
    """
    with progress_bar(title, sum(_resamples(setting) for _, setting, _ in asked)) as advance:
        reported = 0

        def step(amount: int) -> None:
            nonlocal reported
            reported += amount
            advance(amount)

        cells = [
            Cell(
                label=f"comparing on {outputs.test_set}, {outputs.n_items} items",
                description={
                    "kind": "comparison",
                    "outputs": outputs.fingerprint(),
                    "settings": setting.model_dump(),
                    "seed": seed,
                },
                arguments=(outputs, setting, seed, context.n_jobs, step),
            )
            for outputs, setting, seed in asked
        ]

        def finished(cell: Cell) -> None:
            # A cell that was found, or whose p-values were exact, has not reported its resamples.
            nonlocal reported
            advance(_resamples(cell.arguments[1]) - reported)
            reported = 0

        return run_cells(_compared, cells, cache=context.cells, finished=finished)


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


def _compared(
    outputs: Outputs, setting: Comparison, seed: int, n_jobs: int, progress: Callable[[int], None]
) -> pd.DataFrame:
    return compare(outputs, seed=seed, n_jobs=n_jobs, progress=progress, **setting.model_dump())


def _resamples(setting: Comparison) -> int:
    return setting.n_resamples or TESTS[setting.test].n_resamples or 1
