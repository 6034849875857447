"""What the run of a study is given to work with (`RunContext`), what it returns (`Findings`), and how that is shown."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.pages.sections import Section, Table
from simstudy.pages.tables import read_table
from simstudy.running.cell_files import SUFFIX, DamagedCell, encode, read, write
from simstudy.running.folders import MANIFEST, json_object
from simstudy.running.keys import Cell, CellKeys, is_lasting
from simstudy.running.parallel import run_cells
from simstudy.running.progress import doing, say
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

    keys: CellKeys = field(default_factory=CellKeys)
    """By which finished cells are found again."""

    def run(
        self,
        title: str,
        function: Callable[..., Any],
        cells: Sequence[Cell],
        *,
        amount: Callable[[Cell], int] = lambda _: 1,
        threaded: bool = False,
        announced: bool = False,
    ) -> list[Any]:
        """Call a function on each cell's arguments, but for cells that are done already; the results, in order.

        See `simstudy.running.parallel.run_cells`. `title` is that of the progress bar, `amount` how much of it a cell
        is. `threaded` is for a function that takes `n_threads` by this name, which changes no result: without an
        executor its cells are computed in this process, one after the other. If `announced`, it was said how many cells
        are left. A TypeError names a cell that returned
        nothing, or something else than a table where others returned one.
        """
        known = self.keys.of_cells(function, cells)
        if not all(map(is_lasting, known)):
            say(f"{title}: an argument has no name that lasts, so that cells are computed anew in each run")
        if self.shard is not None:
            k, n = self.shard
            share = [
                (cell, key)
                for cell, key in zip(cells, known, strict=True)
                if is_lasting(key) and int(key, 16) % n == k - 1
            ]
            self._compute(title, function, [cell for cell, _ in share], [key for _, key in share], amount, threaded)
        states = self._states(cells, known)
        left = int((states["state"] != "done").sum())
        if self.listed is not None:
            self.listed.append(states.assign(part=title))
            if left:
                raise Unfinished(title)
        elif 0 < left < len(cells) and not announced:
            say(f"{title}: {len(cells) - left:,} of {len(cells):,} cells are done")
        results = self._compute(title, function, cells, known, amount, threaded)
        tables = any(isinstance(result, pd.DataFrame) for result in results)
        for cell, result in zip(cells, results, strict=True):
            if result is None or (tables and not isinstance(result, pd.DataFrame)):
                what = "nothing (is a return missing?)" if result is None else f"{brief(result)}, others a table"
                raise TypeError(f"cell '{cell.label}' of '{title}' returned {what}")
        return results

    def left(self, function: Callable[..., Any], cells: Sequence[Cell]) -> list[Cell]:
        """The cells that are to be computed."""
        states = self._states(cells, self.keys.of_cells(function, cells))["state"]
        return [cell for cell, state in zip(cells, states, strict=True) if state != "done"]

    def findings(
        self, run: Callable[..., Findings], arguments: Sequence[Any], compute: Callable[[], Findings]
    ) -> Findings:
        """What `compute` returns, or what it returned in an earlier run that had the same arguments."""
        key = self.keys.of(run, arguments)
        if self.listed is not None or not is_lasting(key):
            return compute()
        with suppress(FileNotFoundError, DamagedCell):
            return Findings(**read(self.cells, key))
        found = compute()
        # On a full disk they are computed again.
        with suppress(OSError):
            write(self.cells, key, encode(key, "findings", vars(found)))
        return found

    def _states(self, cells: Sequence[Cell], known: Sequence[str]) -> pd.DataFrame:
        """How far cells are: cell (its label), state (done, missing or failed), and bytes."""
        rows = []
        for cell, key in zip(cells, known, strict=True):
            path = self.cells / f"{key}{SUFFIX}"
            failed = (self.cells / f"{key}.error.txt").exists()
            state = "done" if path.exists() else "failed" if failed else "missing"
            rows.append((cell.label, state, path.stat().st_size if state == "done" else None))
        return pd.DataFrame(rows, columns=["cell", "state", "bytes"]).astype({"bytes": "Int64"})

    def _compute(
        self,
        title: str,
        function: Callable[..., Any],
        cells: Sequence[Cell],
        known: Sequence[str],
        amount: Callable[[Cell], int],
        threaded: bool,
    ) -> list[Any]:
        """The results of cells, whose progress is shown."""
        n_threads = self.n_jobs if self.executor is None else 1
        with doing(title, sum(map(amount, cells))) as advance:
            return run_cells(
                partial(function, n_threads=n_threads) if threaded else function,
                cells,
                keys=known,
                n_jobs=1 if threaded else self.n_jobs,
                executor=self.executor,
                cache=self.cells,
                finished=lambda cell: advance(amount(cell)),
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
