"""A study of natural comparisons says all that is wrong with it before the first resample is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.files.datasets import DataError
from simstudy.studies import StudyError
from simstudy.studies.natural import study as natural
from tests.studies.natural.small import ANSWERS, EXAMS, MEASURES, Make

# What is drawn is looked at in test_study.py, test_resampling.py and tests/plot.
pytestmark = pytest.mark.usefixtures("empty_figures")


def problem(make: Make, data_dir: Path, out: Path, *test_sets: dict[str, Any], **keys: Any) -> str:
    """What a study says that can not be run; nothing is compared, and nothing is left behind."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(natural, "run_comparisons", lambda *_: pytest.fail("something was compared"))
        with pytest.raises(StudyError) as error:
            ss.run_study(make(*test_sets, **keys), out=out / "out", data_dir=data_dir, n_jobs=1)
    assert not (out / "out").exists()
    assert "\n" not in str(error.value)
    return str(error.value)


def test_everything_is_said_at_once(make: Make, data_dir: Path, tmp_path: Path) -> None:
    """Sizes beyond the items, domains that are too small, and a test that is for right and wrong answers only."""
    said = problem(
        make, data_dir, tmp_path, {**EXAMS, "sizes": [40, 121, 500]}, {**MEASURES, "sizes": [61]}, ANSWERS,
        comparison={"test": "mcnemar"}, calibration=[{"domains_of": "exam a", "least_items": 50}],
    )  # fmt: skip
    for part in (
        "study 'small': test set 'exam a', sizes, test set 'exam b', sizes: 121 is more than its 120 items; ",
        "; test set 'exam a', sizes, test set 'exam b', sizes: 500 is more than its 120 items; ",
        "; test set 'runs', sizes: 61 is more than its 60 items; ",
        "; test set 'runs': test 'mcnemar' needs right or wrong answers, one a unit, and metric 'ap' has other",
        "; calibration.0: 'exam a' has not two domains of 50 items",
    ):
        assert part in said
    assert "test set 'answers'" not in said, "nothing is wrong with these"


def test_sizes_of_an_entry_are_those_of_its_largest_test_set(make: Make, tmp_path: Path) -> None:
    """Tracks of 50 and 100 topics may share a list of sizes: each is compared on those that it has."""
    for value, n in (("a", 30), ("b", 60)):
        right = (np.arange(n)[:, None] % (2 + np.arange(4))) > 0
        table = pd.DataFrame(right.astype(int), columns=list("wxyz"))
        table.to_csv(tmp_path / f"track_{value}.csv", index_label="item")
    tracks = {"name": "{}", "each": ["a", "b"], "metric": "accuracy", "paths": ["track_{}.csv"], "by": []}
    results = ss.run_study(make({**tracks, "sizes": [20, 40]}), out=tmp_path / "out", data_dir=tmp_path, n_jobs=1)
    sizes = results.comparisons.groupby("test_set")["n_items"].unique()
    assert {name: sorted(found) for name, found in sizes.items()} == {"a": [20, 30], "b": [20, 40, 60]}
    said = problem(make, tmp_path, tmp_path / "none", {**tracks, "sizes": [20, 40, 61]})
    assert "61 is more than its 30 items" in said
    assert "61 is more than its 60 items" in said
    assert " 40 is more" not in said


def test_units_and_strata_are_columns_of_the_items(make: Make, data_dir: Path, tmp_path: Path) -> None:
    said = problem(make, data_dir, tmp_path, EXAMS, MEASURES, comparison={"unit": "document"})
    assert "test set 'exam a', test set 'exam b', " in said or "test set 'exam a', sizes 40, " in said
    assert "unit must be a column of the items of test set 'exam a', not 'document'; they have id, domain" in said
    assert "of test set 'runs', not 'document'" in said
    said = problem(make, data_dir, tmp_path, EXAMS, comparison={"test": "bootstrap", "strata": "genre"})
    assert "strata must be a column of the items of test set 'exam a', not 'genre'" in said


def test_initial_segments_of_one_unit(make: Make, data_dir: Path, tmp_path: Path) -> None:
    """The runs' first two items are of two halves; all of exam a's laws are one domain."""
    exams = {**EXAMS, "each": ["a"], "mixed": False, "sizes": [10]}
    said = problem(make, data_dir, tmp_path, exams, comparison={"unit": "domain"})
    assert said.startswith("study 'small': test set 'exam a', sizes 10: outputs must have at least 2 units")


def test_all_missing_files_are_named_before_any_is_read(make: Make, data_dir: Path, tmp_path: Path) -> None:
    broken = {**MEASURES, "columns": {"score": "not read yet"}}
    absent = {**EXAMS, "name": "exam {}", "each": ["a", "c", "d"], "items": "made/items.csv"}
    with pytest.raises(DataError) as error:
        ss.run_study(make(broken, absent), out=tmp_path / "out", data_dir=data_dir, n_jobs=1)
    said = str(error.value)
    assert [said.count(f"made/{name}.csv") for name in ("exam_a", "exam_c", "exam_d", "items")] == [0, 1, 1, 1]
    assert said.count("no public address") == 1, "one remedy, once"
    assert "not read yet" not in said
    assert "\n" not in said


def test_all_files_that_can_not_be_read_are_named(make: Make, data_dir: Path, tmp_path: Path) -> None:
    said = problem(make, data_dir, tmp_path, {**EXAMS, "leave_out": ["nobody"]}, {**ANSWERS, "references": []})
    assert "test set 'exam a', test set 'exam b': leave_out must be one of " in said
    assert "; test set 'answers': " in said


@pytest.mark.parametrize(
    ("comparison", "message"),
    [
        ({"convention": "bk2012"}, "comparison: convention 'bk2012' is a rule for bootstrap, not for 'sign_flips'"),
        (
            {"convention": "chinchor1992", "test": "randomization", "alternative": "greater"},
            "must be 'two-sided' for c",
        ),
        (
            {"test": "chi_square", "alternative": "greater"},
            "alternative must be 'two-sided' for test 'chi_square', not",
        ),
        (
            {"strata": "domain"},
            "strata must not be given for test 'sign_flips'; only test='bootstrap' resamples within strata",
        ),
        ({"test": "t_paired", "n_resamples": 99}, "n_resamples is for tests that resample (sign_flips, bootstrap, ran"),
    ],
)
def test_a_test_and_how_it_is_asked_must_fit(make: Make, comparison: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        make(EXAMS, comparison=comparison)
    assert str(error.value).startswith("here: comparison: ")
    assert message in str(error.value)


@pytest.mark.parametrize(
    ("test_set", "keys", "message"),
    [
        ({**ANSWERS, "by": ["group", "kind"]}, {}, "test_sets.0: groups are the values of one column, so that by mus"),
        ({**EXAMS, "name": "{}", "each": ["a", " "]}, {}, "test_sets must have names; one is empty"),
        (EXAMS, {"comparison": {"unit": ""}}, "comparison.unit: string should have at least 1 character, not ''"),
        (EXAMS, {"comparison": {"strata": ""}}, "comparison.strata: string should have at least 1 character, not ''"),
        ({**ANSWERS, "n_resamples": 9}, {"comparison": {"test": "sign"}}, "n_resamples is for tests that resample"),
    ],
)
def test_keys_that_would_mean_nothing(make: Make, test_set: dict[str, Any], keys: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        make(test_set, **keys)
    assert message in str(error.value)
