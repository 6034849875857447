"""The names of systems: given with the paths, or taken from the folders that differ."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simstudy.loaders.base import system_files
from simstudy.loaders.formats import load
from simstudy.loaders.naming import folders_that_differ, name_and_path
from simstudy.notes import notes_kept
from tests.loaders.examples import EXAMPLES, LOG, written


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_format_takes_the_names_that_are_given(name: str, tmp_path: Path) -> None:
    example = EXAMPLES[name]
    new, old = written(tmp_path, *example.new), written(tmp_path, *example.old)
    gold = [] if example.gold is None else [written(tmp_path, "gold", example.gold)]
    paths: list[Any] = [{"the new": new, "é=1": str(old)}, [("the new", new), ("é=1", old)]]
    for given in paths:
        found = load(given, example.metric, references=gold, format=name).outputs
        assert found.names == ["the new", "é=1"]
        assert found.scores().tolist() == pytest.approx(example.scores)
    assert load([("a", new), old], example.metric, references=gold, format=name).outputs.names == ["a", "old"]


def test_a_table_of_one_system_takes_the_name_and_one_of_several_does_not(tmp_path: Path) -> None:
    tidy = written(tmp_path, "t.csv", "system,item,score\nm,q1,1\nm,q2,0\n")
    again = written(tmp_path, "u.csv", "system,item,score\nm,q1,1\nm,q2,1\n")
    wide = written(tmp_path, "w.csv", "item,m\nq1,1\nq2,0\n")
    assert load({"a": tidy, "b": again}, "accuracy").outputs.scores().tolist() == [50, 100]
    assert load({"a": wide}, "accuracy").outputs.names == ["a"]
    counts = written(tmp_path, "c.csv", "item,gold,m:correct,m:guessed\nq1,1,1,1\n")
    assert load({"a": counts}, "f1").outputs.names == ["a"]
    for text in ("system,item,score\nm,q1,1\nn,q1,0\n", "item,m,n\nq1,1,0\n"):
        several = written(tmp_path, "s.csv", text)
        with pytest.raises(ValueError, match="s.csv already names 2 systems, m, n: leave out the name 'a'"):
            load({"a": several}, "accuracy")
    with pytest.raises(ValueError, match="paths must have no names for a table of candidates"):
        load({"a": written(tmp_path, "k.csv", "id,gold,t\na,1,2\n")}, "precision@1")


def test_a_folder_of_logs_takes_a_name_and_one_of_several_texts_does_not(tmp_path: Path) -> None:
    for model in ("x", "y"):
        for task in ("quiz", "arc"):
            written(tmp_path, f"{model}/m/{LOG.replace('quiz', task)}", EXAMPLES["lm-eval"].new[1])
    found = load({"base": "x", "new": "y"}, "accuracy").outputs
    assert (found.names, found.n_items, sorted(set(found.items["domain"]))) == (["base", "new"], 4, ["arc", "quiz"])
    for name in ("a", "b"):
        written(tmp_path, f"z/{name}.txt", "1\n")
    with pytest.raises(ValueError, match="z/a.txt and z/b.txt would both be system 'base': a system is one file"):
        load({"base": "z"}, "mean")


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ("runs/base/hyp.txt runs/new/hyp.txt", "base new"),
        ("runs/base/en/hyp.txt runs/new/en/hyp.txt", "base new"),
        ("runs/base/hyp.txt runs/new/v2/hyp.txt", "base new/v2"),
        ("a/x/1/hyp.txt a/y/2/hyp.txt other.txt", "x/1 y/2 other"),
    ],
)
def test_files_of_one_name_are_called_after_the_folders_that_differ(files: str, names: str) -> None:
    with notes_kept() as notes:
        found = system_files([Path(file) for file in files.split()])
    assert list(found) == names.split()
    told = ", ".join(names.split()[:2])
    assert notes == [f"2 files are called 'hyp': the systems have the names of their folders, {told}"]


def test_folders_that_do_not_tell_files_apart() -> None:
    for files in ("hyp.txt new/hyp.txt", "a/hyp.txt a/hyp.out"):
        assert folders_that_differ([Path(file) for file in files.split()]) is None
        with pytest.raises(
            ValueError, match="would both be system 'hyp': rename one of the files, or name the systems"
        ):
            system_files([Path(file) for file in files.split()])
    with notes_kept(), pytest.raises(ValueError, match="would both be system 'base'"):
        system_files([Path("runs/base/hyp.txt"), Path("runs/new/hyp.txt"), Path("base.txt")])


def test_a_path_that_is_there_has_no_name(tmp_path: Path) -> None:
    written(tmp_path, "a=b.txt", "1\n")
    written(tmp_path, "b.txt", "1\n")
    assert name_and_path(Path("a=b.txt")) == (None, Path("a=b.txt"))
    assert name_and_path(Path("c=b.txt")) == ("c", Path("b.txt"))
    assert name_and_path(Path("c=a=b.txt")) == ("c", Path("a=b.txt"))
    assert name_and_path(Path("=b.txt")) == (None, Path("=b.txt"))


@pytest.mark.parametrize(
    ("paths", "message"),
    [
        ({"a": "a.txt", "b": "a.txt"}, "a.txt is given twice"),
        ({" ": "a.txt"}, "paths must be named by one line of text, not ' '"),
        ({1: "a.txt"}, "paths must be named by text, not 1"),
        ({"a": "a.txt", "b": 3}, "paths must be a path"),
        ([("a", "a.txt"), ("a", "b.txt")], "paths must name each system once, unlike 'a'"),
        ({"a": "none.txt"}, "no such file: none.txt"),
        ({"b": "a.txt", "c": "b.txt", "caf\u00e9": "c.txt", "cafe\u0301": "d.txt"}, "in two normal forms of Unicode"),
    ],
)  # fmt: skip
def test_what_is_refused_of_names(paths: Any, message: str, tmp_path: Path) -> None:
    for name in "abcd":
        written(tmp_path, f"{name}.txt", "1\n2\n")
    with pytest.raises((ValueError, FileNotFoundError), match=message):
        load(paths, "mean")
