"""The bootstrap stratified by a linear event: enumeration, unbiasedness, its interval, and what it gains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import simstudy
from simstudy.engines.asking import ask
from simstudy.engines.bootstrap import bootstrap
from simstudy.engines.kernels import resample_counts
from simstudy.engines.linear_events import likeliest, shares
from simstudy.engines.tallies import events
from simstudy.engines.tilted import tilts
from simstudy.engines.tilted_kernels import tilted_sums
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


@pytest.mark.parametrize(("kind", "alternative"), [("f1", "greater"), ("geometric", "two-sided")])
def test_mean_over_seeds_is_the_share_of_all_resamples(kind: str, alternative: str) -> None:
    """Six units; the two sides of the event count one resample too many each, in either stratum."""
    outputs = spans(6, (0.8, 0.5), 0) if kind == "f1" else geometric(6, 0)
    expected, n = share_of_all(outputs, alternative), 400
    p = np.array([found(outputs, alternative=alternative, n_resamples=n, seed=s)[0] for s in range(30)])
    error = p.std() / np.sqrt(len(p))
    assert -5 * error - 1e-9 <= p.mean() - expected <= 5 * error + 4 / n


@pytest.mark.statistical
@pytest.mark.parametrize(("seed", "strata"), [(10, None), (4, "domain")])
def test_small_p_values_are_those_of_counts_with_a_tenth_of_the_variance(seed: int, strata: str | None) -> None:
    """P of 0.003, by tilted resamples; in strata too, of which the second has the easy sentences."""
    outputs, n = spans(400 if seed == 10 else 200, (0.74, 0.66) if seed == 10 else (0.76, 0.66), seed), 2500
    if strata:
        easy = (outputs.statistics[:, :, 0].sum(axis=0) > 2).astype(int).astype(str)
        outputs = Outputs.from_statistics(outputs.statistics, "f1", ["a", "b"], outputs.items.assign(domain=easy))
    options: dict[str, Any] = {"alternative": "greater", "strata": strata}
    runs = np.array([found(outputs, n_resamples=n, seed=s, **options) for s in range(25)])
    p = runs[:, 0].mean()
    plain = compared(outputs, **BOOTSTRAP, **options, n_resamples=150_000, monte_carlo=True).iloc[0]
    assert 0.0001 < p < 0.01
    assert could_be(plain.n_extreme, plain.n_resamples, p)
    assert np.var(runs[:, 0], ddof=1) * stats.chi2.ppf(1e-6, 24) / 24 < p * (1 - p) / n / 10
    # Ends at the level 0.95 hold it, of 25 intervals.
    assert ((runs[:, 1] <= p) & (p <= runs[:, 2])).sum() >= 19


def test_tilted_and_other_resamples_weigh_together_what_the_linear_event_does() -> None:
    """Both count it with weights that add up to its probability, which the characteristic function gives."""
    question = ask(spans(300, (0.74, 0.66), 8).best_first(), test="bootstrap", unit="item", n_resamples=20_000)
    statistics, (event, *_) = question.statistics.astype(float), events(question)
    linear = likeliest(statistics, question, event, 1e-9)
    share = shares(statistics, linear, np.arange(1), question)
    assert 1e-5 < share[0] < 0.01
    rate, gain, part = tilts(question, linear, share)[:, 0]
    weights = (linear.better[0], linear.worse[0])
    total = square = 0.0
    counts = np.empty((question.n_resamples, 300))
    resample_counts(question.strata, np.uint64(1), np.uint64(0), counts)
    sums = np.empty((round(part * question.n_resamples), 6))
    tilted_sums((statistics, question.strata), (0, 1), (*weights, rate), 1, sums)
    for of in (np.hstack([counts @ statistics[0], counts @ statistics[1]]), sums):
        above = of @ np.concatenate([weights[0], -weights[1]]) - linear.least[0]
        weight = (above >= 0) / (1 + part * np.exp(rate * above + gain))
        total += weight.sum() / question.n_resamples
        square += (weight**2).sum() / question.n_resamples**2
    assert abs(total - share[0]) < 4.5 * np.sqrt(square)
    assert np.sqrt(square) < 0.2 * share[0]
    # Half of the tilted resamples have it.
    assert 0.3 < (sums @ np.concatenate([weights[0], -weights[1]]) >= linear.least[0]).mean() < 0.7


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


@pytest.mark.slow
@pytest.mark.statistical
def test_real_pairs_have_the_p_values_of_counted_resamples(shared_data: Path) -> None:
    """F1 of WNUT17 and BLEU of WMT24, on parts of their test sets: 10^5 resamples against 10^6 counted ones."""
    rows = []
    for metric, files, reference, n_parts in (
        ("span_f1", "ner_wnut17/submissions", "ner_wnut17/emerging.test.annotated", 6),
        ("bleu", "wmt24_en-de/sys", "wmt24_en-de/ref.A.de", 3),
    ):
        whole = simstudy.load(shared_data / files, metric=metric, references=shared_data / reference).outputs
        for part in np.array_split(np.arange(whole.n_items), n_parts):
            asked: dict[str, Any] = {"test": "bootstrap", "alternative": "greater", "unit": "item"}
            outputs = whole.take(part).best_first()
            one = bootstrap(ask(outputs, **asked, n_resamples=10**5, seed=5))
            plain = bootstrap(ask(outputs, **asked, n_resamples=10**6, seed=77, monte_carlo=True))
            assert one.bounds is not None
            rows.append(np.array([one.p_value, one.bounds[1] - one.bounds[0], plain.n_extreme / 1e6]))
    p, length, counted = np.hstack(rows)
    error, chance = length / 3.92, p * (1 - p)
    bands = [1e-5, 1e-4, 1e-3, 1e-2, 0.035, 0.08, 0.65]
    z = (p - counted) / np.sqrt(error**2 + chance / 1e6)
    for low, high in zip(bands, bands[1:], strict=False):
        # No p-value that is a bound only: those are all but 1 / B.
        here = (p >= low) & (p < high) & (np.abs(p - 1e-5) > 1e-7)
        assert here.sum() > 30
        assert np.sqrt((z[here] ** 2).mean()) < 1.35
        assert np.abs(z[here]).max() < 4.5
        assert np.median(chance[here] / 1e5 / error[here] ** 2) > 10
