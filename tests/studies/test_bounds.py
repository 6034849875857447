"""The bounds of every number of a study.toml, from both sides, and how settings become those of a comparison."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from simstudy.files.datasets import DataError
from simstudy.notes import Argument, Words
from simstudy.outputs import Outputs
from simstudy.studies import Comparison, Keys, Problems, SideBySide, Study, StudyError, Training
from simstudy.studies.natural.definition import CrossDomain, NaturalTestSet
from simstudy.studies.resampling.definition import Calibration, Domains, Home

STUDY = {"name": "n", "title": "T", "question": "Q?", "kind": "k"}
DOMAINS: dict[str, Any] = {"test_sets": ["x"], "size": 2}
POPULATION: dict[str, Any] = {"population": ["x"], "size": 2}
TEST_SET: dict[str, Any] = {"name": "t", "metric": "mean", "paths": ["x"]}
CROSS: dict[str, Any] = {"domains_of": "t"}


@pytest.mark.parametrize(
    ("model", "others", "key", "allowed", "refused"),
    [
        (Study, STUDY, "seed", [0, 2**64 - 1], [-1, 2**64, 1.0, "1"]),
        (Study, STUDY, "name", ["a", "a.b"], [".", "..", "a/b", "/a"]),
        (Training, {"replicates": [1]}, "fractions", [[1.0], [1e-9]], [[0.0], [1.1], [-1.0]]),
        (Training, {"fractions": [0.5]}, "replicates", [[1], [99]], [[0], [1, 2], []]),
        (Comparison, {}, "n_resamples", [None, 1, 2**53 - 1], [0, 2**53, True]),
        (Comparison, {}, "unit", [None, "x"], [""]),
        (SideBySide, {}, "alpha", [1e-9, 0.999], [0.0, 1.0]),
        (SideBySide, {}, "n_shown", [1], [0]),
        (SideBySide, {}, "n_resamples", [None, 1], [0]),
        (Home, {"test_set": "t"}, "sizes", [[2], [2, 3]], [[1], [], [3, 2], [2, 2]]),
        (Domains, DOMAINS, "size", [2], [1]),
        (Domains, DOMAINS, "n_splits", [1], [0]),
        (Domains, DOMAINS, "curves", [None, ["x"]], [[]]),
        (Calibration, POPULATION, "size", [2], [1]),
        (Calibration, POPULATION, "n_draws", [1], [0]),
        (Calibration, POPULATION, "n_resamples", [1, 2**53 - 1], [0, 2**53]),
        (Calibration, POPULATION, "population", [["x"]], [[]]),
        (NaturalTestSet, TEST_SET, "sizes", [[], [2]], [[1], [3, 2]]),
        (NaturalTestSet, TEST_SET, "by", [[], ["a", "b"]], [["a", "a"]]),
        (CrossDomain, CROSS, "least_items", [2], [1]),
        (CrossDomain, CROSS, "n_draws", [0], [-1]),
        (CrossDomain, CROSS, "n_splits", [1], [0]),
        (CrossDomain, CROSS, "min_pairs", [1], [0]),
        (CrossDomain, CROSS, "bins", [[0.0, 1.0], [0.2, 0.3]], [[1.0], [-0.1, 1.0], [0.0, 1.1], [0.2, 0.2]]),
    ],
)  # fmt: skip
def test_a_key_has_its_bounds(
    model: type[Keys], others: Mapping[str, Any], key: str, allowed: list[Any], refused: list[Any]
) -> None:
    for value in allowed:
        assert getattr(model(**{**others, key: value}), key) == value
    for value in refused:
        with pytest.raises(ValidationError):
            model(**{**others, key: value})


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"groups": {"g": ["a"]}, "by": ["x", "y"]}, r"by must name one, not \['x', 'y'\]"),
        ({"groups": {"g": ["a"]}, "systems": {"file": "s.csv"}}, "leave out groups or systems"),
        (
            {"missing": "zero", "lower_is_better": True},
            r"missing must be 'error' or 'drop' for 'mean \(lower is better\)'",
        ),
    ],
)
def test_keys_that_exclude_one_another_are_told(settings: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError, match=said):
        NaturalTestSet(**{**TEST_SET, **settings})


def test_usual_values_of_optional_parts() -> None:
    """What docs/studies.md says of keys that are left out."""
    assert Domains(**DOMAINS).model_dump() == {**DOMAINS, "home": None, "curves": None, "n_splits": 20}
    assert Calibration(**POPULATION).model_dump() == {
        **POPULATION, "unit": None, "n_draws": 20, "n_resamples": 100_000,
    }  # fmt: skip
    assert SideBySide().model_dump() == {"alpha": 0.05, "n_shown": 30, "n_resamples": None}
    assert CrossDomain(**CROSS).model_dump() == {
        "among": [], "domains_of": "t", "metric": None, "least_items": 30, "n_draws": 0, "n_splits": 10,
        "min_pairs": 20, "bins": [0.0, 0.001, 0.01, 0.05, 0.2, 1.0],
    }  # fmt: skip


def test_a_number_of_resamples_is_for_tests_that_draw_any() -> None:
    assert Comparison(test="bootstrap", n_resamples=5).n_resamples == 5
    with pytest.raises(
        ValidationError, match=r"n_resamples is for tests that resample \(.*bootstrap.*\), not for 'sign'"
    ):
        Comparison(test="sign", n_resamples=5)


def test_a_comparison_hands_on_all_that_it_says() -> None:
    outputs = Outputs.from_statistics(np.ones((2, 4, 2), dtype=int), "accuracy")
    settings: dict[str, Any] = {
        "test": "bootstrap", "n_resamples": 60, "alternative": "greater", "convention": "bk2012", "monte_carlo": True,
        "strata": "domain",
    }  # fmt: skip
    made = Comparison(**settings, unit="item").on(outputs, 5)
    assert made.outputs is outputs
    assert (made.unit, made.settings) == ("item", {**settings, "seed": 5})
    assert Comparison(**settings, unit="item").settings(6) == {**settings, "seed": 6}


def test_files_that_are_missing_are_told_before_what_is_wrong_and_each_once(tmp_path: Path) -> None:
    problems = Problems("mine")
    remedy = Words("{data_dir} must name a folder", data_dir=Argument("data_dir"))
    missing = [DataError("no such file", remedy=remedy, at=f"set/{name}") for name in "abbcdef"]
    errors = [ValueError("a rule"), *missing, DataError("no set/x"), DataError("no set/x"), ValueError("a rule")]
    for k, error in enumerate(errors):
        with problems.at(f"key {k}"):
            raise error
    with pytest.raises(DataError) as found:
        problems.raise_any()
    files = "set/a, set/b, set/c, set/d, set/e and 1 more"
    told = f"{files}: no such file; --data-dir must name a folder; no set/x; key 0, key 10: a rule"
    assert found.value.said(lambda argument: f"--{argument.name.replace('_', '-')}") == told
    Problems("mine").raise_any()
    with pytest.raises(KeyError), Problems("mine").at("key"):
        raise KeyError


@pytest.mark.parametrize(("n", "more"), [(5, ""), (6, " and 1 more")])
def test_five_places_of_a_problem_are_named(n: int, more: str) -> None:
    problems = Problems("mine")
    for k in range(n):
        problems.add(str(k), "it is wrong")
    with pytest.raises(StudyError, match=f"^study 'mine': 0, 1, 2, 3, 4{more}: it is wrong$"):
        problems.raise_any()
