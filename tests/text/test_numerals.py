"""How numbers are written: p-values, scores and gains."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simstudy.statistics.pvalues import clopper_pearson
from simstudy.text.numerals import gain_text, p_adjusted, p_digits, p_floor, p_short, p_text, score_format

P_VALUES = st.floats(1e-6, 1) | st.floats(-6, 0).map(lambda power: 10**power)
RESAMPLES = st.sampled_from([0, 99, 999, 1_000, 9_999, 10_000, 13_400, 2**18, 10**6])
ALPHAS = st.sampled_from([0.05, 0.01, 0.1, 0.001, 0.0125])


def number(text: str) -> float:
    return float(text.lstrip("<= "))


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1.000"), (0.5012, "0.501"), (0.1, "0.100"), (0.0994, "0.0994"), (0.0312, "0.0312"), (0.03, "0.0300"),
        (0.00001, "0.0000100"), (0.0000123, "0.0000123"), (0.0, "0"),
    ],
)  # fmt: skip
def test_computed_p_values_have_three_digits(p: float, text: str) -> None:
    assert p_digits(p) == text


def test_monte_carlo_p_values_have_the_digits_that_their_resamples_tell() -> None:
    """With 13,400 resamples the 95 % interval of 0.0312 is 0.028 to 0.034; of a million it is 0.0309 to 0.0315."""
    digits = {n: p_text(0.0312, floor=p_floor(n)) for n in (0, 200, 13_400, 10**6)}
    assert digits == {0: "0.0312", 200: "0.03", 13_400: "0.031", 10**6: "0.0312"}
    # Adjusted for 21 tests, p and its interval are 21 times as large.
    assert [p_adjusted(21 * 0.0312, 0.0312, floor=p_floor(n)) for n in (0, 13_400)] == ["0.655", "0.7"]
    assert p_adjusted(0.05, 0.0001, floor=p_floor(9_999)) == "<= 0.05", "it is as large as that at most"
    assert p_adjusted(1.0, 0.0001, floor=p_floor(9_999)) == "1.000"


@given(P_VALUES, RESAMPLES, ALPHAS)
@settings(max_examples=500, deadline=None)
@example(0.0499, 0, 0.05)
@example(0.0501, 10_000, 0.05)
@example(0.05, 9_999, 0.05)
@example(0.05 * (1 + 1e-15), 0, 0.05)
def test_no_p_value_is_rounded_to_alpha_or_across_and_none_reads_0(p: float, n: int, alpha: float) -> None:
    text = p_text(p, alpha, p_floor(n))
    assert number(text) > 0
    if text.startswith("<"):
        assert p <= max(p_floor(n) * (1 + 1e-9), 1e-6)
        assert (number(text) <= alpha) == (max(p, p_floor(n)) <= alpha)
    elif p > alpha:
        assert number(text) > alpha
    else:
        assert number(text) < alpha or (number(text) == alpha and p == pytest.approx(alpha, rel=1e-9))
    short = p_short(p, alpha, p_floor(n))
    assert number(short) > 0
    assert (short.startswith("<") and alpha >= 0.001) or (number(short) <= alpha) == (p <= alpha)


@given(st.lists(P_VALUES, min_size=2, max_size=6), RESAMPLES, ALPHAS)
@settings(max_examples=300, deadline=None)
@example([7.498942093324559e-05, 1e-06], 13_400, 0.05)
@example([0.00107, 0.001001], 999, 0.05)
def test_a_larger_p_value_never_reads_smaller(values: list[float], n: int, alpha: float) -> None:
    for write in (p_text, p_short):
        read = [number(write(p, alpha, p_floor(n))) for p in sorted(values)]
        assert read == sorted(read)


@given(st.integers(99, 10**6), st.floats(0, 0.96))
@settings(max_examples=500, deadline=None)
def test_the_digits_of_a_monte_carlo_p_value_are_those_that_its_interval_tells(n: int, share: float) -> None:
    """Rounding moves it by no more than its Monte Carlo error; its last digit is known to ten, but beside alpha."""
    extreme = round(share**3 * n)
    text = p_text((extreme + 1) / (n + 1), floor=p_floor(n))
    low, high = (float(end[0]) for end in clopper_pearson(np.array([extreme]), np.array([n])))
    if text.startswith("<"):
        assert extreme == 0 or (extreme + 1) / (n + 1) < 1e-6
        return
    decimals = text.partition(".")[2]
    p = (extreme + 1) / (n + 1)
    # Half of a last digit, which is about as wide as the interval.
    assert abs(number(text) - p) <= 0.6 * (high - low)
    if abs(p - 0.05) > 0.005 and len(decimals.lstrip("0")) > 1:
        assert high - low <= 20 * 10.0 ** -len(decimals)


def test_very_small_p_values_have_a_bound() -> None:
    texts = [p_text(p) for p in (0.03, 0.000001, 9.9e-7, 0.0)]
    assert texts == ["0.0300", "0.00000100", "< 0.000001", "< 0.000001"]


@pytest.mark.parametrize("n", [1, 9, 19, 20, 99, 199, 300, 999, 1000, 9_999, 2**18, 10**6, 2**20])
def test_where_no_resample_is_extreme_the_p_value_is_a_bound(n: int) -> None:
    """The least number of two digits that is not below (0 + 1) / (n + 1), in fractions; not if one is extreme."""
    for count in (0, 1, 2):
        text = p_text((count + 1) / (n + 1), floor=p_floor(n))
        assert text.startswith("<") == (count == 0 or (count + 1) / (n + 1) < 1e-6)
    text = p_text(1 / (n + 1), floor=p_floor(n))
    bound, floor = Fraction(text.lstrip("<= ")), Fraction(1, n + 1)
    assert floor <= bound <= (max(floor * Fraction(11, 10), Fraction(1, 10**6)))
    assert text.startswith("<=") == (floor == bound), "no p-value is below itself"
    # Conventions that count without the one: 0 of n.
    assert p_text(0.0, floor=p_floor(n)) == text
    assert not p_text(1 / (n + 1), floor=p_floor(0)).startswith("<") or n >= 10**6


@pytest.mark.parametrize(
    ("numbers", "form"),
    [
        ((81.25,), "z.2f"), ((1.0,), "z.2f"), ((0.99,), "z.4f"), ((0.0,), "z.4f"), ((-3.0,), "z.2f"),
        ((81.25, 0.0003), "z.4f"), ((81.25, 0.5), "z.2f"), ((81.25, float("nan")), "z.2f"),
        ((81.25, 1e-8), "z.8f"), ((81.25, 9e-9), ".4g"), ((1e12,), ".4g"), ((9e11,), "z.2f"), ((5.4e-200,), ".4g"),
    ],
)  # fmt: skip
def test_scores_have_as_many_decimals_as_their_gains_need(numbers: tuple[float, ...], form: str) -> None:
    assert score_format(*numbers) == form


def test_no_zero_has_a_sign() -> None:
    form = score_format(14.61, 3.2)
    assert [format(number, form) for number in (-0.004, -0.0, -0.006)] == ["0.00", "0.00", "-0.01"]


def test_gains_have_two_or_three_digits() -> None:
    assert [gain_text(gain) for gain in (12.345, 0.5, 0.4999, 0.01234)] == ["12.35", "0.50", "0.5", "0.0123"]
