"""Sign flips against all 2^n flips of contributions that are written out here, and against randomization of means."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import fsum, sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons import compare
from simstudy.engines.question import Question
from simstudy.engines.sign_flips import FlippedContributions, sign_flips
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import CONVENTIONS
from tests.engines.pairs import NET, ask, assert_same_pairs, best_first, made
from tests.oracles import ERROR_RATE, GEOMETRIC, all_shuffles, ascending, compared, shuffled_p

BOTH = pytest.mark.parametrize("alternative", ["greater", "two-sided"])

#: Wrong guesses are counted: lower is better, and denominators differ.
LOSS = replace(GEOMETRIC, name="loss", higher_is_better=False)
FALSE = replace(ERROR_RATE, name="false guesses")

#: Kinds whose systems have denominators of their own, or that are no ratios, and so no scores of units.
OWN = ["precision", "f1", "f0.5", "muc_f", "ratings by count", "silent f1", "net wins", "geometric", "loss", "false"]


def made_pair(kind: str, n: int, rng: np.random.Generator) -> tuple[Metric, np.ndarray]:
    if kind == "loss":
        return LOSS, made("geometric", n, rng)[1]
    if kind == "false":
        guessed = rng.integers(1, 5, size=(2, n))
        return FALSE, np.stack([rng.binomial(guessed, 0.4), guessed], axis=-1)
    if kind == "net wins":
        # As many wins as losses, over counts of their own: both scores are 0.
        won = rng.integers(1, 9, size=(2, n))
        return NET, np.stack([won, rng.permuted(won, axis=1), rng.integers(1, 4, size=(2, n))], axis=-1)
    return made(kind, n, rng)


def contributions(pair: np.ndarray, metric: Metric) -> tuple[list[float], float]:
    """What each unit adds to the gain of the first system of a pair (2, n, S) over the second, and the gain.

    For ratios (numerator - pooled ratio x denominator) / the system's denominator, divided by sqrt(1 - h), h being the
    unit's part of the denominator. For other metrics by leaving units out one by one.
    """
    sign = 1 if metric.higher_is_better else -1
    n = pair.shape[1]
    if not isinstance(metric, Ratio):
        parts_of_systems = []
        for rows in pair:
            score = float(metric.score(rows.sum(axis=0)))
            without = [float(metric.score(np.delete(rows, u, axis=0).sum(axis=0))) for u in range(n)]
            parts_of_systems.append([score / n + (n - 1) / n * (fsum(without) / n - one) for one in without])
        parts = [sign * (a - b) for a, b in zip(*parts_of_systems, strict=True)]
        return parts, sign * float(np.diff(metric.score(pair.sum(axis=1))[::-1])[0])
    above, below = (
        [[Fraction(int(row @ np.array(weights))) for row in rows] for rows in pair]
        for weights in (metric.numerator, metric.denominator)
    )
    totals, wholes = [sum(row) for row in above], [sum(row) for row in below]
    pooled = sum(totals) / sum(wholes) if sum(wholes) else Fraction(0)
    parts = [0.0] * n
    gain = Fraction(0)
    for k, direction in ((0, sign), (1, -sign)):
        if wholes[k] == 0:
            continue
        gain += direction * totals[k] / wholes[k]
        for u in range(n):
            share = below[k][u] / wholes[k]
            residual = direction * (above[k][u] - pooled * below[k][u]) / wholes[k]
            parts[u] += float(residual) / sqrt(max(float(1 - share), 1e-3))
    return parts, float(gain)


def n_flips(pair: np.ndarray, metric: Metric, *, two_sided: bool) -> int:
    """How many of the 2^n flips of the contributions reach the gain."""
    parts, gain = contributions(pair, metric)
    slack = 1e-9 * (sum(abs(part) for part in parts) + abs(gain) or 1.0)
    sums = [
        fsum(s * part for s, part in zip(signs, parts, strict=True)) for signs in product((1, -1), repeat=len(parts))
    ]
    sizes = [abs(x) for x in sums] if two_sided else sums
    return sum(x >= gain - slack for x in sizes)


def question_of(pair: np.ndarray, metric: Metric, alternative: str, strict: bool = False) -> Question:
    rule = replace(CONVENTIONS["default"], strict=strict)
    return Question(pair, metric, ["a", "b"], "item", np.array([0, pair.shape[1]]), alternative, rule)


def flips(statistics: np.ndarray, metric: Metric | str, **options: Any) -> Any:
    return ask(statistics, metric, test="sign_flips", **options)


@pytest.mark.parametrize("kind", ["one decision", "words", "error rate", "ratings", "net wins", "recall"])
def test_flips_of_means_are_randomization_to_the_last_bit(kind: str) -> None:
    for alternative, monte_carlo in product(("greater", "two-sided"), (True, False)):
        rng = np.random.default_rng([len(kind), ord(kind[-1]), 9])
        for n in (5, 20):
            metric, statistics = made(kind, n, rng)
            if kind in ("ratings", "recall"):
                # One denominator for both systems: one rating an item, and what is to be found.
                statistics[..., -1] = statistics[..., -1].max(axis=0)
            options: dict[str, Any] = {"alternative": alternative, "monte_carlo": monte_carlo, "n_resamples": 500}
            swapped, flipped = (
                ask(statistics, metric, test=test, **options) for test in ("randomization", "sign_flips")
            )
            same = swapped.index.drop(["test", "exact_level"])
            pd.testing.assert_series_equal(flipped[same], swapped[same])
            assert swapped["exact_level"]
            # Differences of right and wrong answers are symmetric around 0 wherever their mean is 0.
            assert flipped["exact_level"] == (kind == "one decision")


@BOTH
@pytest.mark.parametrize("kind", OWN)
def test_p_is_the_share_of_all_flips(kind: str, alternative: str) -> None:
    """Computed, and counted when each of the 2^n flips is drawn once."""
    rng = np.random.default_rng([len(kind), ord(kind[-1]), len(alternative)])
    two_sided = alternative == "two-sided"
    p_values = set()
    for n in (2, 3, 5, 6, 7):
        metric, statistics = made_pair(kind, n, rng)
        row = flips(statistics, metric, alternative=alternative)
        pair = best_first(statistics, row)
        expected = n_flips(pair, metric, two_sided=two_sided)
        # Flipping a unit that contributes nothing leaves what was observed, and residuals may add up to less than that.
        parts = contributions(pair, metric)[0]
        least = min(2 ** sum(part == 0 for part in parts) * (2 if two_sided else 1), 2**n)
        assert row["p_value"] == pytest.approx(max(expected, least) / 2**n, rel=1e-12)
        assert (row["exact_level"], row["computation"], row["n_resamples"], row["n_extreme"]) == (False, "exact", 0, 0)
        p_values.add(row["p_value"])
        tally, extreme = FlippedContributions(question_of(pair, metric, alternative)), np.zeros(1, np.int64)
        tally.add(tally.columns @ all_shuffles(n).T.astype(tally.columns.dtype), extreme)
        assert extreme[0] == expected
    assert len(p_values) > 2 or kind == "net wins"


@dataclass(frozen=True)
class Plain(Metric):
    """A mean that is not known to be one."""

    def score(self, sums: np.ndarray) -> np.ndarray:
        return np.asarray(sums[..., 0] / sums[..., 1], dtype=np.float64)


@BOTH
@pytest.mark.parametrize("higher_is_better", [True, False])
def test_contributions_by_the_jackknife_tie_as_the_differences_of_a_mean_do(
    higher_is_better: bool, alternative: str
) -> None:
    """Few ratings, many ties: all shuffles in fractions."""
    rng = np.random.default_rng(3)
    metric = Plain("plain", ("total", "count"), higher_is_better)
    known = Ratio("known", ("total", "count"), higher_is_better, (1, 0), (0, 1))
    ties = 0
    for n in (3, 5, 7, 8):
        ratings = rng.integers(-1, 4, size=(2, n))
        ratings = ratings[np.argsort(ratings.sum(axis=1))[:: -1 if higher_is_better else 1]]
        pair = np.stack([ratings, np.ones_like(ratings)], axis=-1)
        with_ties, without = (
            shuffled_p(pair, known, two_sided=alternative == "two-sided", strict=strict) for strict in (False, True)
        )
        for strict, expected in ((False, with_ties), (True, without)):
            tally, extreme = FlippedContributions(question_of(pair, metric, alternative, strict)), np.zeros(1, np.int64)
            tally.add(tally.columns @ all_shuffles(n).T, extreme)
            assert extreme[0] / 2**n == expected
        p_value = sign_flips(question_of(pair, metric, alternative)).p_value[0]
        assert p_value == pytest.approx(with_ties, rel=1e-12)
        ties += with_ties != without
    assert ties == 4


def twelve(kind: str) -> Outputs:
    """Twelve systems, whose F1 or whose geometric mean of counts is compared."""
    rng = np.random.default_rng(4)
    if kind == "f1":
        return Outputs.from_statistics(ascending(rng.integers(0, 5, size=(12, 60, 3))), "f1", list("abcdefghijkl"))
    return Outputs.from_statistics(
        np.sort(rng.integers(0, 9, size=(12, 60, 4)), axis=-1), GEOMETRIC, list("abcdefghijkl")
    )


@pytest.mark.parametrize("kind", ["f1", "geometric"])
@pytest.mark.parametrize(
    ("n_units", "monte_carlo", "computation"),
    [(12, False, "exact"), (60, False, "approximated"), (60, True, "resampled")],
)
def test_numbers_depend_neither_on_threads_tiles_and_order_nor_on_other_systems(
    kind: str, n_units: int, monte_carlo: bool, computation: str
) -> None:
    outputs = twelve(kind).head(n_units)
    options: dict[str, Any] = {"n_resamples": 1_201, "seed": 3, "monte_carlo": monte_carlo}
    expected = compared(outputs, **options)
    assert computation in set(expected["computation"]) <= {computation, "resampled"}
    for layout in ({"tile_size": 400}, {"tile_size": 7, "n_jobs": 3}) if monte_carlo else ({"n_jobs": 3},):
        pd.testing.assert_frame_equal(compared(outputs, **options, **layout), expected, check_exact=True)
    shuffled = outputs.select(list("dbecaklgfhij"))
    pd.testing.assert_frame_equal(compared(shuffled, **options), expected, check_exact=True)
    everyone = expected.set_index(["system_a", "system_b"])
    alone = compared(outputs.select(["b", "e"]), **options).set_index(["system_a", "system_b"])
    assert_same_pairs(alone, everyone.loc[alone.index])


def test_bits_do_not_depend_on_workers_in_a_process_that_has_compiled_nothing_yet() -> None:
    """Few numbers are looked at without compiled loops: all pairs count, not those of a worker."""
    code = """
import sys
import numpy as np
import pandas as pd
import simstudy as ss
scores = pd.DataFrame(np.random.default_rng(1).normal(size=(500, 20)))
p_values = ss.compare(ss.Outputs.from_scores(scores.add_prefix("s")), n_jobs=int(sys.argv[1]))["p_value"]
print(p_values.to_numpy().tobytes().hex())
"""
    one, three = (
        subprocess.run([sys.executable, "-c", code, n_jobs], check=True, capture_output=True, text=True).stdout
        for n_jobs in "13"
    )
    assert one == three


def test_rare_pairs_are_approximated_so_that_any_number_of_systems_can_be_compared() -> None:
    """One of 200 systems wins 118 units and loses 56, nearly by as much, against all others.

    Flips are drawn, as sums lie apart. Of 2^18 fewer than ten are extreme: the least p-value that counts can give is
    too large for Holm's adjustment for 19,900 pairs.
    """
    rng = np.random.default_rng(0)
    gains = np.repeat([1.0, -1.0], [118, 56]) + 1e-5 * rng.normal(size=174)
    scores = np.tile(rng.normal(size=174), (200, 1))
    scores[0] += gains
    comparisons = compare(Outputs.from_scores(pd.DataFrame(scores.T, columns=[f"s{k:03d}" for k in range(200)])))
    pairs = comparisons.corrected().frame
    pairs = pairs[pairs["system_a"] == "s000"]
    assert len(pairs) == 199
    assert set(pairs["computation"]) == {"approximated"}
    assert 19_900 / (2**18 + 1) > 0.05, "no count could be significant"
    assert (pairs["p_holm"] < 0.05).all()
    # Small parts decide which of the flips that win as many units as observed are extreme.
    assert pairs["p_value"].between(2 * stats.binom.sf(118, 174, 0.5), 2 * stats.binom.sf(117, 174, 0.5)).all()


@pytest.mark.parametrize("monte_carlo", [False, True])
def test_equal_scores_of_different_systems(monte_carlo: bool) -> None:
    """F1 of 6/11 twice, by other guesses on other units: two-sided, every flip is at least as far from 0."""
    one, other = [[2, 3, 3], [0, 1, 0], [1, 1, 3]], [[1, 1, 3], [0, 1, 0], [2, 3, 3]]
    row = flips(np.array([one, other]), "f1", alternative="two-sided", monte_carlo=monte_carlo, n_resamples=500)
    assert (row["gain"], row["p_value"], row["better"]) == (0.0, 1.0, "")
    # By symmetry as many flips are below 0 as above it; of units 1 and 3, which cancel, half of the flips tie.
    row = flips(np.array([one, other]), "f1", monte_carlo=monte_carlo, n_resamples=500)
    assert row["p_value"] == pytest.approx(3 / 4, abs=0.1 if monte_carlo else 0)


def test_scores_of_nothing_at_all() -> None:
    """No score is above 0, whoever is flipped."""
    for metric, monte_carlo in product(("bleu", "f1"), (False, True)):
        counts = np.zeros((2, 5, len(METRICS[metric].statistics)), int)
        counts[..., -1] = [[1], [2]] if metric == "bleu" else 1
        row = flips(counts, metric, monte_carlo=monte_carlo, n_resamples=50)
        assert (row["gain"], row["p_value"]) == (0.0, 1.0)
