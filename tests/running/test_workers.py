"""Worker processes: whoever dies, nobody waits for them and nothing stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from pickle import PicklingError

import pytest

from simstudy.running.workers import Processes, WorkerDied

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def threads() -> str:
    return os.environ["OPENBLAS_NUM_THREADS"]


def test_the_threads_of_workers_fill_the_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    with Processes(2) as executor:
        assert executor.submit(threads).result() == str(max(1, (os.cpu_count() or 1) // 2))


def fail(x: int) -> int:
    print("noise on the answers' pipe")
    if x == 1:
        raise KeyError("no")
    if x == 2:
        os._exit(3)
    if x == 3:
        os.abort()
    if x == 4:
        raise Unpicklable("of", "two")
    if x == 5:
        sys.exit(7)
    return x


class Unpicklable(Exception):
    """With the text alone, which is all that pickle keeps, none can be made."""

    def __init__(self, text: str, more: str) -> None:
        super().__init__(text + more)


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


def number() -> int:
    time.sleep(0.05)
    return os.getpid()


def test_after_deaths_fewer_workers_go_on_and_the_last_is_replaced() -> None:
    with Processes(3) as executor:
        assert len({future.result() for future in [executor.submit(number) for _ in range(40)]}) == 3
        deaths = [executor.submit(fail, 2) for _ in range(2)]
        assert all(isinstance(death.exception(), WorkerDied) for death in deaths)
        (last,) = {future.result() for future in [executor.submit(number) for _ in range(20)]}
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
        "from simstudy.running.cells import Cell\nfrom simstudy.running.runner import run_cells\n"
        "def double(x): return factor * x\nfactor = 2\n"
        "print(run_cells(double, [Cell(str(x), {'x': x}, (x,)) for x in range(3)], n_jobs=2))\n"
    )
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert result.stdout == "[0, 2, 4]\n", result.stderr


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


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


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


def test_workers_have_the_threads_that_the_user_asks_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "97")
    with Processes(2) as executor:
        assert executor.submit(os.getenv, "OPENBLAS_NUM_THREADS").result() == "97"
