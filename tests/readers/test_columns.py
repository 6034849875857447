"""Names of columns: ours, usual ones in any spelling, what the user says, and names that choose among several."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simstudy.metrics import get_metric
from simstudy.readers.columns import USUAL, check_columns, first_named, usually_named
from tests.readers.line_files import input_error, loaded, refused, scores


def test_usual_names_are_no_summaries_and_stand_for_one_of_ours_each() -> None:
    """But texts, which are for people, may have two meanings."""
    names = [name for ours, own in USUAL.items() if ours not in ("input", "answer") for name in own]
    assert len(names) == len({*names})


@pytest.mark.parametrize(
    ("header", "columns"),
    [
        ("system,item,score", {}),
        ("model,question_id,correct", {}),
        ("Model Name,Question-ID,Exact Match", {}),
        ("meta.run.model,meta.task_id,metrics.acc", {}),
        ("run_id,doc_id,is_resolved", {}),
        ("submission,question,passed", {}),
        ("who,q,points", {"system": "who", "item": "q", "score": "points"}),
        # Ours go before usual ones, and what the user says before both.
        ("system,item,score,model,uid,correct", {}),
        ("who,q,points,system,item,score", {"system": "who", "item": "q", "score": "points"}),
    ],
)
def test_columns_are_found_by_our_names_by_usual_ones_or_as_the_user_says(
    tmp_path: Path, header: str, columns: dict[str, str]
) -> None:
    extra = header.count(",") - 2
    rows = ["a,q1,1", "a,q2,0", "b,q1,1", "b,q2,1"]
    text = "\n".join([header, *(row + ",z,9,0" if extra else row for row in rows)])
    assert scores(loaded(tmp_path, {"s.csv": text}, "accuracy", columns=columns)) == {"a": 50, "b": 100}


def test_whole_names_go_before_last_parts_and_the_first_usual_one_before_others() -> None:
    columns = ["a.model", "b.Model", "x"]
    assert usually_named(columns, USUAL["system"]) == ["a.model", "b.Model"]
    assert usually_named([*columns, "run"], USUAL["system"]) == ["run"]
    assert first_named(["prompt", "Question"], USUAL["input"]) == "Question"
    assert first_named(["x"], USUAL["input"]) is None


@pytest.mark.parametrize(
    ("header", "ours", "choices"),
    [
        ("model,run_id,item,score", "system", ["model", "run_id"]),
        ("system,qid,task_id,score", "item", ["qid", "task_id"]),
        ("system,item,acc,f1", "score", ["acc", "f1"]),
        ("system,item,m.bleu.f1,m.rouge.f1", "score", ["m.bleu.f1", "m.rouge.f1"]),
    ],
)
def test_where_two_fit_the_user_is_asked_and_either_answer_works(
    tmp_path: Path, header: str, ours: str, choices: list[str]
) -> None:
    files = {"s.csv": f"{header}\n1,0,1,0\n"}
    row = dict(zip(header.split(","), "1010", strict=True))
    remedy: Any = refused(tmp_path, files, "accuracy").remedy
    options = [argument.value for argument in remedy.fields.values()]
    assert options == [{ours: name} for name in choices]
    for columns in options:
        outputs = loaded(tmp_path, files, "accuracy", columns=columns).outputs
        found = {"system": outputs.names, "item": [*outputs.items["id"]], "score": [str(outputs.statistics[0, 0, 0])]}
        assert found[ours] == [row[columns[ours]]]


@pytest.mark.parametrize(
    ("slip", "meant"), [("itme", "item"), ("scroe", "score"), ("clutser", "cluster"), ("gld", "gold")]
)
def test_a_slip_in_one_of_our_names_is_told(slip: str, meant: str) -> None:
    """A name of one's own is none, nor is that of a column of the same name; logs have a score for each task."""
    error = input_error(
        {slip: "x"}, get_metric("f1"), by=check_columns, match=rf"not '{slip}' \(did you mean '{meant}'\?\)"
    )
    assert error.argument == "columns"
    for columns in (None, {slip: slip}, {"length": "x"}, {"score@gsm8k": "em"}, {"guessed": "n"}):
        check_columns(columns, get_metric("f1"))
    for wrong in ("item=id", {"item": 3}, {1: "x"}):
        input_error(wrong, by=check_columns)
