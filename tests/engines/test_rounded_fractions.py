"""Means of k sampled answers, rounded or not: the p-values of the fractions, by enumeration in exact arithmetic."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import lcm

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.rounded_fractions import as_fractions
from simstudy.outputs import Outputs
from tests.oracles import compared

#: How means are told: the mean of each item in double precision -> what a file has.
WRITTEN = {
    "as computed": lambda means: means,
    "with an error in the last digits": lambda means: means * (1 + 2.0**-51) - 2.0**-52,
    "six decimals": lambda means: means.round(6),
    "four decimals": lambda means: means.round(4),
    "percent of four decimals": lambda means: (100 * means).round(4),
    "single precision": lambda means: means.astype(np.float32).astype(float),
}


def sampled(ks: list[int], n: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """How many of k sampled answers are right (2, n), and k."""
    k = rng.choice(ks, size=(2, n))
    right = rng.binomial(k, [[0.7], [0.5]])
    # All denominators are there, and not all fractions can be shortened.
    right[:, : len(ks)], k[:, : len(ks)] = 1, ks
    return right, k


def share_of_flips(differences: list[Fraction]) -> Fraction:
    """The share of all flips whose sum is as far from 0 as the observed one, by the number of ways to each sum."""
    common = lcm(*(one.denominator for one in differences))
    steps = [abs(int(one * common)) for one in differences]
    ways = {0: 1}
    for step in steps:
        more: dict[int, int] = {}
        for total, count in ways.items():
            for new in (total + step, total - step):
                more[new] = more.get(new, 0) + count
        ways = more
    observed = abs(int(sum(differences) * common))
    return Fraction(sum(count for total, count in ways.items() if abs(total) >= observed), 2 ** len(steps))


@pytest.mark.parametrize("written", WRITTEN)
@pytest.mark.parametrize(("ks", "n"), [([2, 3, 6], 9), ([4, 7, 9], 60)])
def test_p_values_are_those_of_the_fractions(written: str, ks: list[int], n: int, rng: np.random.Generator) -> None:
    right, k = sampled(ks, n, rng)
    differences = [
        Fraction(int(a), int(b)) - Fraction(int(c), int(d))
        for a, b, c, d in zip(*right[:1], *k[:1], right[1], k[1], strict=True)
    ]
    expected = share_of_flips(differences)
    if n < 10:
        sums = [
            abs(sum(e * d for e, d in zip(signs, differences, strict=True))) for signs in product((1, -1), repeat=n)
        ]
        assert expected == Fraction(sum(one >= abs(sum(differences)) for one in sums), 2**n)
    scores = pd.DataFrame(WRITTEN[written](right / k).T, columns=["a", "b"])
    for test in ("sign_flips", "randomization"):
        row = compared(Outputs.from_scores(scores, "mean"), test=test, alternative="two-sided").iloc[0]
        assert not row.monte_carlo
        assert row.p_value == pytest.approx(float(expected), rel=1e-9)
        # In ranks, equal differences are ties.
    ranks = stats.rankdata([abs(one) for one in differences if one])
    row = compared(Outputs.from_scores(scores, "mean"), test="wilcoxon", alternative="two-sided").iloc[0]
    won = [one * sum(differences) > 0 for one in differences if one]
    assert row.statistic == ranks[won].sum()
    # On the scale of the scores: the gain is that of the file, and its interval lies around it.
    assert row.gain == pytest.approx(abs(scores.a.mean() - scores.b.mean()), rel=1e-9)
    assert (row.gain_low + row.gain_high) / 2 == pytest.approx(row.gain, rel=1e-3)


def statistics(values: np.ndarray, counts: float = 1.0) -> np.ndarray:
    return np.stack([np.asarray(values, dtype=float), np.full(np.shape(values), counts)], axis=-1)


def test_other_scores_stay_as_they_are(rng: np.random.Generator) -> None:
    thirds = (rng.integers(0, 4, (2, 50)) / 3).round(6)
    one_off = thirds.copy()
    one_off[0, 0] = 0.333332
    many = (rng.integers(1, 79, (2, 50)) / rng.choice([79, 83, 89, 97], (2, 50))).round(6)
    mean = Outputs.from_statistics(statistics(thirds), "mean").metric
    for scores, counts in (
        (rng.random((2, 50)), 1),
        (rng.random((2, 50)).round(6), 1),
        # Of so few digits a third and 0.33 are both likely.
        ((rng.integers(0, 4, (2, 50)) / 3).round(2), 1),
        (rng.integers(0, 9, (2, 50)) / 8, 1),
        (one_off, 1),
        (thirds, 2),
        (many, 1),
    ):
        given = statistics(scores, counts)
        found, unit = as_fractions(given, mean)
        assert found is given
        assert unit == 1
    found, unit = as_fractions(statistics(thirds), mean)
    np.testing.assert_array_equal(found[..., 0], np.rint(3 * thirds))
    assert unit == 1 / 3
