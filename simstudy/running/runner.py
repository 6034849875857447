"""Running many cells of work on any executor: kept when done, never twice."""

from __future__ import annotations

import functools
import pickle
import queue
import tempfile
import traceback
from collections import Counter, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from types import FunctionType, MethodType
from typing import Any

import pandas as pd

from simstudy.files.whole import atomic_path
from simstudy.running.calls import Calls, OtherProgram, made, sweep
from simstudy.running.cells import SUFFIX, Cell, DamagedCell, kept, note_seconds, seconds, write
from simstudy.running.clusters import ClusterExecutor, ClusterLost
from simstudy.running.fingerprints import describe
from simstudy.running.jobs import check_executor, n_workers
from simstudy.running.provenance import program_of
from simstudy.running.workers import Processes, WorkerDied

# Cells that an executor holds at a time: enough for many workers, few enough to be prepared quickly.
_WAITING = 1000


class CellsFailed(RuntimeError):
    """Some cells failed; all others have finished and, where there is a cache, are kept."""

    def __init__(self, failures: Mapping[str, str], reports: Path | None) -> None:
        #: Label -> traceback, or what ended the process.
        self.failures = dict(failures)
        trace = next(iter(self.failures.values())).strip().splitlines()[-1]
        named = ", ".join(list(self.failures)[:5]) + (" ..." if len(failures) > 5 else "")
        where = f"; tracebacks in {reports}" if reports else ""
        super().__init__(f"{len(failures)} failed ({named}), the first with {trace}{where}")


def run_cells(
    function: Callable[..., Any],
    cells: Sequence[Cell],
    *,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    cache: Path | None = None,
    finished: Callable[[Cell], None] | None = None,
) -> list[Any]:
    """Call the function on each cell's arguments, in parallel, and return the results in order.

    A result is known by the cell's description and by the program that makes it (`program_of`). In the folder `cache`
    results are kept as they come, and read instead of computed; one that is not what was written is computed again.
    `n_jobs` processes work: at most twice as many as there are cores, one is this process, None is what
    `joblib.parallel_config` says. An executor works instead of these, and is not shut down; its workers must see the
    cache, unless it is a `ClusterExecutor`. `finished` is called after each cell, a cached one too.

    After all others have finished a CellsFailed names the cells that raised, or whose processes died twice; their
    tracebacks are kept in the cache. A ValueError is raised where the executor takes no work, or joblib is configured
    for a backend that is not served, and a ClusterLost where a cluster ends.
    """
    check_executor(executor)
    program = program_of(function, *_needed(cells))
    keys = [_key(program, cell) for cell in cells]
    finished = finished or (lambda _: None)
    with _folder(cache) as folder:
        results: dict[str, Any] = {}
        missing: dict[str, Cell] = {}
        for key, cell in zip(keys, cells, strict=True):
            try:
                results[key] = kept(folder, key)
            except (FileNotFoundError, DamagedCell):
                missing[key] = cell
            else:
                finished(cell)
        failures: dict[str, str] = {}
        with _workers(executor, n_jobs, len(missing)) as workers:
            work = _done_here if workers is None else functools.partial(_done, workers, program)
            with closing(work(function, missing, folder)) as done:
                for key, trace in done:
                    label = missing[key].label
                    report = _report(folder, key)
                    if trace:
                        failures[label] = trace
                        # On a full disk there is no room for a report either; the last line is told all the same.
                        with suppress(OSError), atomic_path(report) as temporary:
                            temporary.write_text(f"{label}\n\n{trace}\n", encoding="utf-8")
                    else:
                        results[key] = kept(folder, key)
                        report.unlink(missing_ok=True)
                    finished(missing[key])
    if failures:
        # On a full disk there are none.
        reports = cache if cache and any(cache.glob("*.error.txt")) else None
        raise CellsFailed({label: failures[label] for label in sorted(failures)}, reports)
    return [results[key] for key in keys]


def states(function: Callable[..., Any], cells: Sequence[Cell], cache: Path) -> pd.DataFrame:
    """How far cells are: a row each with cell (its label), state (done, missing or failed), seconds and bytes."""
    program = program_of(function, *_needed(cells))
    known, rows = seconds(cache), []
    for cell in cells:
        key = _key(program, cell)
        row: dict[str, Any] = {"cell": cell.label, "state": "missing", "seconds": None, "bytes": None}
        try:
            size = (cache / f"{key}{SUFFIX}").stat().st_size
            row |= {"state": "done", "seconds": known.get(key), "bytes": size}
        except FileNotFoundError:
            if _report(cache, key).exists():
                row["state"] = "failed"
        rows.append(row)
    return pd.DataFrame(rows, columns=["cell", "state", "seconds", "bytes"]).astype(
        {"seconds": float, "bytes": "Int64"}
    )


def share(function: Callable[..., Any], cells: Sequence[Cell], shard: tuple[int, int]) -> list[Cell]:
    """The cells of shard k of n (k, n): each cell is in one of them, by its key, whatever other cells there are."""
    program = program_of(function, *_needed(cells))
    k, n = shard
    return [cell for cell in cells if int(_key(program, cell), 16) % n == k - 1]


def _key(program: Mapping[str, str], cell: Cell) -> str:
    return describe({"program": program, "cell": cell.description})[:32]


def _report(folder: Path, key: str) -> Path:
    return folder / f"{key}.error.txt"


@contextmanager
def _workers(executor: Executor | None, n_jobs: int | None, n_cells: int) -> Iterator[Executor | None]:
    """What does the work; None for this process."""
    from joblib.parallel import get_active_backend

    n = min(n_workers(n_jobs, otherwise=1), 2 * n_workers(-1), n_cells)
    backend = type(get_active_backend()[0]).__name__.removesuffix("Backend").lower()
    if executor is not None:
        yield executor if n_cells else None
    elif backend not in ("loky", "threading", "sequential"):
        raise ValueError(
            f"joblib is configured for backend '{backend}', but cells run on loky, threading, sequential, or on what "
            "executor= gives"
        )
    elif n < 2 or backend == "sequential":
        yield None
    else:
        with ThreadPoolExecutor(n) if backend == "threading" else Processes(n) as own:
            yield own


def _needed(cells: Sequence[Cell]) -> list[Any]:
    """The functions among the cells' arguments, and the classes of the others but for those that come with Python."""
    arguments = [argument for cell in cells for argument in cell.arguments]
    functions = [each for each in arguments if isinstance(each, FunctionType | MethodType | functools.partial)]
    classes = {type(each) for each in arguments}
    own = [each for each in classes if each.__module__ not in ("builtins", "types", "functools")]
    return [*{id(each): each for each in functions}.values(), *own]


@contextmanager
def _folder(cache: Path | None) -> Iterator[Path]:
    """Where results are kept: the cache, or a folder that goes at the end."""
    if cache is None:
        with tempfile.TemporaryDirectory(prefix="simstudy-") as folder:
            yield Path(folder)
    else:
        cache.mkdir(parents=True, exist_ok=True)
        sweep(cache)
        yield cache


def _done_here(function: Callable[..., Any], missing: Mapping[str, Cell], folder: Path) -> Generator[tuple[str, str]]:
    """Key and traceback (empty: none) of each missing cell, as they are done, in this process."""
    for key, cell in missing.items():
        trace = ""
        try:
            result, taken = made(function, key, cell.label, cell.arguments)
            write(folder, key, result)
            note_seconds(folder, key, taken)
        except (Exception, SystemExit):
            trace = traceback.format_exc()
        yield key, trace


def _done(
    executor: Executor,
    program: Mapping[str, str],
    function: Callable[..., Any],
    missing: Mapping[str, Cell],
    folder: Path,
) -> Generator[tuple[str, str]]:
    """The same by an executor."""
    # Workers of this machine keep what they make; that of others comes back.
    near = isinstance(executor, Processes | ThreadPoolExecutor)
    several = isinstance(executor, Processes) and executor.n_workers > 1
    todo, again, deaths = deque(missing), deque[str](), Counter[str]()
    running: dict[Future[tuple[str, float, bytes]], str] = {}
    ended: queue.SimpleQueue[Future[tuple[str, float, bytes]]] = queue.SimpleQueue()
    with Calls(function, folder, executor.send if isinstance(executor, ClusterExecutor) else None) as calls:
        try:
            while todo or running or again:
                if not (todo or running):
                    todo, again = again, todo
                while todo and len(running) < _WAITING:
                    key = todo.popleft()
                    future = _submitted(executor, calls, key, missing[key], {} if near else program)
                    if isinstance(future, str):
                        yield key, future
                        continue
                    running[future] = key
                    future.add_done_callback(ended.put)
                if not running:
                    continue
                future = ended.get()
                key = running.pop(future)
                try:
                    trace, taken, content = (
                        executor.result(future) if isinstance(executor, ClusterExecutor) else future.result()
                    )
                    if content:
                        write(folder, key, content)
                    if not trace:
                        note_seconds(folder, key, taken)
                except ClusterLost:
                    raise
                except WorkerDied as error:
                    deaths[key] += 1
                    if deaths[key] == 1:
                        # Once more, when the others are done: memory may be free then.
                        again.append(key)
                        continue
                    trace = f"its process {error}, twice" + (": fewer jobs need less" if several else "")
                except (OtherProgram, ModuleNotFoundError) as error:
                    raise ValueError(f"executor must have workers of the same program, but {error}") from error
                except Exception as error:
                    trace = "".join(traceback.format_exception(error))
                yield key, trace
        finally:
            for future in running:
                future.cancel()


def _submitted(
    executor: Executor, calls: Calls, key: str, cell: Cell, program: Mapping[str, str]
) -> Future[tuple[str, float, bytes]] | str:
    """A cell's call, which an executor has now; or the traceback where it could not be made or taken.

    With a `program` the worker is elsewhere: it must be of that program, and what it makes is sent back.
    """
    try:
        call = calls.call(key, cell, sent_back=bool(program), program=program)
    except ClusterLost:
        raise
    except Exception:
        return traceback.format_exc()
    try:
        return executor.submit(pickle.loads, call)
    except ClusterLost:
        raise
    except BrokenExecutor as error:
        return "".join(traceback.format_exception(error))
    except RuntimeError as error:
        raise ValueError(f"executor must accept work, but it says: {error}") from error
