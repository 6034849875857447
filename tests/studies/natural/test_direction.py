"""Test sets of errors in a study of natural comparisons."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.studies import StudyError
from tests.studies.natural.small import Make

COLUMNS = {"columns": {"score": "wer", "domain": "speaker"}, "by": []}


@pytest.fixture
def errors_dir(tmp_path: Path) -> Path:
    """Word error rates of eight systems on 60 recordings, and the same less than 1: what is right."""
    rng = np.random.default_rng(8)
    rates = np.clip(rng.gamma(2, 0.06, (60, 1)) + rng.gamma(2, np.linspace(0.03, 0.08, 8), (60, 8)), 0, 1).round(3)
    rows = [
        {"system": f"s{k}", "item": i, "speaker": "ab"[i % 2], "wer": rates[i, k], "right": 1 - rates[i, k]}
        for k in range(8)
        for i in range(60)
    ]
    (tmp_path / "made").mkdir()
    pd.DataFrame(rows).to_csv(tmp_path / "made" / "asr.csv", index=False)
    return tmp_path


def test_errors_are_studied_as_what_is_right_is(make: Make, errors_dir: Path, request: pytest.FixtureRequest) -> None:
    """1 - wer has the same gains, so that all tables of gains, ranks and winners are the same but for the scores."""
    calibration = [{"domains_of": "asr", "min_pairs": 2, "bins": [0.0, 0.05, 1.0], "n_splits": 2}]
    found = []
    for column, lower in (("wer", True), ("right", False)):
        test_set = {"name": "asr", "metric": "mean", "paths": ["made/asr.csv"], **COLUMNS}
        test_set |= {"columns": {"score": column, "domain": "speaker"}, "lower_is_better": lower}
        study = make(test_set, calibration=calibration, comparison={"n_resamples": 500})
        found.append(ss.run_study(study, out=errors_dir / column, data_dir=errors_dir, n_jobs=1))
        # Only the figures of errors are looked at.
        request.getfixturevalue("empty_figures")
    lower, higher = found
    assert set(lower.comparisons["metric"]) == {"mean (lower is better)"}
    assert (lower.comparisons["score_a"] <= lower.comparisons["score_b"]).all()
    for name, table in lower.tables.items():
        other = higher.tables[name]
        kept = [column for column in table if column not in ("metric", "score", "score_low", "score_high")]
        pd.testing.assert_frame_equal(table[kept], other[kept], rtol=1e-9)
    assert "called" not in (errors_dir / "wer" / "README.md").read_text()
    assert "mean, lower is better" in (errors_dir / "wer" / "figures" / "leaderboard.svg").read_text()


@pytest.mark.usefixtures("empty_figures")
def test_a_study_of_errors_that_does_not_say_so_is_told(make: Make, errors_dir: Path) -> None:
    study = make({"name": "asr", "metric": "mean", "paths": ["made/asr.csv"], **COLUMNS})
    ss.run_study(study, out=errors_dir / "out", data_dir=errors_dir, n_jobs=1)
    said = (errors_dir / "out" / "README.md").read_text()
    assert "Scores are called 'wer', but higher numbers win by default." in said


def test_a_metric_of_its_own_direction_is_none_to_choose(make: Make) -> None:
    test_set = {"name": "asr", "metric": ["mean", "accuracy"], "paths": ["made/asr.csv"], "lower_is_better": True}
    with pytest.raises(StudyError, match=r"here: test_sets.0: lower_is_better=True must not be given for metric"):
        make(test_set)
    with pytest.raises(StudyError, match=r"test_sets.0: missing must be 'error' or 'drop' for 'mean \(lower is better"):
        make({**test_set, "metric": "mean", "missing": "zero"})
