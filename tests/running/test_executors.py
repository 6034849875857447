"""Cells run on any executor, with the same results; how often they are tried; and where they run if nobody says."""

from __future__ import annotations

import multiprocessing
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from simstudy.running import provenance, runner
from simstudy.running.cells import Cell, seconds
from simstudy.running.clusters import cluster
from simstudy.running.provenance import program_of
from simstudy.running.runner import CellsFailed, run_cells, states
from simstudy.running.workers import Processes
from tests.running.executors import DEATHS, TRIED, Here, cells, tried


@contextmanager
def dask() -> Iterator[Executor]:
    """A worker process of a scheduler, as a cluster has them; large arrays are sent to it as files."""
    pytest.importorskip("distributed", reason="extra 'cluster' is not installed")
    with cluster("local:1") as executor:
        yield executor


EXECUTORS: dict[str, Callable[[], Any]] = {
    "processes": lambda: Processes(1),
    "threads": lambda: ThreadPoolExecutor(1),
    "spawned": lambda: ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")),
    "dask": dask,
}


def summed(array: NDArray[np.float64], factor: int) -> dict[str, Any]:
    print("noise on standard output")
    if factor == -2:
        sys.exit(7)
    if factor < 0:
        raise ValueError(f"factor must not be {factor}")
    drawn = np.random.default_rng(factor).normal(size=5).sum()
    return {"sum": float(factor * array.sum() + drawn), "shared": not array.flags.writeable, "square": array[:3] ** 2}


@pytest.mark.parametrize("name", EXECUTORS)
def test_results_failures_and_what_is_kept_are_the_same_on_every_executor(name: str, tmp_path: Path) -> None:
    large, small = np.arange(300_000.0), np.arange(4.0)
    work = [Cell(f"cell {k}", {"k": k}, (array, k)) for k, array in enumerate([large, small, large, large[:100_000]])]
    bad = [Cell("bad", {}, (small, -1)), Cell("left", {"how": "exit"}, (small, -2))]
    with EXECUTORS[name]() as executor, pytest.raises(CellsFailed) as error:
        run_cells(summed, [*work, *bad], executor=executor, cache=tmp_path)
    assert f"2 failed (bad, left), the first with ValueError: factor must not be -1; tracebacks in {tmp_path}" in str(
        error.value
    )
    assert error.value.failures["left"].strip().endswith("SystemExit: 7")
    suffixes = Counter(path.name.partition(".")[2] for path in tmp_path.iterdir())
    assert suffixes == {"cell": 4, "error.txt": 2, "txt": 1}
    # Found, not computed again: nothing is asked of the executor, which was shut down.
    found = run_cells(summed, work, executor=executor, cache=tmp_path)
    here = run_cells(summed, work)
    for cell, there, result in zip(work, found, here, strict=True):
        assert there["sum"] == result["sum"], "to the last bit"
        assert there["shared"] == (cell.arguments[0].nbytes > 2**16)
        np.testing.assert_array_equal(there["square"], [0, 1, 4])
    listed = states(summed, [*work, *bad, Cell("new", {"k": 9}, (small, 9))], tmp_path)
    assert listed["state"].tolist() == ["done"] * 4 + ["failed"] * 2 + ["missing"]
    assert (listed["seconds"][:4] >= 0).all()


def test_the_program_of_a_cell_says_what_workers_must_have() -> None:
    assert {"python", "numpy"} <= program_of(summed).keys()


def test_cells_are_at_work_at_the_same_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Alone each would wait for the other until the barrier breaks, which fails the cell."""
    monkeypatch.setitem(MEETING, "one", threading.Barrier(2, timeout=20))
    with ThreadPoolExecutor(2) as executor:
        assert run_cells(met, [Cell(str(k), {"k": k}, (k,)) for k in range(2)], executor=executor) == [0, 1]


MEETING: dict[str, threading.Barrier] = {}


def met(k: int) -> int:
    MEETING["one"].wait()
    return k


# How often cells are tried, and in which order: with executors that work in this process.


def test_killed_cells_are_tried_once_more_after_all_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One at a time, so that the order shows when each was put back."""
    monkeypatch.setattr(runner, "_WAITING", 1)
    DEATHS.update({"b": 1, "d": 1})
    assert run_cells(tried, cells("a b c d e"), executor=Here(), cache=tmp_path) == list("ABCDE")
    assert TRIED == ["a", "b", "c", "d", "e", "b", "d"]
    assert [path.name for path in tmp_path.glob("*.txt")] == ["seconds.txt"], "no report of a failure"


class Ends(Here):
    """One of its calls ends in what a test says, in a thread of its own."""

    def __init__(self, at: int, how: Callable[[Future[Any], Callable[[], Any]], None]) -> None:
        self.left, self.how = at, how

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.left -= 1
        if self.left:
            return super().submit(fn, *args, **kwargs)
        later: Future[Any] = Future()
        self.how(later, lambda: fn(*args, **kwargs))
        return later


def test_a_killed_cell_waits_for_those_that_still_run() -> None:
    """They may hold the memory that it needs."""

    def late(future: Future[Any], call: Callable[[], Any]) -> None:
        threading.Timer(0.2, lambda: future.set_result(call())).start()

    DEATHS["b"] = 1
    assert run_cells(tried, cells("a b c"), executor=Ends(3, late)) == list("ABC")
    assert TRIED == ["a", "b", "c", "b"]


def test_a_pool_that_breaks_ends_the_run_with_what_it_had(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The call that breaks it, and all that it does not take any more."""

    def breaks(future: Future[Any], _: Callable[[], Any]) -> None:
        future.set_exception(BrokenProcessPool("it died"))
        monkeypatch.setattr(Here, "submit", broken)

    def broken(*_: object) -> Future[Any]:
        raise BrokenProcessPool("it is dead")

    with pytest.raises(CellsFailed) as error:
        run_cells(tried, cells("a b c d"), executor=Ends(2, breaks), cache=tmp_path)
    last = {name: trace.strip().splitlines()[-1].partition(".")[2] for name, trace in error.value.failures.items()}
    assert list(last) == ["b", "c", "d"]
    assert last["b"].endswith("BrokenProcessPool: it died")
    assert last["c"].endswith("BrokenProcessPool: it is dead")
    assert states(tried, cells("a b c d"), tmp_path)["state"].tolist() == ["done", "failed", "failed", "failed"]


@pytest.mark.parametrize(
    ("owner", "name", "value", "said"),
    [
        (sys.modules, "simstudy.running.calls", None, "import of simstudy.running.calls halted"),
        (vars(provenance), "_python", lambda: "3.99", r"python is 3.99, not 3\.\d+$"),
        (vars(provenance), "_versions", lambda name: ((name, "0.1"),), r".*numpy is 0.1, not \d"),
        (vars(provenance), "_known_by", lambda name: {name: 64 * "0"}, r".*simstudy.running.workers is another"),
    ],
)
def test_workers_of_another_program_are_refused_by_name(owner: Any, name: str, value: object, said: str) -> None:
    class Elsewhere(Here):
        def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
            with pytest.MonkeyPatch.context() as patch:
                patch.setitem(owner, name, value)
                provenance.differences.cache_clear()
                return super().submit(fn, *args, **kwargs)

    with pytest.raises(ValueError, match=f"^executor must have workers of the same program, but {said}"):
        run_cells(tried, cells("a"), executor=Elsewhere())
    provenance.differences.cache_clear()
    assert not TRIED


class Far(Here):
    """Notes what comes back."""

    def __init__(self) -> None:
        self.answers: list[Any] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        self.answers.append(future.result())
        return future


class Near(ThreadPoolExecutor):
    """Notes what comes back."""

    answers: list[Any]

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future = super().submit(fn, *args, **kwargs)
        self.answers.append(future.result())
        return future


def test_results_of_other_machines_come_back_and_those_of_this_one_are_kept_where_they_are_made(tmp_path: Path) -> None:
    far, near = Far(), Near(1)
    near.answers = []
    for executor, name in ((far, "a"), (near, "b")):
        assert run_cells(tried, cells(name), executor=executor, cache=tmp_path) == [name.upper()]
    ((trace, taken, content),) = far.answers
    assert (trace, b'"label": "a"' in content) == ("", True)
    assert near.answers[0][::2] == ("", b"")
    assert sorted(seconds(tmp_path).values()) == sorted(round(each[1], 3) for each in (*far.answers, *near.answers))


def test_a_cell_that_is_killed_is_tried_as_often_as_its_message_says(tmp_path: Path) -> None:
    DEATHS.update({"b": 9, "c": 9})
    with pytest.raises(CellsFailed) as error:
        run_cells(tried, cells("a b c d"), executor=Here(), cache=tmp_path)
    assert error.value.failures == dict.fromkeys("bc", "its process was killed, twice")
    assert Counter(TRIED) == {"a": 1, "b": 2, "c": 2, "d": 1}
    assert states(tried, cells("a b c d"), tmp_path)["state"].tolist() == ["done", "failed", "failed", "done"]


# Where, and with how many.
