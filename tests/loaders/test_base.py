from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import simstudy as ss
from simstudy.loaders.base import Source, all_errors, counted, system_files
from simstudy.metrics import get_metric


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
    for load in (lambda columns: ss.load(path, "precision@1", columns=columns), partial(ss.load_candidates, path)):
        with pytest.raises(ValueError, match=told):
            load(columns={slip: "x"})
        found = load(columns={slip: slip, "length": "x"})
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
        assert note.startswith(f"scores are called '{name}' and higher is assumed to be better")
        assert ss.load(path, "mean", lower_is_better=False, **options).notes == ()
        errors = ss.load(path, "mean", lower_is_better=True, **options)
        assert errors.notes == ()
        assert not errors.outputs.metric.higher_is_better
    wide.write_text("item,wer_a,b\nx,2,1\n")
    assert ss.load(wide, "mean").notes == ()
