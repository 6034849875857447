"""Published and printed rules: each against its own description, computed again with numpy's random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.metrics import Metric
from simstudy.outputs import Outputs
from simstudy.statistics.pvalues import CONVENTIONS
from tests.engines.pairs import by_item, scored
from tests.oracles import GEOMETRIC, ascending, compared

OF_TEST = [(test, name) for name, rule in CONVENTIONS.items() for test in rule.tests]


def one_apart(n: int = 30) -> Outputs:
    """a and b answer alike but for one item; c answers as b does."""
    right = np.tile(np.arange(n) % 2, (3, 1))
    right[0, 0] = 1
    return scored(right, "accuracy")


def by_pair(outputs: Outputs, **options: Any) -> dict[str, float]:
    pairs = compared(outputs, **options)
    return dict(zip(pairs["system_a"] + pairs["system_b"], pairs["p_value"], strict=True))


def test_sacrebleus_strict_rule_makes_no_difference_look_significant() -> None:
    """sacrebleu 2.6 prints p = 0.0001 for a system against itself and for one segment apart: c = 0 of 10,000."""
    p_values = by_pair(one_apart(), test="randomization", convention="sacrebleu")
    assert p_values == dict.fromkeys(("ab", "ac", "bc"), 1 / 10_001)
    assert by_pair(one_apart(), test="bootstrap", convention="sacrebleu")["bc"] == 1 / 1_001
    wrong = Outputs.from_statistics(np.zeros((2, 8, 4), int), GEOMETRIC, ["a", "b"])  # two scores of 0 tie as well
    for test in ("bootstrap", "randomization"):
        assert by_pair(wrong, test=test, convention="sacrebleu", n_resamples=99) == {"ab": 1 / 100}
        assert by_pair(wrong, test=test, monte_carlo=True, n_resamples=99) == {"ab": 1.0}
    assert by_pair(wrong, test="bootstrap", convention="bk2012", n_resamples=99) == {"ab": 0.0}


@pytest.mark.parametrize("test", ["sign_flips", "bootstrap", "randomization"])
def test_noreens_rule_is_the_default_by_its_name(test: str, tagged: Outputs) -> None:
    options: dict[str, Any] = {"test": test, "monte_carlo": True, "n_resamples": 700}
    default, noreen = (compared(tagged, convention=name, **options) for name in ("default", "noreen"))
    assert default[["p_value", "n_extreme"]].equals(noreen[["p_value", "n_extreme"]])


def pair_of(kind: str, rng: np.random.Generator) -> tuple[Metric | str, np.ndarray]:
    """A better system and a worse one."""
    n = 60
    if kind == "geometric":
        counts = np.sort(rng.integers(1, 9, size=(2, n, 4)), axis=-1)
        counts[1, :, 0] -= rng.random(n) < 0.12
        return GEOMETRIC, counts
    if kind == "f1":
        return "f1", ascending(rng.integers(0, 5, size=(2, n, 3)))
    return "mean", by_item(rng.normal([[0.06], [0.0]], 0.2, size=(2, n)) + rng.normal(size=n))


def resampled_gains(test: str, metric: Metric, pair: np.ndarray, n_resamples: int) -> np.ndarray:
    """Gains of resampled pairs, with numpy's own random numbers."""
    rng = np.random.default_rng(12345)
    n = pair.shape[1]
    if test == "bootstrap":
        counts = rng.multinomial(n, [1 / n] * n, size=n_resamples)
        return metric.score(counts @ pair[0]) - metric.score(counts @ pair[1])
    swapped = rng.integers(2, size=(n_resamples, n))
    kept = 1 - swapped
    return metric.score(kept @ pair[0] + swapped @ pair[1]) - metric.score(swapped @ pair[0] + kept @ pair[1])


def counted(test: str, convention: str, gains: np.ndarray, gain: float) -> int:
    """The rule as its source has it."""
    if convention == "sacrebleu":  # significance.py: stats > real_difference
        sizes = np.abs(gains)
        return int((sizes - sizes.mean() * (test == "bootstrap") > gain + 1e-9).sum())
    if convention == "koehn2004":  # the share of samples in which the better system does better, from 1
        return int((gains <= 1e-9).sum())
    if convention == "bk2012":  # figure 1
        return int((gains > 2 * gain + 1e-9).sum())
    if convention == "chinchor1992":  # Table 2: absolute difference >= that of the actual systems
        return int((np.abs(gains) >= gain - 1e-9).sum())
    return int((gains >= gain * (2 if test == "bootstrap" else 1) - 1e-9).sum())


@pytest.mark.statistical
@pytest.mark.parametrize("kind", ["mean", "f1", "geometric"])
@pytest.mark.parametrize(("test", "convention"), OF_TEST)
def test_every_rule_counts_what_its_source_says(test: str, convention: str, kind: str) -> None:
    """Two counts of the same rule, with random numbers of two makes, differ by chance only."""
    n_resamples = 20_000
    name, pair = pair_of(kind, np.random.default_rng(6))
    outputs = Outputs.from_statistics(pair, name, ["a", "b"])
    alternative = CONVENTIONS[convention].alternative or "greater"
    options: dict[str, Any] = {"test": test, "convention": convention, "alternative": alternative}
    row = compared(outputs, **options, n_resamples=n_resamples, monte_carlo=True, seed=4).iloc[0]
    gains = resampled_gains(test, outputs.metric, pair if row.system_a == "a" else pair[::-1], n_resamples)
    count = counted(test, convention, gains, row.gain)
    assert 0 < count < n_resamples
    table = [[row.n_extreme, n_resamples - row.n_extreme], [count, n_resamples - count]]
    assert stats.chi2_contingency(table, correction=False).pvalue > 1e-7
    plus = int(CONVENTIONS[convention].plus_one)
    assert row.p_value == (row.n_extreme + plus) / (n_resamples + plus)


def test_koehns_event_is_the_second_of_two_sides(tagged: Outputs) -> None:
    """At least twice the gain, or not won: p is 1 less the share of resamples that are won."""
    options: dict[str, Any] = {"test": "bootstrap", "n_resamples": 3000, "monte_carlo": True}
    rules: list[dict[str, str]] = [{"convention": "koehn2004"}, {"alternative": "greater"}, {}]
    lost, upper, both = (compared(tagged, **options, **rule)["n_extreme"] for rule in rules)
    assert (lost == both - upper).all()
    assert (lost > 0).any()


def test_sacrebleus_mean_of_scores_that_cancel() -> None:
    """Scores of 0 on the test set vary in resamples all the same: shifting all items changes no gain and no p."""
    scores = np.array([[1.0, -1] * 20, [2.0, -2] * 20, [3.0, -3] * 20])
    here, there = (compared(scored(moved), test="bootstrap", convention="sacrebleu") for moved in (scores, scores + 5))
    np.testing.assert_allclose(here["p_value"], there["p_value"], atol=0.003)
    assert here["p_value"].between(0.3, 0.5).all()
