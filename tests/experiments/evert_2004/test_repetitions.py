"""The common threshold, repetitions and the check of the binomial model: by hand, by scipy and by the paper."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import integrate, special, stats

from simstudy.rankings.candidates import Candidates
from tests.experiments.programs import program

REPETITIONS = program("evert_2004", "repetitions")
binomial_check, common_threshold, repetitions = (
    REPETITIONS.binomial_check, REPETITIONS.common_threshold, REPETITIONS.repetitions
)  # fmt: skip

N_SETS = 80


def evaluation(number: int, n_true: int, n_false: int, rejected: int = 2) -> Candidates:
    """A set that accepts so many true and false candidates at threshold 0, and rejects some."""
    scores = np.r_[np.ones(n_true + n_false), -np.ones(rejected)]
    true = np.r_[np.ones(n_true), np.zeros(n_false + rejected)]
    return Candidates.from_scores(pd.DataFrame({"g": scores}), true, test_set=f"part {number}")


def evaluations(counts: list[tuple[int, int]]) -> list[Candidates]:
    return [evaluation(number, *of_set) for number, of_set in enumerate(counts)]


def checked(counts: list[tuple[int, int]]) -> pd.Series:
    """The only row of the check of sets that accept so many true and false candidates."""
    check = binomial_check(repetitions(evaluations(counts), {"g": 0}))
    assert len(check) == 1
    return check.iloc[0]


def spread_counts(ratio: float, n: int = 100, pi: float = 0.3) -> list[tuple[int, int]]:
    """80 sets of n accepted, 40 as far above pi as the others are below, with s / sigma as near to ratio as can be."""
    sigma = math.sqrt(pi * (1 - pi) / n)
    far = round(n * ratio * sigma * math.sqrt((N_SETS - 1) / N_SETS))
    middle = round(n * pi)
    return [(middle + sign * far, n - middle - sign * far) for sign in (1, -1) for _ in range(N_SETS // 2)]


@pytest.mark.parametrize("n_accepted", [0.4, 1, 1.34, 2.6, 3.29, 7.8, 20])
def test_a_common_threshold_accepts_so_many_on_average(n_accepted: float) -> None:
    rng = np.random.default_rng(1)
    sets = [
        Candidates.from_scores(pd.DataFrame({"g": rng.normal(size=20), "h": rng.normal(size=20)}), [True] * 20)
        for _ in range(5)
    ]
    threshold = common_threshold(sets, "h", n_accepted)
    # The nearest number that there can be: all five sets together accept a whole number.
    assert abs(sum(each.accepted("h", threshold).sum() for each in sets) - 5 * n_accepted) < 0.5
    assert any(threshold in each.scores[1] for each in sets)


def test_all_that_tie_with_the_threshold_are_accepted() -> None:
    sets = [Candidates.from_scores(pd.DataFrame({"g": scores}), [True] * 3) for scores in ([3, 2, 2], [2, 1, 0])]
    assert common_threshold(sets, "g", 1) == 2
    assert sum(each.accepted("g", 2).sum() for each in sets) == 4


def test_each_set_by_hand() -> None:
    sets = evaluations([(200, 300), (0, 10), (0, 0), (5, 0)])
    table = repetitions(sets, {"g": 0})
    assert table["test_set"].tolist() == ["part 0", "part 1", "part 2", "part 3"]
    assert table["n_candidates"].tolist() == [502, 12, 2, 7]
    assert table["n_accepted"].tolist() == [500, 10, 0, 5]
    assert table["n_true"].tolist() == [200, 0, 0, 5]
    np.testing.assert_array_equal(table["precision"], [0.4, 0, np.nan, 1])
    np.testing.assert_allclose(table["average_precision"], (0.4 + 0 + 1) / 3)
    # Section 3.2: from 35.7 % to 44.4 %. With no true one of n, or all, a bound solves (1 - p)^n = 2.5 %.
    np.testing.assert_allclose(table[["low", "high"]].iloc[0], [0.357, 0.444], atol=5e-4)
    np.testing.assert_allclose(table["high"].iloc[1], 1 - 0.025**0.1)
    np.testing.assert_allclose(table["low"].iloc[3], 0.025**0.2)
    assert table[["low", "high"]].iloc[2].tolist() == [0, 1]
    # 0.467 lies above 0.444 and above 0.308, and below 0.478; of nothing nothing is missed.
    assert table["covered"].tolist() == [False, False, True, False]
    assert set(table["ranking"]) == {"g"}
    assert set(table["threshold"]) == {0}


def test_each_scoring_function_has_its_own_average_and_threshold() -> None:
    frame = pd.DataFrame({"g": [4, 3, 2, 1], "h": [1, 2, 3, 4], "unused": 0})
    sets = [Candidates.from_scores(frame, true, test_set=str(true)) for true in ([1, 1, 0, 0], [1, 0, 0, 0])]
    table = repetitions(sets, {"h": 2, "g": 4})
    assert table["ranking"].tolist() == ["h", "h", "g", "g"]
    assert table["threshold"].tolist() == [2, 2, 4, 4]
    np.testing.assert_allclose(table["average_precision"], [1 / 6, 1 / 6, 1, 1])
    check = binomial_check(table)
    assert check["ranking"].tolist() == ["h", "g"]
    assert check["mean_accepted"].tolist() == [3, 1]


def test_the_check_by_hand() -> None:
    """Three sets: 2 of 4, 3 of 8 and 1 of 4; precisions 1/2, 3/8, 1/4; 6 of 16 in all."""
    row = checked([(2, 2), (3, 5), (1, 3)])
    assert (row.n_sets, row.n_empty, row.mean_accepted) == (3, 0, 16 / 3)
    assert row.average_precision == pytest.approx(3 / 8)
    assert row.sd_observed == pytest.approx(1 / 8)  # deviations 1/8, 0, -1/8; squares over 2
    assert row.sd_binomial == pytest.approx(math.sqrt((3 / 8) * (5 / 8) * (3 / 16)))
    assert row.ratio == pytest.approx(math.sqrt(16 / 45))  # (1 / 64) / (45 / 1024)
    # Chi-square on 2 df is exponential: its quantile at q is -2 log(1 - q).
    assert row.ratio_low == pytest.approx(row.ratio / math.sqrt(-math.log(0.025)))
    assert row.ratio_high == pytest.approx(row.ratio / math.sqrt(-math.log(0.975)))
    # Expected 1.5, 3, 1.5: (0.5^2 / 1.5 + 0.5^2 / 1.5) * 8 / 5.
    assert row.dispersion == pytest.approx(8 / 15)
    assert row.dispersion_p == pytest.approx(math.exp(-4 / 15))
    assert (row.n_missed, row.missed_p) == (0, 1)
    assert row.expected_missed == pytest.approx(0.15)


def test_the_dispersion_is_the_chi_square_of_the_table_of_true_and_false() -> None:
    rng = np.random.default_rng(3)
    counts = [(int(t), int(f)) for t, f in rng.integers(5, 60, size=(25, 2))]
    row = checked(counts)
    expected = stats.chi2_contingency(np.array(counts), correction=False)
    assert row.dispersion == pytest.approx(expected.statistic)
    assert row.dispersion_p == pytest.approx(expected.pvalue)


def test_kolmogorovs_distance_by_brute_force() -> None:
    rng = np.random.default_rng(4)
    counts = [(int(t), 50 - int(t)) for t in rng.binomial(50, 0.4, size=30)]
    row = checked(counts)
    precision = np.sort([t / 50 for t, _ in counts])
    sigma = math.sqrt(precision.mean() * (1 - precision.mean()) / 50)
    expected = special.ndtr((precision - precision.mean()) / sigma)
    below = np.array([(precision < x).mean() for x in precision])
    up_to = np.array([(precision <= x).mean() for x in precision])
    distance = max(np.abs(up_to - expected).max(), np.abs(below - expected).max())
    assert row.ks_statistic == pytest.approx(distance)
    assert row.ks_p == pytest.approx(stats.kstwo.sf(distance, 30))


def test_the_interval_of_the_ratio_has_the_tails_that_it_should() -> None:
    """At its bounds as true ratios, s so large or so small has probability 2.5 %, by integrating the density."""
    row = checked(spread_counts(1.3))
    df = N_SETS - 1

    def density(x: float) -> float:
        return math.exp((df / 2 - 1) * math.log(x) - x / 2 - df / 2 * math.log(2) - math.lgamma(df / 2))

    at_low, at_high = (df * (row.ratio / bound) ** 2 for bound in (row.ratio_low, row.ratio_high))
    assert integrate.quad(density, at_low, 400)[0] == pytest.approx(0.025, abs=1e-6)
    assert integrate.quad(density, 1e-9, at_high)[0] == pytest.approx(0.025, abs=1e-6)


def at_least(count: int, of: int, p: float) -> float:
    """The upper tail of the binomial, summed."""
    return math.fsum(math.comb(of, k) * p**k * (1 - p) ** (of - k) for k in range(count, of + 1))


def test_so_many_missed_as_in_the_paper() -> None:
    """12 of 80 intervals missed: p < .001; the 9 that G2 and X2 missed have p = 0.018."""
    found = {}
    for missed in (2, 9, 12):
        # Sets of 30 in 100 have intervals that contain the average, those of none or 60 do not.
        low = missed // 2
        counts = [(0, 100)] * low + [(60, 40)] * (missed - low) + [(30, 70)] * (N_SETS - missed)
        row = checked(counts)
        assert (row.n_missed, row.n_sets) == (missed, N_SETS)
        assert row.expected_missed == pytest.approx(4)
        assert row.missed_p == pytest.approx(at_least(missed, N_SETS, 0.05))
        found[missed] = row.missed_p
    assert found[12] < 0.001 < 0.01 < found[9] < 0.05
    # Fewer than expected speak for the model, not against it.
    assert found[2] > 0.9


@pytest.mark.parametrize(("s", "sigma", "p"), [(0.057, 0.044, 1e-4), (0.066, 0.047, 1e-6)])
def test_the_papers_ratios_are_more_than_chance(s: float, sigma: float, p: float) -> None:
    """Section 4: of 80 sets, s = 0.057 against 0.044 and 0.066 against 0.047 are far outside a chi-square on 79 df."""
    pi = (1 - math.sqrt(1 - 400 * sigma**2)) / 2  # pi (1 - pi) / 100 = sigma^2
    # So many accepted that rounding to whole candidates is nothing; s / sigma is the paper's.
    n = 10**8
    far = s * math.sqrt(100 / n) * math.sqrt((N_SETS - 1) / N_SETS)
    true = np.rint(n * (pi + far * np.repeat([1, -1], N_SETS // 2))).astype(int)
    table = pd.DataFrame({"ranking": "t", "threshold": 2.09, "n_accepted": n, "n_true": true, "precision": true / n})
    row = binomial_check(table.assign(average_precision=(true / n).mean(), covered=True, level=0.95)).iloc[0]
    assert row.ratio == pytest.approx(s / sigma, rel=1e-3)
    assert row.ratio_low > 1.1
    # With equal numbers accepted, the dispersion is the chi-square of the variance; its tail by another function.
    assert row.dispersion_p == pytest.approx(special.gammaincc(39.5, 39.5 * (s / sigma) ** 2), rel=0.1)
    assert p / 3 < row.dispersion_p < 3 * p


def test_sets_that_accept_nothing_are_left_out_and_counted() -> None:
    counts = [(2, 2), (3, 5), (1, 3)]
    pd.testing.assert_series_equal(
        checked([(0, 0), *counts, (0, 0)]).drop("n_empty"), checked(counts).drop("n_empty"), check_names=False
    )
    assert checked([(0, 0), *counts, (0, 0)]).n_empty == 2


COMPUTED = ["ratio", "ratio_low", "ratio_high", "ks_statistic", "ks_p", "dispersion", "dispersion_p"]


@pytest.mark.parametrize("counts", [[(0, 5), (0, 7)], [(5, 0), (7, 0), (3, 0)], [(3, 4)], [(3, 4), (0, 0)]])
def test_where_nothing_can_vary_nothing_is_said(counts: list[tuple[int, int]]) -> None:
    row = checked(counts)
    assert row[COMPUTED].isna().all()
    assert (row.n_missed, row.missed_p) == (0, 1)
    assert np.isnan(row.sd_observed) == (row.n_sets == 1)
