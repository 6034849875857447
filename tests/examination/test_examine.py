"""`simstudy.examine` is what the command does, for outputs and for files."""

from __future__ import annotations

import json
from hashlib import sha256
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.examination import asking

SYSTEMS = "system,group\ns0,x\ns1,x\ns2,y\ns3,y\n"


@pytest.fixture(autouse=True)
def _files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(5)
    scores = pd.DataFrame({f"s{k}": (rng.random(90) < 0.5 + k / 12).astype(int) for k in range(4)})
    scores.rename_axis("item").to_csv("many.csv")
    scores[["s0", "s3"]].rename_axis("item").to_csv("two.csv")
    Path("systems.csv").write_text(SYSTEMS)
    for name, answers in {"old": "a b b", "new": "a b c", "gold": "a b c"}.items():
        Path(f"{name}.txt").write_text("".join(f"{answer}\n" for answer in answers.split() * 9))


def command(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["compare", *arguments])
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


CASES: list[tuple[tuple[str, ...], tuple[Any, ...], dict[str, Any]]] = [
    (("two.csv", "--metric", "accuracy"), ("two.csv", "accuracy"), {}),
    (("many.csv", "--metric", "accuracy"), (["many.csv"], "accuracy"), {}),
    (
        ("many.csv", "--metric", "accuracy", "--systems", "systems.csv", "--margin", "9", "--alpha", "0.2"),
        (Path("many.csv"), "accuracy"),
        {"systems": "systems.csv", "margin": 9, "alpha": 0.2},
    ),
    (
        ("many.csv", "--metric", "accuracy", "--test", "bootstrap", "--resamples", "500", "--seed", "4"),
        ("many.csv", "accuracy"),
        {"test": "bootstrap", "n_resamples": 500, "seed": 4},
    ),
    (
        ("old.txt", "new.txt", "--metric", "accuracy", "--references", "gold.txt"),
        (["old.txt", "new.txt"], "accuracy"),
        {"references": "gold.txt"},
    ),
]


@pytest.mark.parametrize(("typed", "arguments", "options"), CASES, ids=lambda case: " ".join(map(str, case))[:40])
def test_files_are_examined_as_the_command_does(
    typed: tuple[str, ...], arguments: tuple[Any, ...], options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ss.examine(*arguments, **options)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" not in found.text, "without colours, whatever the environment says"
    monkeypatch.delenv("FORCE_COLOR")
    assert command(*typed) == f"{found.text}\n"
    printed, own = json.loads(command(*typed, "--json")), json.loads(found.to_json())
    del printed["settings"], own["settings"]
    assert own == printed


@pytest.mark.usefixtures("undrawn")
def test_a_folder_is_what_the_command_writes() -> None:
    command("many.csv", "--metric", "accuracy", "--systems", "systems.csv", "--out", "by_command")
    found = ss.examine("many.csv", "accuracy", systems="systems.csv")
    found.write("here")
    tables = sorted(path.name for path in Path("by_command").glob("*.csv"))
    assert "pairs.csv" in tables
    for name in tables:
        assert (Path("here") / name).read_bytes() == (Path("by_command") / name).read_bytes()
    made_by = "Made by `simstudy.examine`"
    pages = [(Path(folder) / "README.md").read_text().splitlines() for folder in ("by_command", "here")]
    other = [pair for pair in zip(*pages, strict=True) if pair[0] != pair[1]]
    assert [new.startswith(made_by) for _, new in other] == [True]
    manifest = json.loads((Path("here") / "manifest.json").read_text())
    hashes = {name: sha256(Path(name).read_bytes()).hexdigest() for name in ("many.csv", "systems.csv")}
    assert manifest["data"]["files"] == hashes
    assert manifest["comparison"]["by"] == ["group"]


def test_outputs_what_was_loaded_and_a_test_set_say_the_same() -> None:
    loaded = ss.load("many.csv", "accuracy", systems="systems.csv")
    found = ss.examine(loaded, by="group", unit="item")
    test_set = ss.TestSet(loaded.outputs, by="group", unit="item", notes=loaded.notes)
    assert ss.examine(test_set).text == found.text
    assert ss.examine(loaded.outputs, by="group", unit="item").pairs.frame.equals(found.pairs.frame)
    assert set(found.pairs["relation"]) == {"same group", "different groups"}
    assert ss.examine(test_set, by="family", duplicates="drop").test_set.by == ("family",)


def test_it_shows_itself() -> None:
    two, many = ss.examine("two.csv", "accuracy"), ss.examine("many.csv", "accuracy")
    assert two.verdict is not None
    assert repr(two).splitlines() == ["Examination: 2 systems compared by accuracy", two.verdict.splitlines()[0]]
    first, *others = repr(many).splitlines()
    second = " ".join(others)
    assert first == "Examination: 4 systems compared by accuracy"
    assert second == " ".join(many.text.splitlines()[:3])
    assert " of 6 pairs differ significantly at 0.05 (two-sided, Holm)." in second
    assert many._repr_html_().count("<tr") == 5


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        (
            ("lines.txt",),
            {"references": "lines.txt"},
            "metric must be given for plain text",
        ),
        (("nothing.csv", "accuracy"), {}, "no such file: nothing.csv"),
        (
            ("many.csv", "acuracy"),
            {},
            r"metric must be a known name, not 'acuracy' .did you mean 'accuracy'..: one of accuracy, ",
        ),
        (("many.csv", "accuracy"), {"by": "grop"}, ".*'grop'.*"),
        ((3, "accuracy"), {}, "paths must be a list of paths, or one path, not 3"),
    ],
)
def test_what_is_wrong_with_files(arguments: tuple[Any, ...], options: dict[str, Any], message: str) -> None:
    Path("lines.txt").write_text("yes\nno\n")
    with pytest.raises((ValueError, FileNotFoundError), match=f"^{message}"):
        ss.examine(*arguments, **options)


def test_scores_of_0_and_1_need_no_metric() -> None:
    assert ss.examine("many.csv").pairs.frame.equals(ss.examine("many.csv", "accuracy").pairs.frame)


def test_what_is_wrong_with_outputs() -> None:
    outputs = ss.load("many.csv", "accuracy").outputs
    assert ss.examine(outputs, "accuracy").test_set.metric == "accuracy"
    with pytest.raises(ValueError, match="^metric must be that of the outputs, 'accuracy', not 'mean'$"):
        ss.examine(outputs, "mean")
    with pytest.raises(ValueError, match="^systems must not be given with outputs: it says how files are read$"):
        ss.examine(outputs, systems="systems.csv")
    with pytest.raises(ValueError, match="at least 2 systems to compare, not 1"):
        ss.examine(outputs.select(["s1"]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"margin": 100}, "margin must be below 100 for scores in percent, not 100"),
        ({"by": "grop"}, "by must be a column of the systems table, not 'grop'"),
    ],
)
def test_what_outputs_can_not_have_is_told_before_they_are_compared(
    options: dict[str, Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Which may take minutes."""
    monkeypatch.setattr(asking, "compare", lambda *_, **__: pytest.fail("they were compared"))
    with pytest.raises(ValueError, match=message):
        ss.examine(ss.truth.correlated_accuracies([0.6, 0.7], 30), **options)


@pytest.mark.parametrize(("margin", "told"), [(0.02, True), (0.49, True), (0.5, False), (2, False)])
def test_a_margin_below_one_item_is_told(margin: float, told: bool) -> None:
    """One item of 200 is 0.5 points."""
    found = ss.examine(ss.truth.correlated_accuracies([0.6, 0.7], 200), margin=margin)
    said = [note for note in found.notes if note.startswith("margin")]
    hint = f"margin {margin:g} is in points of 100, less than one item of 200 is worth (0.5); write {100 * margin:g} "
    assert said == [f"{hint}if you mean the fraction {margin:g}"] * told


def test_pairs_are_the_noun_with_its_systems() -> None:
    """What is asked of them there is what `compare` says of the same outputs."""
    outputs = ss.truth.correlated_accuracies([0.6, 0.7, 0.72], 300, seed=2)
    found, pairs = ss.examine(outputs), ss.compare(outputs)
    assert isinstance(found.pairs, ss.Comparisons)
    assert found.pairs.significant(corrected="holm").names == pairs.significant(corrected="holm").names
    assert found.pairs.related("family")["relation"].tolist() == pairs.related("family")["relation"].tolist()
    assert found.pairs.verdict("system-3", "system-1") == pairs.verdict("system-3", "system-1")


def test_the_settings_say_all_that_the_comparison_was_asked() -> None:
    """Asked with them, `compare` gives the same p-values: a JSON of Python need not be guessed at."""
    outputs = ss.truth.correlated_accuracies([0.6, 0.7], 300, seed=2)
    found = ss.examine(outputs, test="bootstrap", seed=5)
    settings = json.loads(found.to_json())["settings"]
    again = {name: settings[name] for name in signature(ss.compare).parameters if name in settings}
    assert again["test"] == "bootstrap"
    assert ss.compare(outputs, **again)["p_value"].tolist() == found.pairs["p_value"].tolist()


@pytest.mark.parametrize(("test", "told"), [("mcnemar", True), ("bootstrap", False)])
def test_a_number_of_resamples_that_nobody_draws_is_told(test: str, told: bool) -> None:
    outputs = ss.truth.correlated_accuracies([0.6, 0.7], 300, seed=2)
    asked = {"test": test, "n_resamples": 500, "monte_carlo": True}
    assert told == any("the number of resamples is not used" in note for note in ss.examine(outputs, **asked).notes)
    assert not any("no resample" in note for note in ss.examine(outputs, test=test).notes)
