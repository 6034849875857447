"""Cells run on any executor, with the same results; what an executor cannot do is said in one line."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pytest
from numpy.typing import NDArray

from simstudy.running.cells import Cell
from simstudy.running.provenance import program_of
from simstudy.running.runner import CellsFailed, run_cells, states
from simstudy.running.workers import Processes
from simstudy.training.resampling import resample_training
from tests.truth.test_resampled import iris


@contextmanager
def dask() -> Iterator[Executor]:
    """Two worker processes of a scheduler, as a cluster has them."""
    distributed = pytest.importorskip("distributed", reason="extra 'cluster' is not installed")
    with (
        distributed.LocalCluster(2, processes=True, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
        client.get_executor(pure=False) as executor,
    ):
        yield executor


def spawned() -> Executor:
    return ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn"))


EXECUTORS: dict[str, Callable[[], Any]] = {
    "processes": lambda: Processes(2),
    "threads": lambda: ThreadPoolExecutor(2),
    "spawned": spawned,
    "dask": dask,
}


@pytest.fixture(params=EXECUTORS, scope="module")
def executor(request: pytest.FixtureRequest) -> Iterator[Executor]:
    with EXECUTORS[request.param]() as one:
        yield one


def summed(array: NDArray[np.float64], factor: int) -> dict[str, Any]:
    if factor < 0:
        raise ValueError(f"factor must not be {factor}")
    return {"sum": float(factor * array.sum()), "shared": not array.flags.writeable, "square": array[:3] ** 2}


def test_results_failures_and_what_is_kept_are_the_same_on_every_executor(executor: Executor, tmp_path: Path) -> None:
    large, small = np.arange(300_000.0), np.arange(4.0)
    work = [Cell(f"cell {k}", {"k": k}, (array, k)) for k, array in enumerate([large, small, large, large[:100_000]])]
    with pytest.raises(CellsFailed, match=r"1 failed \(bad\), the first with ValueError: factor must not be -1;"):
        run_cells(summed, [*work, Cell("bad", {}, (small, -1))], executor=executor, cache=tmp_path)
    assert len(list(tmp_path.glob("*.cell"))) == 4
    (report,) = {path.name for path in tmp_path.iterdir() if path.suffix != ".cell"} - {"seconds.txt"}
    assert report.endswith(".error.txt")
    # Found, not computed again: nothing is asked of the executor.
    found = run_cells(summed, work, executor=executor, cache=tmp_path)
    for k, (result, cell) in enumerate(zip(found, work, strict=True)):
        array = cell.arguments[0]
        assert result["sum"] == k * array.sum()
        assert result["shared"] == (array.nbytes > 2**16)
        np.testing.assert_array_equal(result["square"], [0, 1, 4])
    listed = states(summed, [*work, Cell("bad", {}, (small, -1)), Cell("new", {"k": 9}, (small, 9))], tmp_path)
    assert listed["state"].tolist() == ["done"] * 4 + ["failed", "missing"]
    assert (listed["seconds"][:4] >= 0).all()
    assert listed["bytes"][:4].tolist() == [
        next(
            path.stat().st_size
            for path in tmp_path.glob("*.cell")
            if f'"label": "cell {k}"'.encode() in path.read_bytes()
        )
        for k in range(4)
    ]
    assert listed[["seconds", "bytes"]][4:].isna().all(axis=None)


def test_systems_train_to_the_last_bit_the_same_on_every_executor(executor: Executor) -> None:
    here = resample_training(iris(), fractions=[1.0], replicates=[2])["test"]
    there = resample_training(iris(), fractions=[1.0], replicates=[2], executor=executor)["test"]
    np.testing.assert_array_equal(there.statistics, here.statistics)


def where(x: int) -> tuple[bool, bool]:
    time.sleep(0.1)
    return os.getpid() == PARENT, threading.current_thread() is threading.main_thread()


PARENT = int(os.environ.setdefault("SIMSTUDY_TEST_PARENT", str(os.getpid())))


@pytest.mark.parametrize(
    ("backend", "n_jobs", "found"),
    [
        ("threading", 2, (True, False)),
        ("loky", 2, (False, True)),
        ("sequential", 2, (True, True)),
        ("loky", 1, (True, True)),
        (None, None, (True, True)),
    ],
)
def test_joblibs_configuration_says_where_and_with_how_many(
    backend: str | None, n_jobs: int | None, found: tuple[bool, bool]
) -> None:
    os.environ["SIMSTUDY_TEST_PARENT"] = str(os.getpid())
    work = [Cell(str(x), {"x": x}, (x,)) for x in range(4)]
    options = {"n_jobs": n_jobs} | ({"backend": backend} if backend else {})
    with joblib.parallel_config(**options):
        assert set(run_cells(where, work)) == {found}
    with joblib.parallel_config(**options):
        # What is asked for counts more.
        assert set(run_cells(where, work, n_jobs=1)) == {(True, True)}


def test_another_backend_of_joblib_is_refused_with_those_that_are_served() -> None:
    with (
        joblib.parallel_config(backend="multiprocessing"),
        pytest.raises(
            ValueError, match="backend 'multiprocessing', but cells run on loky, threading, sequential, or on"
        ),
    ):
        run_cells(where, [Cell("one", {}, (1,))])


def test_an_executor_that_takes_no_work_is_said(tmp_path: Path) -> None:
    work = [Cell("one", {}, (1,))]
    for shut in (Processes(1), ThreadPoolExecutor(1)):
        shut.shutdown()
        with pytest.raises(ValueError, match=r"executor must take work, but it says: .*shut ?down"):
            run_cells(where, work, executor=shut)
    with pytest.raises(ValueError, match=r"executor must be a concurrent.futures.Executor, or None, not 2"):
        run_cells(where, work, executor=2)  # type: ignore[arg-type]


def test_a_pool_that_breaks_ends_the_run_with_what_it_had(tmp_path: Path) -> None:
    work = [Cell(str(x), {"x": x}, (x,)) for x in range(4)]
    with spawned() as pool, pytest.raises(CellsFailed, match=r"BrokenProcessPool: ") as error:
        run_cells(ends, work, executor=pool, cache=tmp_path)
    assert "2" in error.value.failures


def ends(x: int) -> int:
    if x == 2:
        os._exit(1)
    return x


WITHOUT = """
import sys
from concurrent.futures import Executor, Future
from simstudy.running.cells import Cell
from simstudy.running.runner import run_cells

class Elsewhere(Executor):
    '''Another Python, which has other versions or no simstudy.'''
    def submit(self, fn, /, content):
        import base64, subprocess
        future = Future()
        program = "import sys, pickle, base64\\n" + PATCH + '''
try:
    answer = pickle.loads(base64.b64decode(sys.stdin.read()))
except Exception as error:
    answer = error
print(base64.b64encode(pickle.dumps((type(answer).__name__, str(answer)))).decode())
'''
        line = [sys.executable, "-c", program]
        out = subprocess.run(line, input=base64.b64encode(content).decode(), capture_output=True, text=True, check=True)
        import builtins, pickle
        from simstudy.running.calls import OtherProgram
        name, said = pickle.loads(base64.b64decode(out.stdout.strip().splitlines()[-1]))
        future.set_exception({"OtherProgram": OtherProgram}.get(name, getattr(builtins, name, None))(said))
        return future

PATCH = sys.argv[1]
try:
    run_cells(max, [Cell("one", {}, (1, 2))], executor=Elsewhere())
except ValueError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("patch", "said"),
    [
        (
            "sys.modules['simstudy.running.calls'] = None",
            "executor must have workers of the same program, but import of simstudy.running.calls halted",
        ),
        (
            "import simstudy.running.provenance as p; p._python = lambda: '3.99'",
            "executor must have workers of the same program, but python is 3.99, not 3.",
        ),
    ],
)
def test_workers_of_another_program_are_refused_by_name(patch: str, said: str) -> None:
    result = subprocess.run([sys.executable, "-c", WITHOUT, patch], capture_output=True, text=True, timeout=120)
    assert result.stdout.startswith(said), (result.stdout, result.stderr)


def test_arrays_of_a_run_that_was_killed_go_with_the_next(tmp_path: Path) -> None:
    script = f"""
import os, signal, time
import numpy as np
from pathlib import Path
from simstudy.running.cells import Cell
from simstudy.running.runner import run_cells
def kill(array, parent):
    os.kill(parent, signal.SIGKILL)
    time.sleep(60)  # the worker goes with its parent
array = np.zeros(100_000)
cells = [Cell(str(x), {{"x": x}}, (array, os.getpid())) for x in range(2)]
run_cells(kill, cells, n_jobs=2, cache=Path({str(tmp_path)!r}))
"""
    process = subprocess.run([sys.executable, "-c", script], timeout=60, check=False)
    assert process.returncode == -9
    assert [path.name.startswith(".arrays-") for path in tmp_path.iterdir() if path.suffix != ".cell"] == [True]
    run_cells(summed, [Cell(str(x), {"x": x}, (np.arange(9.0), x)) for x in range(2)], n_jobs=2, cache=tmp_path)
    assert {path.suffix for path in tmp_path.iterdir()} == {".cell", ".txt"}


def test_the_program_of_a_cell_says_what_workers_must_have() -> None:
    assert {"python", "numpy"} <= program_of(summed).keys()


def test_cells_are_at_work_at_the_same_time() -> None:
    together = threading.Barrier(2, timeout=20)

    def meet(_: int) -> int:
        # Alone it waits for the other until the barrier breaks, which fails the cell.
        return int(together.wait() >= 0)

    # The barrier is the test's: threads call what has no pickle by name.
    MEETING["one"] = meet
    with ThreadPoolExecutor(2) as executor:
        assert run_cells(met, [Cell(str(k), {"k": k}, (k,)) for k in range(2)], executor=executor) == [1, 1]


MEETING: dict[str, Any] = {}


def met(k: int) -> int:
    found: int = MEETING["one"](k)
    return found
