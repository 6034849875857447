"""Tables of scores from JSON: whatever its shape, the numbers are those of the same table as CSV."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.loaders.base import Loaded
from simstudy.loaders.door import load
from simstudy.loaders.tables import read_table

ITEMS = [f"q{i}" for i in range(12)]
RIGHT = pd.DataFrame(np.random.default_rng(4).integers(0, 2, (12, 3)), ITEMS, ["new", "old", "tiny"])


def records(right: pd.DataFrame = RIGHT) -> list[dict[str, Any]]:
    return [
        {"model": system, "question_id": item, "metrics": {"exact_match": bool(right.loc[item, system])}}
        for system in right
        for item in right.index
    ]


def wide() -> pd.DataFrame:
    return RIGHT.rename_axis("item").reset_index()


def keyed(inner: Callable[[int], Any]) -> dict[str, Any]:
    return {system: {item: inner(int(RIGHT.loc[item, system])) for item in ITEMS} for system in RIGHT}


GUESSED = (
    "simstudy uses model as system, question_id as item and metrics.exact_match as score. To change this, use "
    "columns={'system': 'NAME'}."
)
KEYS = "simstudy uses key1 as system, key2 as item and {} as score. To change this, use columns={{'system': 'NAME'}}."

#: Shape -> name of the file, text, the one note.
SHAPES: dict[str, tuple[str, str, str | None]] = {
    "a list of records": ("s.json", json.dumps(records(), indent=1), GUESSED),
    "JSON Lines": ("s.jsonl", "\n\n".join(map(json.dumps, records())), GUESSED),
    "JSON Lines under another name": ("s.json", "\n".join(map(json.dumps, records())), GUESSED),
    "a list in .jsonl": ("s.jsonl", json.dumps(records()), GUESSED),
    "records under a key": ("s.json", json.dumps({"version": 2, "results": records()}), GUESSED),
    "records of each system": (
        "s.json",
        json.dumps({s: [{"id": i, "correct": int(RIGHT.loc[i, s])} for i in ITEMS] for s in RIGHT}),
        "simstudy uses key1 as system, id as item and correct as score. To change this, use "
        "columns={'system': 'NAME'}.",
    ),
    "numbers by keys": ("s.json", json.dumps(keyed(int)), KEYS.format("value")),
    "texts by keys": ("s.json", json.dumps(keyed(lambda x: "true" if x else "False")), KEYS.format("value")),
    "records by keys": ("s.json", json.dumps(keyed(lambda x: {"resolved": x, "log": [1]})), KEYS.format("resolved")),
    "systems below items": (
        "s.json",
        json.dumps({item: {system: int(RIGHT.loc[item, system]) for system in RIGHT} for item in ITEMS}),
        "simstudy uses key2 as system, key1 as item and value as score. To change this, use "
        "columns={'system': 'NAME'}.",
    ),
    "scores of systems in records of items": (
        "s.jsonl",
        "\n".join(
            json.dumps({"id": i, "prompt": f"What is {i}?", "scores": {s: int(RIGHT.loc[i, s]) for s in RIGHT}})
            for i in ITEMS
        ),
        "simstudy uses id as item. To change this, use columns={'item': 'NAME'}.",
    ),
    "scores of items in records of systems": (
        "s.json",
        json.dumps([{"model": s, "scores": {i: int(RIGHT.loc[i, s]) for i in ITEMS}} for s in RIGHT]),
        "simstudy uses model as system. To change this, use columns={'system': 'NAME'}.",
    ),
    "scores below one more key": (
        "s.json",
        json.dumps({s: {"scores": own} for s, own in keyed(int).items()}),
        KEYS.format("value"),
    ),
    "averages beside the scores": (
        "s.json",
        json.dumps({s: {"accuracy": 0.4, "results": own} for s, own in keyed(lambda x: {"correct": x}).items()}),
        KEYS.format("correct"),
    ),
    "details beside the score": (
        "s.json",
        json.dumps(keyed(lambda x: {"correct": x, "results": {"a": 1, "b": 2, "c": 3}})),
        KEYS.format("correct"),
    ),
    "pandas, by columns": ("s.json", wide().to_json(), None),
    "pandas, by records": ("s.json", wide().to_json(orient="records"), None),
    "pandas, lines": ("s.ndjson", wide().to_json(orient="records", lines=True), None),
    "pandas, split": ("s.json", wide().to_json(orient="split"), None),
    "pandas, table": ("s.json", wide().to_json(orient="table", index=False), None),
    "pandas, lists": ("s.json", json.dumps(wide().to_dict("list")), None),
    "pandas, items in the index": ("s.json", RIGHT.to_json(), KEYS.format("value")),
}


def test_scores_by_several_metrics_are_no_systems(tmp_path: Path) -> None:
    rows = [{"id": i, "scores": {"tone": x, "style": 1 - x}} for i, x in zip(ITEMS, RIGHT["new"].tolist(), strict=True)]
    (tmp_path / "new.json").write_text(json.dumps(rows))
    loaded = load(tmp_path / "new.json", "accuracy", columns={"score": "scores.tone"})
    assert loaded.outputs.names == ["new"]
    np.testing.assert_array_equal(loaded.outputs.statistics[0, :, 0], RIGHT["new"])


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_has_the_numbers_of_the_table(shape: str, tmp_path: Path) -> None:
    name, text, said = SHAPES[shape]
    (tmp_path / name).write_text(text)
    loaded = load(tmp_path / name, "accuracy")
    assert loaded.outputs.names == ["new", "old", "tiny"]
    assert loaded.outputs.items["id"].tolist() == ITEMS
    np.testing.assert_array_equal(loaded.outputs.statistics[..., 0], RIGHT.T)
    left_out = ["column 'log' left out: a cell of it is a list"] if "log" in text else []
    assert [*loaded.notes] == [*([said] if said else []), *left_out]


def test_a_system_may_be_right_or_wrong_on_all_items(tmp_path: Path) -> None:
    path = tmp_path / "s.json"
    for new in (0.0, 1.0):
        systems = {"new": (new, [int(new)] * 12), "old": (0.5, [0, 1] * 6)}
        text = {
            s: {"accuracy": mean, "scores": dict(zip(ITEMS, own, strict=True))} for s, (mean, own) in systems.items()
        }
        path.write_text(json.dumps(text))
        loaded = load(path, "accuracy")
        assert (loaded.outputs.names, loaded.outputs.n_items) == (["new", "old"], 12)
        assert loaded.outputs.scores().tolist() == [100 * new, 50]


def test_systems_called_by_numbers_are_not_exchanged_with_items(tmp_path: Path) -> None:
    """Sizes of models as keys; and items as the first keys, whose names do not say so: the note says what to do."""
    path = tmp_path / "s.json"
    path.write_text(json.dumps({str(size): {f"arc/{i}": (i + size) % 2 for i in range(30)} for size in (7, 14)}))
    loaded = load(path, "accuracy")
    assert (loaded.outputs.names, loaded.outputs.n_items) == (["7", "14"], 30)
    path.write_text(json.dumps({f"arc/{i}": {"new": i % 2, "old": 0} for i in range(30)}))
    loaded = load(path, "accuracy")
    told = "30 systems on 2 items: are rows and columns exchanged?"
    assert loaded.outputs.n_systems == 30
    assert any(one.startswith(told) for one in loaded.notes)
    for columns in ({"system": "key2"}, {"item": "key1"}):
        loaded = load(path, "accuracy", columns=columns)
        assert (loaded.outputs.names, loaded.outputs.n_items) == (["new", "old"], 30)


def test_a_file_for_each_system_in_whatever_shape(tmp_path: Path) -> None:
    """A folder of unlike files, one of which is packed; a note for each whose names are not ours."""
    (tmp_path / "new.json").write_text(json.dumps(RIGHT["new"].to_dict()))
    (tmp_path / "old.csv").write_text(RIGHT["old"].rename_axis("item").rename("score").to_csv())
    lines = [json.dumps({"task_id": i, "passed": bool(x), "x": {"y": i}}) for i, x in RIGHT["tiny"].items()]
    (tmp_path / "tiny.jsonl").write_text("\n".join(lines[::-1]))
    loaded = load(tmp_path, "accuracy")
    assert loaded.outputs.names == ["new", "old", "tiny"]
    np.testing.assert_array_equal(loaded.outputs.statistics[..., 0], RIGHT.T)
    assert loaded.notes == (
        f"{tmp_path}/new.json: simstudy uses key as item and value as score",
        f"{tmp_path}/tiny.jsonl: simstudy uses task_id as item and passed as score",
    )


def test_what_a_file_says_beside_its_records_is_in_each(tmp_path: Path) -> None:
    for system, right in (("a/1", [1, 0]), ("b/2", [1, 1])):
        rows = [{"id": i, "acc": x} for i, x in enumerate(right)]
        about = {"model": system, "config": {"shots": 5, "stop": ["."]}, "results": rows}
        (tmp_path / f"{system[0]}.json").write_text(json.dumps(about))
    outputs = load(tmp_path, "accuracy").outputs
    assert (outputs.names, outputs.scores().tolist()) == (["a/1", "b/2"], [50, 100])
    assert outputs.items.to_dict("list") == {"id": ["0", "1"], "config.shots": [5, 5]}
    for path in tmp_path.iterdir():
        # The mean of all beside the score of each: what a record says goes first.
        path.write_text(json.dumps(json.loads(path.read_text()) | {"acc": 0.5}))
    assert load(tmp_path, "accuracy").outputs.scores().tolist() == [50, 100]


def test_cells_stay_what_they_are_and_rows_know_their_place(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"id": 1, "a": {"b": null, "c": [1]}}\n\n{"id": "01", "a": {}}\n')
    frame = read_table(path)
    assert frame.to_dict("list") == {"id": [1, "01"], "a.b": [None, None], "a.c": [[1], None]}
    assert (frame.index.name, frame.index.tolist()) == ("line", [1, 3])
    (tmp_path / "t.json").write_text('[\n{"id": 1},\n{"id": 2}]')
    frame = read_table(tmp_path / "t.json")
    assert (frame.index.name, frame.index.tolist()) == ("record", [1, 2])


def test_lists_beside_the_scores_are_left_out_and_told(tmp_path: Path) -> None:
    rows = [{"system": "a", "item": k, "score": 1, "log": [k], "kind": "x", "steps": {"first": [2]}} for k in (1, 2)]
    (tmp_path / "s.json").write_text(json.dumps(rows))
    loaded = load(tmp_path / "s.json", "mean")
    assert loaded.notes == ("columns left out, for they have lists or the like: log, steps.first",)
    assert loaded.outputs.items.to_dict("list") == {"id": ["1", "2"], "kind": ["x", "x"]}


def test_tables_beside_the_scores_may_be_json_too(tmp_path: Path) -> None:
    (tmp_path / "s.json").write_text(wide().to_json())
    (tmp_path / "items.json").write_text(json.dumps([{"id": i, "domain": "ab"[n % 2]} for n, i in enumerate(ITEMS)]))
    (tmp_path / "systems.jsonl").write_text('{"system": "new", "group": "x"}\n{"system": "old", "group": "y"}\n')
    loaded: Loaded = load(
        tmp_path / "s.json", "accuracy", items=tmp_path / "items.json", systems=tmp_path / "systems.jsonl"
    )
    assert loaded.outputs.items["domain"].tolist() == ["a", "b"] * 6
    assert loaded.outputs.systems["group"].tolist()[:2] == ["x", "y"]


@pytest.mark.parametrize(
    ("name", "text", "told"),
    [
        ("s.json", '{"a": 1,\n"b":', ", line 2: not JSON (is the file cut?): Expecting value"),
        ("s.jsonl", '{"id": 1}\n{"id": 2',
         ", line 2: not JSON (is the file cut?): Expecting ',' delimiter"),
        ("s.jsonl", '{"id": 1}\n\n[2]\n', ", line 3: a line of JSON must be an object, not a list"),
        ("s.jsonl", '{"id": 1, "id": 2}\n', ", line 1: an object of JSON has the key 'id' twice"),
        ("s.json", "[]", " has no records"),
        ("s.json", " {}\n", " has no records"),
        ("s.json", "3", ": JSON must be a list or an object to be a table, not a number"),
        ("s.json", '[{"id": 1}, [2]]', ", record 2: a record must be an object, not a list"),
        ("s.json", '{"a": [1, 0], "b": [1]}', ": lists must be of one length, but 'a' has 2, 'b' 1"),
        ("s.json", '{"a": [{"x": 1}], "b": [{"x": 1}], "c": 1}',
         ": lists of records are under a, b, beside other keys: write one of them to a file of its own"),
        ("s.json", '{"a": {"q": 1}, "b": 2}',
         ": objects of keys must be of one depth, but 'a.q' and 'b' are not: write a list of records to a file of its "
         'own, such as [{"item": "q1", "system": "A", "score": 1}], or JSON lines'),
        ("s.json", '{"columns": ["a"], "data": [[1], [1, 2]]}', ", record 2: a row must be a list of 1 cell"),
        ("s.json", '[{"a.b": 1, "a": {"b": 2}}]', ", record 1: two keys are 'a.b', with and without nesting"),
        ("s.json", "[" * 9**5, ", line 1: nested too deeply"),
        ("s.json", '[{"a": ' + '{"a":' * 60 + "1" + "}" * 60 + "}]", ", record 1: objects are nested too deeply"),
        ("s.json", '[{"id": "\\ud83d"}]', r", record 1: texts must be of whole characters (UTF-8), unlike '\ud83d'"),
        ("s.json", '[{"a\\nb": 1}]', r": the name of a column must be of one line, unlike 'a\nb'"),
        ("s.json", json.dumps([{f"q{k}": 1 for k in range(20_001)}]),
         ": records have 20,001 columns, more than 20,000: are ids keys in them?"),
        ("s.json", '[{"item": null, "score": 1}]', ", record 1: no item"),
        ("s.json", '[{"item": NaN, "score": 1}]', ", record 1: no item"),
        ("s.json", f'[{{"item": 1, "score": 1{"0" * 400}}}]', ", record 1: a score must be a number, not inf"),
        ("s.json", '[{"item": 1, "score": [[1]]}]', ", record 1: column 'score' must hold text or numbers, not a list"),
        ("s.json", '{"new": [1, 0], "old": [0, 0]}',
         ": no column 'item' (columns: new, old). Name it with columns={'item': 'NAME'}. "
         "If the rows have no ids, use columns={'item': 'row'}."),
    ],
)  # fmt: skip
def test_json_that_is_no_table_is_told_by_file_and_place(tmp_path: Path, name: str, text: str, told: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ValueError, match=f"^{re.escape(str(tmp_path / name) + told)}$"):
        load(tmp_path / name, "mean")
