from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simstudy.studies import StudyError, load_study
from simstudy.studies.natural.definition import NaturalStudy
from tests.studies.natural.small import ANSWERS, EXAMS, MEASURES, Make

SMALL = """
kind = "natural"
title = "A small study"
question = "Which?"
[[test_sets]]
name = "exam {}"
each = ["a", "b"]
metric = "accuracy"
paths = ["made/exam_{}.csv"]
"""


def test_a_file_and_its_defaults(tmp_path: Path) -> None:
    (tmp_path / "study.toml").write_text(SMALL)
    study = load_study(tmp_path / "study.toml")
    assert isinstance(study, NaturalStudy)
    (test_set,) = study.test_sets
    assert (test_set.metrics, test_set.by, test_set.missing, test_set.mixed) == (
        ["accuracy"],
        ["group"],
        "error",
        False,
    )
    assert (study.duplicates, study.alpha, study.shown, study.calibration, study.seed) == ("drop", 0.05, [], [], 0)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"colour": 1}, "unknown key 'test_sets.0.colour' (did you mean 'columns'?)"),
        ({"systems": {"file": "x", "were": {}}}, "unknown key 'test_sets.0.systems.were' (did you mean 'where'?)"),
        ({"zzz": 1}, "unknown key 'test_sets.0.zzz' (the keys are name, each, metric, paths, "),
        ({"systems": {}}, "key 'test_sets.0.systems.file' is missing"),
        ({"metric": "acuracy"}, "here: test_sets.0.metric: metric must be a known name, not 'acuracy'"),
        ({"metric": ["accuracy", "f3"]}, "here: test_sets.0.metric: metric must be a known name, not 'f3'"),
        ({"metric": []}, "here: test_sets.0.metric: it must name at least one metric"),
        ({"metric": ["accuracy", "accuracy"]}, "differ in name or metric; 'exam a' by accuracy is there twice"),
        ({"each": []}, "test_sets.0.each: list should have at least 1 item"),
        ({"each": ["a", "a"]}, "test_sets must differ in name or metric; 'exam a' by accuracy is there twice"),
        ({"name": "exam"}, "test_sets must differ in name or metric; 'exam' by accuracy is there twice"),
        ({"paths": []}, "test_sets.0.paths: list should have at least 1 item"),
        ({"paths": "made/exam_{}.csv"}, "test_sets.0.paths: input should be a valid list"),
        ({"format": "csv"}, "test_sets.0.format: it must be one of text, scores, conll, "),
        ({"missing": "drp"}, "test_sets.0.missing: it must be one of error, drop, zero, not 'drp'"),
        ({"sizes": [1]}, "test_sets.0.sizes.0: input should be greater than or equal to 2, not 1"),
        ({"by": "group"}, "test_sets.0.by: input should be a valid list, not 'group'"),
        ({"groups": {"x": ["s00"], "y": ["s01", "s00"]}}, "groups must have each system once; 's00' is there twice"),
        ({"n_resamples": 0}, "test_sets.0.n_resamples: input should be greater than or equal to 1, not 0"),
    ],
)
def test_wrong_test_sets_are_named(make: Make, changed: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        make({**EXAMS, **changed})
    assert message in str(error.value)
    assert str(error.value).startswith("here: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ({"shown": ["exam"]}, "shown, among and domains_of must be one of exam a, exam b, runs, answers, not 'exam'"),
        ({"calibration": [{"domains_of": "exam c"}]}, "must be one of exam a, exam b, runs, answers, not 'exam c'"),
        ({"calibration": [{"among": ["exam a", "b"]}]}, "must be one of exam a, exam b, runs, answers, not 'b'"),
        ({"calibration": [{}]}, "calibration.0: calibration needs either among or domains_of"),
        ({"calibration": [{"among": ["exam a", "exam b"], "domains_of": "runs"}]}, "needs either among or domains_of"),
        ({"calibration": [{"among": ["exam a"]}]}, "among must name at least two test sets, each once"),
        ({"calibration": [{"among": ["exam a", "exam a"]}]}, "among must name at least two test sets, each once"),
        ({"calibration": [{"among": ["exam a", "exam b"], "n_draws": 3}]}, "calibration.n_draws is for domains_of"),
        ({"calibration": [{"among": ["exam a", "runs"]}]}, "with a metric in common, not ['exam a', 'runs']"),
        ({"calibration": [{"domains_of": "exam a", "metric": "ap"}]}, "calibration.metric must be one of accuracy, "),
        ({"calibration": [{"domains_of": "runs", "metric": "pa"}]}, "metric must be one of ap, rr, not 'pa'"),
        ({"calibration": [{"domains_of": "runs"}, {"domains_of": "runs", "metric": "ap"}]}, "runs by ap is there tw"),
        ({"calibration": [{"domains_of": "runs", "bins": [0.5, 0.1]}]}, "bins must ascend within 0 and 1, not [0.5,"),
        ({"calibration": [{"domains_of": "runs", "bins": [0.5]}]}, "calibration.bins must ascend"),
        ({"calibration": [{"domains_of": "runs", "draws": 3}]}, "unknown key 'calibration.0.draws' (did you mean 'n_d"),
        ({"duplicates": "remove"}, "duplicates: it must be one of keep, drop, not 'remove'"),
        ({"alpha": 5.0}, "alpha: input should be less than 1"),
        ({"test_set": []}, "unknown key 'test_set' (did you mean 'test_sets'?)"),
        ({"comparison": {"n_resample": 5}}, "unknown key 'comparison.n_resample' (did you mean 'n_resamples'?)"),
        ({"test_sets": []}, "test_sets: list should have at least 1 item"),
    ],
)  # fmt: skip
def test_wrong_keys_of_the_study_are_named(make: Make, keys: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        make(EXAMS, MEASURES, ANSWERS, **keys)
    assert message in str(error.value)
    assert str(error.value).startswith("here: ")
    assert "\n" not in str(error.value)


def test_two_test_sets_may_share_a_name_by_different_metrics(make: Make) -> None:
    one, other = {**MEASURES, "metric": "ap"}, {**MEASURES, "metric": "rr"}
    study = make(
        one, other, calibration=[{"domains_of": "runs", "metric": "ap"}, {"domains_of": "runs", "metric": "rr"}]
    )
    assert len(study.test_sets) == 2
