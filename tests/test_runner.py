from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from simstudy.runner import Cell, CellsFailed, describe, fingerprint, n_workers, run_cells


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
    assert len(list(cache.glob("*.pickle"))) == 2
    # Failures are not kept as results: only the missing cell runs again.
    with pytest.raises(CellsFailed):
        run_cells(square, cells([2, -1, 3], log), n_jobs=n_jobs, cache=cache)
    assert logged(log) == [-1, -1, 2, 3]


def test_a_damaged_result_is_made_again(tmp_path: Path) -> None:
    log, cache = tmp_path / "log", tmp_path / "cells"
    run_cells(square, cells([4], log), cache=cache)
    (kept,) = cache.glob("*.pickle")
    kept.write_bytes(kept.read_bytes()[:-3])
    assert run_cells(square, cells([4], log), cache=cache) == [16]
    assert logged(log) == [4, 4]


def test_killed_work_goes_on_with_what_is_missing(tmp_path: Path) -> None:
    script = f"""
import time
from pathlib import Path
from simstudy.runner import Cell, run_cells
def slow(x):
    time.sleep(0.3)
    return x
run_cells(slow, [Cell(str(x), {{"x": x}}, (x,)) for x in range(50)], cache=Path({str(tmp_path / "cells")!r}))
"""
    process = subprocess.Popen([sys.executable, "-c", script])
    deadline = time.monotonic() + 60
    while len(list((tmp_path / "cells").glob("*.pickle"))) < 2:
        assert time.monotonic() < deadline, "nothing was kept"
        time.sleep(0.05)
    process.kill()
    process.wait()
    kept = {path.name for path in (tmp_path / "cells").glob("*.pickle")}
    log = tmp_path / "log"
    assert run_cells(square, cells(list(range(50)), log), cache=tmp_path / "cells") is not None
    assert len(logged(log)) == 50 - len(kept)


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
