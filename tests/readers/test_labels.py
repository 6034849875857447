"""Tables of labels: gold ones beside predicted ones, in one file or in two."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.readers.line_files import loaded, note_kinds, refused, scores

LABEL_METRICS = ("accuracy", "macro_f1", "balanced_accuracy", "mcc")
GOLD, OLD, NEW = "xyxx", "xxxy", "xyxy"  # old is right on two of four items, new on three


def lines(gold: Any, predicted: Any, **more: Any) -> str:
    """Records of items q0, q1, … in JSON lines; without gold labels if there are none."""
    rows = [{"id": f"q{i}", "prediction": one, **more} for i, one in enumerate(predicted)]
    return "".join(json.dumps(row | ({} if gold is None else {"gold": gold[i]})) + "\n" for i, row in enumerate(rows))


def pair(gold: Any = GOLD, **more: Any) -> dict[str, str]:
    return {"old.jsonl": lines(gold, OLD, **more), "new.jsonl": lines(gold, NEW, **more)}


#: By hand. F1 of x and y is 4/6 and 0 for old, 4/5 and 2/3 for new; recalls are 2/3 and 0, and 2/3 and 1; the
#: correlation of old is (2 * 0 - 1 * 1) / sqrt(3 * 3 * 1 * 1), that of new (2 * 1 - 0 * 1) / sqrt(2 * 3 * 1 * 2).
BY_HAND = {
    "accuracy": (50, 75), "macro_f1": (100 / 3, 220 / 3), "balanced_accuracy": (100 / 3, 250 / 3),
    "mcc": (-1 / 3, 2 / 12**0.5),
}  # fmt: skip


@pytest.mark.parametrize("metric", LABEL_METRICS)
def test_labels_in_every_shape_have_the_scores_by_hand(metric: str, tmp_path: Path) -> None:
    expected = dict(zip(("old", "new"), (round(score, 2) for score in BY_HAND[metric]), strict=True))
    rows = [f"{s},q{i},{GOLD[i]},{own[i]}" for s, own in (("old", OLD), ("new", NEW)) for i in range(4)]
    wide = "".join(f"q{i},{GOLD[i]},{OLD[i]},{NEW[i]}\n" for i in range(4))
    without = {name: lines(None, own) for name, own in (("old.jsonl", OLD), ("new.jsonl", NEW))}
    gold = "id,label\n" + "".join(f"q{i},{GOLD[i]}\n" for i in (3, 0, 2, 1))
    for files in (
        {"s.csv": "\n".join(["system,item,gold,predicted", *rows])},
        {"s.csv": "\n".join(["model,id,label,pred", *rows])},
        {"s.csv": "item,gold,old,new\n" + wide},
        {"s.csv": "item,target,old,new\n" + wide},
        {"s.csv": "gold,old,new\n" + "".join(row.partition(",")[2] + "\n" for row in wide.splitlines())},
        pair(),
        without | {"gold.csv": gold},
        without | {"gold.json": json.dumps({"q0": "x", "q2": "x", "q1": "y", "q3": "x"})},
    ):
        assert scores(loaded(tmp_path, files, metric)) == pytest.approx(expected), files
    answers = loaded(tmp_path, pair(), metric).outputs.answers
    assert answers is not None
    assert (answers[0] == answers[1]).tolist() == [True, False, True, True]


@pytest.mark.parametrize("metric", LABEL_METRICS)
def test_gold_labels_of_one_item_must_not_differ(tmp_path: Path, metric: str) -> None:
    files = {"old.jsonl": lines("xyxy", OLD), "new.jsonl": lines("xxyy", NEW)}
    error = refused(tmp_path, files, metric)
    assert error.at == f"{tmp_path}/new.jsonl, line 2"
    assert "'q1' has 'x' here and 'y' in" in error.rule
    assert "2 items of 4" in error.rule


@pytest.mark.parametrize("other", [(1.0, 0.0, 1.0, 0.0), ("1", "0", "1", "0"), (" 1", "0 ", " 1", "0 ")])
def test_labels_of_another_type_or_with_blanks_are_the_same(tmp_path: Path, other: Any) -> None:
    """Three of four labels are right in both. F1 is 0.8 and 2/3."""
    one = (1, 0, 1, 0)
    files = {f"{k}.jsonl": lines(own, (own[0], own[1], own[2], own[0])) for k, own in enumerate((one, other))}
    assert scores(loaded(tmp_path, files, "accuracy")) == {"0": 75, "1": 75}
    assert scores(loaded(tmp_path, files, "macro_f1")) == {"0": 73.33, "1": 73.33}
    # A column of floats has 1.0 for 1.
    text = '{"item": 1, "gold": 1, "a": 1.0, "b": null}\n{"item": 2, "gold": 0, "a": 1.0, "b": 0.0}\n'
    floats = loaded(tmp_path, {"s.jsonl": text}, "accuracy", columns={"gold": "gold"}, missing="zero")
    assert scores(floats) == {"a": 50, "b": 50}


def test_a_blank_label_is_none_and_na_is_one_if_a_gold_label_is_written_so(tmp_path: Path) -> None:
    text = "item,gold,a,b\n1,NA,NA,yes\n2,NA,nan,NA\n3,yes,yes,yes\n"
    assert scores(loaded(tmp_path, {"s.csv": text}, "accuracy", missing="zero")) == {"a": 66.67, "b": 66.67}
    for blank in ("NA", "", "nan"):
        text = f"item,gold,a,b\n1,yes,{blank},no\n2,no,no,no\n"
        assert "system 'a'" in refused(tmp_path, {"s.csv": text}, "accuracy").rule
    for files, at in (
        ({"a.csv": "id,gold,pred\nq0,x,x\nq1,,y\n"}, "a.csv, line 3"),
        ({"a.csv": "id,gold,pred\nq0,x,x\nq1,y, \n"}, "a.csv, line 3"),
        ({"a.csv": "id,pred\nq0,x\nq1,y\n", "gold.csv": "id,gold\nq0,x\nq1,\n"}, "gold.csv, line 3"),
    ):
        assert refused(tmp_path, files, "accuracy").at == f"{tmp_path}/{at}"


def test_a_column_without_gold_labels_is_no_system(tmp_path: Path) -> None:
    files = {"s.csv": "item,gold,a,b\n1,x,x,long text\n2,y,x,text\n"}
    assert "column 'b' is a system, but none of its labels is a gold one" in str(refused(tmp_path, files, "macro_f1"))


def test_samples_of_a_question_have_one_gold_label(tmp_path: Path) -> None:
    rows = [f"{s},{i},{k},x,{'x' if k else 'y'}" for s in "ab" for i in (1, 2) for k in (0, 1)]
    text = "\n".join(["system,item,sample,gold,predicted", *rows])
    assert scores(loaded(tmp_path, {"s.csv": text}, "accuracy")) == {"a": 50, "b": 50}
    assert refused(tmp_path, {"s.csv": text.replace("b,2,1,x", "b,2,1,y")}, "accuracy").at.endswith("line 9")


@pytest.mark.parametrize("score", ["score", "f1", "correct"])
def test_scores_beside_labels_are_asked_about(tmp_path: Path, score: str) -> None:
    """They may be confidences. Both ways out, followed, do what they say."""
    files = pair(**{score: 0.5})
    remedy: Any = refused(tmp_path, files, "accuracy").remedy
    labels, means = remedy.fields["gold"].value, remedy.fields["score"].value
    assert scores(loaded(tmp_path, files, "accuracy", columns=labels)) == {"old": 50, "new": 75}
    assert scores(loaded(tmp_path, files, "accuracy", columns=means)) == {"old": 50, "new": 50}
    assert scores(loaded(tmp_path, files, "mean")) == {"old": 0.5, "new": 0.5}


@pytest.mark.parametrize("name", ["gold", "label", "target", "human"])
def test_gold_labels_that_are_numbers_may_be_a_system(tmp_path: Path, name: str) -> None:
    """All ways out, followed, do what they say."""
    files = {"s.csv": f"item,{name},a,b\n1,1,1,0\n2,0,0,0\n3,1,0,1\n"}
    (tmp_path / "systems.csv").write_text(f"system\n{name}\na\nb\n")
    remedy: Any = refused(tmp_path, files, "accuracy").remedy
    columns = remedy.fields["labels"].value
    assert scores(loaded(tmp_path, files, "accuracy", columns=columns)) == {"a": 66.67, "b": 66.67}
    systems = tmp_path / "systems.csv"
    expected = {name: 66.67, "a": 33.33, "b": 33.33}
    assert scores(loaded(tmp_path, files, "accuracy", systems=systems)) == expected
    if name != "gold":
        columns = remedy.fields["aside"].fields["aside"].value
        assert scores(loaded(tmp_path, files, "accuracy", columns=columns)) == {"a": 33.33, "b": 33.33}


def test_labels_that_are_no_gold_label_get_a_note(tmp_path: Path) -> None:
    """One label that is gold's is enough."""

    def told(*labels: str) -> list[Any]:
        files = {f"{name}.jsonl": lines("xyxy", own) for name, own in zip(("a", "b"), labels, strict=True)}
        found = loaded(tmp_path, files, "accuracy")
        return [note.fields for note in found.notes[1:] if note.kind == "labels unlike gold"]

    assert told("zzzz", "zxzz") == [{"systems": "'a'", "why": ""}]
    assert told("xyxy", "XYXY") == [{"systems": "'b'", "why": "; they differ in case"}]


def test_gold_labels_of_another_file_must_have_all_items(tmp_path: Path) -> None:
    """It may have more."""
    own = {"new.csv": "id,prediction\nq0,x\nq1,y\n"}
    more = loaded(tmp_path, own | {"gold.csv": "id,label\nq0,x\nq9,z\nq1,x\n"}, "accuracy")
    assert (scores(more), note_kinds(more)) == ({"new": 50}, ["more gold labels"])
    named = loaded(tmp_path, own | {"gold.csv": "id,right\nq0,x\nq1,x\n"}, "accuracy", columns={"gold": "right"})
    assert scores(named) == {"new": 50}
    lacking = refused(tmp_path, own | {"gold.csv": "id,label\nq0,x\n"}, "accuracy")
    assert "lacks 1 of 2 items, first 'q1'" in lacking.rule
    for header in ("id,gold,prediction", "id,target,prediction"):
        there = {"new.csv": f"{header}\nq0,x,x\n", "gold.csv": "id,label\nq0,x\n"}
        assert refused(tmp_path, there, "accuracy").argument == "references"
    scored = {"new.csv": "id,a,b\nq0,1,0\n", "gold.csv": "id,label\nq0,x\n"}
    assert refused(tmp_path, scored, "accuracy").argument == "references"


@pytest.mark.parametrize(
    ("gold", "expected"),
    [
        ({"q1": "Paris", "q2": ""}, {"a": 100, "b": 0}),
        ({"q1": ["Paris", "paris"], "q2": ["x"]}, {"a": 50, "b": 100}),
        ({"q1": ["Rome"], "q2": ["", "x"]}, {"a": 50, "b": 50}),
    ],
)
def test_an_answer_is_right_if_it_is_any_of_the_gold_ones(
    tmp_path: Path, gold: dict[str, Any], expected: dict[str, float]
) -> None:
    """By hand. The empty text of JSON is an answer; null is none, and several labels have no classes."""
    files = {"a.json": json.dumps({"q1": "Paris", "q2": ""}), "b.json": json.dumps({"q1": "paris", "q2": "x"}),
             "gold.json": json.dumps(gold)}  # fmt: skip
    assert scores(loaded(tmp_path, files, "accuracy")) == expected
    records = {
        f"{name}.jsonl": "".join(
            json.dumps({"id": q, "gold": gold[q], "answer": answer}) + "\n"
            for q, answer in json.loads(files[f"{name}.json"]).items()
        )
        for name in "ab"
    }
    assert scores(loaded(tmp_path, records, "accuracy", columns={"gold": "gold"})) == expected
    rows = [
        f"{q},{answer}"
        for q, answers in gold.items()
        for answer in ([answers] if isinstance(answers, str) else answers)
    ]
    if all(row[-1] != "," for row in rows):
        (tmp_path / "gold.json").unlink()
        in_rows = {name: files[name] for name in ("a.json", "b.json")} | {"gold.csv": "\n".join(["id,answer", *rows])}
        assert scores(loaded(tmp_path, in_rows, "accuracy")) == expected
    null = files | {"b.json": '{"q1": null, "q2": "x"}'}
    assert refused(tmp_path, null, "accuracy").at == f"{tmp_path}/b.json, record 1"
    if any(isinstance(answers, list) and len(answers) > 1 for answers in gold.values()):
        assert refused(tmp_path, files, "macro_f1").argument == "gold"
    assert refused(tmp_path, files, "mean").argument == "references"
