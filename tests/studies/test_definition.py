from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.studies import StudyError, load_study, shipped_studies

GOOD = """
title = "A study"
question = "Which?"
task = "digits"
[home]
test_set = "test"
sizes = [100, 200]
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "mine" / "study.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)
    return path


def test_defaults_are_the_papers(tmp_path: Path) -> None:
    study = load_study(write(tmp_path, GOOD))
    assert study.name == "mine"
    assert (study.training.fractions, study.training.replicates) == ([1.0, 0.5, 0.25], [5, 10, 10])
    assert (study.comparison.n_resamples, study.seed) == (1_000_000, 0)
    assert load_study(tmp_path / "mine") == study


@pytest.mark.parametrize("name", shipped_studies())
def test_shipped_studies_are_valid(name: str) -> None:
    study = load_study(name)
    assert study.name == name
    assert study.comparison.n_resamples == 1_000_000
    assert sum(study.training.replicates) == 25


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("colour = 1\n" + GOOD, "unknown key 'colour' (the keys are title, question, task"),
        ("sed = 1\n" + GOOD, "unknown key 'sed' (did you mean 'seed'?)"),
        (GOOD + "[comparison]\nn_resample = 5", "unknown key 'comparison.n_resample' (did you mean 'n_resamples'?)"),
        (
            GOOD + "[comparison]\nn_resamples = 0",
            "comparison.n_resamples: input should be greater than or equal to 1, not 0",
        ),
        (GOOD + "[comparison]\nn_resamples = '5'", "comparison.n_resamples: input should be a valid integer, not '5'"),
        (GOOD + "[comparison]\ntest = 'bootstrp'", "not 'bootstrp' (did you mean 'bootstrap'?)"),
        (
            GOOD.replace("digits", "digit"),
            "task: it must be one of digits, tagging, not 'digit' (did you mean 'digits'?)",
        ),
        (GOOD.replace("100, 200", "200, 100"), "home: sizes must ascend, not [200, 100]"),
        (GOOD.replace("100, 200", ""), "home.sizes: list should have at least 1 item"),
        (GOOD.replace('title = "A study"', ""), "key 'title' is missing"),
        (GOOD.replace("[home]", "[house]"), "key 'home' is missing; unknown key 'house' (did you mean 'home'?)"),
        ("seed = -1\n" + GOOD, "seed: input should be greater than or equal to 0, not -1"),
        (GOOD + "[training]\nfractions = [1.0]", "fractions and replicates must have the same length, not 1 and 3"),
        (
            GOOD + "[training]\nfractions = [2.0, 0.5, 0.1]",
            "training.fractions.0: input should be less than or equal to 1",
        ),
        (GOOD + "[domains]\ntest_sets = []\nsize = 3", "domains.test_sets: list should have at least 1 item"),
        ("title = ", "is not TOML"),
    ],
)
def test_every_wrong_key_or_value_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(StudyError) as error:
        load_study(write(tmp_path, text))
    assert message in str(error.value)
    assert "study.toml" in str(error.value)
    assert "\n" not in str(error.value).split("is not TOML")[0]


def test_unknown_study_offers_the_nearest() -> None:
    with pytest.raises(StudyError, match=r"no study and no file is called 'quikstart' \(did you mean 'quickstart'\?\)"):
        load_study("quikstart")
