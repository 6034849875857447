"""Candidates in a table, and runs of topics: rankings on the command line."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from tests.cli.command import as_json, compare

_HOW = ("--metric", "precision@40", "--columns", "gold=is.good,length=length", "--resamples", "300")


@pytest.fixture
def table() -> pd.DataFrame:
    """300 candidates of 30 verbs: `good` knows much of which are true, `poor` a little, `flat` nothing."""
    rng = np.random.default_rng(11)
    true = rng.random(300) < 0.3
    frame = pd.DataFrame(
        {
            "noun": [f"n{i}" for i in range(300)],
            "verb": [f"v{i % 30}" for i in range(300)],
            "is.good": true.astype(int),
            "good": rng.normal(size=300) + 2 * true,
            "poor": (rng.normal(size=300) + 0.3 * true).round(1),
            "length": rng.integers(3, 9, 300),
        }
    )
    frame.to_csv("candidates.csv", index=False)
    return frame


def test_a_verdict_on_two_scoring_functions(table: pd.DataFrame) -> None:
    code, out, err = compare("candidates.csv", *_HOW)
    precision = table.nlargest(40, "good")["is.good"].mean()
    assert (code, err) == (0, "")
    assert out.splitlines()[1].startswith(f"good scores {precision:.4f} precision@40, ")
    assert " more than poor (0." in out
    assert " of 300 items.\n" in out
    assert ".\n95 % interval " in out
    assert "by 'poor'" in out.partition("Note: ")[2]
    assert "ties are broken at random" in out


def test_each_domain_has_lists_of_its_own(table: pd.DataFrame) -> None:
    """The best forty of each domain, not those of them that are among the best forty of all."""
    table.assign(domain=["x"] * 100 + ["y"] * 200).to_csv("candidates.csv", index=False)
    _, out, err = compare("candidates.csv", *_HOW, "--by-domain", "--json")
    for part, rows in zip(json.loads(out), (table[:100], table[100:]), strict=True):
        scores = {row["system"]: row["score"] for row in part["systems"]}
        assert scores["good"] == pytest.approx(rows.nlargest(40, "good")["is.good"].mean()), err


def test_units_are_columns_of_the_candidates(table: pd.DataFrame) -> None:
    del table
    found = as_json("candidates.csv", *_HOW, "--unit", "verb")
    assert found["pairs"][0]["unit"] == "verb"
    code, _, err = compare("candidates.csv", *_HOW, "--unit", "good")
    assert (code, "good" in err) == (2, True)


def test_ties_and_the_seed_reach_the_lists(table: pd.DataFrame) -> None:
    order = table["poor"].sort_values(ascending=False)
    accepted = table[table["poor"] >= order.iloc[39]]
    kept = as_json("candidates.csv", *_HOW, "--ties", "keep")
    scores = {kept["pairs"][0][f"system_{x}"]: kept["pairs"][0][f"score_{x}"] for x in "ab"}
    assert len(accepted) > 40
    assert scores["poor"] == pytest.approx(accepted["is.good"].mean(), abs=1e-6)
    assert f"the list of 'poor' has {len(accepted)} candidates, not 40" in " ".join(kept["notes"])
    broken = [as_json("candidates.csv", *_HOW, "--seed", str(seed))["pairs"][0]["gain"] for seed in range(3)]
    assert len(set(broken)) > 1


@pytest.mark.usefixtures("undrawn")
def test_a_page_of_many_scoring_functions() -> None:
    """Every scoring function is a system."""
    rng = np.random.default_rng(12)
    f = 1 + rng.permutation(80)
    frame = pd.DataFrame(f[:, None] + rng.normal(size=(80, 8)) * 20, columns=[*"abcdefgh"])
    frame = frame.assign(frequency=f, gold=rng.random(80) < f / 120)
    frame.to_csv("pairs.csv", index=False)
    code, out, _ = compare("pairs.csv", "--metric", "precision@20", "--test", "fisher", "--out", "page")
    assert code == 0
    assert "of 9 systems" in out.splitlines()[0]
    assert " of 36 pairs differ significantly" in out
    systems = pd.read_csv("page/systems.csv").set_index("system")["score"]
    assert systems["frequency"] == pytest.approx(frame.nlargest(20, "frequency")["gold"].mean(), abs=1e-9)
    assert "**Metric**: precision@20" in Path("page/README.md").read_text()


def test_a_p_value_that_is_against_the_gain_is_told_and_never_passes() -> None:
    """Footnote 13: beside 90 true ones that both accept, A accepts 10 false ones, B (by ties) 60 true of 100."""
    a = [*range(1090, 1000, -1), *range(910, 900, -1), *[1] * 100, *[-1] * 300]
    b = [*[5] * 90, *[1] * 10, *[5] * 100, *[0] * 300]
    gold = [1] * 90 + [0] * 10 + [1] * 60 + [0] * 340
    pd.DataFrame({"gold": gold, "A": a, "B": b}).to_csv("candidates.csv", index=False)
    how = ("candidates.csv", "--metric", "precision@100", "--test", "fisher", "--ties", "keep")
    code, out, _ = compare(*how)
    assert code == 0
    assert out.splitlines()[1].startswith("A scores 0.9000 precision@100, ")
    null = "what only one system accepts is true as often as what only the other accepts"
    speaks = f"The test prefers B, not A. Its null hypothesis is not that the scores are equal, but that {null}."
    assert out.startswith(f"The gain is not significant. {speaks}\n")
    for better, worse in ("AB", "BA"):
        code, _, err = compare(*how, "--fail-unless-better", better, worse)
        said = f"simstudy: gate: {better} is not significantly better than {worse} at 0.05 by precision@100"
        assert (code, err.startswith(said)) == (1, True)


def test_notes_and_errors_name_arguments_in_python_and_options_in_the_command() -> None:
    """The same file, the same findings, each in the words of whoever reads them."""
    Path("labels.csv").write_text("id,gold,t,svc\na,1,9,1\nb,1,8,1\nc,0,8,0\n")
    notes = " ".join(as_json("labels.csv", "--metric", "precision@1")["notes"])
    assert "; --ties keep accepts all that tie" in notes
    assert "ties=" not in notes
    assert "; ties='keep' accepts all that tie" in " ".join(ss.load("labels.csv", "precision@1").notes)
    Path("errors.csv").write_text("item,wer_a,wer_b\np,0.1,0.2\nq,0.3,0.2\n")
    notes = " ".join(as_json("errors.csv", "--metric", "mean")["notes"])
    assert "--lower-is-better if lower is better, or --higher-is-better if higher is better" in notes
    _, told = ss.load("errors.csv", "mean").notes
    assert "lower_is_better=True if lower is better, or lower_is_better=False if higher is better" in told
