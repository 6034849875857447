"""What the run of a study is given to work with (`RunContext`), what it returns (`Findings`), and how that is shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.pages.sections import Section, Table
from simstudy.pages.tables import read_table
from simstudy.running.cells import Cell
from simstudy.running.display import say
from simstudy.running.manifest import MANIFEST, json_object
from simstudy.running.progress import doing, listening
from simstudy.running.runner import run_cells, share, states
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


class Unfinished(Exception):
    """Cells of this part of a study are to be computed first."""


@dataclass
class RunContext:
    """Where and with how many workers a study runs."""

    cells: Path
    """The folder of finished cells."""
    n_jobs: int
    data_dir: str | Path | None = None
    allow_outside: bool = False
    """Whether a study may read files outside `data_dir`."""
    executor: Executor | None = None
    """What computes cells, instead of `n_jobs` processes."""
    reads: Path | None = None
    """The folder that keeps what was read from files; None where nothing is kept."""
    home: Path | None = None
    """The folder of the user's study.toml, in which its files are looked for first; None for a shipped study."""
    clock: Clock = field(default_factory=Clock)
    listed: list[pd.DataFrame] | None = None
    """Where cells are listed and not computed: those of each part of the study so far, with their states."""
    shard: tuple[int, int] | None = None
    """Of the cells of each part only a share is computed here, shard k of n (k, n)."""

    @property
    def n_threads(self) -> int:
        """The threads of one comparison: workers of an executor may not be alone on their machine."""
        return self.n_jobs if self.executor is None else 1

    def run(
        self,
        title: str,
        function: Callable[..., Any],
        cells: Sequence[Cell],
        *,
        amount: Callable[[Cell], int] = lambda _: 1,
        threaded: bool = False,
    ) -> list[Any]:
        """Call a function on each cell's arguments, but for cells that are done already; the results, in order.

        See `simstudy.running.runner.run_cells`. `title` is that of the progress bar, `amount` how much of it a cell is.
        `threaded` is for a function that takes `n_threads`: without an executor its cells are computed in this process,
        one after the other. A TypeError names a cell that returned nothing, or something else than a table where others
        returned one.
        """
        if self.shard is not None:
            self._compute(title, function, share(function, cells, self.shard), amount, threaded)
        found = states(function, cells, self.cells)
        left = int((found["state"] != "done").sum())
        if self.listed is not None:
            self.listed.append(found.assign(part=title))
            if left:
                raise Unfinished(title)
        elif 0 < left < len(cells):
            say(f"{title}: {len(cells) - left:,} of {len(cells):,} cells are done")
        results = self._compute(title, function, cells, amount, threaded)
        tables = any(isinstance(result, pd.DataFrame) for result in results)
        for cell, result in zip(cells, results, strict=True):
            if result is None or (tables and not isinstance(result, pd.DataFrame)):
                what = "nothing (is a return missing?)" if result is None else f"{brief(result)}, others a table"
                raise TypeError(f"cell '{cell.label}' of '{title}' returned {what}")
        return results

    def _compute(
        self,
        title: str,
        function: Callable[..., Any],
        cells: Sequence[Cell],
        amount: Callable[[Cell], int],
        threaded: bool,
    ) -> list[Any]:
        """The results of cells, whose progress is shown."""
        said = 0

        def step(part: int) -> None:
            nonlocal said
            said += part
            advance(part)

        def finished(cell: Cell) -> None:
            # A cell may have said of itself how far it was.
            nonlocal said
            advance(amount(cell) - said)
            said = 0

        with doing(title, sum(map(amount, cells))) as advance, listening(step):
            return run_cells(
                function,
                cells,
                n_jobs=1 if threaded else self.n_jobs,
                executor=self.executor,
                cache=self.cells,
                finished=finished,
            )


@dataclass(kw_only=True)
class Findings:
    """What a study found."""

    tables: dict[str, pd.DataFrame]
    """Name (letters, digits, _ and -) -> table, unrounded, in the order of the page."""
    facts: dict[str, str] = field(default_factory=dict)
    """What was run, for the head of the page."""
    answers: list[str] = field(default_factory=list)
    """What a terminal shows first: sentences that answer the question."""
    data: dict[str, Any] = field(default_factory=dict)
    """What the manifest says of the data."""
    comparisons: pd.DataFrame = field(default_factory=pd.DataFrame)
    """All pairs on all test sets, where the study has such a table."""


@dataclass(kw_only=True)
class Shown:
    """How the tables of a study are shown: it follows from them alone, so that a page needs no run."""

    sections: list[Section]
    """The page's parts, with their figures and tables."""
    closing: str = ""
    """How the numbers are to be read, at the page's end: units, corrections."""
    summary: dict[str, Table] = field(default_factory=dict)
    """What a terminal shows at the end: title -> a few rows."""


class ShippedTables(Mapping[str, pd.DataFrame]):
    """The tables of a folder of results as its files have them, rounded to six digits; each is read when asked for.

    Parameters
    ----------
    folder
        Where the CSV files are.
    kinds
        Name of each table -> the kinds of its columns (`simstudy.pages.tables.kinds_of`).
    home
        The folder of results, beside which those of other studies are.
    """

    def __init__(self, folder: Path, kinds: Mapping[str, str], home: Path) -> None:
        self._folder, self._kinds, self._home = folder, kinds, home
        self._read: dict[str, pd.DataFrame] = {}

    def __getitem__(self, name: str) -> pd.DataFrame:
        if name not in self._read:
            self._read[name] = read_table(self._folder / f"{name}.csv", self._kinds[name])
        return self._read[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._kinds)

    def __len__(self) -> int:
        return len(self._kinds)

    @classmethod
    def of(cls, folder: Path) -> ShippedTables:
        """The tables of the results in a folder, whole ones."""
        kinds = (json_object(folder / MANIFEST) or {}).get("tables", {})
        names = kinds or [path.stem for path in sorted(folder.glob("*.csv"))]
        return cls(folder, {name: kinds.get(name, "") for name in names}, folder)

    def beside(self, study: str) -> ShippedTables:
        """The tables of another study, in the folder of its name beside this one."""
        # Whole, since the results may be written to the working directory itself.
        return ShippedTables.of(self._home.resolve().parent / study)
