"""Cells at work: the same results on every executor, found again, and named where they fail or kill their workers."""

from __future__ import annotations

import multiprocessing
import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import joblib
import numpy as np
import pytest
from joblib.externals.loky import ProcessPoolExecutor as LokyExecutor
from numpy.typing import NDArray
from threadpoolctl import threadpool_info

from simstudy.running import parallel
from simstudy.running.keys import Cell
from simstudy.running.parallel import CellsFailed, ExecutorLost, cluster, run_cells, sweep

LARGE, SMALL = np.arange(300_000.0), np.arange(4.0)


def summed(array: NDArray[np.float64], factor: int) -> dict[str, Any]:
    print("noise on standard output")
    if factor == -2:
        sys.exit(7)
    if factor < 0:
        raise ValueError(f"factor must not be {factor}")
    threads = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"]
    drawn = np.random.default_rng(factor).normal(size=5).sum()
    return {"sum": float(factor * array.sum() + drawn), "threads": sorted({*threads}), "square": array[:3] ** 2}


WORK = [Cell(f"cell {k}", (array, k)) for k, array in enumerate([LARGE, SMALL, LARGE, LARGE[:100_000]])]


@contextmanager
def here(n_jobs: int) -> Iterator[dict[str, Any]]:
    yield {"n_jobs": n_jobs}


@contextmanager
def by(executor: Executor) -> Iterator[dict[str, Any]]:
    with executor:
        yield {"executor": executor}


@contextmanager
def dask() -> Iterator[dict[str, Any]]:
    pytest.importorskip("distributed", reason="extra 'cluster' is not installed")
    with cluster("local:2") as executor:
        yield {"executor": executor}


@contextmanager
def configured(backend: str) -> Iterator[dict[str, Any]]:
    with joblib.parallel_config(backend=backend, n_jobs=2):
        yield {}


WAYS: dict[str, Callable[[], Any]] = {
    "this process": lambda: here(1),
    "two processes": lambda: here(2),
    "threads": lambda: by(ThreadPoolExecutor(2)),
    "spawned": lambda: by(ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))),
    "dask": dask,
    "joblib's threads": lambda: configured("threading"),
    "joblib's processes": lambda: configured("loky"),
    "joblib, one after the other": lambda: configured("sequential"),
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """Name -> bytes of what one process keeps."""
    folder = tmp_path_factory.mktemp("cells")
    run_cells(summed, WORK, cache=folder)
    return kept(folder)


def kept(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.glob("[!.]*.npz")}


@pytest.mark.parametrize("way", WAYS)
def test_bytes_and_failures_are_the_same_everywhere(
    way: str, tmp_path: Path, undisturbed: dict[str, bytes], capfd: pytest.CaptureFixture[str]
) -> None:
    bad = [Cell("bad", (SMALL, -1)), Cell("left", (SMALL, -2))]
    with WAYS[way]() as options, pytest.raises(CellsFailed) as error:
        run_cells(summed, [*WORK, *bad], cache=tmp_path, **options)
    said = f"2 failed (bad, left), the first with ValueError: factor must not be -1; tracebacks in {tmp_path}"
    assert said in str(error.value)
    assert error.value.failures["left"].strip().endswith("SystemExit: 7")
    assert kept(tmp_path) == undisturbed
    assert len(list(tmp_path.iterdir())) == len(undisturbed) + 2, "two reports, and nothing else"
    seen: list[Cell] = []
    # Found, and not computed again: nothing is asked of an executor that was shut down.
    found = run_cells(summed, WORK, cache=tmp_path, finished=seen.append, **options)
    assert (found[0]["threads"], seen) == ([1], WORK)
    if way == "two processes":
        assert capfd.readouterr().out == "", "what a worker prints does not get between the results"


def test_without_a_cache_nothing_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    assert run_cells(max, [Cell("one", (1, 2)), Cell("two", (4, 3))]) == [2, 4]
    names: dict[str, Any] = {"__name__": "__main__"}
    exec("def typed(x): return x", names)
    assert run_cells(names["typed"], [Cell("typed", (1,))], cache=tmp_path / "cells") == [1]
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_failed_cell_that_is_mended_leaves_no_report(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    with pytest.raises(CellsFailed, match="1 failed"):
        run_cells(exists, [Cell("flag", (str(flag),))], cache=tmp_path)
    assert len(list(tmp_path.glob("*.error.txt"))) == 1
    flag.touch()
    assert run_cells(exists, [Cell("flag", (str(flag),))], cache=tmp_path) == [True]
    assert list(tmp_path.glob("*.error.txt")) == []


def grown(shared: NDArray[np.float64], rows: list[int]) -> float:
    shared += 1
    rows.append(1)
    return float(shared.sum() + len(rows))


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("size", [3, 50_000])
def test_a_cell_that_changes_its_arguments_changes_those_of_no_other(tmp_path: Path, n_jobs: int, size: int) -> None:
    shared, rows = np.zeros(size), [0]
    cells = [Cell(str(k), (shared, rows)) for k in range(3)]
    assert run_cells(grown, cells, n_jobs=n_jobs) == [size + 2.0] * 3
    assert (shared.sum(), rows) == (0, [0])


class Holds:
    """What only cloudpickle can send."""

    def __init__(self) -> None:
        self.rows, self.function = np.arange(50_000), lambda x: x + 1


def applied(holds: Holds, k: int) -> int:
    return int(holds.function(holds.rows[k]))


def test_large_arguments_may_hold_functions_without_names() -> None:
    holds = Holds()
    assert run_cells(applied, [Cell(str(k), (holds, k)) for k in (3, 4)], n_jobs=2) == [4, 5]


def test_failures_of_one_label_are_all_counted() -> None:
    with pytest.raises(CellsFailed, match="^2 failed"):
        run_cells(summed, [Cell("same", (SMALL, -1)), Cell("same", (SMALL, -3))])


def exists(path: str) -> bool:
    if not Path(path).exists():
        raise FileNotFoundError(path)
    return True


def ends(k: int, path: str) -> int:
    """The third cell ends its process each time, the fifth only once."""
    if k == 3 or (k == 5 and not Path(path).exists()):
        Path(path).touch()
        os._exit(7)
    time.sleep(0.05)
    return k


def test_a_cell_that_kills_its_worker_is_named_and_the_others_finish(tmp_path: Path) -> None:
    cells = [Cell(f"cell {k}", (k, str(tmp_path / "flag"))) for k in range(8)]
    with pytest.raises(CellsFailed) as error:
        run_cells(ends, cells, n_jobs=2, cache=tmp_path / "cells")
    assert list(error.value.failures) == ["cell 3"]
    assert "its process died" in error.value.failures["cell 3"]
    assert len(kept(tmp_path / "cells")) == 7
    assert [path.name for path in (tmp_path / "cells").glob(".*")] == []


def test_the_watch_finds_the_processes_of_loky() -> None:
    """`_processes` is loky's own: the pinned versions of joblib have it."""
    with parallel._pool(1) as pool:
        pid = pool.submit(os.getpid).result()
        assert isinstance(pool, LokyExecutor)
        assert [process.pid for process in pool._processes.values()] == [pid]
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    process = SimpleNamespace(is_alive=lambda: dead.poll() is None)
    watch = parallel._watch(SimpleNamespace(_processes={1: process}))
    assert [watch(99), watch(0), watch(99)] == [False, False, True], "seen dead twice, and silent"


class Stuck(Executor):
    """Takes calls and never answers."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        return Future()


def test_a_pool_that_is_silent_after_a_death_is_given_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls = parallel._compute_by(
        Stuck(), max, {"a": Cell("a", (1, 2))}, tmp_path, is_gone=lambda silence: silence > 0.3
    )
    with pytest.raises(ExecutorLost, match="the executor is gone; finished cells are kept"):
        list(calls)


class Broken(ThreadPoolExecutor):
    """Breaks at some call."""

    left = 2

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.left -= 1
        if self.left < 0:
            raise BrokenProcessPool("it is dead")
        return super().submit(fn, *args, **kwargs)


def test_an_executor_that_breaks_ends_the_run_with_what_it_had(tmp_path: Path) -> None:
    with pytest.raises(ExecutorLost), Broken(1) as executor:
        run_cells(summed, WORK, executor=executor, cache=tmp_path)
    assert 0 <= len(kept(tmp_path)) <= 2
    run_cells(summed, WORK, cache=tmp_path)
    assert len(kept(tmp_path)) == 4


def test_workers_of_other_versions_are_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    class Elsewhere(ThreadPoolExecutor):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            monkeypatch.setattr(parallel, "versions", lambda: {"numpy": "1.0"})
            return super().submit(fn, *args, **kwargs)

    with Elsewhere(1) as executor, pytest.raises(ValueError, match="same program, but one has {'numpy': '1.0'}, not {"):
        run_cells(summed, WORK[:1], executor=executor)


def test_what_cannot_do_the_work_is_refused() -> None:
    with (
        joblib.parallel_config(backend="multiprocessing"),
        pytest.raises(ValueError, match="backend 'multiprocessing', but cells run on loky, threading, sequential, or"),
    ):
        run_cells(summed, WORK)
    with pytest.raises(ValueError, match=r"executor must be .*Executor .*get_executor.*, or None, not 2"):
        run_cells(summed, WORK, executor=2)  # type: ignore[arg-type]
    shut = ThreadPoolExecutor(1)
    shut.shutdown()
    with pytest.raises(ValueError, match=r"executor must accept work, but it says: .*shutdown"):
        run_cells(summed, WORK, executor=shut)


def test_an_argument_that_cannot_be_sent_fails_its_cell_alone(tmp_path: Path) -> None:
    cells = [Cell("lock", (threading.Lock(), 1)), Cell("one", (1, 2))]
    with pytest.raises(CellsFailed, match="1 failed \\(lock\\)"):
        run_cells(max, cells, n_jobs=2, cache=tmp_path)


def test_what_killed_processes_left_is_swept_away(tmp_path: Path) -> None:
    for name in (".half.npz", ".at-" + "a" * 32, "a.npz", "a.error.txt"):
        (tmp_path / name).touch()
    (tmp_path / ".arguments-1").mkdir()
    (tmp_path / ".arguments-1" / "x").touch()
    sweep(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.error.txt", "a.npz"]


@pytest.mark.parametrize("address", ["host:8786", "local:0", "local:two", "tcp://host", "http://host:1", "tcp://a b:1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"cluster must be the address of a scheduler, tcp://host:8786, or local:N"):
        cluster(address).__enter__()


def test_a_missing_package_and_an_address_where_nobody_answers_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="extra 'cluster' is not installed")

    def nobody(_: str, timeout: float) -> None:
        assert timeout < 10
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr(distributed, "Client", nobody)
    with pytest.raises(ValueError, match="nobody answers at 'tcp://127.0.0.1:9'"):
        cluster("tcp://127.0.0.1:9").__enter__()
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"needs the package distributed.*pip install 'simstudy\[cluster\]'"):
        cluster("local:1").__enter__()


@contextmanager
def scheduled(n_workers: int) -> Iterator[tuple[str, subprocess.Popen[bytes], list[subprocess.Popen[bytes]]]]:
    """The address of a scheduler, and its process and those of its workers."""
    pytest.importorskip("distributed", reason="extra 'cluster' is not installed")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{probe.getsockname()[1]}"
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    options = ["--host", "127.0.0.1", "--port", address.rpartition(":")[2], "--no-dashboard"]
    scheduler = subprocess.Popen([sys.executable, "-m", "distributed.cli.dask_scheduler", *options], **quiet)
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", int(options[3]))) == 0:
                break
        time.sleep(0.1)
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny"]
    workers = [subprocess.Popen(worker, **quiet) for _ in range(n_workers)]
    try:
        yield address, scheduler, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


def slept(seconds: float, k: int) -> int:
    time.sleep(seconds)
    return k


@pytest.mark.slow
def test_workers_of_a_cluster_die_and_the_bytes_are_the_same(tmp_path: Path) -> None:
    cells = [Cell(f"cell {k}", (0.2, k)) for k in range(40)]
    with scheduled(4) as (address, _, workers), cluster(address) as executor:
        executor._client.wait_for_workers(4, timeout=60)  # type: ignore[attr-defined]
        done: list[Cell] = []

        def kill_some(cell: Cell) -> None:
            done.append(cell)
            if len(done) in (5, 15):
                workers[len(done) // 10].kill()

        run_cells(slept, cells, executor=executor, cache=tmp_path / "dask", finished=kill_some)
    run_cells(slept, [Cell(cell.label, cell.arguments) for cell in cells], n_jobs=2, cache=tmp_path / "here")
    assert kept(tmp_path / "dask") == kept(tmp_path / "here")


@pytest.mark.slow
def test_a_scheduler_that_dies_is_one_line_and_the_run_goes_on_from_there(tmp_path: Path) -> None:
    """In a process of its own, since dask writes to standard error from its threads."""
    program = (
        "import sys; from pathlib import Path; from simstudy.running.keys import Cell\n"
        "from simstudy.running.parallel import ExecutorLost, cluster, run_cells\n"
        "from tests.running.test_parallel import scheduled, slept\n"
        "cells, done = [Cell(str(k), (0.3, k)) for k in range(40)], []\n"
        "with scheduled(2) as (address, scheduler, _), cluster(address) as executor:\n"
        "    def kill(cell):\n"
        "        done.append(cell)\n"
        "        len(done) == 3 and scheduler.kill()\n"
        "    try:\n"
        "        run_cells(slept, cells, executor=executor, cache=Path(sys.argv[1]), finished=kill)\n"
        "    except ExecutorLost as error:\n"
        "        print(error, file=sys.stderr)\n"
    )
    ended = subprocess.run([sys.executable, "-c", program, str(tmp_path)], capture_output=True, text=True, timeout=180)
    assert ended.returncode == 0, ended.stderr
    (line,) = ended.stderr.splitlines()
    assert line.startswith("the scheduler at tcp://127.0.0.1:")
    assert "is gone; finished cells are kept" in line
    assert 3 <= len(kept(tmp_path)) < 40
