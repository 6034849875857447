"""The confidence in a gain, and what may not be put together."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.agreement import agreement
from simstudy.comparisons.calibration import calibration
from simstudy.comparisons.curves import curve
from simstudy.comparisons.groups import groups
from simstudy.comparisons.ranks import ranks
from simstudy.comparisons.relation_classes import confidence
from simstudy.comparisons.significant_gains import significant_gains
from simstudy.comparisons.thresholds import size_fit, thresholds
from simstudy.outputs import Outputs
from simstudy.plot.matrices import matrix
from simstudy.statistics.decisions import prefers_better
from simstudy.statistics.multiplicity import corrected
from simstudy.tables import require_one_question
from simstudy.truth import correlated_accuracies
from tests.oracles import compared as table_of


@pytest.fixture
def pairs() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "system_a": ["a", "a", "b", "b"], "system_b": ["b", "c", "c", "d"], "p_value": [0.01, 0.01, 0.75, 1.0],
            "better": ["a", "c", "", "b"],
        }
    )  # fmt: skip


def test_a_test_that_prefers_the_other_system_is_no_confidence_in_the_gain(pairs: pd.DataFrame) -> None:
    assert confidence(pairs).tolist() == [0.99, 0.0, 0.25, 0.0]
    assert prefers_better(pairs).tolist() == [True, False, False, True]
    without = pairs.drop(columns="better")
    assert confidence(without).tolist() == [0.99, 0.99, 0.25, 0.0]
    assert prefers_better(without).all()


@pytest.fixture(scope="module")
def compared() -> pd.DataFrame:
    right = np.random.default_rng(0).random((12, 80)) < 0.7
    return table_of(Outputs.from_scores(pd.DataFrame(right.T, columns=list("abcdefghijkl")), "accuracy"))


#: Every analysis that puts the pairs of a test set together.
TOGETHER: dict[str, Callable[[pd.DataFrame], Any]] = {
    "curve": curve,
    "thresholds": thresholds,
    "significant_gains": significant_gains,
    "calibration": lambda pairs: calibration(pairs, {"there": correlated_accuracies([0.7] * 12, 50)}),
    "groups": groups,
    "ranks": ranks,
    "corrected": corrected,
    "agreement": lambda pairs: agreement(pairs, reference="sign_flips"),
    "matrix": matrix,
}


#: What is asked of several tests, or has a row for each of the sides.
APART = {("agreement", "test"), ("ranks", "alternative")}


@pytest.mark.parametrize("analysis", list(TOGETHER))
def test_pairs_that_are_there_twice_are_never_put_together(compared: pd.DataFrame, analysis: str) -> None:
    """132 rows of 66 pairs, of two tests, two sides, … or two seeds, which no column tells apart."""
    for column in ("test", "alternative", "convention", "unit", "strata", "seed"):
        other = compared if column == "seed" else compared.assign(**{column: "other"})
        both = pd.concat([compared, other], ignore_index=True)
        refused = "" if (analysis, column) in APART else "pairs must"
        try:
            TOGETHER[analysis](both)
            said = ""
        except ValueError as error:
            said = str(error)
        assert (refused in said, bool(said), "\n" in said) == (True, bool(refused), False), column


def test_redrawn_test_sets_may_have_the_same_pairs(compared: pd.DataFrame) -> None:
    both = pd.concat([compared.assign(draw=draw) for draw in (1, 2)])
    require_one_question(both)
    # Which of two systems is the better may differ between seeds.
    turned = compared.rename(columns={"system_a": "system_b", "system_b": "system_a"})
    with pytest.raises(ValueError, match="every two systems of a test set once, unlike '.' and '.' of ''"):
        require_one_question(pd.concat([compared, turned]))


def test_thresholds_of_two_tests_are_not_fitted_together(compared: pd.DataFrame) -> None:
    table = thresholds(compared)
    with pytest.raises(ValueError, match="table must have each size of a test set once for each relation"):
        size_fit(pd.concat([table, table]))


def test_a_missing_value_is_a_value() -> None:
    table = pd.DataFrame({"task": "t", "test_set": "s", "n_items": 10, "metric": "accuracy", "strata": ["d", None]})
    with pytest.raises(ValueError, match="pairs must have one strata for each test set, not d, (None|nan) for 's'"):
        require_one_question(table)
