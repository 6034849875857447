"""What a comparison says of several samples of each question: lines, columns, a section, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd

import simstudy as ss
from tests.analyses.test_sample_noise import samples


def test_two_systems_have_both_noises_below_the_answer(tmp_path: Path) -> None:
    outputs = samples(np.random.default_rng(7), systems=2)
    found = ss.examine(outputs, comparison={"unit": "sample_of"})
    row = ss.analyses.noises(outputs).iloc[0]
    (line,) = [line for line in found.text.splitlines() if line.startswith("Standard error of the gain: ")]
    assert line == (
        f"Standard error of the gain: {row['se']:.2f} points; between questions {row['se_between']:.2f}, within "
        f"questions {row['se_within']:.2f} ({100 * row['share_within']:.0f} % of the variance)."
    )
    assert f"With one sample of each question it would be {row['se_one']:.2f} points." in found.text
    found.write(tmp_path / "out")
    assert pd.read_csv(tmp_path / "out" / "noises.csv")["se_one"].item() == float(f"{row['se_one']:.6g}")
    assert (tmp_path / "out" / "figures" / "noises.png").is_file()
    assert "## Samples of each question" in (tmp_path / "out" / "README.md").read_text("utf-8")
    assert json.loads(found.to_json())["noises"][0]["share_within"] == row["share_within"]


def test_a_leaderboard_has_a_column_and_others_have_nothing() -> None:
    outputs = samples(np.random.default_rng(8), systems=3)
    text = ss.examine(outputs, comparison={"unit": "sample_of"}).text
    assert "Noise within questions: " in text
    assert " within " in text
    scores = ss.analyses.noises(outputs, of="scores")
    assert f" {100 * scores['share_within'].iloc[0]:.0f}% " in text
    plain = ss.examine(ss.truth.correlated_accuracies([0.5, 0.6, 0.7], 100))
    assert len(plain.noises) == 0
    assert "within" not in plain.text
    assert "noises" not in json.loads(plain.to_json())
