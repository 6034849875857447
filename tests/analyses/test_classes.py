"""The confidence in a gain, and what may not be put together."""

from __future__ import annotations

import pandas as pd
import pytest

from simstudy.analyses.classes import QUESTION, confidence, require_one_question
from simstudy.analyses.curves import curve
from simstudy.analyses.significant_gains import significant_gains
from simstudy.analyses.thresholds import thresholds
from simstudy.engines.comparisons import compare
from simstudy.outputs import Outputs
from simstudy.pvalues import speaks_for_gain


@pytest.fixture
def pairs() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "system_a": ["a", "a", "b", "b"], "system_b": ["b", "c", "c", "d"], "p_value": [0.01, 0.01, 0.75, 1.0],
            "favours": ["a", "c", "", "b"],
        }
    )  # fmt: skip


def test_a_test_that_speaks_for_the_other_system_is_no_confidence_in_the_gain(pairs: pd.DataFrame) -> None:
    assert confidence(pairs).tolist() == [0.99, 0.0, 0.25, 0.0]
    assert speaks_for_gain(pairs).tolist() == [True, False, False, True]
    without = pairs.drop(columns="favours")
    assert confidence(without).tolist() == [0.99, 0.99, 0.25, 0.0]
    assert speaks_for_gain(without).all()


def test_confidence_of_a_sign_test_that_contradicts_the_means() -> None:
    """One large win against many small losses: the mean says the one, the sign test the other."""
    scores = pd.DataFrame({"large": [10.0] + [0.0] * 19, "small": [0.0] + [0.1] * 19})
    pair = compare(Outputs.from_scores(scores, "mean"), test="sign")
    assert pair["system_a"].tolist() == ["large"]
    assert pair["p_value"].iloc[0] < 0.001
    assert confidence(pair).tolist() == [0.0]
    assert speaks_for_gain(pair).tolist() == [False]


@pytest.mark.parametrize("column", QUESTION)
@pytest.mark.parametrize("analysis", [curve, thresholds, significant_gains])
def test_answers_to_different_questions_are_not_put_together(column: str, analysis: object) -> None:
    table = pd.DataFrame(
        {
            "task": "t", "test_set": ["s", "s", "other"], "n_items": 10, "metric": "accuracy", "relation": "all pairs",
            "test": "x", "alternative": "greater", "convention": "default", "unit": "item", "strata": "",
            "system_a": "a", "system_b": list("bcb"), "gain": 1.0, "gain_se": 1.0, "p_value": 0.2,
        }
    )  # fmt: skip
    assert callable(analysis)
    analysis(table)
    analysis(table.assign(**{column: ["x", "x", "y"]}))  # one for each test set
    with pytest.raises(ValueError, match=f"pairs must have one {column} for each test set, not x, y for 's'"):
        analysis(table.assign(**{column: ["x", "y", "x"]}))


def test_a_missing_value_is_a_value() -> None:
    table = pd.DataFrame({"task": "t", "test_set": "s", "n_items": 10, "metric": "accuracy", "strata": ["d", None]})
    with pytest.raises(ValueError, match="pairs must have one strata for each test set, not d, (None|nan) for 's'"):
        require_one_question(table)
