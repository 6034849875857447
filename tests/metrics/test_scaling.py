"""Statistics on a scale of their own, sizes that double precision can hold, and sums on a grid."""

from __future__ import annotations

from fractions import Fraction
from math import gcd

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.metrics import METRICS
from simstudy.metrics.base import combine, item_deviations, whole
from simstudy.metrics.scaling import check_range, on_grid, rescaled
from simstudy.metrics.user_metrics import metric

MEAN = METRICS["mean"]


def of_scores(scores: object) -> np.ndarray:
    """Statistics (K, n, 2) of scores (K, n), each of one count."""
    array = np.asarray(scores, dtype=np.float64)
    return np.stack([array, np.ones_like(array)], axis=-1)


@given(
    st.lists(st.integers(-1000, 1000), min_size=6, max_size=6),
    st.sampled_from([Fraction(1), Fraction(1, 8), Fraction(3, 100), Fraction(2) ** 300, Fraction(1, 3 * 2**200)]),
)
@settings(max_examples=60, deadline=None)
def test_multiples_of_a_unit_become_whole_numbers(numbers: list[int], unit: Fraction) -> None:
    values = np.array([float(number * unit) for number in numbers]).reshape(2, 3)
    new, factor = rescaled(of_scores(values), MEAN)
    np.testing.assert_allclose(new[..., 0] * factor, values, rtol=1e-15, atol=0)
    np.testing.assert_array_equal(new[..., 1], 1)
    assert whole(new)
    if unit != 1 and unit.denominator in (1, 8) and not whole(of_scores(values)):
        assert new.dtype == np.int64
        np.testing.assert_array_equal(new[..., 0], np.array(numbers).reshape(2, 3) // gcd(*numbers))


def test_other_numbers_become_at_most_1_by_a_power_of_two() -> None:
    values = np.array([[np.pi * 1e200, 1e200], [np.e * 1e199, -1e200]])
    new, factor = rescaled(of_scores(values), MEAN)
    assert 0.5 <= np.abs(new[..., 0]).max() < 1
    assert np.frexp(factor)[0] == 0.5, "nothing is rounded"
    np.testing.assert_array_equal(new[..., 0] * factor, values)


def test_what_stands_above_and_below_has_one_unit_and_two_sides_have_two() -> None:
    f1 = np.array([[[0.5, 1.0, 1.5], [0.5, 0.5, 1.0]]])
    new, factor = rescaled(f1, METRICS["f1"])
    assert (new.tolist(), factor) == ([[[1, 2, 3], [1, 1, 2]]], 1.0)
    weighted = np.array([[[0.75, 0.5], [1.5, 1.0]]])
    new, factor = rescaled(weighted, MEAN)
    assert new.tolist() == [[[1, 1], [2, 2]]]
    assert factor == 0.75 / 0.5
    np.testing.assert_allclose(MEAN.score(new.sum(axis=1)) * factor, MEAN.score(weighted.sum(axis=1)))
    bleu = np.full((1, 1, 10), 0.5)
    assert rescaled(bleu, METRICS["bleu"]) == (bleu, 1.0), "counts have a scale that means something"


def test_whole_numbers_stay_as_they_are() -> None:
    statistics = of_scores([[2.0, 4.0]])
    new, factor = rescaled(statistics, MEAN)
    assert new is statistics
    assert factor == 1
    assert not whole(of_scores([[2**52, 2**52]]))
    assert not whole(of_scores([[-0.5, 2.0]]))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1e-310, 0], [1e-320, 0]], "the largest of system 'a' is 1e-310, of all systems 1e-310"),
        ([[1e270, 0], [6e288, 0]], "the largest of system 'b' is 6e.288, of all systems 6e.288"),
        ([[1e120, 0], [1e-1, 0]], "the largest of system 'b' is 0.1, of all systems 1e.120"),
    ],
)
def test_sizes_beyond_double_precision_are_refused(scores: list[list[float]], message: str) -> None:
    with pytest.raises(ValueError, match=f"^statistics must be in another unit: {message}"):
        check_range(of_scores(scores), ["a", "b"])
    check_range(of_scores([[4e288, 0], [0, 0]]), ["a", "b"])
    check_range(of_scores([[1e100, 0], [1e-20, 0]]), ["a", "b"])


def test_sums_on_a_grid_are_exact_in_any_order(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(3, 200)) * [[1], [1e30], [1e-30]]
    rounded = on_grid(rows)
    for row in rounded:
        assert len({row.sum(), row[::-1].sum(), rng.permutation(row).sum(), np.cumsum(row)[-1]}) == 1
    assert (np.abs(rounded - rows) <= np.abs(rows).max(axis=1, keepdims=True) * 2.0**-44).all()


def test_ties_of_decimals_are_a_part_of_what_was_added_and_whole_numbers_have_none() -> None:
    decimals = of_scores([[0.1, -0.3], [0.5, 0.5]])
    np.testing.assert_allclose(MEAN.tie_tolerance(decimals), [2e-10, 5e-10], rtol=1e-12)
    np.testing.assert_allclose(
        METRICS["accuracy"].tie_tolerance(of_scores([[0.5, 0.25]])), [100 * 3.75e-10], rtol=1e-12
    )
    assert MEAN.tie_tolerance(of_scores([[1, 3]])).tolist() == [0]
    bleu = np.tile([[4.0, 3, 2, 1, 4, 3, 2, 1, 4, 4]], (1, 2, 1))
    np.testing.assert_allclose(METRICS["bleu"].tie_tolerance(bleu), [100e-9], rtol=1e-12)


def test_ties_of_negative_scores_have_a_size_too() -> None:
    loss = metric("loss", lambda total: -total)
    assert loss.tie_tolerance(np.array([[[3.0], [1.5]]])).tolist() == [pytest.approx(4.5e-9)]


def test_deviations_of_items_are_from_what_their_sizes_make_expect() -> None:
    """A system with 5 of 10 and one with 7: an item of 8 is expected to have 4, and 5.6."""
    found = item_deviations(np.array([[1, 4], [1, 6]]), np.array([2, 8]))
    np.testing.assert_allclose(found, [[0, 0], [-0.4, 0.4]])
    assert item_deviations(np.array([[0, 0]]), np.array([0, 0])).tolist() == [[0, 0]]


def test_weighted_sums_keep_the_kind_of_their_numbers() -> None:
    small = np.array([[100, 100, 3]], dtype=np.int8)
    assert combine(small, (2, -1, 0)).tolist() == [100]
    assert combine(small, (1, 1, 0)).tolist() == [200], "no overflow"
    assert combine(small / 8, (0, 0, 2)).tolist() == [0.75]
