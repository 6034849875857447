"""The bootstrap stratified by a linear event: enumeration, unbiasedness, its interval, and what it gains."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.engines.asking import ask
from simstudy.engines.bootstrap import bootstrap
from simstudy.outputs import Outputs
from tests.oracles import GEOMETRIC, all_resamples, compared, could_be

BOOTSTRAP: dict[str, Any] = {"test": "bootstrap", "unit": "item"}
ALTERNATIVES = ["greater", "two-sided"]


def spans(n: int, rates: tuple[float, float], seed: int) -> Outputs:
    """F1 of spans: n sentences with some gold spans, of which a system finds a share, and as many wrong ones."""
    rng = np.random.default_rng(seed)
    gold, ease = rng.poisson(1.5, n), rng.random(n)
    counts = []
    for rate in rates:
        found = rng.binomial(gold, np.clip(rate + 0.3 * (ease - 0.5), 0, 1))
        counts.append(np.stack([found, found + rng.poisson(0.7 * (1 - rate), n), gold], axis=-1))
    return Outputs.from_statistics(np.stack(counts), "f1", ["a", "b"])


def geometric(n: int, seed: int) -> Outputs:
    counts = np.random.default_rng(seed).integers(0, 9, size=(2, n, 2))
    return Outputs.from_statistics(
        np.concatenate([counts, counts + 1 + counts[..., ::-1]], axis=-1), GEOMETRIC, ["a", "b"]
    )


def found(outputs: Outputs, **options: Any) -> tuple[float, float, float]:
    """P and its interval, without the table that `compare` makes around them."""
    result = bootstrap(ask(outputs.best_first(), test="bootstrap", unit="item", **options))
    assert result.bounds is not None
    return float(result.p_value[0]), float(result.bounds[0, 0]), float(result.bounds[1, 0])


def share_of_all(outputs: Outputs, alternative: str) -> float:
    """The share of all n^n resamples that are extreme."""
    better, worse = outputs.best_first().statistics
    drawn = all_resamples(outputs.n_items)
    gains = outputs.metric.score(drawn @ better) - outputs.metric.score(drawn @ worse)
    gain = outputs.metric.score(better.sum(axis=0)) - outputs.metric.score(worse.sum(axis=0))
    extreme = (gains >= 2 * gain - 1e-9) | ((alternative == "two-sided") & (gains <= 1e-9))
    return float(extreme.mean())


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("kind", ["f1", "geometric"])
def test_mean_over_seeds_is_the_share_of_all_resamples(kind: str, alternative: str) -> None:
    """Six units; the two sides of the event count one resample too many each, in either stratum."""
    for seed in range(2):
        outputs = spans(6, (0.8, 0.5), seed) if kind == "f1" else geometric(6, seed)
        expected, n = share_of_all(outputs, alternative), 400
        p = np.array([found(outputs, alternative=alternative, n_resamples=n, seed=s)[0] for s in range(40)])
        error = p.std() / np.sqrt(len(p))
        assert -5 * error - 1e-9 <= p.mean() - expected <= 5 * error + 4 / n


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_extreme_resamples_are_those_that_are_counted(alternative: str) -> None:
    for outputs in (spans(300, (0.72, 0.70), 1), geometric(200, 5), spans(40, (0.7, 0.7), 3)):
        asked = {**BOOTSTRAP, "alternative": alternative, "n_resamples": 3000, "seed": 7}
        one, plain = (compared(outputs, **asked, monte_carlo=how).iloc[0] for how in ("auto", True))
        assert one.monte_carlo
        assert (one.n_extreme, one.n_resamples) == (plain.n_extreme, plain.n_resamples)
        assert one.p_value != plain.p_value == (plain.n_extreme + 1) / 3001
        assert one.p_low <= one.p_value <= one.p_high
        # Intervals of the same unknown number overlap, and the stratified one is the shorter.
        assert max(one.p_low, plain.p_low) < min(one.p_high, plain.p_high)
        assert one.p_high - one.p_low < 0.7 * (plain.p_high - plain.p_low)


def test_systems_that_are_alike_have_p_1() -> None:
    same = spans(50, (0.7, 0.6), 1).statistics[[0, 0]]
    assert compared(Outputs.from_statistics(same, "f1"), **BOOTSTRAP, n_resamples=100).p_value[0] == 1


@pytest.mark.statistical
def test_variance_falls_twentyfold_at_least() -> None:
    """A gain of F1 on 1,000 sentences with p near 0.04."""
    outputs, n = spans(1000, (0.72, 0.695), 2), 1000
    p_values = [found(outputs, alternative="greater", n_resamples=n, seed=s)[0] for s in range(60)]
    p = np.mean(p_values)
    assert 0.01 < p < 0.1
    # The variance of 60 numbers is twice the true one once in a million times.
    assert np.var(p_values, ddof=1) * stats.chi2.ppf(1e-6, 59) / 59 < p * (1 - p) / n / 10
    plain = compared(outputs, **BOOTSTRAP, alternative="greater", n_resamples=60 * n, monte_carlo=True).iloc[0]
    assert could_be(plain.n_extreme, plain.n_resamples, float(p))


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("n_resamples", [200, 5000])
def test_intervals_cover_what_infinitely_many_resamples_give(n_resamples: int, alternative: str) -> None:
    """Intervals at the level 0.95, for pairs with p of 0.0005 to 0.6; the truth is of 400,000 resamples, stratified."""
    covered = tried = 0
    for pair in range(12):
        outputs = spans(200, (0.70 + 0.008 * pair, 0.70), pair) if pair % 2 else geometric(150, pair)
        truth = found(outputs, alternative=alternative, n_resamples=400_000, seed=99)[0]
        for seed in range(40):
            _, low, high = found(outputs, alternative=alternative, n_resamples=n_resamples, seed=seed)
            tried += 1
            covered += low <= truth <= high
    assert covered / tried > 0.95, (covered, tried)
