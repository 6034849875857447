"""Shipped experiments: their programs, and their studies with other values."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from simstudy.running.program_files import load_program, shipped_folder
from simstudy.studies import RunContext, Study, load_study, make_study


def program(name: str, part: str = "study") -> Any:
    """The module that an experiment's study.py is, or another one of its folder."""
    study = type(load_study(name)).__module__.partition(".")[0]
    return sys.modules[study if part == "study" else f"{study}.{part}"]


def task_of(name: str) -> Any:
    """The module that an experiment's task.py is."""
    return load_program(shipped_folder() / name / "task.py")


def small(name: str, **changes: Any) -> Study:
    """An experiment's study with some keys changed, called "small"."""
    shipped = load_study(name)
    return make_study({**shipped.model_dump(), "name": "small", **changes}, "here", type(shipped))


class Seen(Exception):
    """The cells of the first part of a study, which are not computed."""


def first_cells(part: Callable[[RunContext], Any]) -> tuple[Any, dict[str, Any]]:
    """The function that a part of an experiment's run calls first, and its cells by their labels."""

    class Asked(RunContext):
        def run(self, title: str, function: Any, cells: Any, **options: Any) -> list[Any]:
            raise Seen(function, {cell.label: cell for cell in cells})

    with pytest.raises(Seen) as seen:
        part(Asked(Path("unused"), 1))
    function, cells = seen.value.args
    return function, cells


def assert_described(name: str, one: Study, other: Study) -> None:
    """Cells of a label that give other results, seconds apart, have other descriptions; and there are some."""
    run = program(name).run
    (function, cells), (_, others) = (first_cells(partial(run, settings)) for settings in (one, other))
    assert cells.keys() == others.keys()

    def results(cell: Any) -> str:
        found = function(*cell.arguments)
        rows = found if isinstance(found, list) else [found]
        return repr([{key: value for key, value in row.items() if key != "seconds"} for row in rows])

    differ = [label for label, cell in cells.items() if results(cell) != results(others[label])]
    assert differ
    assert all(cells[label].description != others[label].description for label in differ)
