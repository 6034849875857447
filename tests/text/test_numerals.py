"""How numbers are written: p-values, scores and gains."""

from __future__ import annotations

from fractions import Fraction

import pytest

from simstudy.text.numerals import gain_text, p_digits, p_floor, p_text, score_format


@pytest.mark.parametrize(
    ("p", "text"),
    [
        (1.0, "1.000"), (0.5012, "0.501"), (0.1, "0.100"), (0.0994, "0.099"), (0.0312, "0.031"), (0.03, "0.03"),
        (0.00001, "0.00001"), (0.0000123, "0.000012"), (3e-9, "0.000000003"), (2.5e-12, "0.0000000000025"), (0.0, "0"),
    ],
)  # fmt: skip
def test_p_values_are_written_with_two_or_three_digits(p: float, text: str) -> None:
    assert p_digits(p) == text
    assert float(p_digits(p)) == pytest.approx(p, rel=0.06)


def test_very_small_p_values_have_a_bound() -> None:
    assert [p_text(p) for p in (0.03, 0.000001, 9.9e-7, 0.0)] == ["0.03", "0.000001", "< 0.000001", "< 0.000001"]


@pytest.mark.parametrize("n", [1, 9, 19, 20, 99, 199, 300, 999, 1000, 9_999, 2**18, 10**6, 2**20])
def test_where_no_resample_is_extreme_the_p_value_is_a_bound(n: int) -> None:
    """The least number of two digits that is not below (0 + 1) / (n + 1), in fractions; not if one is extreme."""
    for count in (0, 1, 2):
        text = p_text((count + 1) / (n + 1), floor=p_floor(n))
        assert text.startswith("<") == (count == 0 or (count + 1) / (n + 1) < 1e-6)
    bound, floor = Fraction(p_text(1 / (n + 1), floor=p_floor(n)).removeprefix("< ")), Fraction(1, n + 1)
    assert floor <= bound <= (max(floor * Fraction(11, 10), Fraction(1, 10**6)))
    # Conventions that count without the one: 0 of n.
    assert p_text(0.0, floor=p_floor(n)) == p_text(1 / (n + 1), floor=p_floor(n))
    assert not p_text(1 / (n + 1), floor=p_floor(0)).startswith("<") or n >= 10**6


def test_no_p_value_is_rounded_across_alpha() -> None:
    assert [p_digits(p, 0.05) for p in (0.05, 0.0500001, 0.0504, 0.0496)] == ["0.05", "0.0500001", "0.0504", "0.05"]
    assert p_text(0.0504, 0.05) == "0.0504"


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
