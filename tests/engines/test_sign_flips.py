"""Sign flips against all 2^n flips of contributions that are written out here, and against randomization of means."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy
from simstudy.comparisons import compare
from simstudy.engines.sign_flips import FlippedContributions
from simstudy.metrics import METRICS, Metric, Ratio
from simstudy.outputs import Outputs
from tests.engines.pairs import NET, ask, best_first, by_item, made, n_extreme, question_of
from tests.oracles import ERROR_RATE, GEOMETRIC, all_shuffles, all_signs

BOTH = pytest.mark.parametrize("alternative", ["greater", "two-sided"])

#: Wrong guesses are counted: lower is better, and denominators differ.
LOSS = replace(GEOMETRIC, name="loss", higher_is_better=False)
FALSE = replace(ERROR_RATE, name="false guesses")


@dataclass(frozen=True)
class Plain(Metric):
    """A mean that is not known to be one: contributions by its gradient, which tie as the differences do."""

    def score(self, sums: np.ndarray) -> np.ndarray:
        return np.asarray(sums[..., 0] / sums[..., 1], dtype=np.float64)


#: Kinds whose systems have denominators of their own, or that are no ratios, and so no scores of units.
OWN = ["precision", "f1", "f0.5", "muc_f", "ratings by count", "silent f1", "net wins", "false"]
OWN += ["geometric", "loss", "plain", "plain loss"]


def made_pair(kind: str, n: int, rng: np.random.Generator) -> tuple[Metric, np.ndarray]:
    if kind in ("plain", "plain loss"):
        return Plain(kind, ("total", "count"), kind == "plain"), by_item(rng.integers(-1, 4, size=(2, n)))
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


def contributions(pair: np.ndarray, metric: Metric) -> tuple[np.ndarray, float]:
    """What each unit adds to the gain of the first system of a pair (2, n, S) over the second, and the gain.

    For ratios (numerator - pooled ratio x denominator) / the system's denominator, divided by sqrt(1 - h), h being the
    unit's part of the denominator. For other metrics differences of statistics times the gradient, averaged by the
    midpoint rule between the two systems' sums, whose integral is the gain.
    """
    sign = metric.sign
    n = pair.shape[1]
    if not isinstance(metric, Ratio):
        first, second = pair.sum(axis=1, dtype=np.float64)
        gain = sign * float(np.subtract(*metric.score(np.stack([first, second]))))
        between = second + (np.arange(20_000)[:, None] + 0.5) / 20_000 * (first - second)
        # Counts do not go below 0.
        above, below = ([side * step for step in np.eye(len(first))] for side in (1e-6, -1e-6))
        ends = [(between + up, np.maximum(between + down, 0)) for up, down in zip(above, below, strict=True)]
        slopes = [((metric.score(b) - metric.score(a)) / (b - a).sum(axis=1)).mean() for b, a in ends]
        parts = sign * (pair[0] - pair[1]) @ np.array(slopes)
        assert parts.sum() == pytest.approx(gain, rel=1e-2, abs=1e-9)
        return parts, parts.sum()
    above, below = (
        [[Fraction(int(row @ np.array(weights))) for row in rows] for rows in pair]
        for weights in (metric.numerator, metric.denominator)
    )
    totals, wholes = [sum(row) for row in above], [sum(row) for row in below]
    pooled = sum(totals) / sum(wholes) if sum(wholes) else Fraction(0)
    parts, gain = np.zeros(n), 0.0
    for k, direction in ((0, sign), (1, -sign)):
        if wholes[k] == 0:
            continue
        gain += direction * float(totals[k] / wholes[k])
        for u in range(n):
            share = below[k][u] / wholes[k]
            residual = direction * (above[k][u] - pooled * below[k][u]) / wholes[k]
            parts[u] += float(residual) / sqrt(max(float(1 - share), 1e-3))
    return parts, gain


def n_flips(parts: np.ndarray, gain: float, *, two_sided: bool, strict: bool) -> int:
    """How many of the 2^n flips of the contributions reach the gain."""
    slack = 1e-7 * (np.abs(parts).sum() + abs(gain) or 1.0)
    sums = all_signs(len(parts)) @ parts
    sizes = np.abs(sums) if two_sided else sums
    return int((sizes > gain + slack if strict else sizes >= gain - slack).sum())


def flips(statistics: np.ndarray, metric: Metric | str, **options: Any) -> Any:
    return ask(statistics, metric, test="sign_flips", **options)


@pytest.mark.parametrize("kind", ["one decision", "words", "error rate", "ratings", "net wins", "recall"])
def test_flips_of_means_are_randomization_to_the_last_bit(kind: str) -> None:
    rng = np.random.default_rng([len(kind), ord(kind[-1]), 9])
    for n, alternative, monte_carlo in product((5, 20), ("greater", "two-sided"), (True, False)):
        metric, statistics = made(kind, n, rng)
        if kind in ("ratings", "recall"):
            # One denominator for both systems: one rating an item, and what is to be found.
            statistics[..., -1] = statistics[..., -1].max(axis=0)
        options: dict[str, Any] = {"alternative": alternative, "monte_carlo": monte_carlo, "n_resamples": 500}
        swapped, flipped = (ask(statistics, metric, test=test, **options) for test in ("randomization", "sign_flips"))
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
    p_values, ties = set(), 0
    for n in (2, 3, 5, 6, 7):
        metric, statistics = made_pair(kind, n, rng)
        row = flips(statistics, metric, alternative=alternative)
        pair = best_first(statistics, row)
        parts, gain = contributions(pair, metric)
        expected, fewer = (n_flips(parts, gain, two_sided=two_sided, strict=strict) for strict in (False, True))
        # Flipping a unit that contributes nothing leaves what was observed, and residuals may add up to less than that.
        least = min(2 ** (parts == 0).sum() * (2 if two_sided else 1), 2**n)
        assert row["p_value"] == pytest.approx(max(expected, least) / 2**n, rel=1e-12)
        assert (row["exact_level"], row["computation"], row["n_resamples"], row["n_extreme"]) == (False, "exact", 0, 0)
        p_values.add(row["p_value"])
        ties += expected != fewer
        for strict, count in ((False, expected), (True, fewer))[: 1 + kind.startswith("plain")]:
            question = question_of(pair, metric, alternative, strict=strict)
            assert n_extreme(FlippedContributions(question), question, all_shuffles(n)) == [count]
    assert len(p_values) > 2 or kind == "net wins"
    assert ties > 3 or not kind.startswith("plain")


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


@pytest.mark.parametrize("metric", ["macro_f1", "balanced_accuracy", "mcc"])
@pytest.mark.parametrize(("wins", "losses"), [(1, 0), (3, 0), (8, 2), (12, 4)])
def test_items_of_a_rare_class_are_coins(metric: str, wins: int, losses: int) -> None:
    """Two systems that differ on these items of one class alone: each is a coin, whatever the others are."""
    gold = np.array(["yes"] * (wins + losses) + ["no"] * 100)
    labels = pd.DataFrame({"new": gold, "old": gold})
    labels.loc[: wins - 1, "old"] = "no"
    labels.loc[wins : wins + losses - 1, "new"] = "no"
    outputs = Outputs.from_labels(gold.tolist(), labels, metric)
    row = compare(outputs).frame.iloc[0]
    assert row["p_value"] == pytest.approx(stats.binomtest(wins, wins + losses).pvalue, rel=1e-9)
    board = simstudy.leaderboard(outputs)
    assert board["may_be_best"].tolist() == [True, row["p_value"] > 0.05]
