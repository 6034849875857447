"""Shipped experiments: their programs, and their studies with other values."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.running.fingerprints import fingerprint
from simstudy.running.program_files import load_program, shipped_folder
from simstudy.studies import Block, Cell, Findings, RunContext, ShippedTables, Shown, Study, load_study, make_study
from simstudy.studies.simulation.definition import Condition
from simstudy.studies.simulation.study import draws_of

RESULTS = Path(__file__).parents[2] / "results"


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


def shipped(name: str) -> ShippedTables:
    """The tables of an experiment's committed results."""
    return ShippedTables.of(RESULTS / name)


def assert_shipped(name: str, title: str, found: pd.DataFrame, by: tuple[str, ...] = ()) -> None:
    """A table has the shipped one's rows; with `by`, those of them whose keys, these columns, it has.

    Files have six digits, and a table may lack columns.
    """
    wanted, found = shipped(name)[title], found.reset_index(drop=True)
    if by:
        wanted = wanted.merge(found[list(by)].drop_duplicates(), on=list(by))
    assert len(found) == len(wanted) > 0, title
    assert set(found) <= set(wanted), title
    for column in found:
        ours, theirs = found[column], wanted[column]
        if pd.api.types.is_numeric_dtype(theirs) and not pd.api.types.is_bool_dtype(theirs):
            values = [side.to_numpy(dtype=np.float64, na_value=np.nan) for side in (ours, theirs)]
            np.testing.assert_allclose(values[0], values[1], rtol=1e-4, atol=1e-9, err_msg=f"{title}, {column}")
        else:
            texts = [["" if pd.isna(cell) else str(cell) for cell in side] for side in (ours, theirs)]
            assert texts[0] == texts[1], f"{title}, {column}"


def known(cell: Cell) -> list[str]:
    """What each argument of a cell is known by."""
    return [str(each.fingerprint()) if hasattr(each, "fingerprint") else fingerprint(each) for each in cell.arguments]


class Answered(RunContext):
    """A run whose cells are kept, by the titles of their parts, and not computed: a function tells their results."""

    def __init__(self, answer: Callable[[Cell], Any], data_dir: Path | None = None) -> None:
        super().__init__(Path("unused"), 1, data_dir)
        self.answer, self.parts = answer, dict[str, tuple[Any, list[Cell]]]()

    def run(self, title: str, function: Any, cells: Any, **options: Any) -> list[Any]:
        """The function tells something of each cell; each has a label and arguments of its own."""
        assert title not in self.parts
        self.parts[title] = (function, list(cells))
        assert len({json.dumps(known(cell)) for cell in cells}) == len(cells)
        assert len({cell.label for cell in cells}) == len(cells)
        return [self.answer(cell) for cell in cells]


class Seen(Exception):
    """The cells of the first part of a study, which are not computed."""


def first_cells(part: Callable[[RunContext], Any]) -> tuple[Any, dict[str, Any]]:
    """The function that a part of an experiment's run calls first, and its cells by their labels."""

    def not_computed(_: Cell) -> None:
        raise Seen

    run = Answered(not_computed)
    with pytest.raises(Seen):
        part(run)
    ((function, cells),) = run.parts.values()
    return function, {cell.label: cell for cell in cells}


def assert_known(name: str, one: Study, other: Study) -> None:
    """Cells of a label that give other results, seconds apart, have other arguments; and there are some."""
    run = program(name).run
    (function, cells), (_, others) = (first_cells(partial(run, settings)) for settings in (one, other))
    assert cells.keys() == others.keys()

    def results(cell: Any) -> str:
        found = function(*cell.arguments)
        rows = found if isinstance(found, list) else [found]
        return repr([{key: value for key, value in row.items() if key != "seconds"} for row in rows])

    differ = [label for label, cell in cells.items() if results(cell) != results(others[label])]
    assert differ
    assert all(known(cells[label]) != known(others[label]) for label in differ)


def told(name: str, settings: Study, answer: Callable[[Cell], Any]) -> tuple[Findings, list[list[Cell]]]:
    """What a run finds of cells with these results, none of which is computed; and the cells of each part."""
    run = Answered(answer)
    return program(name).run(settings, run), [cells for _, cells in run.parts.values()]


def known_otherwise(name: str, one: Study, other: Study, n_parts: int, **context: Any) -> set[int]:
    """The parts of a study that have cells of one label with two sets of arguments."""
    parts: list[dict[str, Any]] = []

    class Asked(RunContext):
        def run(self, title: str, function: Any, cells: Any, **options: Any) -> list[Any]:
            parts.append({cell.label: known(cell) for cell in cells})
            if len(parts) % n_parts == 0:
                raise Seen
            return []

    for settings in (one, other):
        with pytest.raises(Seen):
            program(name).run(settings, Asked(Path("unused"), 1, **context))
    both = list(zip(parts[:n_parts], parts[n_parts:], strict=True))
    return {part for part, (a, b) in enumerate(both) if any(a[label] != b[label] for label in a.keys() & b.keys())}


def block_of(name: str, n_sets: int, levels: dict[str, Any], **settings: Any) -> Block:
    """Test sets of a simulation's condition at these levels, with other settings and another seed."""
    study: Any = load_study(name)
    (condition,) = [known for known in study.conditions() if known.levels == levels]
    draws = replace(draws_of(study), seed=3, size=n_sets)
    parts = list(draws.blocks(Condition(levels, {**condition, **settings}), 1))
    return replace(parts[0], data=np.concatenate([part.data for part in parts]))


def figures_of(shown: Shown) -> dict[str, Any]:
    """The figures of a page by their names, drawn and closed."""
    figures = {part.figure.name: part.figure.draw() for part in shown.sections if part.figure is not None}
    for figure in figures.values():
        sys.modules["matplotlib.pyplot"].close(figure)
    return figures


def drawn_lines(ax: Any) -> dict[str, tuple[list[float], ...]]:
    """The lines with intervals of a figure: by its label the places, values, lower and upper ends of each."""
    found = {}
    for bars in ax.containers:
        ends = np.array([segment[:, 1] for segment in bars[2][0].get_segments()]).T
        found[str(bars.get_label())] = tuple(np.asarray(side, float).tolist() for side in (*bars[0].get_data(), *ends))
    return found
