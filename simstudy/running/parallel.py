"""Cells on joblib's loky, or on any executor such as that of a dask cluster: each is computed once and then kept."""

from __future__ import annotations

import logging
import os
import pickle
import queue
import re
import shutil
import signal
import socket
import sys
import tempfile
import threading
import time
import traceback
import uuid
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, ThreadPoolExecutor
from contextlib import closing, contextmanager, nullcontext, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import cloudpickle
import joblib
import numpy as np
from joblib.externals.loky import ProcessPoolExecutor

from simstudy.files.whole import atomic_path, named_in_errors
from simstudy.running.cell_files import SUFFIX, DamagedCell, encode, read, write
from simstudy.running.jobs import check_executor, n_workers
from simstudy.running.keys import UNLASTING, Cell, CellKeys, is_lasting, versions
from simstudy.running.program_files import LOADED
from simstudy.running.threads import one_blas_thread
from simstudy.validation import InputError

# Bytes of an argument that workers of this machine map from a file, and to a multiple of which each array begins there.
_LARGE, _ALIGNED = 2**16, 64

# Calls that an executor holds at a time: enough for many workers, few enough to be prepared quickly.
_WAITING = 1000

# Seconds without a result after a worker's death, until its pool is thrown away; seconds until idle workers end.
_SILENCE, _IDLE = 3.0, 60

# How often a pool is replaced although no cell was finished since the last time.
_IN_VAIN = 20

# Beside the cells: a mark of one that is being computed, and the files of large arguments.
_AT, _ARGUMENTS = ".at-", f".arguments-{socket.gethostname()}-"

# What BLAS, OpenMP and numba take the number of their threads from.
_THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMBA", "NUMEXPR")

#: Key and traceback (empty: none) of each cell, as it ends.
Outcomes = Generator[tuple[str, str]]


class CellsFailed(RuntimeError):
    """Some cells failed; all others have finished and, where there is a cache, are kept."""

    def __init__(self, failures: Mapping[str, str], reports: Path | None) -> None:
        #: Label -> traceback, or what ended the process.
        self.failures = dict(failures)
        trace = next(iter(self.failures.values())).strip().splitlines()[-1]
        named = ", ".join(list(self.failures)[:5]) + (" ..." if len(failures) > 5 else "")
        where = f"; tracebacks in {reports}" if reports else ""
        super().__init__(f"{len(failures)} failed ({named}), the first with {trace}{where}")


class ExecutorLost(RuntimeError):
    """An executor, such as a cluster, ended before its cells were computed; finished cells are kept."""


def run_cells(
    function: Callable[..., Any],
    cells: Sequence[Cell],
    *,
    keys: Sequence[str] | None = None,
    n_jobs: int | None = None,
    executor: Executor | None = None,
    cache: Path | None = None,
    finished: Callable[[Cell], None] = lambda _: None,
) -> list[Any]:
    """The function's results for each cell's arguments, in order; they are computed in parallel.

    Parameters
    ----------
    keys
        By which results are found again (`simstudy.running.keys`); by default those without the code of a study.
    n_jobs
        Processes; 1 is this process, -1 all cores, None what `joblib.parallel_config` says.
    executor
        Computes the cells instead, and is not shut down.
    cache
        Folder in which results are kept as they come, and read instead of computed.
    finished
        Called after each cell, one that was kept too.

    Raises
    ------
    CellsFailed
        After all others have finished: names the cells that raised, or whose processes died repeatedly.
    ExecutorLost
        Where the executor breaks, or its cluster ends.
    ValueError
        Where the executor takes no work or has other versions, or joblib is configured for another backend.
    """
    check_executor(executor)
    if keys is None:
        # What is not kept need not be found again.
        keys = CellKeys().of_cells(function, cells) if cache else [f"{k:032x}" for k in range(len(cells))]
    results: dict[str, Any] = {}
    missing: dict[str, Cell] = {}
    # Equal cells are computed once.
    equal: dict[str, list[Cell]] = defaultdict(list)
    failures: dict[str, str] = {}
    with nullcontext(cache) if cache else tempfile.TemporaryDirectory(prefix="simstudy-") as place:
        folder = Path(place).resolve()
        folder.mkdir(parents=True, exist_ok=True)
        for key, cell in zip(keys, cells, strict=True):
            try:
                results[key] = read(folder, key)
            except (FileNotFoundError, DamagedCell) as error:
                if isinstance(error, DamagedCell):
                    (folder / f"{key}{SUFFIX}").unlink(missing_ok=True)
                missing.setdefault(key, cell)
                equal[key].append(cell)
            else:
                finished(cell)
        with closing(_compute(function, missing, folder, executor, n_jobs)) as done:
            for key, trace in done:
                cell, report = missing[key], folder / f"{key}.error.txt"
                report.unlink(missing_ok=True)
                if trace:
                    failures[f"{cell.label} ({key[:6]})" if cell.label in failures else cell.label] = trace
                    if is_lasting(key):
                        # On a full disk there is no room for a report; the last line is told all the same.
                        with suppress(OSError), atomic_path(report) as temporary:
                            temporary.write_text(f"{cell.label}\n\n{trace}\n", encoding="utf-8")
                else:
                    results[key] = read(folder, key)
                    if not is_lasting(key):
                        (folder / f"{key}{SUFFIX}").unlink()
                for each in equal[key]:
                    finished(each)
        reports = cache if any(folder.glob("*.error.txt")) else None
    if failures:
        raise CellsFailed(dict(sorted(failures.items())), reports)
    return [results[key] for key in keys]


def sweep(folder: Path) -> None:
    """Remove what killed processes left among the cells; nobody else may be at work there."""
    _sweep_pools(folder)
    for pattern in (f".*{SUFFIX}", f"{_AT}*", ".arguments-*", f"{UNLASTING}*"):
        for path in folder.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def _sweep_pools(folder: Path) -> None:
    """Remove the large arguments and the semaphores of processes of this machine that were killed."""
    for path in folder.glob(f"{_ARGUMENTS}*"):
        pid = path.name.removeprefix(_ARGUMENTS).partition("-")[0]
        if Path("/proc").exists() and not Path("/proc", pid).exists():
            shutil.rmtree(path, ignore_errors=True)
            # What removes loky's semaphores was perhaps killed, too.
            for semaphore in Path("/dev/shm").glob(f"sem.loky-{pid}-*"):
                semaphore.unlink(missing_ok=True)


def _compute(
    function: Callable[..., Any],
    missing: Mapping[str, Cell],
    folder: Path,
    executor: Executor | None,
    n_jobs: int | None,
) -> Outcomes:
    """Compute cells where the arguments, or `joblib.parallel_config`, say."""
    if not missing:
        return
    n = min(n_workers(n_jobs, otherwise=1), 2 * n_workers(-1), len(missing))
    backend = type(joblib.parallel.get_active_backend()[0]).__name__.removesuffix("Backend").lower()
    if executor is None and backend not in ("loky", "threading", "sequential"):
        raise InputError(
            f"joblib is configured for backend '{backend}', but cells run on loky, threading, sequential, or on what "
            "executor= gives"
        )
    if executor is not None:
        yield from _compute_by(executor, function, missing, folder)
    elif n < 2 or backend == "sequential":
        for key, cell in missing.items():
            try:
                # As in a worker: a cell that changes its arguments does not change those of the next one.
                called, *arguments = cloudpickle.loads(cloudpickle.dumps((function, *cell.arguments)))
            except Exception:
                yield key, traceback.format_exc()
            else:
                yield key, _result_of(key, cell.label, called, arguments, folder)[0]
    elif backend == "threading":
        with ThreadPoolExecutor(n) as threads:
            yield from _compute_by(threads, function, missing, folder)
    else:
        yield from _compute_in_processes(function, missing, folder, n)


def _result_of(
    key: str, label: str, function: Callable[..., Any], arguments: Sequence[Any], folder: Path | None
) -> tuple[str, bytes]:
    """The traceback of a cell (empty: none), and its result unless that was written to a folder."""
    try:
        with one_blas_thread():
            content = encode(key, label, function(*arguments))
        if folder is None:
            return "", content
        write(folder, key, content)
    except (Exception, SystemExit):
        return traceback.format_exc(), b""
    return "", b""


# -- in a worker ----------------------------------------------------------------------------------------------------


class OtherVersions(RuntimeError):
    """A worker has other versions than this process."""


class _Large(NamedTuple):
    """A large argument in a file: its pickle, then its arrays. They are mapped; what is written to them is lost."""

    path: Path
    sizes: list[int]


def _unpacked(packed: _Large | list[bytes]) -> Any:
    parts: list[Any]
    if isinstance(packed, _Large):
        file = memoryview(np.memmap(packed.path, np.uint8, "c"))  # type: ignore[arg-type]
        starts = np.cumsum([0, *(size + -size % _ALIGNED for size in packed.sizes)]).tolist()
        parts = [file[start : start + size] for start, size in zip(starts, packed.sizes, strict=False)]
    else:
        parts = [bytearray(part) for part in packed]
    return pickle.loads(parts[0], buffers=parts[1:])


def _work(
    key: str, label: str, packed: Sequence[Any], programs: dict[str, str], made_by: Any, folder: Path | None
) -> tuple[str, bytes]:
    """Compute a cell from its packed function and arguments, as `_result_of` does."""
    if made_by != versions():
        raise OtherVersions(f"one has {versions()}, not {made_by}")
    mark = folder / f"{_AT}{key}" if folder else None
    try:
        if mark:
            mark.touch()
        LOADED.update(programs)
        function, *arguments = map(_unpacked, packed)
        return _result_of(key, label, function, arguments, folder)
    except Exception:
        return traceback.format_exc(), b""
    finally:
        if mark:
            mark.unlink(missing_ok=True)


def _begin_worker(parent: int, path: list[str]) -> None:
    """End with the parent, leave Ctrl-C to it, and let nothing that is printed get among what it prints."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    sys.path[:] = path
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with suppress(OSError):
        os.dup2(2, 1)
    threading.Thread(target=watch, daemon=True).start()


# -- in the parent --------------------------------------------------------------------------------------------------


def _compute_by(
    executor: Executor,
    function: Callable[..., Any],
    cells: Mapping[str, Cell],
    folder: Path,
    large: Path | None = None,
    is_gone: Callable[[float], bool] = lambda _: False,
) -> Outcomes:
    """Compute cells by an executor. An ExecutorLost is raised where it breaks, or is gone after seconds of silence.

    Workers of this machine write what they make, and map large arguments from files in the folder `large`.
    """
    # dask sends an argument that is a future of its own once to each worker that needs it.
    client = getattr(executor, "_client", None)
    # The arguments are kept, so that no other gets the address of one.
    sent_arguments: dict[int, tuple[Any, Any]] = {}
    what = f"the scheduler at {client.scheduler.address}" if client else "the executor"
    lost = ExecutorLost(f"{what} is gone; finished cells are kept, and the same command goes on from there")

    def pack(value: Any) -> Any:
        if id(value) not in sent_arguments:
            buffers: list[pickle.PickleBuffer] = []
            content = cloudpickle.dumps(value, protocol=5, buffer_callback=buffers.append)
            parts = [memoryview(content), *(buffer.raw() for buffer in buffers)]
            sizes = [part.nbytes for part in parts]
            sent: Any
            if sum(sizes) >= _LARGE and large:
                sent = _Large(large / uuid.uuid4().hex, sizes)
                with named_in_errors(sent.path), sent.path.open("wb") as file:
                    for part in parts:
                        file.write(part)
                        file.write(bytes(-part.nbytes % _ALIGNED))
            else:
                sent = [bytes(part) for part in parts]
                if sum(sizes) >= _LARGE and client:
                    sent = client.submit(_same, sent, pure=False)
            sent_arguments[id(value)] = value, sent
        return sent_arguments[id(value)][1]

    def submit(key: str, arguments: Sequence[Any]) -> Future[Any]:
        try:
            near = folder if large else None
            return executor.submit(_work, key, cells[key].label, arguments, dict(LOADED), versions(), near)
        except BrokenExecutor:
            raise lost from None
        except RuntimeError as error:
            raise InputError("executor", f"must accept work, but it says: {error}") from error

    def trace_of(key: str, future: Future[Any]) -> str:
        try:
            trace, content = future.result()
            if content:
                write(folder, key, content)
            return str(trace)
        except (BrokenExecutor, CancelledError):
            raise lost from None
        except (OtherVersions, ModuleNotFoundError) as error:
            raise InputError("executor", f"must have workers of the same program, but {error}") from error
        except Exception as error:
            return "".join(traceback.format_exception(error))

    waiting, running = deque(cells), dict[Future[Any], str]()
    ended: queue.SimpleQueue[Future[Any]] = queue.SimpleQueue()
    last_result = time.monotonic()
    try:
        while waiting or running:
            while waiting and len(running) < _WAITING:
                key = waiting.popleft()
                try:
                    arguments = [pack(value) for value in (function, *cells[key].arguments)]
                except Exception:
                    yield key, traceback.format_exc()
                    continue
                future = submit(key, arguments)
                running[future] = key
                future.add_done_callback(ended.put)
            try:
                future = ended.get(timeout=0.5)
            except queue.Empty:
                if is_gone(time.monotonic() - last_result):
                    raise lost from None
                continue
            last_result = time.monotonic()
            key = running.pop(future)
            yield key, trace_of(key, future)
    finally:
        for future in running:
            future.cancel()


def _same(value: Any) -> Any:
    return value


def _compute_in_processes(function: Callable[..., Any], missing: Mapping[str, Cell], folder: Path, n: int) -> Outcomes:
    """Compute cells in n processes. If one dies all are replaced, and what was not finished is computed again.

    A cell that was being computed at two deaths is computed alone from then on, so that it is known whose death the
    next one is: then it is given up.
    """
    todo, n_deaths, n_in_vain = dict(missing), Counter[str](), 0
    _sweep_pools(folder)
    large = folder / f"{_ARGUMENTS}{os.getpid()}-{uuid.uuid4().hex}"
    large.mkdir()
    try:
        while todo:
            chosen = [key for key in todo if n_deaths[key] < 2]
            alone, n_before = not chosen, len(todo)
            chosen = chosen or [next(iter(todo))]
            try:
                with _pool(1 if alone else n) as pool:
                    cells = {key: todo[key] for key in chosen}
                    for key, trace in _compute_by(pool, function, cells, folder, large, _watch(pool)):
                        del todo[key]
                        yield key, trace
            except ExecutorLost:
                # Workers that cannot even begin would be replaced for ever.
                n_in_vain += 1
                if n_in_vain > _IN_VAIN:
                    raise
            for key in chosen:
                mark = folder / f"{_AT}{key}"
                n_deaths[key] += mark.exists()
                mark.unlink(missing_ok=True)
                if key in todo and (folder / f"{key}{SUFFIX}").exists():
                    # Its worker wrote it, and a death came before it could say so.
                    del todo[key]
                    yield key, ""
                elif key in todo and alone:
                    del todo[key]
                    yield key, f"its process died {n_deaths[key]} times: perhaps fewer jobs leave it enough memory"
            n_in_vain = n_in_vain if len(todo) == n_before else 0
    finally:
        shutil.rmtree(large, ignore_errors=True)


@contextmanager
def _pool(n: int) -> Iterator[ProcessPoolExecutor]:
    """Worker processes of joblib's loky, which are killed when the block ends."""
    for name in ("stdout", "stderr"):
        if getattr(sys, name) is None:
            # It was closed before Python began, and loky writes out what is in it.
            setattr(sys, name, open(os.devnull, "w"))  # noqa: SIM115
    env = os.environ | {f"{library}_NUM_THREADS": "1" for library in _THREADS}
    pool = ProcessPoolExecutor(n, timeout=_IDLE, initializer=_begin_worker, initargs=(os.getpid(), sys.path), env=env)
    try:
        yield pool
    finally:
        for process in list((pool._processes or {}).values()):
            with suppress(OSError, AttributeError):
                process.kill()
        # The pool's own end may wait for a lock that a dead worker held.
        end = threading.Thread(target=pool.shutdown, kwargs={"kill_workers": True}, daemon=True)
        end.start()
        end.join(_SILENCE)


def _watch(pool: ProcessPoolExecutor) -> Callable[[float], bool]:
    """Whether a worker of the pool is dead, and nothing has come for some seconds: a pool may wait for it for ever."""
    was_dead = False

    def is_gone(silence: float) -> bool:
        nonlocal was_dead
        before, was_dead = was_dead, any(not each.is_alive() for each in list((pool._processes or {}).values()))
        return before and was_dead and silence > _SILENCE

    return is_gone


@contextmanager
def cluster(address: str) -> Iterator[Executor]:
    """An executor on the dask cluster of a scheduler ("tcp://host:8786"), or on one of N processes here ("local:N").

    A ValueError says that the address is none, that nobody answers there within five seconds, or that the package
    distributed is missing.
    """
    local = re.fullmatch(r"local:([1-9]\d{0,3})", address)
    if not local and not re.fullmatch(r"(?:tcp|tls|ws|wss|ucx)://[^\s/]+:\d+", address):
        raise InputError("cluster", "must be the address of a scheduler, tcp://host:8786, or local:N", address)
    try:
        distributed: Any = import_module("distributed")
    except ModuleNotFoundError:
        raise InputError(
            "cluster needs the package distributed, which is not installed: pip install 'simstudy[cluster]'"
        ) from None
    # A loss is told in one line (ExecutorLost), and not by each part of dask.
    for name in [*logging.root.manager.loggerDict]:
        if name.partition(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).disabled = True
    warnings.filterwarnings("ignore", "Sending large graph")
    workers = {"n_workers": int(local[1]) if local else 0, "threads_per_worker": 1, "dashboard_address": None}
    with distributed.LocalCluster(**workers) if local else nullcontext(address) as scheduler:
        try:
            client = distributed.Client(scheduler, timeout=5)
        except (OSError, TimeoutError, ValueError):
            raise InputError(
                "cluster", f"must be the address of a scheduler, but nobody answers at '{address}'"
            ) from None
        with client:
            yield client.get_executor(pure=False)
