"""What a run of a study gets to work with, and what it hands back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.cells import Cell
from simstudy.runner import progress_bar, run_cells
from simstudy.sections import Section, Table


class Clock:
    """Wall time of each stage, in seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[stage] = round(time.perf_counter() - start, 1)


@dataclass
class RunContext:
    """Where and with how many workers a study runs.

    Attributes
    ----------
    cells
        The folder of finished cells.
    allow_outside
        Whether a study may read files outside `data_dir`.
    """

    cells: Path
    n_jobs: int
    data_dir: str | Path | None = None
    allow_outside: bool = False
    clock: Clock = field(default_factory=Clock)

    def run(
        self,
        title: str,
        function: Callable[..., Any],
        cells: Sequence[Cell],
        *,
        n_jobs: int | None = None,
        amount: Callable[[Cell], int] = lambda _: 1,
    ) -> list[Any]:
        """Call a function on each cell's arguments, but for cells that are done already; the results, in order.

        Parameters
        ----------
        title
            Of the progress bar.
        function
            As `simstudy.runner.run_cells` takes it.
        n_jobs
            Processes, where not the context's: 1 for a function that has threads of its own.
        amount
            How much of the bar a cell is.
        """
        with progress_bar(title, sum(map(amount, cells))) as advance:
            return run_cells(
                function,
                cells,
                n_jobs=self.n_jobs if n_jobs is None else n_jobs,
                cache=self.cells,
                finished=lambda cell: advance(amount(cell)),
            )


@dataclass
class Findings:
    """What a study found.

    Attributes
    ----------
    tables
        Name -> table, unrounded, in the order of the page.
    sections
        The page's parts, with their figures and tables.
    facts
        What was run, for the head of the page.
    closing
        How the numbers are to be read, at the page's end: units, corrections.
    summary
        What a terminal shows at the end: title -> a few rows.
    data
        What the manifest says of the data.
    comparisons
        All pairs on all test sets, where the study has such a table.
    """

    tables: dict[str, pd.DataFrame]
    sections: list[Section]
    facts: dict[str, str]
    closing: str
    summary: dict[str, Table]
    data: dict[str, Any] = field(default_factory=dict)
    comparisons: pd.DataFrame = field(default_factory=pd.DataFrame)
