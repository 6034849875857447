"""Worker processes: whoever dies, nobody waits for them and nothing stays behind."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from simstudy.workers import call_in_processes

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")


def write_sum(array: np.ndarray, path: str) -> None:
    Path(path).write_text(f"{array.sum()} {array.flags.writeable} {os.environ['OPENBLAS_NUM_THREADS']}")


def test_large_arrays_are_shared_and_come_unchanged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    large, small = np.arange(300_000.0), np.arange(3)
    tasks = [(array, str(tmp_path / f"{k}")) for k, array in enumerate([large, small, large, large[:200_000]])]
    assert sorted(ended.task for ended in call_in_processes(write_sum, tasks, 2)) == [0, 1, 2, 3]
    threads = max(1, (os.cpu_count() or 1) // 2)
    for (array, path), mapped in zip(tasks, [True, False, True, True], strict=True):
        assert Path(path).read_text() == f"{array.sum()} {not mapped} {threads}"


def fail(x: int) -> None:
    print("noise on the answers' pipe")
    if x == 1:
        raise RuntimeError("no")
    if x == 2:
        os._exit(3)
    if x == 3:
        os.abort()


def test_calls_that_raise_exit_or_abort_are_told_apart() -> None:
    found = {ended.task: ended for ended in call_in_processes(fail, [(x,) for x in range(4)], 4)}
    assert found[0].trace == found[0].died == ""
    assert found[1].trace.endswith("RuntimeError: no\n")
    assert found[2].died == "ended with exit code 3"
    assert found[3].died == "was killed by SIGABRT"


def test_what_cannot_be_sent_is_told(tmp_path: Path) -> None:
    with (tmp_path / "file").open("w") as file:
        found = list(call_in_processes(fail, [(file,), (0,)], 2))
    traces = {ended.task: ended.trace for ended in found}
    assert "PicklingError: Cannot pickle files" in traces[0]
    assert traces[1] == ""


def test_functions_of_a_script_run(tmp_path: Path) -> None:
    """Without `if __name__ == "__main__"`, as scripts and notebooks are written."""
    script = tmp_path / "script.py"
    script.write_text(
        "from simstudy.cells import Cell\nfrom simstudy.runner import run_cells\n"
        "def double(x): return factor * x\nfactor = 2\n"
        "print(run_cells(double, [Cell(str(x), {'x': x}, (x,)) for x in range(3)], n_jobs=2))\n"
    )
    result = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=60)
    assert result.stdout == "[0, 2, 4]\n", result.stderr


LONG = """
import sys, time
from simstudy.workers import call_in_processes
def wait(path):
    import os, time
    open(path, "w").write(str(os.getpid()))
    while True:
        time.sleep(1)
list(call_in_processes(wait, [(f"{sys.argv[1]}/{k}",) for k in range(2)], 2))
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
from simstudy.workers import call_in_processes
resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[1]), int(sys.argv[1])))
def nothing(x): pass
try:
    print(len(list(call_in_processes(nothing, [(x,) for x in range(20)], 20))))
except OSError as error:
    print(error)
"""
    for limit, said in ((18, "20"), (5, "no worker process could be started (Too many open files)")):
        line = [sys.executable, "-c", script, str(limit)]
        result = subprocess.run(line, capture_output=True, text=True, timeout=120)
        assert said in result.stdout, (limit, result.stdout, result.stderr)
