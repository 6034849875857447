"""Where cells are computed, and by how many workers: arguments, joblib's configuration and the cores of a container."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import joblib
import pytest

from simstudy.running import runner
from simstudy.running.jobs import n_workers
from simstudy.running.keys import Cell
from simstudy.running.parallel import run_cells


def test_number_of_workers() -> None:
    assert n_workers(3) == 3
    assert n_workers(-1) == n_workers(None) == joblib.cpu_count()
    assert n_workers(None, otherwise=1) == 1
    for wrong in (0, -2):
        with pytest.raises(ValueError, match=rf"n_jobs \(-1: all cores\) must be at least 1, not {wrong}"):
            n_workers(wrong)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, 8),
        ({"cpu.max": "max 100000"}, 8),
        ({"cpu.max": "250000 100000"}, 3),
        ({"cpu.max": "1000 100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
    ],
)
def test_a_container_has_the_cores_that_its_share_of_time_is_worth(
    files: dict[str, str], found: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{content}\n", encoding="ascii")
    monkeypatch.setattr("simstudy.running.jobs._CONTROL_GROUP", tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert n_workers(-1) == found


@pytest.mark.parametrize(
    ("backend", "configured", "asked", "n_cells", "found"),
    [
        (None, None, None, 6, None),
        (None, None, 1, 6, None),
        (None, None, 3, 6, ("Processes", 3)),
        (None, None, -1, 6, ("Processes", 2)),
        # At most twice as many as there are cores, here two, and as there are cells.
        (None, None, 99, 6, ("Processes", 4)),
        (None, None, 99, 3, ("Processes", 3)),
        (None, None, 99, 1, None),
        ("loky", 2, None, 6, ("Processes", 2)),
        ("loky", 1, None, 6, None),
        ("loky", 2, 1, 6, None),
        ("threading", 2, None, 6, ("ThreadPoolExecutor", 2)),
        ("threading", 2, 1, 6, None),
        ("threading", 2, 3, 6, ("ThreadPoolExecutor", 3)),
        ("sequential", 2, None, 6, None),
    ],
)
def test_arguments_and_joblibs_configuration_say_where_and_with_how_many(
    monkeypatch: pytest.MonkeyPatch,
    backend: str | None,
    configured: int | None,
    asked: int | None,
    n_cells: int,
    found: tuple[str, int] | None,
) -> None:
    """What is asked for counts more than what is configured. Both kinds of workers are threads here."""
    started: list[tuple[str, int]] = []

    def counted(name: str) -> type[ThreadPoolExecutor]:
        class Counted(ThreadPoolExecutor):
            def __init__(self, n: int) -> None:
                started.append((name, n))
                self.n_workers = n
                super().__init__(n)

        return Counted

    for name in ("Processes", "ThreadPoolExecutor"):
        monkeypatch.setattr(runner, name, counted(name))
    monkeypatch.setattr("simstudy.running.jobs.cores", lambda: 2)
    work = [Cell(str(k), (k,)) for k in range(n_cells)]
    options = {"n_jobs": configured} | ({"backend": backend} if backend else {})
    with joblib.parallel_config(**options):
        assert set(run_cells(is_main_thread, work, n_jobs=asked)) == {found is None}
    assert started == [found] * (found is not None)


def is_main_thread(_: int) -> bool:
    return threading.current_thread() is threading.main_thread()


def test_what_cannot_do_the_work_is_refused() -> None:
    work = [Cell("one", (1,))]
    with (
        joblib.parallel_config(backend="multiprocessing"),
        pytest.raises(
            ValueError, match="backend 'multiprocessing', but cells run on loky, threading, sequential, or on"
        ),
    ):
        run_cells(is_main_thread, work)
    with pytest.raises(ValueError, match=r"executor must be .*Executor .*get_executor.*, or None, not 2"):
        run_cells(is_main_thread, work, executor=2)  # type: ignore[arg-type]
    shut = ThreadPoolExecutor(1)
    shut.shutdown()
    with pytest.raises(ValueError, match=r"executor must accept work, but it says: .*shutdown"):
        run_cells(is_main_thread, work, executor=shut)
