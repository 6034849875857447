from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

from simstudy.comparisons.verdict import verdict
from simstudy.outputs import Outputs
from tests.examination.rows import only_new_is_right, pair, scores
from tests.oracles import compared
from tests.statistics.test_proportions import by_quartic

RESAMPLED: dict[str, object] = {"computation": "resampled", "exact_level": False}


def test_the_row_that_these_tests_make_is_one_of_comparisons() -> None:
    row = compared(only_new_is_right(6, 14)).iloc[0]
    assert set(pair().index) <= set(row.index)


def test_the_sign_test_of_six_items() -> None:
    """Six items, all won by the new system: p = 2^-6 = 0.015625 one-sided, twice that two-sided."""
    row = compared(only_new_is_right(6, 14), test="sign", alternative="greater").iloc[0]
    assert [f"{100 * limit:.2f}" for limit in by_quartic(6, 0, 20, 0.95)] == ["9.05", "51.90"]
    assert verdict(row) == (
        "new is better than old: the gain is significant at 0.05, one-sided and two-sided.\n"
        "new scores 100.00 % accuracy, 30.00 points more than old (70.00 %).\n95 % interval 9.05 to 51.90 points; p = "
        "0.0156 (one-sided; two-sided p = 0.0312).\n"
        "Wins, losses and ties of new: 6, 0 and 14 of 20 items.\n"
        "Test: sign test, exact p-value; resampling unit: item; p is not corrected for multiple tests."
    )
    assert verdict(row, alpha=0.01).startswith(
        "The gain of new over old is not significant at 0.01, and cannot be: too few units differ. Swapping them gives "
        "no p-value below 0.0156. This does not show that the two are equally good.\n"
    )


def test_resampled_p_values_have_their_interval() -> None:
    row = pair(
        test="bootstrap", alternative="greater", exact_level=False, n_resamples=10_000, p_low=0.0277, p_high=0.03457,
        computation="resampled", p_two_sided=0.062,
    )  # fmt: skip
    said = verdict(row)
    assert "p = 0.031 (one-sided, 95 % Monte Carlo interval 0.028 to 0.035; two-sided p = 0.062)" in said
    assert "\nTest: paired bootstrap, 10,000 resamples; resampling unit: item; p is not corrected" in said


def test_both_ends_of_a_monte_carlo_interval_have_decimals_that_tell_them_from_p() -> None:
    """By Clopper and Pearson's limits of 2^18 resamples, among them some of which one end begins with 0.02."""
    n = 2**18
    for n_extreme in np.unique(np.geomspace(3, 0.9 * n, 40).astype(int)):
        p = (n_extreme + 1) / (n + 1)
        low, high = stats.binomtest(int(n_extreme), n).proportion_ci(0.95)
        row = pair(p_value=p, p_low=low, p_high=high, n_resamples=n, n_extreme=n_extreme, **RESAMPLED)
        found = re.search(
            r"p = ([0-9.]+) \(two-sided, 95 % Monte Carlo interval ([0-9.]+) to ([0-9.]+)\)", verdict(row)
        )
        assert found
        shown_p, shown_low, shown_high = map(float, found.groups())
        decimals = [len(end.partition(".")[2]) for end in found.groups()[1:]]
        assert decimals[0] == decimals[1]
        assert (shown_low, shown_high) == pytest.approx((low, high), abs=0.51 * 10.0 ** -decimals[0])
        assert shown_low < shown_p < shown_high


@pytest.mark.parametrize(
    ("low", "p", "high", "close"),
    [
        (0.02, 0.03, 0.04, False),
        (0.04, 0.045, 0.0501, True),
        (0.0499, 0.055, 0.06, True),
        (0.0501, 0.055, 0.06, False),
        (0.04, 0.045, 0.05, False),
    ],
)
def test_the_p_value_decides_and_its_monte_carlo_error_is_named(low: float, p: float, high: float, close: bool) -> None:
    said = verdict(pair(p_low=low, p_value=p, p_high=high, p_two_sided=p, n_resamples=1000, **RESAMPLED))
    assert ("the gain is significant at 0.05." in said) == (p <= 0.05)
    doubt = "That p-value is within Monte Carlo error of 0.05: more than 1,000 resamples may decide otherwise."
    assert (doubt in said) == close
    assert "Monte Carlo" not in verdict(pair(p_low=p, p_value=p, p_high=p)), "a computed value has no such error"


@pytest.mark.parametrize("alpha", [0.01, 0.2])
def test_every_sentence_is_about_the_level_that_is_asked_for(alpha: float) -> None:
    """The decision and the Monte Carlo error; the default level is not named."""
    p = 0.9 * alpha
    drawn = {"n_resamples": 1000, **RESAMPLED}
    said = verdict(pair(p_low=0.8 * alpha, p_value=p, p_high=1.1 * alpha, p_two_sided=p, **drawn), alpha=alpha)
    assert f"the gain is significant at {alpha:g}." in said
    assert f"within Monte Carlo error of {alpha:g}:" in said
    said = verdict(pair(p_low=0.04, p_value=0.05, p_high=0.06, p_two_sided=0.05, **drawn), alpha=alpha)
    assert ("is not significant at 0.01" in said) == (alpha == 0.01)
    assert "within Monte Carlo error" not in said
    assert "0.05 " not in said.replace("p = 0.05", "")


def test_two_names_that_people_see_as_one_still_differ() -> None:
    escaped = "a⟨U+001B⟩b"
    for a, b in (("a\x1bb", escaped), (escaped, "a\x1bb")):
        said = verdict(pair(system_a=a, system_b=b, better=a))
        assert said.startswith(f"{escaped} is better than {escaped} (2): ")
        assert f"{escaped} scores 75.00 % accuracy, 5.00 points more than {escaped} (2) (70.00 %)" in said
        assert "\x1b" not in said


def test_lower_error_rates_are_less_and_higher_scores_more() -> None:
    said = verdict(pair(metric="aer", score_a=10.0, score_b=15.0))
    assert "new scores 10.00 % AER, 5.00 points less than old (15.00 %)" in said
    assert ".\n95 % interval of the gain of new 0.49 to 9.51 points; p = " in said, (
        "a gain in errors is not a difference"
    )
    said = verdict(pair(metric="mean", score_a=-2.0, score_b=-7.0))
    assert "scores -2.00 on average, 5.00 more than old (-7.00)" in said, "a mean has no unit that is known"
    assert "95 % interval 0.49 to 9.51; p" in said


def test_equal_scores_have_no_gain_to_test() -> None:
    """One item won and one lost."""
    row = compared(Outputs.from_statistics([[[1, 1], [0, 1]], [[0, 1], [1, 1]]], "accuracy", ["a", "b"])).iloc[0]
    limit = 100 * by_quartic(1, 1, 2, 0.95)[1]
    assert verdict(row) == (
        "There is no gain to test.\n"
        f"a and b have the same score (50.00 % accuracy).\n95 % interval of the gain of a -{limit:.2f} to {limit:.2f} "
        "points; p = 1.000 (two-sided).\nWins, losses and ties of a: 1, 1 and 0 of 2 items.\n"
        "Test: sign-flip test, exact p-value; resampling unit: item; p is not corrected for multiple tests.\n"
        "With 2 items the interval is rough."
    )


def test_where_nothing_varies_there_is_no_interval() -> None:
    values = np.linspace(0, 1, 30)
    said = verdict(compared(scores(values, values)).iloc[0])
    assert ".\nNo interval of the gain of new; p = 1.000 (" in said
    assert said.startswith("There is no gain to test.\n")
    assert "\nWins, losses and ties of new: 0, 0 and 30 of 30 items.\n" in said
    assert said.endswith("; p is not corrected for multiple tests."), "nothing is approximate"
    ahead = verdict(compared(scores(values + 0.5, values)).iloc[0])
    assert "0.5000 more than old (0.5000).\nNo interval; p < 0.000001 (" in ahead


def test_numbers_have_the_digits_that_they_need() -> None:
    said = verdict(pair(metric="mean", score_a=0.4312, score_b=0.4112, gain=0.02, gain_low=0.00156, gain_high=0.03844))
    assert said.partition("\n")[2].startswith(
        "new scores 0.4312 on average, 0.0200 more than old (0.4112).\n95 % interval 0.0016 to 0.0384; p = 0.0310 "
        "(two-sided).\nWins, losses and ties of new: 200, 125 and 1,175 of 1,500 items."
    )
    said = verdict(pair(score_a=76.134, score_b=76.132, gain=0.002))
    assert "new scores 76.134 % accuracy, 0.002 points more than old (76.132 %)" in said, (
        "a gain that is there is not 0.00"
    )
    for low, text in ((0.0004, "0.0004"), (-0.0004, "-0.0004"), (-0.04, "-0.04"), (0.0, "0.00"), (1e-30, "1e-30")):
        assert f"interval {text} to 9.51 points" in verdict(pair(gain_low=low)), "on which side of 0 it is can be read"


@pytest.mark.parametrize("scale", [1e-200, 1e150])
def test_scores_of_any_size_can_be_read(scale: float) -> None:
    said = verdict(compared(scores(np.linspace(1, 2, 30) * scale, np.linspace(1, 1.5, 30) * scale)).iloc[0])
    assert f"new scores {1.5 * scale:.4g} on average, {0.25 * scale:.4g} more than old ({1.25 * scale:.4g})" in said


def test_test_set_and_convention_are_named() -> None:
    said = verdict(pair(test_set="WMT24", test="bootstrap", convention="sacrebleu"))
    assert "of 1,500 items of WMT24." in said
    assert "\nTest: paired bootstrap, exact p-value, convention sacrebleu; resampling" in said
    said = verdict(pair(test="t_paired", computation="approximated"))
    assert "\nTest: paired t test, approximated p-value; resampling unit: item; " in said
    of_documents = verdict(pair(unit="doc", strata="genre"))
    assert "; resampling unit: cluster (doc) within strata of genre; p is not corrected" in of_documents
    assert "exact" not in said


# One-sided and two-sided


def test_a_gain_that_only_one_tail_finds_is_for_those_who_said_so_beforehand() -> None:
    """Five items, all won: 2^-5 = 0.03125, twice that two-sided."""
    row = compared(only_new_is_right(5, 15), test="sign", alternative="greater").iloc[0]
    assert "p = 0.0312 (one-sided; two-sided p = 0.0625)" in verdict(row)
    answer, *numbers = verdict(row).splitlines()
    assert answer == (
        "The gain of new over old is significant at 0.05 one-sided. This is valid only if new was predicted to win."
    )
    assert numbers[2].endswith(" and 15 of 20 items.")


def test_the_published_rule_has_no_two_sided_p_value() -> None:
    row = compared(only_new_is_right(9, 31), test="bootstrap", convention="koehn2004").iloc[0]
    said = verdict(row)
    assert np.isnan(row["p_two_sided"])
    assert "two-sided" not in said
    assert "convention koehn2004" in said
    assert "only if new was predicted to win" in said


def test_what_one_side_finds_too_few_units_may_not_carry_on_two() -> None:
    """Five units: bootstrap p-values are nearly 0, but of 2^5 swaps two are as extreme two-sided, 0.0625 of all."""
    outputs = only_new_is_right(5, 0)
    one = compared(outputs, test="bootstrap", alternative="greater").iloc[0]
    assert (one["p_value"], one["p_two_sided"]) == (1e-300, 1e-300)
    assert "is significant at 0.05 one-sided. This is valid only if new was predicted" in verdict(one)
    two = verdict(compared(outputs, test="bootstrap").iloc[0])
    assert "The gain of new over old is not significant at 0.05" in two
    six = compared(only_new_is_right(6, 0), test="bootstrap", alternative="greater").iloc[0]
    assert "the gain is significant at 0.05, one-sided and two-sided." in verdict(six)


def test_items_without_a_score_of_their_own_win_nothing() -> None:
    """Classes have an F1, and no item: where both systems are wrong, one may add to the gain and has not won."""
    for metric, unit, said in (
        ("macro_f1", "item", "Items that add to the gain of new, take from it and do neither: 200, 125 and 1,175 of"),
        ("mcc", "doc", "Clusters (doc) that add to the gain of new, take from it and do neither: 200, 125 and 1,175"),
        ("f1", "item", "Wins, losses and ties of new: 200, 125 and 1,175 of 1,500 items."),
    ):
        assert said in verdict(pair(metric=metric, unit=unit))
