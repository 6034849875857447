"""Worker processes: whoever dies, nobody waits for them and nothing stays behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from pickle import PicklingError

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from simstudy.running import workers
from simstudy.running.cells import Cell
from simstudy.running.runner import CellsFailed, run_cells
from simstudy.running.workers import Processes, WorkerDied
from tests.running.at_work import alone, fail, number

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def n_blas_threads() -> set[int]:
    np.ones((2, 2)) @ np.ones((2, 2))
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


@pytest.mark.parametrize("n_workers", [1, 2])
def test_a_worker_has_one_blas_thread_whatever_the_environment_says(
    monkeypatch: pytest.MonkeyPatch, n_workers: int
) -> None:
    """A sum that threads share is rounded differently: a result would depend on `--jobs` and the cores."""
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    with Processes(n_workers) as executor:
        assert executor.submit(n_blas_threads).result() == {1}


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


@pytest.fixture
def _interruptible() -> Iterator[None]:
    """Whoever runs the tests may ignore interrupts, as shells do behind &, and what they start ignores them too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_interruptible")
def test_a_worker_reads_nothing_ignores_interrupts_and_serves_call_after_call() -> None:
    with Processes(3) as executor:
        found = []
        for _ in range(3):
            found.append(executor.submit(alone).result(timeout=60))
            # Whoever has answered is free a moment later.
            time.sleep(0.1)
        assert executor.submit(divmod, 7, 2).result() == (3, 1)
    assert {text for text, _ in found} == {""}
    assert len({pid for _, pid in found}) == 1, "no more workers than calls wait"
    assert found[0][1] != os.getpid()


def test_a_block_that_raises_waits_for_no_call() -> None:
    with suppress(KeyError), Processes(1) as executor:
        future = executor.submit(time.sleep, 1000)
        raise KeyError
    assert future.cancelled() or isinstance(future.exception(timeout=0), WorkerDied)


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (0, "ended with exit code 0"),
        (3, "ended with exit code 3"),
        (-signal.SIGKILL, "was killed by SIGKILL, perhaps for want of memory"),
        (-signal.SIGTERM, "was killed by SIGTERM"),
        (-250, "was killed by signal 250"),
    ],
)
def test_how_a_worker_ended_is_told(code: int, said: str) -> None:
    assert workers._cause(code) == said


def test_calls_that_raise_exit_or_abort_are_told_apart() -> None:
    with Processes(4) as executor:
        futures = [executor.submit(fail, x) for x in range(6)]
    assert futures[0].result() == 0
    for future, kind, said in zip(
        futures[1:],
        [KeyError, WorkerDied, WorkerDied, RuntimeError, SystemExit],
        ["^'no'$", "^ended with exit code 3$", "^was killed by SIGABRT$", "Unpicklable: oftwo", "^7$"],
        strict=True,
    ):
        with pytest.raises(kind, match=said):
            future.result()


def test_what_cannot_be_sent_is_told(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file, Processes(1) as executor:
        with pytest.raises(PicklingError, match="Cannot pickle files"):
            executor.submit(fail, file).result()  # type: ignore[arg-type]
        assert executor.submit(fail, 0).result() == 0


def test_after_deaths_fewer_workers_go_on_and_the_last_is_replaced() -> None:
    with Processes(3) as executor:
        assert len({future.result() for future in [executor.submit(number) for _ in range(20)]}) == 3
        deaths = [executor.submit(fail, 2) for _ in range(2)]
        assert all(isinstance(death.exception(), WorkerDied) for death in deaths)
        (last,) = {future.result() for future in [executor.submit(number) for _ in range(6)]}
        assert isinstance(executor.submit(fail, 2).exception(), WorkerDied)
        (new,) = {future.result() for future in [executor.submit(number) for _ in range(5)]}
    assert new != last


def test_calls_that_nobody_waits_for_any_more_are_cancelled() -> None:
    executor = Processes(1)
    executor.submit(number).result()
    begun, *waiting = [executor.submit(time.sleep, 1000) for _ in range(4)]
    while not begun.running():
        time.sleep(0.01)
    executor.kill_workers()
    assert isinstance(begun.exception(), WorkerDied)
    assert all(future.cancelled() for future in waiting)
    with pytest.raises(RuntimeError, match="the executor was shut down"):
        executor.submit(number)


def test_functions_of_a_script_run(tmp_path: Path) -> None:
    """Without `if __name__ == "__main__"`, as scripts and notebooks are written."""
    script = tmp_path / "script.py"
    script.write_text(
        "from simstudy.running.workers import Processes\n"
        "def double(x): return factor * x\nfactor = 2\n"
        "with Processes(2) as executor: print(list(executor.map(double, range(3))))\n"
    )
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert result.stdout == "[0, 2, 4]\n", result.stderr


def goes_wrong(how: str, folder: str) -> str:
    """What cells do to their processes; the number of one that is forked is written into the folder."""
    if how == "is killed once" and not Path(folder, "tried").exists():
        Path(folder, "tried").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if how not in ("sleeps", "parent dies", "comes back", "comes back first", "ends"):
        return how
    child = os.fork()
    if child == 0:
        if how in ("sleeps", "parent dies"):
            time.sleep(1000)
        if how == "ends":
            os._exit(0)
        return "of the child"
    Path(folder, how).write_text(str(child))
    if how in ("ends", "comes back first"):
        os.waitpid(child, 0)
    if how == "parent dies":
        os._exit(4)
    return how


def test_cells_that_fork_die_or_kill_are_named_the_others_finish_and_nobody_stays(tmp_path: Path) -> None:
    """A process that is forked and ends is nobody's matter; one that stays, or goes on as if it were the cell, is."""
    hows = ["rests", "parent dies", "sleeps", "comes back", "is killed once", "comes back first", "ends", "rests too"]
    work = [Cell(how, {"how": how}, (how, str(tmp_path))) for how in hows]
    with pytest.raises(CellsFailed) as error, Processes(2) as executor:
        run_cells(goes_wrong, work, executor=executor, cache=tmp_path / "cells")
    assert list(error.value.failures) == ["comes back", "comes back first", "parent dies", "sleeps"]
    died = error.value.failures.pop("parent dies")
    assert died == "its process ended with exit code 4, twice: fewer jobs need less"
    for trace in error.value.failures.values():
        assert trace.endswith("RuntimeError: it forked a process that had not ended when the function returned\n")
    assert len(list((tmp_path / "cells").glob("*.cell"))) == 4
    deadline = time.monotonic() + 20
    while any(alive((tmp_path / how).read_text()) for how in hows if (tmp_path / how).exists()):
        assert time.monotonic() < deadline, "what a cell forked lives"
        time.sleep(0.01)
    kept = [cell for cell in work if cell.label in ("rests", "is killed once", "ends", "rests too")]
    assert run_cells(goes_wrong, kept, cache=tmp_path / "cells") == [cell.label for cell in kept]


LONG = """
import sys, time
from simstudy.running.workers import Processes
def wait(path):
    import os, time
    open(path, "w").write(str(os.getpid()))
    while True:
        time.sleep(1)
with Processes(2) as executor:
    list(executor.map(wait, [f"{sys.argv[1]}/{k}" for k in range(2)]))
"""


@pytest.mark.parametrize("how", ["kill", "terminate"])
def test_workers_do_not_outlive_their_parent(tmp_path: Path, how: str) -> None:
    process = subprocess.Popen([sys.executable, "-c", LONG, str(tmp_path)], stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while len([path for path in tmp_path.iterdir() if path.read_text()]) < 2:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    workers = [path.read_text() for path in tmp_path.iterdir()]
    assert all(map(alive, workers))
    for pid in (*workers, str(process.pid)):
        assert "/dev/shm" not in Path(f"/proc/{pid}/maps").read_text(), "shared memory that could stay behind"
    getattr(process, how)()
    process.wait()
    while any(map(alive, workers)):
        assert time.monotonic() < deadline, "workers of a dead parent live"
        time.sleep(0.02)


def test_fewer_workers_where_the_system_allows_no_more(tmp_path: Path) -> None:
    """Many jobs under a small limit of open files: the work is done by as many as there may be."""
    script = """
import resource, sys
from pathlib import Path
from simstudy.running.workers import Processes
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
def nothing(x): pass
try:
    with Processes(20) as executor:
        print(len(list(executor.map(nothing, range(20)))))
except OSError as error:
    print(error)
"""
    for limit, said in ((18, "20"), (5, "no worker process could be started (Too many open files)")):
        line = [sys.executable, "-c", script, str(limit)]
        result = subprocess.run(line, capture_output=True, text=True, timeout=120)
        assert said in result.stdout, (limit, result.stdout, result.stderr)
