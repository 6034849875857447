"""What loaders take: files, the names of their systems, and names of columns."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest

import simstudy as ss
from simstudy.loaders.base import Source, all_errors, system_files
from simstudy.loaders.door import load
from simstudy.loaders.naming import folders_that_differ, name_and_path
from simstudy.metrics import get_metric
from simstudy.notes import notes_kept
from simstudy.text.numerals import counted
from tests.loaders.examples import EXAMPLES, LOG, written


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ("GPT-4.de Claude-3.5.de", "GPT-4 Claude-3.5"),
        ("a/x.en b/y.en", "x y"),
        ("a.de.gz b.de.gz", "a b"),
        ("GPT-4.de v1.5 plain", "GPT-4.de v1.5 plain"),
        ("claude-3.5-sonnet gpt-4.1-mini", "claude-3.5-sonnet gpt-4.1-mini"),
        ("claude-3.5-sonnet", "claude-3.5-sonnet"),
        ("gpt-4.1 o-4.1", "gpt-4.1 o-4.1"),
        ("net.base net.large", "net.base net.large"),
        ("A.txt.gz B.TXT C.gz D.csv.GZ", "A B C D"),
        ("arcada mic-cis.txt", "arcada mic-cis"),
        ("gpt-4.1-mini.txt gpt-4.1-mini.de.txt", "gpt-4.1-mini gpt-4.1-mini.de"),
    ],
)
def test_systems_are_named_by_their_files(files: str, names: str) -> None:
    assert list(system_files([Path(file) for file in files.split()])) == names.split()


def test_files_that_would_give_one_system_or_are_one_file() -> None:
    message = "^a/x.txt and a/x.out would both be system 'x': rename one of the files, or name the systems$"
    with pytest.raises(ValueError, match=message):
        system_files([Path("a/x.txt"), Path("a/x.out")])
    for again in (Path("a/x.en"), Path("a/../a/x.en"), Path("a/x.en").absolute()):
        with pytest.raises(ValueError, match=f"^{again} is given twice$"):
            Source((Path("a/x.en"), again), get_metric("mean"))


def test_things_are_counted_and_names_sound_like_errors_together() -> None:
    assert [counted(n, "line") for n in (0, 1, 2, 1000)] == ["0 lines", "1 line", "2 lines", "1,000 lines"]
    assert all_errors(["wer_old", "wer_new"]) == ("wer_old", "wer_new")
    assert all_errors(["focal_loss", "new"]) == ()


def test_zero_is_no_score_of_a_missing_item_where_lower_is_better() -> None:
    with pytest.raises(
        ValueError, match=r"^missing must be 'error' or 'drop' for metric 'mean \(lower is better\)', not"
    ):
        Source((), get_metric("mean (lower is better)"), missing="zero")


@pytest.mark.parametrize(
    ("slip", "meant"), [("itme", "item"), ("scroe", "score"), ("clutser", "cluster"), ("gld", "gold")]
)
def test_a_slip_in_one_of_our_names_of_columns_is_told_and_a_name_of_ones_own_is_not(
    tmp_path: Path, slip: str, meant: str
) -> None:
    """The file's own name is no slip, nor is a name that is unlike ours."""
    path = tmp_path / "c.csv"
    path.write_text(f"word,gold,t,{slip},x\na,1,9,1,1\nb,0,7,2,1\n")
    told = rf"^columns must map our names \(system, item, .* not '{slip}' \(did you mean '{meant}'\?\)$"
    for loader in (lambda columns: ss.load(path, "precision@1", columns=columns), partial(ss.load_candidates, path)):
        with pytest.raises(ValueError, match=told):
            loader(columns={slip: "x"})
        found = loader(columns={slip: slip, "length": "x"})
        items = found.items if hasattr(found, "items") else found.outputs.items
        assert {slip, "length"} <= set(items)


def test_scores_that_are_called_after_an_error_are_noted_unless_somebody_says_what_is_better(tmp_path: Path) -> None:
    """By the column, by the systems' columns or the files if all sound so, and by the metric's own name."""
    tidy, wide, lines = (tmp_path / name for name in ("s.csv", "w.csv", "wer.txt"))
    tidy.write_text("system,item,loss\na,x,2\nb,x,1\n")
    wide.write_text("item,wer_a,wer_b\nx,2,1\n")
    lines.write_text("2\n")
    named = {"columns": {"score": "loss"}}
    for path, options, name in ((tidy, named, "loss"), (wide, {}, "wer_a"), (lines, {}, "wer.txt")):
        (note,) = ss.load(path, "mean", **options).notes
        assert note.startswith("say lower_is_better=True if lower is better, or lower_is_better=False if ")
        assert note.endswith(f". Scores are called '{name}', but higher numbers win by default.")
        assert ss.load(path, "mean", lower_is_better=False, **options).notes == ()
        errors = ss.load(path, "mean", lower_is_better=True, **options)
        assert errors.notes == ()
        assert not errors.outputs.metric.higher_is_better
    wide.write_text("item,wer_a,b\nx,2,1\n")
    assert ss.load(wide, "mean").notes == ()
    files = [written(tmp_path, f"{name}.ter", "1\n2\n") for name in ("old", "new")]
    assert "called 'old.ter'" in ss.load(files, "mean").notes[0]
    assert ss.load(files, "bleu", references=files[0]).notes == (), "these are texts"


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
