"""`simstudy compare` of errors: what was said wins, what a name suggests is told, and a gate insists."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from tests.cli.command import as_json, compare, write_wide


@pytest.fixture
def asr() -> str:
    """Word error rates of twelve recordings; new has half of old's on each."""
    rows = [(name, i, rate * (1 + i % 3)) for name, rate in (("old", 0.25), ("new", 0.125)) for i in range(12)]
    pd.DataFrame(rows, columns=["system", "item", "wer"]).to_csv("asr.csv", index=False)
    return "asr.csv"


def test_errors_that_are_said_to_be_errors(asr: str) -> None:
    """12 items, all won by new: 2 of 2^12 signs are as extreme."""
    arguments = (asr, "--metric", "mean", "--columns", "score=wer")
    code, out, err = compare(*arguments, "--lower-is-better")
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith(
        "new scores 0.2500 on average (lower is better), 0.2500 less than old (0.5000)."
    )
    assert out.startswith("new is better than old: the gain is significant at 0.05.\n")
    assert "Wins, losses and ties of new: 12, 0 and 0 of " in out
    assert "called" not in out
    content = as_json(*arguments, "--lower-is-better")
    (pair,) = content["pairs"]
    assert (pair["system_a"], pair["metric"], pair["p_value"]) == ("new", "mean (lower is better)", 2 / 2**12)
    assert content["settings"]["lower_is_better"] is True
    assert [row["system"] for row in content["systems"]] == ["new", "old"]


def test_a_name_of_errors_is_told(asr: str) -> None:
    arguments = (asr, "--metric", "mean", "--columns", "score=wer")
    _, note = as_json(*arguments)["notes"]
    assert note == (
        "say --lower-is-better if lower is better, or --higher-is-better if higher is better. "
        "Scores are called 'wer', but higher numbers win by default."
    )
    code, out, _ = compare(*arguments)
    assert (code, f"Note: {note}\n" in out) == (0, True)
    content = as_json(*arguments, "--higher-is-better")
    assert (len(content["notes"]), content["pairs"][0]["system_a"]) == (1, "old")


def test_a_gate_must_know_what_is_better(asr: str) -> None:
    arguments = (asr, "--metric", "mean", "--columns", "score=wer", "--fail-unless-better")
    code, out, err = compare(*arguments, "old", "new")
    assert (code, out) == (2, "")
    assert err.startswith("simstudy: --fail-unless-better: say --lower-is-better if lower is better, or ")
    assert err.endswith(". Scores are called 'wer', but higher numbers win by default.\n")
    assert compare(*arguments, "new", "old", "--lower-is-better")[0] == 0
    assert compare(*arguments, "old", "new", "--lower-is-better")[0] == 1
    assert compare(*arguments, "old", "new", "--higher-is-better")[0] == 0


def test_wrong_answers_under_accuracy() -> None:
    write_wide("errors.csv", {"old": [1] * 6 + [0] * 6, "new": [0] * 12})
    _, note = as_json("errors.csv", "--metric", "accuracy")["notes"]
    assert note.startswith("say --lower-is-better with --metric mean if lower is better, or ")
    assert "Scores are called 'errors.csv', but" in note
    code, _, err = compare("errors.csv", "--metric", "accuracy", "--lower-is-better")
    assert (code, err) == (
        2,
        "simstudy: --lower-is-better must not be given for metric 'accuracy': higher is better; the metric of "
        "errors is 'mean'\n",
    )
    (pair,) = as_json("errors.csv", "--metric", "mean", "--lower-is-better", "--test", "mcnemar")["pairs"]
    assert (pair["system_a"], pair["p_value"], pair["interval"]) == ("new", 2 / 2**6, "score")


def test_a_whole_report_of_errors(asr: str) -> None:
    table = pd.read_csv(asr)
    third = table[table["system"] == "old"].assign(system="older", wer=lambda rows: rows["wer"] + 0.125)
    pd.concat([table, third]).to_csv(asr, index=False)
    out_dir = ("--out", "report", "--margin", "0.1")
    code, _, err = compare(asr, "--metric", "mean", "--columns", "score=wer", "--lower-is-better", *out_dir)
    assert (code, err) == (0, "")
    pairs = pd.read_csv("report/pairs.csv")
    assert set(zip(pairs["system_a"], pairs["system_b"], strict=True)) == {
        ("new", "old"), ("new", "older"), ("old", "older"),
    }  # fmt: skip
    assert (pairs["score_a"] < pairs["score_b"]).all()
    assert pd.read_csv("report/systems.csv")["system"].tolist() == ["new", "old", "older"]
    page = Path("report/README.md").read_text()
    assert page.startswith("# 3 systems compared by mean (lower is better)\n")
    assert "higher" not in page
    for figure, axis in {
        "leaderboard": "mean, lower is better, with 95 % interval",
        "groups": "score (mean), lower",
    }.items():
        assert axis in Path(f"report/figures/{figure}.svg").read_text()
    assert ">gain (mean)<" in Path("report/figures/gains.svg").read_text()


@pytest.mark.parametrize("direction", [[], ["--lower-is-better"]])
def test_alignments_have_their_own_direction(direction: list[str]) -> None:
    """One of two links right is an error rate of 50 %, none of two 100 %."""
    for name, text in {"good.talp": "0-0 1-2\n", "bad.talp": "0-1 1-0\n", "gold.talp": "0-0 1-1\n"}.items():
        Path(name).write_text(text * 3)
    arguments = ("good.talp", "bad.talp", "--metric", "aer", "--references", "gold.talp", *direction)
    code, out, err = compare(*arguments)
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith("good scores 50.00 % AER, 50.00 points less than bad (100.00 %).")
    code, _, err = compare(*arguments[:6], "--higher-is-better")
    assert (code, "--higher-is-better must not be given for metric 'aer': lower is better" in err) == (2, True)
