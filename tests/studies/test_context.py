"""What a part of a study lists, and what it says of the cells that are done."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from simstudy.running.keys import Cell
from simstudy.running.parallel import CellsFailed
from simstudy.studies import context as module
from simstudy.studies.context import Clock, RunContext, Unfinished


def root(x: int) -> float:
    if x < 0:
        raise ValueError("no root")
    return float(x**0.5)


CELLS = [Cell(f"root of {x}", (x,)) for x in (4, -1, 9)]


def test_cells_that_failed_are_left(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """They are listed, not computed, and not counted as done."""
    with pytest.raises(CellsFailed, match="root of -1"):
        RunContext(tmp_path, 1).run("roots", root, CELLS)
    listed: list[pd.DataFrame] = []
    with pytest.raises(Unfinished):
        RunContext(tmp_path, 1, listed=listed).run("roots", root, CELLS)
    assert listed[0]["state"].tolist() == ["done", "failed", "done"]
    capsys.readouterr()
    with pytest.raises(CellsFailed):
        RunContext(tmp_path, 1).run("roots", root, CELLS)
    assert "roots: 2 of 3 cells are done" in capsys.readouterr().err


def test_what_is_done_is_listed_and_returned(tmp_path: Path) -> None:
    done = [CELLS[0], CELLS[2]]
    assert RunContext(tmp_path, 1).run("roots", root, done) == [2.0, 3.0]
    listed: list[pd.DataFrame] = []
    assert RunContext(tmp_path, 1, listed=listed).run("roots", root, done) == [2.0, 3.0]
    assert listed[0]["state"].tolist() == ["done", "done"]


def test_every_part_is_listed_by_its_title_until_one_is_not_done(tmp_path: Path, capsys: Any) -> None:
    done = [CELLS[0], CELLS[2]]
    listed: list[pd.DataFrame] = []
    context = RunContext(tmp_path, 1, listed=listed)
    RunContext(tmp_path, 1).run("roots", root, done)
    assert capsys.readouterr().err.count("cells are done") == 0, "nothing is said where all are to be done"
    context.run("roots", root, done)
    assert capsys.readouterr().err.count("cells are done") == 0, "nor where all are done, nor of a list"
    with pytest.raises(Unfinished, match="^again$"):
        context.run("again", root, [*done, Cell("root of 16", (16,))])
    assert capsys.readouterr().err.count("cells are done") == 0
    table = pd.concat(listed)
    assert table["part"].tolist() == ["roots"] * 2 + ["again"] * 3
    assert table["state"].tolist() == ["done"] * 4 + ["missing"]
    assert len(list(tmp_path.glob("*.npz"))) == 2, "a list computes nothing"


@pytest.mark.parametrize("threaded", [False, True])
@pytest.mark.parametrize("elsewhere", [False, True])
def test_cells_go_to_the_executor_or_to_processes_unless_they_have_threads_of_their_own(
    threaded: bool, elsewhere: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[dict[str, Any]] = []

    def run_cells(function: Any, cells: list[Cell], **options: Any) -> list[int]:
        if threaded:
            assert (function.func, function.args, function.keywords) == (root, (), {"n_threads": 1 if elsewhere else 7})
        assert (threaded or function is root, cells) == (True, CELLS)
        assert callable(options.pop("finished"))
        asked.append(options)
        return [1, 2, 3]

    monkeypatch.setattr(module, "run_cells", run_cells)
    with ThreadPoolExecutor(1) as some:
        executor = some if elsewhere else None
        context = RunContext(tmp_path, 7, executor=executor)
        assert context.run("roots", root, CELLS, threaded=threaded) == [1, 2, 3]
    expected = {
        "n_jobs": 1 if threaded else 7,
        "executor": executor,
        "cache": tmp_path,
        "keys": context.keys.of_cells(root, CELLS),
    }
    assert asked == [expected]


def on_threads(x: int, n_threads: int) -> int:
    return x * n_threads


def test_threads_are_told_by_name_and_no_part_of_a_key(tmp_path: Path) -> None:
    """What one number of threads computed, another finds; an executor's calls have one each."""
    cells = [Cell("three", (3,))]
    assert RunContext(tmp_path, 2).run("", on_threads, cells, threaded=True) == [6]
    assert RunContext(tmp_path, 5).run("", on_threads, cells, threaded=True) == [6]
    with ThreadPoolExecutor(1) as executor:
        assert RunContext(tmp_path / "other", 5, executor=executor).run("", on_threads, cells, threaded=True) == [3]


def test_the_bar_is_full_when_all_cells_are_told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Also by cells that are there already, and by equal ones, which are computed once."""
    shown: list[Any] = []

    @contextmanager
    def bar(title: str, total: int) -> Iterator[Callable[[int], None]]:
        shown.append((title, total))
        yield shown.append

    monkeypatch.setattr(module, "doing", bar)
    cells = [Cell(str(x), (x,)) for x in (9, 0, 4, 4)]
    RunContext(tmp_path, 1).run("roots", root, cells[:1], amount=lambda _: 10)
    assert shown == [("roots", 10), 10]
    shown.clear()
    assert RunContext(tmp_path, 1).run("roots", root, cells, amount=lambda cell: 10 + cell.arguments[0]) == [3, 0, 2, 2]
    assert shown == [("roots", 57), 19, 10, 14, 14]
    shown.clear()
    RunContext(tmp_path, 1).run("roots", root, cells)
    assert shown == [("roots", 4), 1, 1, 1, 1], "each cell is one"


def test_a_clock_has_the_seconds_of_each_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    moments = iter([1.0, 3.26, 10.0, 10.04])
    monkeypatch.setattr(module.time, "perf_counter", lambda: next(moments))
    clock = Clock()
    for stage in ("training", "data"):
        with clock(stage):
            pass
    assert clock.seconds == {"training": 2.3, "data": 0.0}
