"""Tables of systems: rows meet systems by their names."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from simstudy.notes import notes_kept
from simstudy.outputs import Outputs
from simstudy.readers.items import describe_systems
from tests.readers.line_files import input_error, written


@pytest.fixture
def outputs() -> Outputs:
    return Outputs.from_scores(pd.DataFrame({"01": [1, 0], "NA": [1, 1], "x": [0, 0]}), "accuracy", test_set="t")


def test_rows_meet_systems_by_name_and_numbers_stay(outputs: Outputs) -> None:
    table = pd.DataFrame({"size": [7, 70, 1], "system": ["x", "01", "other"], "group": ["lab", "uni", "lab"]})
    with notes_kept() as notes:
        described = describe_systems(outputs, table)
    assert described.names == outputs.names
    assert (described.statistics == outputs.statistics).all()
    assert described.test_set == "t"
    assert described.systems["group"].fillna("?").tolist() == ["uni", "?", "lab"]
    assert described.systems["size"].fillna(0).tolist() == [70, 0, 7]
    assert described.systems["family"].tolist() == outputs.names, "where nothing is known"
    assert [note.kind for note in notes] == ["systems not described"]
    with pytest.warns(UserWarning, match="2 of 3"):
        describe_systems(outputs, table[:1])


@pytest.mark.parametrize("name", ["systems.csv", "systems.tsv"])
def test_text_stays_text(outputs: Outputs, tmp_path: Path, name: str) -> None:
    """ "01" is a system, "NA" another, and a group of that name; an empty cell is what is not known."""
    text = "system,group,size\n01,NA,07\nNA,NA,7\nx,,\n"
    path = written(tmp_path / name, text.replace(",", "\t") if name.endswith("tsv") else text)
    with notes_kept() as notes:
        described = describe_systems(outputs, path)
    assert notes == []
    assert described.systems["group"].tolist()[:2] == ["NA", "NA"]
    assert described.systems["size"].tolist()[:2] == ["07", "7"]
    assert described.systems[["group", "size"]].iloc[2].isna().all()


def test_a_column_name_may_name_the_systems_or_be_something_else(outputs: Outputs) -> None:
    by_name = pd.DataFrame({"name": ["01", "NA", "x"], "group": list("abc")})
    assert describe_systems(outputs, by_name).systems["group"].tolist() == list("abc")
    both = by_name.assign(system=["x", "NA", "01"], name=["Ex", "En-A", "Oh-one"])
    assert describe_systems(outputs, both).systems["group"].tolist() == list("cba")


def test_what_outputs_know_already_is_kept_unless_the_table_says_otherwise() -> None:
    systems = pd.DataFrame({"name": ["a", "b"], "family": ["f", "f"], "group": ["g", "h"], "beam": [4, 8]})
    outputs = Outputs.from_statistics([[[1, 1]], [[0, 1]]], "accuracy", systems)
    described = describe_systems(outputs, pd.DataFrame({"system": ["b", "a"], "group": ["new", "old"]}))
    assert described.systems["family"].tolist() == ["f", "f"]
    assert described.systems["group"].tolist() == ["old", "new"]
    assert described.systems["beam"].tolist() == [4, 8]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("model,group\n01,a\n", "systems.csv must have a column 'system'; it has model, group"),
        ("system,group\n01,a\n01,b\n", "systems.csv, line 3: system '01' occurs twice"),
        ("system,group\n01,a\n,b\n", "systems.csv, line 3: no system"),
        ("system,group\n001,a\ny,b\n", "it has none for '01' and all others (did you mean '001'?)"),
    ],
)
def test_bad_tables_are_named(outputs: Outputs, tmp_path: Path, text: str, message: str) -> None:
    assert message in str(input_error(outputs, written(tmp_path / "systems.csv", text), by=describe_systems))


@pytest.mark.parametrize("key", ["name", "system"])
def test_the_callers_table_stays_as_it_is(key: str) -> None:
    numbered = Outputs.from_scores(pd.DataFrame({1: [1, 0], 2: [1, 1]}))
    table = pd.DataFrame({key: [2, 1], "group": ["g", "h"]})
    before = table.copy(deep=True)
    assert describe_systems(numbered, table).systems["group"].tolist() == ["h", "g"]
    pd.testing.assert_frame_equal(table, before)
