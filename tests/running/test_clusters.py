"""Clusters: what is refused, what is told of one that is lost; with real schedulers, that deaths change nothing."""

from __future__ import annotations

import os
import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from simstudy.running.cells import Cell
from simstudy.running.clusters import ClusterExecutor, ClusterLost, cluster
from simstudy.running.runner import CellsFailed, run_cells, share, states
from tests.running.executors import cells, tried


@pytest.mark.parametrize("address", ["host:8786", "local:0", "local:two", "tcp://host", "http://host:1", "tcp://a b:1"])
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(ValueError, match=r"cluster must be the address of a scheduler, tcp://host:8786, or local:N"):
        cluster(address).__enter__()


def test_a_missing_package_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(ValueError, match=r"needs the package distributed.*pip install 'simstudy\[cluster\]'"):
        cluster("local:1").__enter__()


def test_an_address_where_nobody_answers_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed", reason="extra 'cluster' is not installed")
    asked: list[float] = []

    def nobody(_: str, timeout: float) -> None:
        asked.append(timeout)
        raise OSError("Timed out trying to connect")

    monkeypatch.setattr(distributed, "Client", nobody)
    with pytest.raises(ValueError, match="nobody answers at 'tcp://127.0.0.1:9'"):
        cluster("tcp://127.0.0.1:9").__enter__()
    assert asked[0] < 10


class Dropped(SimpleNamespace):
    """A client whose scheduler ends at some call: what runs is cancelled, as dask does."""

    def __init__(self, ends_at: int) -> None:
        super().__init__(status="running", scheduler=SimpleNamespace(address="tcp://there:1"), left=ends_at)

    def get_executor(self, pure: bool) -> Any:
        assert pure is False, "equal calls are calls of their own"
        return self

    def submit(self, fn: Any, /, *args: Any) -> Future[Any]:
        self.left -= 1
        future: Future[Any] = Future()
        if self.left > 0:
            future.set_result(fn(*args))
        else:
            self.status = "closed"
            future.cancel()
            future.set_running_or_notify_cancel()
        return future


@pytest.mark.parametrize("waiting", [1, 1000])
def test_a_lost_scheduler_ends_the_run_in_one_line_and_finished_cells_are_kept(
    waiting: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the next cell is still to be submitted, or has been."""
    monkeypatch.setattr("simstudy.running.runner._WAITING", waiting)
    with pytest.raises(ClusterLost, match="^the scheduler at tcp://there:1 is gone; finished cells are kept, and"):
        run_cells(tried, cells("a b c d e"), executor=ClusterExecutor(Dropped(3)), cache=tmp_path)
    kept = states(tried, cells("a b c d e"), tmp_path)["state"]
    assert (kept == "done").sum() <= 2
    if waiting == 1:
        assert kept.tolist() == ["done", "done", "missing", "missing", "missing"]


def test_a_file_is_sent_again_while_workers_die(monkeypatch: pytest.MonkeyPatch) -> None:
    """A worker that dies ends the sending to all of them; a scheduler that is gone ends the run."""
    pytest.importorskip("distributed", reason="extra 'cluster' is not installed")
    monkeypatch.setattr("simstudy.running.clusters._PAUSE", 0)
    client, sent = Dropped(9), []

    def register_plugin(plugin: Any) -> None:
        sent.append(plugin.name)
        if len(sent) < 4:
            raise OSError("Stream is closed")

    client.register_plugin = register_plugin
    executor = ClusterExecutor(client)
    executor.send("file", b"content")
    executor.send("file", b"content")
    assert sent == ["file"] * 4, "once it has arrived it is not sent again"
    client.status = "closed"
    with pytest.raises(ClusterLost):
        executor.send("other", b"content")


def test_every_cell_is_in_one_share_whatever_other_cells_there_are() -> None:
    everything = cells(" ".join(f"c{k}" for k in range(60)))
    shares = [share(tried, everything, (k, 7)) for k in range(1, 8)]
    assert sorted(cell.label for each in shares for cell in each) == sorted(cell.label for cell in everything)
    assert max(map(len, shares)) < 25
    fewer = share(tried, everything[:30], (3, 7))
    assert fewer == [cell for cell in shares[2] if cell in everything[:30]]


# With real schedulers and workers.


def slept(seconds: float, array: Any, k: int) -> dict[str, float]:
    time.sleep(seconds)
    return {"sum": float(array.sum()) * k}


def ended(array: Any, k: int) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def either(seconds: float, array: Any, k: int) -> Any:
    return ended(array, k) if k < 0 else slept(seconds, array, k)


def work(n: int, seconds: float) -> list[Cell]:
    array = np.arange(200_000.0)
    return [Cell(f"cell {k}", {"k": k}, (seconds, array, k)) for k in range(n)]


DASK, QUIET = [sys.executable, "-m", "dask"], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def worker_of(address: str, *options: str) -> subprocess.Popen[bytes]:
    """A process that works for a scheduler."""
    return subprocess.Popen([*DASK, "worker", address, "--nthreads", "1", "--no-dashboard", *options], **QUIET)


@contextmanager
def scheduled(n_workers: int, *, nanny: bool = True) -> Iterator[tuple[str, subprocess.Popen[bytes], list[Any]]]:
    """A scheduler on loopback and processes of workers: its address, its process and theirs."""
    pytest.importorskip("distributed", reason="extra 'cluster' is not installed")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    address = f"tcp://127.0.0.1:{port}"
    scheduler = subprocess.Popen([*DASK, "scheduler", "--port", str(port), "--no-dashboard"], **QUIET)
    workers = [worker_of(address, *([] if nanny else ["--no-nanny"])) for _ in range(n_workers)]
    try:
        for _ in range(300):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.1)
        yield address, scheduler, workers
    finally:
        for process in (*workers, scheduler):
            process.kill()
            process.wait()


@pytest.mark.slow
def test_workers_killed_at_random_moments_change_nothing(tmp_path: Path) -> None:
    """Twenty runs, in each of which five of ten workers die."""
    expected = run_cells(slept, work(40, 0.0))
    for run in range(20):
        draw = random.Random(run)
        with scheduled(10, nanny=False) as (address, _, workers), cluster(address) as executor:
            executor._client.wait_for_workers(10, timeout=120)
            for process in draw.sample(workers, 5):
                threading.Timer(draw.uniform(0, 2), process.kill).start()
            found = run_cells(slept, work(40, 0.4), executor=executor, cache=tmp_path / str(run))
        assert found == expected


def by_whom(array: Any, k: int) -> dict[str, float]:
    return {**slept(0.5, array, k), "process": os.getpid()}


@pytest.mark.slow
def test_a_worker_that_joins_late_gets_what_was_sent_before_and_helps(tmp_path: Path) -> None:
    array = np.arange(200_000.0)
    everything = [Cell(f"cell {k}", {"k": k}, (array, k)) for k in range(40)]
    with scheduled(1) as (address, _, workers), cluster(address) as executor:
        executor._client.wait_for_workers(1, timeout=60)
        threading.Timer(2, lambda: workers.append(worker_of(address))).start()
        found = run_cells(by_whom, everything, executor=executor, cache=tmp_path)
    assert [each["sum"] for each in found] == [array.sum() * k for k in range(40)]
    assert len({each["process"] for each in found}) == 2


@pytest.mark.slow
def test_a_cell_that_kills_its_workers_fails_alone(tmp_path: Path) -> None:
    everything = [*work(20, 0.05), Cell("bad", {}, (0.0, np.zeros(2), -1))]
    with (
        scheduled(2) as (address, _, _),
        cluster(address) as executor,
        pytest.raises(CellsFailed, match="1 failed") as error,
    ):
        run_cells(either, everything, executor=executor, cache=tmp_path)
    assert "KilledWorker" in error.value.failures["bad"]
    assert (states(either, work(20, 0.05), tmp_path)["state"] == "done").all()


@pytest.mark.slow
def test_a_killed_scheduler_is_one_line_and_the_run_goes_on_from_there(tmp_path: Path) -> None:
    with scheduled(2) as (address, scheduler, _), cluster(address) as executor:
        executor._client.wait_for_workers(2, timeout=60)
        done: list[Cell] = []

        def kill_after_three(cell: Cell) -> None:
            done.append(cell)
            if len(done) == 3:
                scheduler.kill()

        with pytest.raises(ClusterLost, match="is gone; finished cells are kept") as error:
            run_cells(slept, work(40, 0.5), executor=executor, cache=tmp_path, finished=kill_after_three)
        assert "\n" not in str(error.value)
    kept = (states(slept, work(40, 0.5), tmp_path)["state"] == "done").sum()
    assert 3 <= kept < 40
    assert run_cells(slept, work(40, 0.5), cache=tmp_path, n_jobs=4) == run_cells(slept, work(40, 0.0))


@pytest.mark.slow
def test_the_overhead_is_small(tmp_path: Path) -> None:
    """Twelve cells of 5 s on two workers take 30 s of waiting; 15 % more is what it may cost. Workers are there."""
    with scheduled(2) as (address, _, _), cluster(address) as executor:
        executor._client.wait_for_workers(2, timeout=60)
        run_cells(slept, work(4, 0.0), executor=executor, cache=tmp_path)
        start = time.perf_counter()
        run_cells(slept, work(12, 5.0)[4:], executor=executor, cache=tmp_path)
        taken = time.perf_counter() - start
    assert taken < 1.15 * 4 * 5.0
