"""How often cells are tried, in which order, and what is told of each: with executors that work in this process."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simstudy.running import runner
from simstudy.running.cells import Cell, seconds
from simstudy.running.runner import CellsFailed, run_cells, states
from simstudy.running.workers import WorkerDied

# What was tried, in order; how often each cell kills its process before it is done.
TRIED: list[str] = []
DEATHS: Counter[str] = Counter()


class Deadly(BaseException):
    """Ends the process that made the call."""


class Here(Executor):
    """Makes each call at once; one whose process was killed ends as it does in worker processes."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Deadly:
            future.set_exception(WorkerDied("was killed"))
        return future


def tried(name: str) -> str:
    TRIED.append(name)
    if DEATHS[name]:
        DEATHS[name] -= 1
        raise Deadly
    if name.startswith("bad"):
        raise ValueError(f"{name} is bad")
    return name.upper()


def cells(names: str) -> list[Cell]:
    return [Cell(name, {"name": name}, (name,)) for name in names.split()]


@pytest.fixture(autouse=True)
def _nothing_tried() -> None:
    TRIED.clear()
    DEATHS.clear()


def test_killed_cells_are_tried_once_more_after_all_others(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """One at a time, so that the order shows when each was put back."""
    monkeypatch.setattr(runner, "_WAITING", 1)
    DEATHS.update({"b": 1, "d": 1})
    assert run_cells(tried, cells("a b c d e"), executor=Here(), cache=tmp_path) == list("ABCDE")
    assert TRIED == ["a", "b", "c", "d", "e", "b", "d"]
    assert [path.name for path in tmp_path.glob("*.txt")] == ["seconds.txt"], "no report of a failure"


class Waits(Here):
    """As that, but the third call takes a while, in a thread of its own."""

    n = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.n += 1
        if self.n != 3:
            return super().submit(fn, *args, **kwargs)
        later: Future[Any] = Future()
        threading.Timer(0.3, lambda: later.set_result(fn(*args, **kwargs))).start()
        return later


def test_a_killed_cell_waits_for_those_that_still_run() -> None:
    """They may hold the memory that it needs."""
    DEATHS["b"] = 1
    assert run_cells(tried, cells("a b c"), executor=Waits()) == list("ABC")
    assert TRIED == ["a", "b", "c", "b"]


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


@pytest.mark.parametrize("executor", [None, Here(), ThreadPoolExecutor(2)], ids=["none", "here", "threads"])
def test_every_cell_is_told_once_whatever_became_of_it(executor: Executor | None, tmp_path: Path) -> None:
    """Found, done and failed ones; a failure's report names the cell, and goes when it is done at last."""
    run_cells(tried, cells("a"), cache=tmp_path)
    told: list[str] = []
    work = cells("bad2 a b bad1")
    with pytest.raises(CellsFailed) as error:
        run_cells(tried, work, executor=executor, cache=tmp_path, finished=lambda cell: told.append(cell.label))
    assert told[0] == "a", "what is found comes first"
    assert sorted(told) == ["a", "b", "bad1", "bad2"]
    assert list(error.value.failures) == ["bad1", "bad2"]
    reports = sorted(path.read_text() for path in tmp_path.glob("*.error.txt"))
    assert [report.partition("\n\n")[0] for report in reports] == ["bad1", "bad2"]
    assert all(f"ValueError: {name} is bad\n" in report for name, report in zip(("bad1", "bad2"), reports, strict=True))
    assert (
        str(error.value) == f"2 failed (bad1, bad2), the first with ValueError: bad1 is bad; tracebacks in {tmp_path}"
    )
    assert states(tried, work, tmp_path)["state"].tolist() == ["failed", "done", "done", "failed"]
    assert len(seconds(tmp_path)) == 2


def test_cells_that_are_one_are_made_once(tmp_path: Path) -> None:
    assert run_cells(tried, cells("a b a"), executor=Here(), cache=tmp_path) == ["A", "B", "A"]
    assert sorted(TRIED) == ["a", "b"]


def test_seconds_and_bytes_are_those_of_each_cell(tmp_path: Path) -> None:
    """A result has both, though an earlier try failed and left its report."""
    work = cells("a bb ccc")
    run_cells(tried, work, cache=tmp_path)
    paths = {
        work[k].label: path
        for path in tmp_path.glob("*.cell")
        for k in range(3)
        if f'"label": "{work[k].label}"'.encode() in path.read_bytes()
    }
    taken = {"a": 1.25, "bb": 2.5, "ccc": 3.75}
    (tmp_path / "seconds.txt").write_text("".join(f"{paths[name].stem} {taken[name]:.3f}\n" for name in taken))
    paths["a"].with_suffix(".error.txt").write_text("failed once")
    paths["ccc"].unlink()
    found = states(tried, work, tmp_path)
    assert found.columns.tolist() == ["cell", "state", "seconds", "bytes"]
    assert found["cell"].tolist() == ["a", "bb", "ccc"]
    assert found["state"].tolist() == ["done", "done", "missing"]
    assert found["seconds"].tolist()[:2] == [1.25, 2.5]
    assert found["bytes"].tolist()[:2] == [paths[name].stat().st_size for name in ("a", "bb")]
    assert found.loc[2, ["seconds", "bytes"]].isna().all()
    assert states(tried, [], tmp_path).columns.tolist() == found.columns.tolist()


@pytest.mark.parametrize(("n", "named"), [(1, "c0"), (5, "c0, c1, c2, c3, c4"), (6, "c0, c1, c2, c3, c4 ...")])
def test_a_failure_names_five_cells_and_says_where_there_are_more(n: int, named: str) -> None:
    failures = {f"c{k}": f"Traceback:\n  line\nKeyError: {k}\n" for k in range(n)}
    assert str(CellsFailed(failures, None)) == f"{n} failed ({named}), the first with KeyError: 0"
    assert CellsFailed(failures, Path("here")).failures == failures
    assert str(CellsFailed(failures, Path("here"))).endswith("KeyError: 0; tracebacks in here")


def test_what_cannot_be_sent_fails_and_the_others_finish(tmp_path: Path) -> None:
    work = [*cells("a b"), Cell("locked", {}, (threading.Lock(),))]
    with ThreadPoolExecutor(1) as executor, pytest.raises(CellsFailed, match=r"1 failed \(locked\)") as error:
        run_cells(tried, work, executor=executor, cache=tmp_path)
    assert "cannot pickle" in error.value.failures["locked"]
    assert len(list(tmp_path.glob("*.cell"))) == 2


def test_without_a_cache_nothing_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert run_cells(tried, cells("a b"), executor=Here()) == ["A", "B"]
    with pytest.raises(CellsFailed, match=r"^1 failed \(bad\), the first with ValueError: bad is bad$"):
        run_cells(tried, cells("a bad"), executor=Here())
    assert not list(tmp_path.iterdir())


class Slow(Here):
    """Makes the first call, and none of the others."""

    def __init__(self) -> None:
        self.futures: list[Future[Any]] = []

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.futures.append(Future() if self.futures else super().submit(fn, *args, **kwargs))
        return self.futures[-1]


def first(array: np.ndarray[Any, Any], k: int) -> float:
    return float(array[k])


def test_a_run_that_is_stopped_cancels_what_waits_and_keeps_what_is_done(tmp_path: Path) -> None:
    def stop(_: Cell) -> None:
        raise KeyboardInterrupt

    array, executor = np.arange(100_000.0), Slow()
    work = [Cell(str(k), {"k": k}, (array, k)) for k in range(4)]
    with pytest.raises(KeyboardInterrupt):
        run_cells(first, work, executor=executor, cache=tmp_path, finished=stop)
    assert [future.cancelled() for future in executor.futures] == [False, True, True, True]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".cell", ".txt"], "no file of arrays"
    assert states(first, work, tmp_path)["state"].tolist() == ["done", "missing", "missing", "missing"]


def test_functions_and_classes_among_the_arguments_are_part_of_the_program(tmp_path: Path) -> None:
    """Made at a prompt, so that only their code can tell them apart."""

    def made(source: str) -> int:
        names: dict[str, Any] = {"__name__": "nowhere"}
        exec(source, names)
        run_cells(applied, [Cell("one", {}, (names["f"], 3))], cache=tmp_path)
        return len(list(tmp_path.glob("*.cell")))

    function = "def f(x): return x + {}"
    called = "class F:\n    def __call__(self, x): return x * {}\nf = F()"
    partial = "import functools\nf = functools.partial(lambda y, x: x - y * {}, 1)"
    assert [made(source.format(k)) for source in (function, called, partial) for k in (1, 2, 2)] == [
        1, 2, 2, 3, 4, 4, 5, 6, 6,
    ]  # fmt: skip


def applied(function: Callable[[int], int], x: int) -> int:
    return function(x)
