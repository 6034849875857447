"""`simstudy plan` as its users meet it: guesses, pilots and leaderboards in; sentences, tables, JSON and a page out."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import fields
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.main import get_command
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.cli.wording import wording
from simstudy.notes import Argument
from simstudy.readers.load import load
from tests.cli.command import write_wide


def plan(*arguments: str) -> tuple[int, str, str]:
    result = CliRunner().invoke(app, ["plan", *arguments])
    assert "Traceback" not in result.stdout + result.stderr
    return result.exit_code, result.stdout, result.stderr


@pytest.fixture
def pilot() -> str:
    rng = np.random.default_rng(0)
    hard = rng.random(200)
    return write_wide(
        "pilot.csv", {name: (hard < at).astype(int).tolist() for name, at in (("old", 0.6), ("new", 0.7))}
    )


def test_guesses_make_a_sentence() -> None:
    code, out, err = plan("--metric", "accuracy", "--score", "80", "--gain", "1", "--agreement", "0.9")
    assert (code, err) == (0, "")
    n = int(re.findall(r"^You need ([\d,]+) items to detect", out)[0].replace(",", ""))
    # The textbook's (z + z)^2 (0.1 - 0.01^2) / 0.01^2, and a little more for an exact test.
    textbook = (stats.norm.isf(0.025) + stats.norm.ppf(0.8)) ** 2 * 0.0999 / 0.0001
    assert textbook < n < 1.05 * textbook
    assert f"With {n:,} items and an agreement of 0.9, the test (two-sided, p <= 0.05) detects a true gain of" in out
    assert "\n- Test: the default of compare" in out


def test_fractions_are_refused_where_points_are_meant() -> None:
    """A plan of 80 to 81 % in fractions would be one of 0.8 to 0.81 %: the error has the numbers that were meant."""
    code, out, err = plan("--metric", "accuracy", "--score", "0.8", "--gain", "0.01")
    assert (code, out) == (2, "")
    (meant,) = re.findall(r"^simstudy: --score must be in percent, not 0.8: did you mean (.*)\?$", err)
    code, out, _ = plan("--metric", "accuracy", *meant.replace(",", "").split())
    assert code == 0
    assert "to detect a true gain of 1 point of accuracy" in out
    for asked, option, meant in (
        ("accuracy --score 0.7 --gain 2", "--score", "70"),
        ("accuracy --score 70 --gain 0.02", "--gain", "2"),
        ("accuracy --score 70 --gain 2 --agreement 85", "--agreement", "0.85"),
        ("bleu --margin 0.05 --n-items 2000", "--margin", "5"),
    ):
        code, out, err = plan("--metric", *asked.split())
        assert (code, out) == (2, "")
        assert err.startswith(f"simstudy: {option} must be ")
        assert err.endswith(f": did you mean {meant}?\n")
    # Fractions of metrics that have them, and small gains of systems that are hardly ever wrong.
    for well in (
        "ap --sd 0.2 --r12 0.5 --gain 0.01",
        "bleu --gain 0.5",
        "accuracy --score 99.5 --gain 0.05 --agreement 0.998",
    ):
        assert plan("--metric", *well.split())[0] == 0


def test_without_an_agreement_known_test_sets_give_a_range() -> None:
    code, out, err = plan("--metric", "accuracy", "--score", "80", "--gain", "1", "--verbose")
    assert (code, err) == (0, "")
    for relation in ("same family", "different families"):
        ends = r"\([\d,]+ to [\d,]+, 80 % of known pairs\)"
        assert re.search(rf"You need [\d,]+ items {ends} to detect .* \({relation}\)\.", out)
    assert re.search(r"as for 80 % of pairs of the same family on \d+ known test sets", out)


def test_a_pilot_gives_an_interval_and_is_simulated(pilot: str) -> None:
    """Of nested answers 10 % differ; Clopper and Pearson's bounds by scipy."""
    code, out, err = plan(pilot, "--metric", "accuracy", "--gain", "8", "--verbose")
    assert (code, err) == (0, "")
    frame = pd.read_csv(pilot)
    count = int((frame["old"] != frame["new"]).sum())
    interval = stats.binomtest(count, 200).proportion_ci()
    assert f"range: {100 * interval.low:.3g} to {100 * interval.high:.3g} %, the 95 % interval of such a pilot" in out
    assert " of 2,000 test sets of " in out


def test_many_systems_are_predicted(four: str) -> None:
    frame = pd.read_csv(four).drop(columns=["genre", "doc"])
    rng = np.random.default_rng(1)
    for k in range(6):
        frame[f"e{k}"] = (rng.random(30) < 0.5 + k / 20).astype(int)
    frame.to_csv("ten.csv", index=False)
    asked = ("--gain", "20", "--simulate", "0", "--draws", "100")
    code, out, err = plan("ten.csv", "--metric", "accuracy", *asked, "--verbose")
    assert (code, err) == (0, "")
    assert "Predicted results of test sets of these sizes" in out
    heads = [line.split() for line in out.splitlines()]
    assert any({"of", "9"} <= {*words} for words in heads)
    assert any("(uncorrected)" in words for words in heads)


def test_sizes_are_told_where_predictions_have_no_room() -> None:
    """Sentences on many pairs in clusters are long: the planned size is not left alone."""
    rng = np.random.default_rng(1)
    rows = [(f"s{k}", f"i{i}", f"d{i % 40}", int(rng.random() < 0.4 + k / 30)) for k in range(12) for i in range(400)]
    pd.DataFrame(rows, columns=["system", "item", "doc_id", "score"]).to_csv("twelve.csv", index=False)
    code, out, err = plan("twelve.csv", "--metric", "accuracy", "--gain", "2", "--simulate", "0", "--draws", "100")
    assert (code, err) == (0, "")
    assert "Predicted results" not in out
    table = out[out.index("Test sets of other sizes") :].split("\nNote:")[0].split("\n\n")[0]
    assert sum(line.split()[0].replace(",", "").isdigit() for line in table.splitlines()[1:]) == 3


def test_one_file_is_one_plan() -> None:
    """Command and function, of five systems of which two are nearly the same: as of the four without it."""
    rng = np.random.default_rng(2)
    scores = {
        name: (rng.random(300) < at).astype(int) for name, at in zip("abcd", (0.6, 0.62, 0.64, 0.66), strict=True)
    }
    again = scores["a"].copy()
    again[:3] = 1 - again[:3]
    path = write_wide("board.csv", {name: own.tolist() for name, own in (scores | {"again": again}).items()})
    code, out, err = plan(path, "--metric", "accuracy", "--gain", "10", "--json", "--simulate", "0", "--draws", "100")
    assert (code, err) == (0, "")
    told = json.loads(out)
    every, four = (ss.Outputs.from_scores(pd.DataFrame(own), "accuracy") for own in (scores | {"again": again}, scores))

    default = ss.plan(ss.Pilot(every, n_sets=0, n_draws=0), gain=10, sizes=[])
    by_hand, kept = (
        ss.plan(ss.Pilot(own, duplicates="keep", n_sets=0, n_draws=0), gain=10, sizes=[]) for own in (four, every)
    )
    said, needed, expected, other = (
        found["n_items"].iloc[0]
        for found in (pd.DataFrame(told["answers"]), default.answers, by_hand.answers, kept.answers)
    )
    assert said == needed == expected != other
    assert "near-duplicates left out: 1 of 5 systems (--duplicates keep keeps them)" in told["notes"]


@pytest.mark.usefixtures("undrawn")
def test_a_page_and_the_text_of_the_function_are_the_commands(pilot: str, tmp_path: Path) -> None:
    arguments = (pilot, "--metric", "accuracy", "--gain", "8", "--simulate", "200", "--out", str(tmp_path / "cli"))
    _, out, _ = plan(*arguments)
    outputs = load([Path(pilot)], "accuracy").outputs
    found = ss.plan(ss.Pilot(outputs, n_sets=200), gain=8.0)
    assert out.splitlines()[:7] == found.text.splitlines()[:7]
    assert {*found.text.splitlines()[:-1]} <= {*plan(*arguments[:-2], "--verbose")[1].splitlines()}
    assert out.count(" of 200 test sets") == 1
    found.write(tmp_path / "python")
    for name in ("answers.csv", "sizes.csv"):
        assert (tmp_path / "python" / name).read_text() == (tmp_path / "cli" / name).read_text()
    asked = json.loads((tmp_path / "python/manifest.json").read_text())["plan"]
    assert (asked["gain"], asked["pilot"]["n_sets"], asked["guess"]["score"]) == (8.0, 200, None)
    assert json.loads(found.to_json())["settings"]["pilot"]["seed"] == 0
    seeded = json.loads(plan(*arguments[:5], "--simulate", "200", "--seed", "3", "--json")[1])
    again = ss.plan(ss.Pilot(outputs, n_sets=200, seed=3), gain=8.0)
    assert seeded["simulated"] == json.loads(again.to_json())["simulated"]
    assert seeded["simulated"] != json.loads(found.to_json())["simulated"]


def test_a_margin_alone_is_not_simulated_and_says_so(pilot: str) -> None:
    _, out, _ = plan(pilot, "--metric", "accuracy", "--margin", "3", "--simulate", "500")
    assert "Note: The plan is not simulated: that needs a gain above 0." in out
    assert "needs a gain" not in plan(pilot, "--metric", "accuracy", "--margin", "3", "--simulate", "0")[1]


def test_json_has_what_the_sentences_say() -> None:
    code, out, _ = plan("--metric", "accuracy", "--score", "80", "--n-items", "500", "--r12", "0.5:0.7", "--json")
    assert code == 0
    told = json.loads(out)
    row = told["answers"][0]
    assert row["minimum_detectable_gain_low"] < row["minimum_detectable_gain"] < row["minimum_detectable_gain_high"]
    assert row["n_items"] is None
    assert told["settings"]["n_items"] == 500
    assert f"{row['minimum_detectable_gain']:.3g} points" in told["sentences"][0]


@pytest.mark.usefixtures("undrawn")
def test_a_page_is_written() -> None:
    code, out, err = plan("--metric", "bleu", "--gain", "1", "--out", "folder")
    assert (code, err) == (0, "")
    assert out.endswith("Figures and report: folder/index.html\n")
    page = Path("folder/README.md").read_text()
    assert "![Answers](figures/plan.png)" in page
    assert {path.name for path in Path("folder").iterdir()} >= {"answers.csv", "sizes.csv", "manifest.json", "figures"}


def test_costs_and_designs_are_told() -> None:
    code, out, _ = plan(
        "--metric", "mean", "--sd", "1.2", "--r12", "0.6", "--gain", "0.1", "--cluster-size", "10", "--icc", "0.1",
        "--cluster-cv", "0", "--cost-item", "1", "--cost-cluster", "5",
    )  # fmt: skip
    assert code == 0
    # sqrt(5 / 1 x 0.9 / 0.1) is 6.7.
    assert re.search(r"^ +7 +best for the money", out, flags=re.MULTILINE)


def test_what_the_help_shows_works(pilot: str) -> None:
    Path("old.txt").write_text("a cat sat on the mat\nhe is here\nwhat nice day is it\n" * 5)
    Path("new.txt").write_text("the cat sat on the mat\nhe is here today\nwhat a nice day it is\n" * 5)
    Path("ref.txt").write_text("the cat sat on the mat\nhe is here now\nwhat a nice day it is\n" * 5)
    frame = pd.read_csv(pilot).melt(id_vars="item", var_name="system", value_name="right")
    frame.rename(columns={"item": "question_id"}).to_csv("results.csv", index=False)
    shown = CliRunner().invoke(app, ["plan", "--help"], env={"COLUMNS": "1000", "TERMINAL_WIDTH": "1000"}).stdout
    examples = re.findall(r"simstudy (plan --metric.*|plan \S+ .*)", shown)
    assert len(examples) >= 6
    for example in examples:
        words = shlex.split(example.strip(" │"))[1:]
        # The least that may be drawn of a pilot.
        code, out, err = plan(*words, *([] if words[0] == "--metric" else ["--simulate", "200", "--draws", "100"]))
        assert (code, err) == (0, ""), (example, err)
        assert out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        # Of each noun, and of the command's own groups, one message; the others are those of tests/planning.
        ("--metric accuracy --score 80 --gain 1 --power 1.5", "--power must lie between 0 and 1, both excluded"),
        ("--metric accuracy --gain 1", "--score must be given for accuracy"),
        ("--metric accuracy --score 80 --n-items 1", "--n-items must be at least 2, not 1"),
        ("--metric accuracy --score 80 --gain 1 --agreement x", "--agreement must be a number, or a range"),
        ("--metric accuracy --score 80 --gain 1 --agreement 0.1:0.2:0.3", "--agreement must be a number, or a range"),
        ("--metric accuracy --score 80 --gain 1 --agreement 0.9:0.8", "--agreement must have the lower end of its"),
        ("--metric bleu --gain 1 --cluster-size 5", "--icc must be given with --cluster-size: how many items"),
        ("--metric win_rate --gain 1 --judge-error 0.6", "--judge-error must be at least 0 and below 0.5"),
        ("--metric bleu --budget 10", "--cost-item must be given with --budget"),
        ("--metric bleu --gain 1 --alternative less", "--alternative must be one of two-sided, greater, not 'less'"),
        (
            "--metric accuracy --score 80 --gain 1 --r12 0.5 --relation 'same family'",
            "--relation must not be given with --r12",
        ),
        ("--metric accuracy --score 80 --gain 1 --references x", "--references must not be given without files"),
        ("--metric accuracy --score 80 --gain 1 --seed 5", "--seed must not be given without files of outputs"),
        ("--metric accuracy --score 80 --gain 1 --draws 500", "--draws must not be given without files of outputs"),
        ("ten.csv --metric accuracy --gain 9 --simulate 100", "--simulate must be at least 200, not 100"),
        ("ten.csv --metric accuracy --gain 9 --draws 99", "--draws must be at least 100, not 99"),
        ("ten.csv --metric accuracy --gain 9 --judge-error 0.1", "--judge-error must not be given with outputs, which"),
        ("ten.csv --metric accuracy --gain 9 --duplicates x", "--duplicates must be one of keep, note, drop, not"),
        ("ten.csv --metric accuracy --gain 9 --by family", "--by needs a systems table (--systems) with a column"),
        ("few.csv --metric accuracy --gain 1", "outputs must have at least 10 items for a plan, not 8"),
        ("--gain 1", "missing option '--metric'"),
    ],
)
def test_what_is_wrong_is_one_line(arguments: str, message: str) -> None:
    write_wide("few.csv", {"old": [1] * 6 + [0] * 2, "new": [1] * 8})
    write_wide("ten.csv", {"old": [1] * 6 + [0] * 6, "new": [1] * 8 + [0] * 4})
    code, out, err = plan(*shlex.split(arguments))
    assert (code, out) == (2, "")
    assert message in err
    assert err.count("\n") == 1


def test_messages_about_fields_of_nouns_name_their_options() -> None:
    params = get_command(app).commands["plan"].params  # type: ignore[attr-defined]
    flags = {str(param.name): param.opts[0] for param in params}
    worded, told = wording(params), set()
    for noun in (ss.Guess, ss.Clusters, ss.Judge, ss.Costs, ss.Level, ss.Pilot):
        for one in fields(noun):
            name = one.metadata.get("option", one.name)
            if name in flags:
                assert worded(Argument(f"{noun.__name__}.{one.name}")) == flags[name]
                told.add(name)
    assert {"score", "cluster_size", "cluster_cv", "judge_sd", "cost_item", "budget", "alpha", "n_sets", "seed"} <= told
    assert worded(Argument("Guess.nonsense")) == "Guess.nonsense"


def test_the_help_has_a_heading_for_each_noun() -> None:
    shown = CliRunner().invoke(app, ["plan", "--help"]).stdout
    for heading in ("Without files: guesses", "Clusters", "Judges", "Costs", "Test", "How files are read"):
        assert f" {heading} ─" in shown


def test_a_plan_is_one_html_file() -> None:
    line = ("--metric", "bleu", "--gain", "1", "--out", "plan.html")
    code, out, err = plan(*line)
    assert (code, err) == (0, "")
    assert out.endswith("\nReport: plan.html\n")
    text = Path("plan.html").read_text("utf-8")
    assert "You need 2,140 items" in text
    assert [path.name for path in Path().iterdir()] == ["plan.html"]
    Path("plan.html").write_text("mine", encoding="utf-8")
    code, out, err = plan(*line)
    assert (code, out) == (2, "")
    assert "out must be new or a page that simstudy wrote, but plan.html is another file" in err
    assert Path("plan.html").read_text("utf-8") == "mine"
