"""Running many cells of work: in parallel, kept when done, never twice. The only room that knows joblib."""

from __future__ import annotations

import hashlib
import json
import pickle
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import joblib
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from simstudy.choices import check_whole
from simstudy.files import atomic_path


@dataclass(frozen=True)
class Cell:
    """One piece of work.

    Attributes
    ----------
    label
        What it is called in messages.
    description
        What its result depends on, as JSON values. Its hash names the cached result, so a cell is known by what
        it *is*: adding cells, or changing their order, changes nothing about the others.
    arguments
        What its function is called with.
    """

    label: str
    description: Mapping[str, Any]
    arguments: tuple[Any, ...]

    @property
    def key(self) -> str:
        """The SHA-256 of the description and of simstudy's version, shortened to 32 hex digits."""
        return describe({"simstudy": version("simstudy"), **self.description})[:32]


class CellsFailed(RuntimeError):
    """Some cells failed; all others have finished and, where there is a cache, are kept.

    Attributes
    ----------
    failures
        Label -> traceback.
    """

    def __init__(self, failures: Mapping[str, str], cache: Path | None) -> None:
        self.failures = dict(failures)
        trace = next(iter(self.failures.values())).strip().splitlines()[-1]
        named = ", ".join(list(self.failures)[:5]) + (" ..." if len(failures) > 5 else "")
        where = f"; tracebacks in {cache}" if cache else ""
        super().__init__(f"{len(failures)} failed ({named}), the first with {trace}{where}")


def derived_seed(*what: Any) -> int:
    """A seed of 256 bits that is a function of these JSON values, unlike that of any others.

    Examples
    --------
    >>> derived_seed(0, "redrawn", 1) == derived_seed(1, "redrawn", 0)
    False
    """
    return int(describe(list(what)), 16)


def describe(description: Any) -> str:
    """SHA-256 of a JSON value, independent of the order of keys."""
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def fingerprint(value: Any) -> str:
    """A hash of arrays, text, numbers and estimators by content (not of data frames, which have no one form)."""
    return str(joblib.hash(value, hash_name="sha1"))


def n_workers(n_jobs: int) -> int:
    """The number of workers that `n_jobs` asks for.

    Raises
    ------
    ValueError
        Where n_jobs is neither positive nor -1 (all cores).
    """
    if n_jobs == -1:
        return int(joblib.cpu_count())
    check_whole("n_jobs (-1: all cores)", n_jobs, 1)
    return int(n_jobs)


def run_cells(
    function: Callable[..., Any],
    cells: Sequence[Cell],
    *,
    n_jobs: int = 1,
    cache: Path | None = None,
    finished: Callable[[Cell], None] | None = None,
) -> list[Any]:
    """Call the function on each cell's arguments, in parallel processes, and return the results in order.

    Parameters
    ----------
    cache
        A folder: results are written to it as they come, whole or not at all, and read instead of computed. A
        file that cannot be read is computed again.
    finished
        Called after each cell, a cached one too.

    Raises
    ------
    CellsFailed
        After all others have finished, if some cells raised. Their tracebacks are kept in the cache folder.
    """
    results: dict[str, Any] = {}
    missing = []
    for cell in cells:
        found, value = _read(cache, cell.key)
        if found:
            results[cell.key] = value
            if finished:
                finished(cell)
        else:
            missing.append(cell)
    failures: dict[str, str] = {}
    try:
        workers = joblib.Parallel(n_jobs=n_workers(n_jobs), return_as="generator_unordered", batch_size=1)
        for cell, value, trace in workers(joblib.delayed(_run)(function, cell, cache) for cell in missing):
            if trace:
                failures[cell.label] = trace
            else:
                results[cell.key] = value
            if finished:
                finished(cell)
    except BrokenProcessPool:
        failures["a worker process"] = "it was killed, perhaps for want of memory: fewer jobs need less"
    if failures:
        raise CellsFailed({label: failures[label] for label in sorted(failures)}, cache)
    return [results[cell.key] for cell in cells]


def _run(function: Callable[..., Any], cell: Cell, cache: Path | None) -> tuple[Cell, Any, str]:
    named = Cell(cell.label, cell.description, ())
    report = cache / f"{cell.key}.error.txt" if cache else None
    try:
        value = function(*cell.arguments)
    except Exception:
        trace = traceback.format_exc()
        if report:
            with atomic_path(report) as temporary:
                temporary.write_text(f"{cell.label}\n\n{trace}")
        return named, None, trace
    if cache and report:
        with atomic_path(cache / f"{cell.key}.pickle") as temporary:
            temporary.write_bytes(pickle.dumps(value))
        report.unlink(missing_ok=True)
    return named, value, ""


def _read(cache: Path | None, key: str) -> tuple[bool, Any]:
    if cache is None:
        return False, None
    try:
        return True, pickle.loads((cache / f"{key}.pickle").read_bytes())
    except FileNotFoundError:
        return False, None
    except Exception:
        # Written by other versions of the libraries, or damaged on disk: it can be made again.
        return False, None


@contextmanager
def progress_bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
    """A progress bar on standard error with the time left; yields a function to call with the amount just done."""
    columns = (
        TextColumn("{task.description:<24}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=total)
        yield lambda amount: bar.update(task, advance=amount)
