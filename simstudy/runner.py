"""Running many cells of work: in parallel processes, kept when done, never twice."""

from __future__ import annotations

import os
import tempfile
import traceback
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import joblib
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from simstudy.cells import Cell, DamagedCell, keep, kept
from simstudy.files import atomic_path
from simstudy.fingerprints import describe
from simstudy.provenance import program_of
from simstudy.validation import check_whole
from simstudy.workers import call_in_processes

# A cell whose worker process died is tried once more, beside fewer others.
_TRIALS = 2


class CellsFailed(RuntimeError):
    """Some cells failed; all others have finished and, where there is a cache, are kept."""

    def __init__(self, failures: Mapping[str, str], reports: Path | None) -> None:
        #: Label -> traceback, or what ended the process.
        self.failures = dict(failures)
        trace = next(iter(self.failures.values())).strip().splitlines()[-1]
        named = ", ".join(list(self.failures)[:5]) + (" ..." if len(failures) > 5 else "")
        where = f"; tracebacks in {reports}" if reports else ""
        super().__init__(f"{len(failures)} failed ({named}), the first with {trace}{where}")


def n_workers(n_jobs: int) -> int:
    """The number of workers that `n_jobs` asks for; a ValueError where it is neither positive nor -1 (all cores)."""
    if isinstance(n_jobs, int) and n_jobs == -1:
        return int(joblib.cpu_count())
    check_whole("n_jobs (-1: all cores)", n_jobs, 1)
    return int(n_jobs)


def run_cells(
    function: Callable[..., Any],
    cells: Sequence[Cell],
    *,
    n_jobs: int = 1,
    own_process: bool = False,
    cache: Path | None = None,
    finished: Callable[[Cell], None] | None = None,
) -> list[Any]:
    """Call the function on each cell's arguments, in parallel processes, and return the results in order.

    A result is known by the cell's description and by the program that makes it: the source of the function, of the
    classes of its arguments and of all that these depend on, and the versions of the libraries
    (`simstudy.provenance.program_of`).

    Parameters
    ----------
    function
        Returns JSON values, arrays, data frames, or tuples, lists and dictionaries of these.
    n_jobs
        Processes; more than twice the number of cores are not started.
    own_process
        Whether a single job, too, has a process of its own. Otherwise the function is then called in this one, which
        spares the second that a process takes to start; but a call that ends its process (`os._exit`) ends this one.
    cache
        A folder: results are written to it as they come, whole or not at all, and read instead of computed. A
        file that is not what was written is computed again.
    finished
        Called after each cell, a cached one too.

    Raises
    ------
    CellsFailed
        After all others have finished, if some cells raised, or their processes died twice. Their tracebacks are kept
        in the cache folder.
    """
    program = program_of(function, *_classes(cells))
    keys = [describe({"program": program, **cell.description})[:32] for cell in cells]
    n_processes = min(n_workers(n_jobs), 2 * n_workers(-1), len(cells))
    with _folder(cache) as folder:
        results: dict[str, Any] = {}
        missing: dict[str, Cell] = {}
        for key, cell in zip(keys, cells, strict=True):
            try:
                results[key] = kept(folder, key)
            except (FileNotFoundError, DamagedCell):
                missing[key] = cell
            else:
                if finished:
                    finished(cell)
        failures: dict[str, str] = {}
        here = not own_process and min(n_processes, len(missing)) < 2
        calls = _done_here(function, missing, folder) if here else _done(function, missing, n_processes, folder)
        with closing(calls) as done:
            for key, trace in done:
                label = missing[key].label
                report = folder / f"{key}.error.txt"
                if trace:
                    failures[label] = trace
                    # On a full disk there is no room for a report either; the last line is told all the same.
                    with suppress(OSError), atomic_path(report) as temporary:
                        temporary.write_text(f"{label}\n\n{trace}\n", encoding="utf-8")
                else:
                    results[key] = kept(folder, key)
                    report.unlink(missing_ok=True)
                if finished:
                    finished(missing[key])
    if failures:
        # On a full disk there are none.
        reports = cache if cache and any(cache.glob("*.error.txt")) else None
        raise CellsFailed({label: failures[label] for label in sorted(failures)}, reports)
    return [results[key] for key in keys]


def _classes(cells: Sequence[Cell]) -> list[type]:
    """The classes of the cells' arguments, but for those that come with Python."""
    found = {type(argument) for cell in cells for argument in cell.arguments}
    return [each for each in found if each.__module__ not in ("builtins", "types", "functools")]


@contextmanager
def _folder(cache: Path | None) -> Iterator[Path]:
    """Where results are kept: the cache, or a folder that goes at the end."""
    if cache is None:
        with tempfile.TemporaryDirectory(prefix="simstudy-") as folder:
            yield Path(folder)
    else:
        cache.mkdir(parents=True, exist_ok=True)
        yield cache


def _done_here(function: Callable[..., Any], missing: Mapping[str, Cell], folder: Path) -> Generator[tuple[str, str]]:
    """Key and traceback (empty: none) of each missing cell, as they are done, in this process."""
    for key, cell in missing.items():
        trace = ""
        try:
            _make(function, folder, key, cell.label, cell.arguments)
        except (Exception, SystemExit):
            trace = traceback.format_exc()
        yield key, trace


def _done(
    function: Callable[..., Any], missing: Mapping[str, Cell], n_processes: int, folder: Path
) -> Generator[tuple[str, str]]:
    """The same in worker processes."""
    hint = ": fewer jobs need less" if n_processes > 1 else ""
    deaths = dict.fromkeys(missing, 0)
    todo = list(missing)
    while todo:
        tasks = [(function, folder, key, missing[key].label, missing[key].arguments) for key in todo]
        over = set()
        with closing(call_in_processes(_make, tasks, n_processes, folder)) as calls:
            for ended in calls:
                key = todo[ended.task]
                deaths[key] += bool(ended.died)
                if not ended.died or deaths[key] == _TRIALS:
                    over.add(key)
                    died = f"its process {ended.died}, twice{hint}" if ended.died else ""
                    yield key, died or ended.trace
        todo = [key for key in todo if key not in over]
        n_processes = max(1, n_processes // 2)


def _make(function: Callable[..., Any], folder: Path, key: str, label: str, arguments: tuple[Any, ...]) -> None:
    with _no_forks_left():
        result = function(*arguments)
    keep(folder, key, label, result)


@contextmanager
def _no_forks_left() -> Iterator[None]:
    """Raise a RuntimeError where the block leaves a copy of this process behind (`os.fork`); a copy ends here."""
    if not hasattr(os, "fork"):
        yield
        return
    process = os.getpid()
    # Copies of this process have the pipe open too; programs that it starts have not.
    reader, writer = os.pipe()
    try:
        yield
    finally:
        if os.getpid() != process:
            # It must not do what comes next once more.
            os.write(writer, b"!")
            os._exit(1)
        os.close(writer)
        os.set_blocking(reader, False)
        try:
            left = os.read(reader, 1) != b""
        except BlockingIOError:
            left = True
        os.close(reader)
    if left:
        raise RuntimeError("it forked a process that had not ended when the function returned")


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
