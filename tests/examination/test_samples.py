"""What a comparison says of several samples of each question: lines, columns, a section, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.text.numerals import gain_text
from tests.analyses.test_sample_noise import samples


@pytest.mark.usefixtures("empty_figures")
def test_two_systems_have_both_noises_below_the_answer(tmp_path: Path) -> None:
    outputs = samples(np.random.default_rng(7), systems=2)
    found = ss.examine(outputs, comparison={"unit": "sample_of"})
    row = ss.analyses.noises(outputs).iloc[0]
    (line,) = [line for line in found.text.splitlines() if line.startswith("Standard error of the gain: ")]
    assert line == (
        f"Standard error of the gain: {row['se']:.2f} points; between questions {row['se_between']:.2f}, within "
        f"questions {row['se_within']:.2f} ({100 * row['share_within']:.0f} % of the variance)."
    )
    assert (
        f"With one sample of each question it would be {row['se_one']:.2f} points. With more samples it falls to about "
        f"{row['se_between']:.2f} points (95 % interval {gain_text(row['se_between_low'])} to "
        f"{gain_text(row['se_between_high'])})."
    ) in found.text
    found.write(tmp_path / "out")
    assert pd.read_csv(tmp_path / "out" / "noises.csv")["se_one"].item() == float(f"{row['se_one']:.6g}")
    assert (tmp_path / "out" / "figures" / "noises.png").is_file()
    assert "## Samples of each question" in (tmp_path / "out" / "README.md").read_text("utf-8")
    assert json.loads(found.to_json())["noises"][0]["share_within"] == row["share_within"]


def test_a_leaderboard_has_a_column_and_others_have_nothing() -> None:
    outputs = samples(np.random.default_rng(8), systems=3)
    text = ss.examine(outputs, comparison={"unit": "sample_of"}).text
    # Of the median pair, more samples leave the rest of the variance at best.
    share = ss.analyses.noises(outputs)["share_within"].median()
    said = f"Noise within questions: {100 * share:.0f} % of the variance of a gain (median pair). "
    fewer = 100 * (1 - np.sqrt(1 - share))
    assert f"{said}More samples reduce its standard error by {fewer:.0f} % at most." in " ".join(text.split())
    assert " within " in text
    scores = ss.analyses.noises(outputs, of="scores")
    assert f" {100 * scores['share_within'].iloc[0]:.0f}% " in text
    plain = ss.examine(ss.truth.correlated_accuracies([0.5, 0.6, 0.7], 100))
    assert len(plain.noises) == 0
    assert "within" not in plain.text
    assert "noises" not in json.loads(plain.to_json())


def test_a_noise_between_questions_of_0_has_a_range() -> None:
    """The same chance for all questions and systems: other questions may still change more than nothing."""
    right = np.random.default_rng(2).binomial(1, 0.5, size=(2, 120))
    items = pd.DataFrame({"id": range(120), "sample_of": np.repeat(np.arange(40), 3)})
    outputs = ss.Outputs.from_scores(pd.DataFrame(right.T, columns=["a", "b"]), "accuracy", items=items)
    row = ss.analyses.noises(outputs).iloc[0]
    assert (row["se_between"], row["se_between_low"]) == (0, 0)
    assert 0 < row["se_between_high"] < row["se"]
    text = ss.examine(outputs, comparison={"unit": "sample_of"}).text
    assert f"With more samples it falls to about 0 points (95 % interval 0 to {row['se_between_high']:.2f})." in text
    # The third has the samples of the first in another order.
    right = np.concatenate([right, right[0].reshape(40, 3)[:, ::-1].reshape(1, 120)])
    three = ss.Outputs.from_scores(pd.DataFrame(right.T, columns=[*"abc"]), "accuracy", items=items)
    assert (ss.analyses.noises(three)["se_between"] == 0).all()
    text = ss.examine(three, comparison={"unit": "sample_of"}).text
    assert "how far more samples reduce the standard error is not known" in text
    assert "100 % at most" not in text
    few = ss.analyses.noises(outputs.take(np.arange(9))).iloc[0]
    assert np.isnan(few["se_between_high"])


def test_noises_are_of_the_unit_that_pairs_are_compared_by() -> None:
    """Questions come in documents: a test of questions has another standard error than one of documents."""
    outputs = samples(np.random.default_rng(7), systems=2)
    questions = outputs.items["sample_of"].to_numpy()
    items = outputs.items.assign(cluster=pd.factorize(questions)[0] // 4)
    outputs = ss.Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.names, items=items)
    errors = {}
    for unit in ("cluster", "sample_of"):
        found = ss.examine(outputs, comparison={"unit": unit})
        assert found.noises["se"].item() == ss.analyses.noises(outputs, unit=unit)["se"].item()
        errors[unit] = found.noises["se"].item()
    assert errors["cluster"] != errors["sample_of"]
    assert ss.examine(outputs).noises["se"].item() == errors["cluster"]


def test_samples_that_are_items_have_no_noise_by_questions(tmp_path: Path) -> None:
    rows = [(s, q, k, (q + k * s) % 2) for s in (0, 1) for q in range(12) for k in range(3)]
    pd.DataFrame(rows, columns=["system", "item", "sample", "score"]).to_csv(tmp_path / "runs.csv", index=False)
    text = ss.examine(tmp_path / "runs.csv", "accuracy").text
    assert "The samples of a question form one cluster." in text
    assert "Standard error of the gain" in text
    text = " ".join(ss.examine(tmp_path / "runs.csv", "accuracy", comparison={"unit": "item"}).text.split())
    assert "12 questions with 36 samples. Each is an item of its own, as asked. All tests, exact ones too," in text
    assert "form one cluster" not in text
    assert "Standard error of the gain" not in text
