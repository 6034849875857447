"""What is refused in tables of scores: at which place, and with which options as the remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simstudy.notes import Argument
from tests.readers.line_files import loaded, refused

DESCRIBES = {
    "accuracy": "is_multiple_choice n_steps word_count mean overall std id user_id total",
    "mean": "difficulty seconds time length cost index average delta gold human count",
}
ROW = '{"id": "q1", "scores": {"bleu": 1, "rouge": 2}}\n{"id": "q2", "scores": {"bleu": 2, "rouge": 1}}\n'


def arguments(words: Any) -> list[Argument]:
    """The arguments that words name, in order."""
    named: list[Argument] = []
    for value in getattr(words, "fields", {}).values():
        named += [value] if isinstance(value, Argument) else arguments(value)
    return named


@pytest.mark.parametrize(
    ("text", "metric", "columns"),
    [
        *((f"item,{name},a\nx,1,0\ny,0,1\n", metric, {name: name})
          for metric, names in DESCRIBES.items() for name in names.split()),
        ("item,a,seconds,mean\nx,1,2,1\n", "mean", {"seconds": "seconds", "mean": "mean"}),
        ("item,label,a\nx,1,1\n", "accuracy", {"gold": "label"}),
        ("id,gold,pred,f1\nx,a,a,0.5\n", "accuracy", {"gold": "gold"}),
        (ROW, "mean", {"score": "scores.bleu"}),
    ],
)  # fmt: skip
def test_columns_that_may_be_two_things_are_refused_until_an_option_says_which(
    tmp_path: Path, text: str, metric: str, columns: dict[str, str]
) -> None:
    files = {"s.jsonl" if text.startswith("{") else "s.csv": text}
    error = refused(tmp_path, files, metric)
    assert error.at == str(tmp_path / [*files][0])
    assert arguments(error.remedy)[0] == Argument("columns", columns)
    assert loaded(tmp_path, files, metric, columns=columns).outputs.n_systems == 1


NAMED = {"system": "model", "item": "NAME"}
DROP = [Argument("missing", "drop"), Argument("missing", "zero")]


@pytest.mark.parametrize(
    ("name", "text", "metric", "columns", "place", "remedy"),
    [
        # Summaries as keys and as last rows.
        *(("s.json", f'{{"a": {{"q1": 1, "{key}": 0.5}}}}', "accuracy", {}, "", [])
          for key in ("accuracy", "mean", "win_rate", "std", "total", "f1")),
        *(("s.json", f'{{"q1": 1, "{key}": 0.5}}', "accuracy", {}, "", [])
          for key in ("accuracy", "n", "avg_score", "seed", "n_correct")),
        *(("s.csv", f"item,a\nx,1\n{key},0.5\n", "mean", {}, ", line 3", [])
          for key in ("mean", "Average", "overall", "total")),
        ("s.csv", "item,a\nx,1\ny,1\nmean,0.5\nstd,0.1\n", "mean", {}, ", line 4", []),
        ("s.csv", "system,item,score\na,x,1\na,mean,1\nb,x,1\n", "mean", {}, ", line 3", []),
        ("s.json", '{"a": {"q1": {"tone": 1}}}', "mean", {}, "", []),
        # Columns that are missing.
        ("s.csv", "model,x\na,1\n", "mean", {}, "", [Argument("columns", NAMED | {"score": "x"})]),
        ("s.jsonl", '{"model": "a", "scores": {"helpfulness": 1, "tone": 2}}\n', "mean", {}, "",
         [Argument("columns", NAMED | {"score": "scores.helpfulness"})]),
        ("s.csv", "itm,a\nx,1\n", "mean", {"item": "itme", "domain": "topik"}, "", []),
        ("s.csv", "system,itm,score\na,x,1\n", "mean", {}, "",
         [Argument("columns", {"item": name}) for name in ("NAME", "row")]),
        ("s.csv", "item,category,score\nx,1,1\n", "mean", {"item": "category+idd"}, "", []),
        ("s.csv", "system,item,score\na,x,1\n", "f1", {}, "", []),
        # Rows that come again, and cells.
        ("s.csv", "system,item,score\na,x,1\na,x,0\n", "mean", {}, ", line 3",
         [Argument("columns", {ours: name}) for ours, name in (
             ("sample", "NAME"), ("sample", "row"), ("factor", "NAME"), ("system", "NAME"), ("item", "NAME+ID"))]),
        ("s.csv", "system,item,score\na,x,\n", "mean", {}, ", line 2", DROP),
        *(("s.csv", f'system,item,score\na,x,"{cell}"\n', "mean", {}, ", line 2", [])
          for cell in ("72.8%", "1,640", "0,64", "✔", "%", "tie")),
        ("s.csv", "item,a,b\nx,1,1\ny,error,0\n", "mean", {}, ", line 3, system 'a'",
         [*DROP, Argument("columns", {"a": "a"})]),
        ("s.csv", "item,a\nx,50.5\n", "accuracy", {}, ", line 2, system 'a'", [Argument("metric", "mean")]),
        ("s.csv", "a;b\n1;2\n", "mean", {}, ", line 1", []),
        ("s.json", f'[{{"item": 1, "score": 1{"0" * 400}}}]', "mean", {}, ", record 1", []),
    ],
)  # fmt: skip
def test_an_error_has_its_place_and_the_options_that_help(
    tmp_path: Path, name: str, text: str, metric: str, columns: dict[str, str], place: str, remedy: list[Argument]
) -> None:
    error = refused(tmp_path, {name: text}, metric, columns=columns)
    assert (error.at or str(error).split()[0]) == f"{tmp_path / name}{place}"
    assert arguments(error.remedy) == remedy


@pytest.mark.parametrize(
    ("cell", "cure"),
    [("72.8%", "0.728"), ("1,640", "thousands"), ("0,64", "decimal point"), ("✔", "1 for right"), ("tie", "0.5")],
)
def test_how_to_write_a_number(tmp_path: Path, cell: str, cure: str) -> None:
    assert cure in refused(tmp_path, {"s.csv": f'system,item,score\na,x,"{cell}"\n'}, "mean").remedy


def test_a_system_that_lacks_items_is_named_with_its_file(tmp_path: Path) -> None:
    files = {"a.csv": "item,score\nx,1\ny,1\n", "b.csv": "item,score\nx,1\n"}
    error = refused(tmp_path, files, "mean")
    assert f"system 'b' ({tmp_path}/b.csv) lacks 1 of 2 items, first 'y'" in str(error)
    assert arguments(error.remedy) == DROP
    files["b.csv"] = "item,score\nz,1\n"
    assert arguments(refused(tmp_path, files, "mean").remedy) == [], "neither helps if the ids are not alike"
