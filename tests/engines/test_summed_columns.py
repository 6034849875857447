"""Sums that are had by subtraction are the sums of the columns."""

from __future__ import annotations

import numpy as np

from simstudy.engines.summed_columns import SummedColumns, summable

N_UNITS = 64


def check(statistics: np.ndarray) -> SummedColumns:
    """Sums of all statistics, by whole numbers; what comes is no more than there is."""
    summed = SummedColumns(statistics)
    counts = np.random.default_rng(0).integers(0, 9, size=(statistics.shape[2], 5))
    sums = summed.sums(summed.columns @ counts)
    assert (sums[summed.rows] == statistics @ counts).all()
    assert len(summed.columns) <= len(sums) == len(np.unique(statistics.reshape(-1, statistics.shape[2]), axis=0))
    return summed


def sequences(n_systems: int, words: np.ndarray) -> np.ndarray:
    """Matches, which have nothing in common, and how many sequences of 1 to 4 words there are (K, 8, n)."""
    rng = np.random.default_rng(1)
    total = np.maximum(words - np.arange(4)[:, None, None], 0)
    matches = np.minimum(rng.integers(0, 40, size=(4, n_systems, N_UNITS)), total)
    return np.moveaxis(np.concatenate([matches, total]), 0, 1)


def test_counts_of_longer_sequences_are_subtracted() -> None:
    """Texts of five words or more: a pair less than words, a triple less than pairs, and so on."""
    words = np.random.default_rng(2).integers(5, 60, size=(10, N_UNITS))
    assert len(check(sequences(10, words)).columns) == 10 * 5 + 3


def test_few_short_texts_take_a_column_each() -> None:
    """Five systems say one or two words on a unit where others say more."""
    words = np.random.default_rng(2).integers(5, 60, size=(10, N_UNITS))
    words[:3, 7], words[3:5, 20] = 1, 2
    # One word lacks a pair already, two words a triple; of four words or more nothing lacks.
    assert len(check(sequences(10, words)).columns) == 10 * 5 + 3 + 2


def test_where_many_texts_are_short_nothing_is_subtracted() -> None:
    words = np.random.default_rng(2).integers(0, 4, size=(10, N_UNITS))
    statistics = sequences(10, words)
    found = check(statistics)
    assert len(found.columns) == len(np.unique(statistics.reshape(-1, N_UNITS), axis=0))


def test_equal_columns_are_summed_once_wherever_they_are() -> None:
    """The last statistic is the first system's second one; the first is the same for all."""
    statistics = np.random.default_rng(4).integers(0, 99, size=(4, 3, N_UNITS))
    statistics[:, 0], statistics[:, 2] = statistics[0, 0], statistics[0, 1]
    assert len(check(statistics).columns) == 1 + 4


def test_random_statistics_with_much_in_common() -> None:
    rng = np.random.default_rng(5)
    for _ in range(200):
        k, s = rng.integers(1, 7, size=2)
        statistics = np.repeat(rng.integers(-9, 9, size=(1, s, N_UNITS)), k, axis=0)
        statistics += rng.integers(-9, 9, size=(k, 1, N_UNITS)) * (rng.random() < 0.7)
        changed = rng.random(size=statistics.shape) < rng.choice([0, 0.001, 0.01, 0.2])
        check(statistics + changed * rng.integers(-9, 9, size=statistics.shape))


def test_no_sum_on_the_way_is_larger_than_the_columns_may_be() -> None:
    """Columns whose sums single precision just holds; what they have in common would be twice as large."""
    most = 2**24 // N_UNITS - 1
    first = np.random.default_rng(6).integers(most - 9, most, size=(10, 1, N_UNITS))
    for second, n_columns in ((first - 5, 11), (first - 2 * most + 20, 20)):
        statistics = np.concatenate([first, second], axis=1)
        found = check(statistics)
        assert len(found.columns) == n_columns
        assert summable(found.columns).dtype == np.float32
        counts = np.zeros((N_UNITS, 2), np.float32)
        counts[3, 0], counts[:, 1] = N_UNITS, 1
        sums = found.sums(summable(found.columns) @ counts)
        assert (sums[found.rows] == statistics @ counts.astype(int)).all()


def test_scores_that_are_no_whole_numbers_are_all_summed() -> None:
    """Subtraction would round."""
    words = np.random.default_rng(2).integers(5, 60, size=(10, N_UNITS))
    assert len(SummedColumns(sequences(10, words) / 3).columns) == 10 * 8
