"""Studies of one's own files: from a template, by paths beside study.toml, resumed without parsing what is the same."""

from __future__ import annotations

import os
import re
import shlex
import tomllib
from pathlib import Path

import pandas as pd
import pytest
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.files.datasets import DataError
from simstudy.readers import text_files as reading
from simstudy.studies import StudyError, load_study, make_study
from simstudy.studies.definition import Comparison
from simstudy.studies.natural.definition import CrossDomain, NaturalStudy, NaturalTestSet, SystemsTable
from simstudy.studies.run import study_cells
from simstudy.studies.templates import new_study

# What is drawn is looked at in test_study.py, test_resampling.py and tests/plot.
pytestmark = pytest.mark.usefixtures("empty_figures")

TOML = """
kind = "natural"
title = "T"
question = "Q?"
[[test_sets]]
name = "own"
metric = "accuracy"
paths = ["runs"]
references = ["gold.txt"]
"""


def command(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, arguments)
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A study over texts beside it; the working directory is another one."""
    folder = tmp_path / "mine"
    (folder / "runs").mkdir(parents=True)
    (folder / "study.toml").write_text(TOML)
    (folder / "gold.txt").write_text("1\n0\n" * 10)
    for k, name in enumerate(("one", "two", "three")):
        (folder / "runs" / f"{name}.txt").write_text("1\n0\n" * (4 + k) + "0\n0\n" * (6 - k))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    monkeypatch.delenv("SIMSTUDY_DATA_DIR", raising=False)
    return folder


def csvs(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*.csv"))}


def score(results: ss.studies.Results, system: str) -> float:  # type: ignore[name-defined]
    board = results.tables["leaderboard"]
    return float(board.loc[(board["system"] == system) & (board["metric"] == "accuracy"), "score"].iloc[0])


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that are parsed."""
    names: list[str] = []
    unpacked = reading.unpacked
    monkeypatch.setattr(reading, "unpacked", lambda path: names.append(path.name) or unpacked(path))
    return names


def test_the_command_answers_first_and_names_each_file_outside_once(own: Path) -> None:
    code, out, _ = command("run", str(own), "--out", str(own.parent / "answered"), "--jobs", "1")
    assert code == 0
    board = pd.read_csv(own.parent / "answered" / "leaderboard.csv")
    best = board.loc[board["may_be_best"], "system"].tolist()
    first = out.splitlines()[0]
    assert first.startswith("own (accuracy): ")
    assert f"{len(best)} of 3 systems may be the best (95 % confidence): {', '.join(best)}." in first
    frame = pd.read_csv(own.parent / "answered" / "comparisons.csv.gz")
    frame = frame[frame["n_items"] == 20].sort_values("p_value")
    steps = [p * (3 - k) <= 0.05 for k, p in enumerate(frame["p_value"])]
    differ = next((k for k, holds in enumerate(steps) if not holds), 3)
    assert first.endswith(f" {differ} of 3 pairs differ significantly at 0.05 (two-sided, Holm).")
    text = TOML.replace('["runs"]', '["../runs"]').replace('["gold.txt"]', '["../gold.txt"]')
    (own / "study.toml").write_text(text)
    code, _, err = command("run", str(own), "--out", str(own.parent / "outside"), "--jobs", "1")
    assert code == 2
    told = f"'../runs', '../gold.txt': not inside {own}, or a link that leads out of it; --allow-outside"
    assert err.count("--allow-outside") == err.count(told) == 1


def test_a_resumed_run_parses_nothing_and_no_number_is_of_a_changed_file(own: Path, opened: list[str]) -> None:
    out = own.parent / "out"
    assert len(study_cells(own, out=out)) == 1
    assert not out.exists(), "a list keeps nothing"
    opened.clear()
    first = ss.run_study(own, out=out, n_jobs=1)
    assert sorted(opened) == ["gold.txt", "one.txt", "three.txt", "two.txt"]
    before, manifest = csvs(out), (out / "manifest.json").read_text("utf-8")
    opened.clear()
    ss.run_study(own, out=out, n_jobs=1)
    assert (opened, csvs(out)) == ([], before)
    again = (out / "manifest.json").read_text("utf-8")
    assert re.findall('"files": {[^}]*}', again)[0] == re.findall('"files": {[^}]*}', manifest)[0]
    assert score(first, "one") == 70
    # One byte is another one; size and time of the file are as they were.
    path = own / "runs" / "one.txt"
    known = path.stat()
    path.write_text("0" + path.read_text()[1:])
    os.utime(path, ns=(known.st_atime_ns, known.st_mtime_ns))
    assert score(ss.run_study(own, out=out, n_jobs=1), "one") == 65
    opened.clear()
    for cell in (out / "cells").glob("*.npz"):
        cell.write_bytes(cell.read_bytes()[:-1] + b"x")
    assert score(ss.run_study(own, out=out, n_jobs=1), "one") == 65
    assert "one.txt" in opened


def test_files_beside_the_study_go_before_those_of_the_data_folder(own: Path, tmp_path: Path) -> None:
    data = tmp_path / "data"
    (data / "runs").mkdir(parents=True)
    (data / "runs" / "one.txt").write_text("not read\n")
    assert score(ss.run_study(own / "study.toml", out=tmp_path / "a", n_jobs=1, data_dir=data), "one") == 70
    (own / "gold.txt").rename(data / "gold.txt")
    assert score(ss.run_study(own, out=tmp_path / "b", n_jobs=1, data_dir=data), "one") == 70
    with pytest.raises(DataError, match=f"gold.txt: no such file in {own}, and no public address"):
        ss.run_study(own, out=tmp_path / "c", n_jobs=1)


@pytest.mark.parametrize("by", ["..", "link"])
def test_files_outside_the_studys_folder_are_asked_for(by: str, own: Path, tmp_path: Path) -> None:
    (own / "gold.txt").rename(tmp_path / "gold.txt")
    if by == "link":
        (own / "gold.txt").symlink_to(tmp_path / "gold.txt")
    name = "gold.txt" if by == "link" else "../gold.txt"
    own.joinpath("study.toml").write_text(TOML.replace("gold.txt", name))
    with pytest.raises(DataError, match="allow_outside"):
        ss.run_study(own, out=tmp_path / "out", n_jobs=1)
    ss.run_study(own, out=tmp_path / "out", n_jobs=1, allow_outside=True)


@pytest.mark.slow
@pytest.mark.parametrize("options", [[], ["--seed", "3", "--allow-outside"]])
def test_a_page_says_a_command_that_makes_it_again(options: list[str], own: Path, tmp_path: Path) -> None:
    out = tmp_path / "deep" / "my results"
    assert command("run", "../mine", "--out", str(out), "--jobs", "1", *options)[0] == 0
    made, place = re.findall("Made by `(.*?)` (.*?);", (out / "README.md").read_text("utf-8"))[0]
    assert place == "in this folder"
    assert str(tmp_path) not in made
    before = csvs(out), (out / "README.md").read_bytes()
    for path in [*out.glob("*.csv"), *(out / "cells").glob("*.npz")]:
        path.unlink()
    os.chdir(out)
    program, *arguments = shlex.split(made)
    assert (program, command(*arguments, "--jobs", "1")[0]) == ("simstudy", 0)
    assert (csvs(out), (out / "README.md").read_bytes()) == before


@pytest.mark.slow
def test_a_new_study_runs_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, out, _ = command("new", "my study", "--from", "natural")
    *_, last = out.splitlines()
    assert (code, last) == (0, "Run it: simstudy run 'my study'")
    code, out, err = command(*shlex.split(last.removeprefix("Run it: simstudy ")), "--jobs", "1")
    assert code == 0, err
    table = pd.read_csv("my study/scores.csv").drop(columns=["item", "domain"])
    board = pd.read_csv("results/my study/leaderboard.csv").set_index("system")["score"]
    assert board.to_dict() == pytest.approx((100 * table.mean()).to_dict(), rel=1e-5)
    assert "too few pairs" not in out
    before = Path("my study/study.toml").read_bytes()
    for name, message in (
        ("my study", "folder must be new or empty, but my study is there: nothing in it is written over"),
        ("quickstart", "folder must have a name of its own: a study that comes with simstudy is called 'quickstart'"),
    ):
        assert command("new", name) == (2, "", f"simstudy: {message}\n")
    assert command("new", "other", "--from", "nothing")[0] == 2
    assert Path("my study/study.toml").read_bytes() == before
    assert not Path("other").exists()


def test_the_template_explains_every_key_and_what_is_switched_off_is_allowed(tmp_path: Path) -> None:
    text = new_study(tmp_path / "mine")[0].read_text("utf-8")
    for name, message in (
        ("mine", "folder must be new or empty, but "),
        ("quickstart", "folder must have a name of its"),
    ):
        with pytest.raises(ValueError, match=f"^{message}"):
            new_study(tmp_path / name)
    every = tomllib.loads(re.sub(r"^#(?=[a-z_]+ = |\[)", "", text, flags=re.MULTILINE))
    (test_set,), (followed,) = every["test_sets"], every["calibration"]
    for keys, model in (
        ({*every, "name"}, NaturalStudy),
        ({*every["comparison"]}, Comparison),
        ({*test_set}, NaturalTestSet),
        ({*test_set["systems"]}, SystemsTable),
        ({*followed}, CrossDomain),
    ):
        assert keys == {*model.model_fields}, model
    # Either a table of systems or groups; the domains of one test set or several test sets; a test that has strata.
    systems, among = test_set.pop("systems"), followed.pop("among")
    assert (systems["file"], len(among)) == ("systems.csv", 2)
    del test_set["each"], every["comparison"]["strata"], every["comparison"]["n_resamples"], test_set["n_resamples"]
    make_study({"name": "mine", **every}, "here")
    # As it is, and with each key of the study alone.
    switched_off = re.findall(r"^#[a-z_]+ = .*", text, flags=re.MULTILINE)
    assert len(switched_off) > 30
    for line in [
        row for row in switched_off if row.startswith(("#alpha", "#duplicates", "#shown", "#items", "#where"))
    ]:
        (tmp_path / "mine" / "study.toml").write_text(text.replace(line, line[1:], 1))
        load_study(tmp_path / "mine")
    (tmp_path / "mine" / "study.toml").write_text(text.replace("#alpha = 0.05", "alpha = 5", 1))
    with pytest.raises(StudyError, match="alpha"):
        load_study(tmp_path / "mine")


def test_a_folder_gives_a_study_and_a_comparison_the_same_systems(own: Path) -> None:
    """Those of its own files; notes name its references and count the files of its subfolders."""
    (own / "runs" / "gold.txt").write_text((own / "gold.txt").read_text())
    (own / "runs" / "old").mkdir()
    (own / "runs" / "old" / "four.txt").write_text("1\n" * 20)
    (own / "study.toml").write_text(TOML.replace('"gold.txt"', '"runs/gold.txt"'))
    loaded = ss.load(own / "runs", "accuracy", references=own / "runs" / "gold.txt")
    results = ss.run_study(own, out=own / "out", n_jobs=1)
    assert sorted(results.tables["leaderboard"]["system"]) == sorted(loaded.outputs.names) == ["one", "three", "two"]
    folder = own / "runs"
    assert loaded.notes[1:] == (
        f"1 file in subfolders of {folder} not read, because the folder has files of its own: "
        f"{folder / 'old/four.txt'}",
        f"{folder / 'gold.txt'} is not read as a system: it is given as references",
    )
    page = (own / "out" / "README.md").read_text()
    for said in loaded.notes:
        assert said.replace(str(own) + "/", "") in page
    ss.run_study(own, out=own / "out", n_jobs=1)
    assert (own / "out" / "README.md").read_text() == page, "notes are kept too"
    both = TOML.replace('["runs"]', '["runs", "runs/old"]')
    (own / "study.toml").write_text(both.replace('"gold.txt"', '"runs/gold.txt"'))
    assert "four" in set(ss.run_study(own, out=own / "both", n_jobs=1).tables["leaderboard"]["system"])
    assert ss.load([folder, folder / "old"], "accuracy", references=own / "gold.txt").notes[1:] == ()
