"""What the run of a study is given to work with (`RunContext`), and what it returns (`Findings`)."""

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
from simstudy.validation import brief


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
    """Where and with how many workers a study runs."""

    cells: Path
    """The folder of finished cells."""
    n_jobs: int
    data_dir: str | Path | None = None
    allow_outside: bool = False
    """Whether a study may read files outside `data_dir`."""
    own_process: bool = False
    """Whether cells are computed in another process even where `n_jobs` is 1."""
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

        See `simstudy.runner.run_cells`. `title` is that of the progress bar, `amount` how much of it a cell is;
        `n_jobs` is 1 for a function that has threads of its own. A TypeError names a cell that returned nothing, or
        something else than a table where others returned one.
        """
        with progress_bar(title, sum(map(amount, cells))) as advance:
            results = run_cells(
                function,
                cells,
                n_jobs=self.n_jobs if n_jobs is None else n_jobs,
                own_process=self.own_process,
                cache=self.cells,
                finished=lambda cell: advance(amount(cell)),
            )
        tables = any(isinstance(result, pd.DataFrame) for result in results)
        for cell, result in zip(cells, results, strict=True):
            if result is None or (tables and not isinstance(result, pd.DataFrame)):
                what = "nothing (is a return missing?)" if result is None else f"{brief(result)}, others a table"
                raise TypeError(f"cell '{cell.label}' of '{title}' returned {what}")
        return results


@dataclass
class Findings:
    """What a study found."""

    tables: dict[str, pd.DataFrame]
    """Name (letters, digits, _ and -) -> table, unrounded, in the order of the page."""
    sections: list[Section]
    """The page's parts, with their figures and tables."""
    facts: dict[str, str]
    """What was run, for the head of the page."""
    closing: str
    """How the numbers are to be read, at the page's end: units, corrections."""
    summary: dict[str, Table]
    """What a terminal shows at the end: title -> a few rows."""
    data: dict[str, Any] = field(default_factory=dict)
    """What the manifest says of the data."""
    comparisons: pd.DataFrame = field(default_factory=pd.DataFrame)
    """All pairs on all test sets, where the study has such a table."""
