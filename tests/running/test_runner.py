"""Which cells are made, and what is kept of them: with workers of this process."""

from __future__ import annotations

import os
import resource
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simstudy.running.cells import Cell, seconds
from simstudy.running.runner import CellsFailed, run_cells, states
from tests.running.executors import TRIED, Here, cells, tried


@pytest.fixture(params=["none", "here", "threads"])
def executor(request: pytest.FixtureRequest) -> Executor | None:
    return {"none": None, "here": Here(), "threads": ThreadPoolExecutor(2)}[request.param]


def test_results_come_in_order_and_are_made_once(executor: Executor | None, tmp_path: Path) -> None:
    assert run_cells(tried, cells("c a b a"), executor=executor, cache=tmp_path) == list("CABA")
    done: list[str] = []
    found = run_cells(
        tried, cells("e b c"), executor=executor, cache=tmp_path, finished=lambda cell: done.append(cell.label)
    )
    assert found == list("EBC")
    assert sorted(TRIED) == list("abce")
    assert done == ["b", "c", "e"], "what is found comes first"


def test_every_cell_is_told_once_whatever_became_of_it(executor: Executor | None, tmp_path: Path) -> None:
    """Found, done and failed ones; a failure is tried again by the next run, and its report goes when it is done."""
    run_cells(tried, cells("a"), cache=tmp_path)
    told: list[str] = []
    work = cells("bad2 a b exit bad1")
    with pytest.raises(CellsFailed) as error:
        run_cells(tried, work, executor=executor, cache=tmp_path, finished=lambda cell: told.append(cell.label))
    assert told[0] == "a"
    assert sorted(told) == ["a", "b", "bad1", "bad2", "exit"]
    assert list(error.value.failures) == ["bad1", "bad2", "exit"]
    assert error.value.failures["exit"].endswith("\nSystemExit: 3\n")
    reports = sorted(path.read_text() for path in tmp_path.glob("*.error.txt"))
    for report, name, last in zip(
        reports,
        error.value.failures,
        ["ValueError: bad1 is bad", "ValueError: bad2 is bad", "SystemExit: 3"],
        strict=True,
    ):
        assert report == f"{name}\n\n{error.value.failures[name]}\n"
        assert f"\n{last}\n" in report
    said = f"3 failed (bad1, bad2, exit), the first with ValueError: bad1 is bad; tracebacks in {tmp_path}"
    assert str(error.value) == said
    assert states(tried, work, tmp_path)["state"].tolist() == ["failed", "done", "done", "failed", "failed"]
    assert len(seconds(tmp_path)) == 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(tried.__globals__, "MENDED", True)
        assert run_cells(tried, work, executor=executor, cache=tmp_path) == ["BAD2", "A", "B", "EXIT", "BAD1"]
    assert sorted(TRIED) == ["a", "b", "bad1", "bad1", "bad2", "bad2", "exit", "exit"]
    assert not list(tmp_path.glob("*.error.txt"))


def test_what_is_not_the_whole_result_of_the_cell_is_made_again(tmp_path: Path) -> None:
    run_cells(tried, cells("a"), cache=tmp_path)
    (kept,) = tmp_path.glob("*.cell")
    content = kept.read_bytes()
    for damaged in (content[:-3], b""):
        kept.write_bytes(damaged)
        assert run_cells(tried, cells("a"), cache=tmp_path) == ["A"]
        assert kept.read_bytes() == content
    kept.unlink()
    run_cells(tried, cells("b"), cache=tmp_path)
    (other,) = tmp_path.glob("*.cell")
    other.write_bytes(content)
    assert run_cells(tried, cells("b"), cache=tmp_path) == ["B"]
    assert TRIED == ["a", "a", "a", "b", "b"]


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


def test_a_run_that_is_stopped_cancels_what_waits_and_the_next_makes_only_that(tmp_path: Path) -> None:
    def stop(_: Cell) -> None:
        raise KeyboardInterrupt

    array, executor = np.arange(100_000.0), Slow()
    work = [Cell(str(k), {"k": k}, (array, k)) for k in range(4)]
    with pytest.raises(KeyboardInterrupt):
        run_cells(first, work, executor=executor, cache=tmp_path, finished=stop)
    assert [future.cancelled() for future in executor.futures] == [False, True, True, True]
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".cell", ".txt"], "no file of arrays"
    assert states(first, work, tmp_path)["state"].tolist() == ["done", "missing", "missing", "missing"]
    assert run_cells(first, work, cache=tmp_path) == [0, 1, 2, 3]
    assert len(seconds(tmp_path)) == len((tmp_path / "seconds.txt").read_text().splitlines()) == 4


@pytest.mark.skipif(sys.platform != "linux", reason="limits the size of files")
def test_a_full_disk_is_told_with_the_file(tmp_path: Path) -> None:
    """A limit on the size of files stands for a disk without room."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(CellsFailed) as error:
            run_cells(np.zeros, [Cell(f"{n}", {"n": n}, (n,)) for n in (5_000, 10)], cache=tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert f"1 failed (5000), the first with OSError: [Errno 27] File too large: '{tmp_path}" in str(error.value)
    assert len(list(tmp_path.glob("*.cell"))) == 1
    assert not list(tmp_path.glob(".*"))


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


def test_arrays_that_a_killed_run_left_go_with_the_next(tmp_path: Path) -> None:
    child = os.posix_spawn(sys.executable, [sys.executable, "-c", ""], os.environ)
    os.waitpid(child, 0)
    left = tmp_path / f".arrays-{os.uname().nodename}-{child}-x"
    left.touch()
    run_cells(tried, cells("a"), cache=tmp_path)
    assert not left.exists()
