from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.engines.comparisons import compare
from simstudy.engines.registry import TESTS
from simstudy.natural.verdict import NAMES, equals, verdict, written
from simstudy.outputs import Outputs


def pair(**changed: object) -> pd.Series[Any]:
    """One row of Comparisons."""
    row: dict[str, object] = {
        "task": "", "test_set": "", "n_items": 1500, "metric": "accuracy", "test": "bootstrap",
        "alternative": "greater",
        "convention": "default", "unit": "item", "system_a": "new", "system_b": "old", "score_a": 75.0, "score_b": 70.0,
        "gain": 5.0, "p_value": 0.031, "p_low": 0.031, "p_high": 0.031, "exact": True, "n_extreme": 0, "n_resamples": 0,
        "statistic": np.nan,
    }  # fmt: skip
    return pd.Series({**row, **changed})


def only_new_is_right(n: int, both: int) -> Outputs:
    """Two systems: n items that only the new one has right, and some that both have."""
    return Outputs.from_statistics([[[1, 1]] * (n + both), [[0, 1]] * n + [[1, 1]] * both], "accuracy", ["new", "old"])


def test_the_sign_test_of_six_items() -> None:
    """Six items, all won by the new system: p = 2^-6 = 0.015625 one-sided, twice that two-sided."""
    row = compare(only_new_is_right(6, 14), test="sign", alternative="greater").iloc[0]
    assert verdict(row, other_tail=2 * 2**-6) == (
        "new scores 100.00 % accuracy, 30.00 points more than old (70.00 %), on 20 items: p = 0.016 (sign test, "
        "one-sided, exact; two-sided p = 0.031). The gain is significant at 0.05, one-sided and two-sided."
    )
    assert verdict(row, alpha=0.01).endswith(
        "The gain is not significant at 0.01: that does not show that the systems are equally good."
    )


def test_randomization_of_three_items() -> None:
    """Of the 2^3 shuffles one is as extreme one-sided, and two two-sided."""
    outputs = only_new_is_right(3, 1)
    said = verdict(compare(outputs, test="randomization").iloc[0])
    assert ": p = 0.125 (approximate randomization, one-sided, exact)." in said
    said = verdict(compare(outputs, test="randomization", alternative="two-sided").iloc[0])
    assert ": p = 0.250 (approximate randomization, two-sided, exact)." in said


def test_resampled_p_values_have_their_interval() -> None:
    row = pair(n_resamples=10_000, p_low=0.0277, p_high=0.03457, monte_carlo=True)
    assert "p = 0.031 (paired bootstrap, one-sided, 10,000 resamples, 95 % Monte Carlo interval 0.028 to 0.035)" in (
        verdict(row)
    )


@pytest.mark.parametrize(
    ("low", "p", "high", "said"),
    [
        (0.02, 0.03, 0.04, "is significant"),
        (0.04, 0.045, 0.0501, "is not sure"),
        (0.0499, 0.055, 0.06, "is not sure"),
        (0.0501, 0.055, 0.06, "is not significant"),
        (0.04, 0.045, 0.05, "is significant"),
    ],
)
def test_few_resamples_may_not_decide(low: float, p: float, high: float, said: str) -> None:
    assert said in verdict(pair(p_low=low, p_value=p, p_high=high, n_resamples=1000))
    assert "not sure" not in verdict(pair(p_low=p, p_value=p, p_high=p)), "an exact value decides"


def test_lower_error_rates_are_less_and_higher_scores_more() -> None:
    said = verdict(pair(metric="aer", score_a=10.0, score_b=15.0))
    assert "new scores 10.00 % AER, 5.00 points less than old (15.00 %)" in said
    said = verdict(pair(metric="mean", score_a=-2.0, score_b=-7.0))
    assert "scores -2.00 mean, 5.00 more than old (-7.00)" in said, "a mean has no unit that is known"


def test_equal_scores_have_no_gain_to_test() -> None:
    row = compare(Outputs.from_statistics([[[1, 1], [0, 1]], [[0, 1], [1, 1]]], "accuracy", ["a", "b"])).iloc[0]
    assert verdict(row) == "a and b have the same score (50.00 % accuracy) on 2 items: there is no gain to test."


def test_numbers_have_the_digits_that_they_need() -> None:
    assert "0.4312 mean, 0.0200 more than old (0.4112), on 1,500 items" in verdict(
        pair(metric="mean", score_a=0.4312, score_b=0.4112, gain=0.02)
    )
    said = verdict(pair(score_a=76.134, score_b=76.132, gain=0.002))
    assert "new scores 76.134 % accuracy, 0.002 points more than old (76.132 %)" in said, (
        "a gain that is there is not 0.00"
    )


def test_test_set_and_convention_are_named() -> None:
    said = verdict(pair(test_set="WMT24", convention="sacrebleu"))
    assert "on 1,500 items of WMT24:" in said
    assert "exact, convention sacrebleu)" in said
    assert "exact" not in verdict(pair(monte_carlo=True)), "a t test, say"


def test_every_test_has_a_name() -> None:
    assert set(NAMES) == set(TESTS)


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1.000"), (0.5012, "0.501"), (0.1, "0.100"), (0.0994, "0.099"), (0.0312, "0.031"), (0.03, "0.03"),
        (0.00001, "0.00001"), (0.0000123, "0.000012"), (3e-9, "0.000000003"), (2.5e-12, "0.0000000000025"), (0.0, "0"),
    ],
)  # fmt: skip
def test_p_values_as_written(p: float, text: str) -> None:
    assert written(p) == text
    assert float(written(p)) == pytest.approx(p, rel=0.06)


def test_very_small_p_values_have_a_bound() -> None:
    assert (equals(0.000001), equals(9.9e-7), equals(0.0)) == ("= 0.000001", "< 0.000001", "< 0.000001")


def test_a_gain_that_only_one_tail_finds_is_for_those_who_said_so_beforehand() -> None:
    """Five items, all won: 2^-5 = 0.03125, twice that two-sided."""
    row = compare(only_new_is_right(5, 15), test="sign", alternative="greater").iloc[0]
    said = verdict(row, other_tail=2 * 2**-5)
    assert said.endswith("At 0.05 the gain is significant only if it was said beforehand that new is the better.")


def test_no_p_value_is_rounded_across_alpha() -> None:
    assert [written(p, 0.05) for p in (0.05, 0.0500001, 0.0504, 0.0496)] == ["0.05", "0.0500001", "0.0504", "0.05"]
