from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from simstudy.running import runner
from simstudy.running.cells import Cell
from simstudy.running.fingerprints import describe, fingerprint
from simstudy.running.runner import CellsFailed, n_workers, run_cells
from simstudy.running.workers import Processes


def square(x: int, log: str) -> int:
    with Path(log).open("a") as lines:
        lines.write(f"{x}\n")
    if x < 0:
        raise ValueError(f"no root of {x}")
    return x * x


def cells(numbers: list[int], log: Path) -> list[Cell]:
    return [Cell(f"square of {x}", {"x": x}, (x, str(log))) for x in numbers]


def logged(log: Path) -> list[int]:
    return sorted(int(line) for line in log.read_text().splitlines()) if log.exists() else []


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_come_in_order_and_are_made_once(tmp_path: Path, n_jobs: int) -> None:
    log, cache = tmp_path / "log", tmp_path / "cells"
    assert run_cells(square, cells([3, 1, 2], log), n_jobs=n_jobs, cache=cache) == [9, 1, 4]
    done: list[str] = []
    more = run_cells(square, cells([5, 2, 3], log), n_jobs=n_jobs, cache=cache, finished=lambda c: done.append(c.label))
    assert more == [25, 4, 9]
    assert logged(log) == [1, 2, 3, 5]
    assert sorted(done) == ["square of 2", "square of 3", "square of 5"]


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_failed_cell_is_named_and_the_others_finish(tmp_path: Path, n_jobs: int) -> None:
    log, cache = tmp_path / "log", tmp_path / "cells"
    with pytest.raises(
        CellsFailed, match=r"1 failed \(square of -1\), the first with ValueError: no root of -1; tracebacks in"
    ) as error:
        run_cells(square, cells([2, -1, 3], log), n_jobs=n_jobs, cache=cache)
    assert list(error.value.failures) == ["square of -1"]
    (report,) = cache.glob("*.error.txt")
    assert "square of -1" in report.read_text()
    assert "no root of -1" in report.read_text()
    assert len(list(cache.glob("*.cell"))) == 2
    # Failures are not kept as results: only the missing cell runs again.
    with pytest.raises(CellsFailed):
        run_cells(square, cells([2, -1, 3], log), n_jobs=n_jobs, cache=cache)
    assert logged(log) == [-1, -1, 2, 3]


def test_a_damaged_result_is_made_again(tmp_path: Path) -> None:
    log, cache = tmp_path / "log", tmp_path / "cells"
    run_cells(square, cells([4], log), cache=cache)
    (kept,) = cache.glob("*.cell")
    kept.write_bytes(kept.read_bytes()[:-3])
    assert run_cells(square, cells([4], log), cache=cache) == [16]
    assert logged(log) == [4, 4]


def test_another_cells_result_is_not_taken(tmp_path: Path) -> None:
    log, cache = tmp_path / "log", tmp_path / "cells"
    run_cells(square, cells([4], log), cache=cache)
    (kept,) = cache.glob("*.cell")
    content = kept.read_bytes()
    kept.unlink()
    run_cells(square, cells([5], log), cache=cache)
    (other,) = cache.glob("*.cell")
    other.write_bytes(content)
    assert run_cells(square, cells([5], log), cache=cache) == [25]
    assert logged(log) == [4, 5, 5]


def slow_square(x: int, log: str) -> int:
    time.sleep(0.2)
    return square(x, log)


def test_killed_work_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    cache, log = tmp_path / "cells", tmp_path / "log"
    script = f"""
from pathlib import Path
from simstudy.running.runner import run_cells
from tests.running.test_runner import cells, slow_square
run_cells(slow_square, cells(list(range(12)), Path({str(log)!r})), cache=Path({str(cache)!r}))
"""
    process = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 60
    while len(list(cache.glob("*.cell"))) < 2:
        assert time.monotonic() < deadline, "nothing was kept"
        time.sleep(0.02)
    process.kill()
    process.wait()
    kept = len(list(cache.glob("*.cell")))
    log.unlink()
    assert run_cells(slow_square, cells(list(range(12)), log), n_jobs=2, cache=cache) == [x * x for x in range(12)]
    assert len(logged(log)) == 12 - kept


def dies(x: int, folder: str) -> int:
    """Kill this process: always for 0, the first time for 1."""
    first = Path(folder) / f"tried-{x}"
    if x == 0 or (x == 1 and not first.exists()):
        first.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def test_a_cell_whose_process_dies_is_tried_once_more_and_named(tmp_path: Path) -> None:
    """No hang, all others finish; the one that is killed again is named with what killed it."""
    work = [Cell(f"cell {x}", {"x": x}, (x, str(tmp_path))) for x in range(6)]
    with pytest.raises(
        CellsFailed, match=r"1 failed \(cell 0\), the first with its process was killed by SIGKILL"
    ) as error:
        run_cells(dies, work, n_jobs=2, cache=tmp_path / "cells")
    assert list(error.value.failures) == ["cell 0"]
    assert len(list((tmp_path / "cells").glob("*.cell"))) == 5


def needs_memory(x: str, folder: str) -> str:
    """Of two cells one holds the memory for a while, and the other is killed as long as it does."""
    held = Path(folder) / "held"
    if x == "holds":
        held.touch()
        time.sleep(4)
        held.rename(held.with_name("free"))
    elif x == "is hungry":
        while not (held.exists() or held.with_name("free").exists()):
            time.sleep(0.01)
        if held.exists():
            os.kill(os.getpid(), signal.SIGKILL)
    return x


def test_a_killed_cell_is_tried_again_when_the_others_are_done(tmp_path: Path) -> None:
    """Then there may be room for it; at once it would be killed twice."""
    names = ["holds", "is hungry", "rests"]
    work = [Cell(x, {"x": x}, (x, str(tmp_path))) for x in names]
    with Processes(3) as executor:
        assert run_cells(needs_memory, work, executor=executor) == names


def leaves(how: str) -> str:
    if how == "exit":
        sys.exit(3)
    if how == "end":
        os._exit(3)
    return how


def run_in(n: int, function: Callable[..., object], work: list[Cell], cache: Path | None = None) -> list[object]:
    """In worker processes, though it be one."""
    with Processes(n) as executor:
        return run_cells(function, work, executor=executor, cache=cache)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_cell_that_ends_its_process_is_named_and_the_others_finish(tmp_path: Path, n_jobs: int) -> None:
    work = [Cell(f"cell {how}", {"how": how}, (how,)) for how in ("exit", "end", "stay", "rest")]
    with pytest.raises(CellsFailed) as error:
        run_in(n_jobs, leaves, work, tmp_path)
    ended = "its process ended with exit code 3, twice" + (": fewer jobs need less" if n_jobs > 1 else "")
    assert error.value.failures["cell end"] == ended
    assert error.value.failures["cell exit"].endswith("\nSystemExit: 3\n")
    assert len(list(tmp_path.glob("*.cell"))) == 2


def test_a_cell_that_exits_is_named_where_it_is_called_here(tmp_path: Path) -> None:
    work = [Cell(f"cell {how}", {"how": how}, (how,)) for how in ("exit", "stay")]
    with pytest.raises(CellsFailed, match=r"1 failed \(cell exit\), the first with SystemExit: 3"):
        run_cells(leaves, work, cache=tmp_path)


def forks(how: str, folder: str) -> str:
    """What a cell may do with a process that it forks: the number of that process is written into the folder."""
    if how in ("none", "also none"):
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


def alive(pid: str) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_a_cell_that_forks_is_named_and_what_it_forked_is_ended(tmp_path: Path, n_jobs: int) -> None:
    """A process that is forked and ends is nobody's matter; one that stays, or goes on as if it were the cell, is."""
    hows = ("none", "sleeps", "comes back", "comes back first", "ends", "also none")
    work = [Cell(f"cell {how}", {"how": how}, (how, str(tmp_path))) for how in hows]
    with pytest.raises(CellsFailed) as error:
        run_in(n_jobs, forks, work, tmp_path / "cells")
    assert list(error.value.failures) == ["cell comes back", "cell comes back first", "cell sleeps"]
    for trace in error.value.failures.values():
        assert trace.endswith("RuntimeError: it forked a process that had not ended when the function returned\n")
    assert len(list((tmp_path / "cells").glob("*.cell"))) == 3
    deadline = time.monotonic() + 20
    while any(alive((tmp_path / how).read_text()) for how in hows if "none" not in how):
        assert time.monotonic() < deadline, "what a cell forked lives"
        time.sleep(0.01)
    kept = [cell for cell in work if cell.label in ("cell none", "cell ends", "cell also none")]
    assert run_cells(forks, kept, cache=tmp_path / "cells") == ["none", "ends", "also none"]


def test_what_a_dying_process_forked_keeps_nobody_waiting(tmp_path: Path) -> None:
    (tmp_path / "tried").mkdir()
    cell = Cell("cell", {}, ("parent dies", str(tmp_path / "tried")))
    with pytest.raises(CellsFailed, match=r"\(cell\), the first with its process ended with exit code 4, twice$"):
        run_in(1, forks, [cell])


def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk without room."""
    script = f"""
import resource, signal
from pathlib import Path
import numpy as np
from simstudy.running import runner
from simstudy.running.cells import Cell
from simstudy.running.runner import CellsFailed, run_cells
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))
try:
    run_cells(np.zeros, [Cell("large", {{"n": n}}, (n,)) for n in (5_000, 10)], cache=Path({str(tmp_path)!r}))
except CellsFailed as error:
    print(error)
"""
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert "1 failed (large), the first with OSError: [Errno 27] File too large: '" in result.stdout, result.stderr
    assert len(list(tmp_path.glob("*.cell"))) == 1
    assert not list(tmp_path.glob(".*"))


def test_descriptions_and_fingerprints() -> None:
    assert describe({"a": 1, "b": [2]}) == describe({"b": [2], "a": 1})
    assert describe({"a": 1}) != describe({"a": 2})
    assert fingerprint(np.arange(3)) == fingerprint(np.arange(3))
    assert fingerprint(np.arange(3)) != fingerprint(np.arange(4))


def test_number_of_workers() -> None:
    assert n_workers(3) == 3
    assert n_workers(-1) >= 1
    with pytest.raises(ValueError, match=r"n_jobs \(-1: all cores\) must be at least 1, not -2"):
        n_workers(-2)


def test_no_more_than_twice_as_many_processes_as_cores_are_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    class Counted(Processes):
        def __init__(self, n_workers: int) -> None:
            asked.append(n_workers)
            super().__init__(1)

    monkeypatch.setattr(runner, "Processes", Counted)
    monkeypatch.setattr("joblib.cpu_count", lambda: 2)
    for n_jobs, n_cells in ((99, 6), (3, 6), (99, 2)):
        numbers = list(range(n_cells))
        run_cells(square, cells(numbers, tmp_path / "log"), n_jobs=n_jobs)
    assert asked == [4, 3, 2]
