"""Statistics in other units, sizes that double precision can hold, sums on a grid, and tolerances of ties."""

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
    if unit == Fraction(1, 8) and not whole(of_scores(values)):
        assert new.dtype == np.int64
        np.testing.assert_array_equal(new[..., 0], np.array(numbers).reshape(2, 3) // gcd(*numbers))


def test_other_numbers_become_at_most_1_by_a_power_of_two() -> None:
    values = np.array([[np.pi * 1e200, 1e200], [np.e * 1e199, -1e200]])
    new, factor = rescaled(of_scores(values), MEAN)
    assert 0.5 <= np.abs(new[..., 0]).max() < 1
    assert np.frexp(factor)[0] == 0.5, "nothing is rounded"
    np.testing.assert_array_equal(new[..., 0] * factor, values)


def test_shared_columns_have_one_unit_and_two_sides_have_two() -> None:
    """The unit of columns that are both in the numerator and in the denominator cancels."""
    new, factor = rescaled(np.array([[[0.5, 1.0, 1.5], [0.5, 0.5, 1.0]]]), METRICS["f1"])
    assert (new.tolist(), factor) == ([[[1, 2, 3], [1, 1, 2]]], 1.0)
    new, factor = rescaled(np.array([[[0.75, 0.5], [1.5, 1.0]]]), MEAN)
    assert (new.tolist(), factor) == ([[[1, 1], [2, 2]]], 0.75 / 0.5)


def test_counts_of_other_metrics_and_whole_numbers_stay() -> None:
    for name, statistics in {"bleu": np.full((1, 1, 10), 0.5), "mean": of_scores([[2.0, 4.0]])}.items():
        assert rescaled(statistics, METRICS[name]) == (statistics, 1)


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1e-310, 0], [1e-320, 0]], "the largest of system 'a' is 1e-310, of all systems 1e-310"),
        ([[1e270, 0], [6e288, 0]], "the largest of system 'b' is 6e.288, of all systems 6e.288"),
        ([[1e120, 0], [1e-1, 0]], "the largest of system 'b' is 0.1, of all systems 1e.120"),
        ([[4e288, 0], [0, 0]], ""),
        ([[1e100, 0], [1e-20, 0]], ""),
    ],
)
def test_sizes_beyond_double_precision_are_refused(scores: list[list[float]], message: str) -> None:
    if message:
        with pytest.raises(ValueError, match=f"^statistics must be in another unit: {message}"):
            check_range(of_scores(scores), ["a", "b"])
    else:
        check_range(of_scores(scores), ["a", "b"])


def test_sums_on_a_grid_are_exact_in_any_order(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(3, 200)) * [[1], [1e30], [1e-30]]
    rounded = on_grid(rows)
    for row in rounded:
        assert len({row.sum(), row[::-1].sum(), rng.permutation(row).sum(), np.cumsum(row)[-1]}) == 1
    assert (np.abs(rounded - rows) <= np.abs(rows).max(axis=1, keepdims=True) * 2.0**-44).all()


def test_tolerances_of_ties() -> None:
    """Of decimals a part of the sizes that were added; of whole numbers 0, unless the score is no ratio."""
    assert not whole(of_scores([[2**52, 2**52]]))
    bleu = np.tile([[4.0, 3, 2, 1, 4, 3, 2, 1, 4, 4]], (1, 2, 1))
    for one, statistics, expected in (
        (MEAN, of_scores([[0.1, -0.3], [0.5, 0.5]]), [2e-10, 5e-10]),
        (METRICS["accuracy"], of_scores([[0.5, 0.25]]), [100 * 3.75e-10]),
        (MEAN, of_scores([[1, 3]]), [0]),
        (METRICS["bleu"], bleu, [100e-9]),
        (metric("loss", lambda total: -total), np.array([[[3.0], [1.5]]]), [4.5e-9]),
    ):
        np.testing.assert_allclose(one.tie_tolerance(statistics), expected, rtol=1e-12)


def test_deviations_of_items_are_from_their_expectation() -> None:
    """A system with 5 of 10 and one with 7: an item of 8 is expected to have 4, and 5.6."""
    deviations = item_deviations(np.array([[1, 4], [1, 6]]), np.array([2, 8]))
    np.testing.assert_allclose(deviations, [[0, 0], [-0.4, 0.4]])
    assert item_deviations(np.array([[0, 0]]), np.array([0, 0])).tolist() == [[0, 0]]


def test_weighted_sums_keep_the_kind_of_their_numbers() -> None:
    small = np.array([[100, 100, 3]], dtype=np.int8)
    assert combine(small, (2, -1, 0)).tolist() == [100]
    assert combine(small, (1, 1, 0)).tolist() == [200], "no overflow"
    assert combine(small / 8, (0, 0, 2)).tolist() == [0.75]
