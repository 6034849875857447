"""The models of the study draw what their true scores say, and conditions are what their texts say."""

from __future__ import annotations

import re

import numpy as np
import pytest
from scipy import stats

from tests.experiments.error_rates.small import LEVELS, MODELS, NULLS, PAIRS


def sample(pair: object, n: int = 100_000, seed: int = 0) -> np.ndarray:
    """The statistics (2, n, S) of one large test set."""
    statistics = pair.draw(1, n, np.random.default_rng(seed)).statistics[0]  # type: ignore[attr-defined]
    return np.asarray(statistics, dtype=np.float64)


def assert_mean(values: np.ndarray, expected: float) -> None:
    assert abs(values.mean() - expected) < 5 * values.std() / np.sqrt(values.size)


@pytest.mark.parametrize("name", NULLS)
def test_conditions_are_exchangeable_and_independent_where_they_say_so(name: str) -> None:
    """Item statistics' means and squares are alike where systems could be exchanged; correlations are 0 or not."""
    # Precisions have little in common where nearly all candidates are true.
    n = 1_000_000 if LEVELS[name]["model"] == "Acceptances" else 100_000
    drawn = PAIRS[name].draw(1, n, np.random.default_rng(8)).by(PAIRS[name].units[0])[0].astype(float)
    first, second = drawn
    features = [first - second, first**2 - second**2, first**2 * second - first * second**2]
    z = np.abs([f[:, s].mean() / max(f[:, s].std(), 1e-9) for f in features for s in range(drawn.shape[2])])
    assert (z.max() < 5.5 / np.sqrt(n)) == PAIRS[name].exchangeable
    # A constant score is correlated with nothing.
    correlation = np.corrcoef(first[:, 0], second[:, 0])[0, 1] if second[:, 0].std() else 0.0
    assert (abs(correlation) < 5.5 / np.sqrt(n)) == PAIRS[name].independent


def test_true_gains_are_0_or_what_titles_say() -> None:
    assert [name for name in PAIRS if name.endswith("_gain")] == [name for name in PAIRS if name not in NULLS]
    assert max(abs(PAIRS[name].true_gain) for name in NULLS) < 1e-12
    for name in set(PAIRS) - set(NULLS):
        assert re.search(rf"\+{PAIRS[name].true_gain:.2g}( point|$)", LEVELS[name]["title"])


@pytest.mark.parametrize("precisions", [None, (0.6, 0.9)])
def test_systems_accept_independently_given_whether_a_candidate_is_true(precisions: tuple[float, float] | None) -> None:
    pair = MODELS.Acceptances((0.5, 0.2), true=0.55, precisions=precisions)
    shares = precisions or (0.55, 0.55)
    assert pair.scores() == pytest.approx([100 * share for share in shares])
    drawn = sample(pair, 400_000)
    assert (drawn[0, :, 2] == drawn[1, :, 2]).all(), "a candidate is true or false for both"
    assert_mean(drawn[0, :, 2], 0.55)
    true = drawn[0, :, 2] == 1
    for system, (accepted, share) in enumerate(zip((0.5, 0.2), shares, strict=True)):
        assert_mean(drawn[system, :, 1], accepted)
        assert_mean(drawn[system, drawn[system, :, 1] == 1, 0], share)
    for members in (true, ~true):
        assert abs(np.corrcoef(drawn[0, members, 1], drawn[1, members, 1])[0, 1]) < 5 / np.sqrt(members.sum())


def test_gains_grow_with_clusters() -> None:
    """The gain of each size, the spread of an item's difference, and the gain over all items."""
    pair = MODELS.GrowingGains(size=4, slope=0.1, spread=2.0, gain=0.5)
    drawn = sample(pair, 400_000)
    sizes, difference = drawn[0, :, 1], drawn[0, :, 0] - drawn[1, :, 0]
    assert_mean(sizes, 4)
    for size in (1, 4, 12):
        gains = difference[sizes == size] / size
        assert_mean(gains, 0.5 + 0.1 * (size - 7))
        assert gains.std() == pytest.approx(2 / np.sqrt(size), rel=5 / np.sqrt(2 * gains.size))
    assert pair.scores().tolist() == [10.5, 10.0]
    assert abs(difference.sum() / sizes.sum() - 0.5) < 0.03
    assert abs(drawn[1, :, 0].sum() / sizes.sum() - 10) < 0.02
    assert (pair.exchangeable, MODELS.GrowingGains(4, 0.0, 1.0).exchangeable) == (False, True)


def matches(words: int, p: float, goes_on: float) -> list[float]:
    """Means of the numbers of matched 1- to 4-grams, from their distributions, one order after the other."""
    shares = stats.binom.pmf(np.arange(words + 1), words, p)
    means = [shares @ np.arange(words + 1)]
    for _ in range(3):
        after = np.zeros(words + 1)
        for matched, share in enumerate(shares):
            after += share * stats.binom.pmf(np.arange(words + 1), max(matched - 1, 0), goes_on)
        shares = after
        means.append(shares @ np.arange(words + 1))
    return means


@pytest.mark.parametrize("words", [1, 3, 12])
@pytest.mark.parametrize("goes_on", [0.2, 0.6])
def test_expected_matches_are_those_of_their_distributions(words: int, goes_on: float) -> None:
    p = np.array([0.1, 0.5, 0.9])
    means = np.array(MODELS.expected_matches(np.array([[words]]), p, goes_on))[:, 0].T
    np.testing.assert_allclose(means, [matches(words, chance, goes_on) for chance in p], atol=1e-12)


@pytest.mark.parametrize("length", [0.9, 1.0, 1.08])
def test_expected_statistics_are_the_means_of_what_is_drawn(length: float) -> None:
    pair = MODELS.Translations((0.7, -0.3), (length, 1.05), shared=0.2, own=1.2)
    for statistics, quality, ratio in zip(sample(pair, 60_000), pair.quality, pair.length, strict=True):
        expected = MODELS.expected_statistics(quality, ratio, float(np.hypot(pair.shared, pair.own)), pair.goes_on)
        for values, mean in zip(statistics.T, expected, strict=True):
            assert_mean(values, mean)


def test_nodes_and_lengths_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = MODELS.Translations(quality=(1.2, 0.4), length=(0.9, 1.08))
    scores = pair.scores()
    MODELS.expected_statistics.cache_clear()
    monkeypatch.setattr(MODELS, "_NODES", 61)
    monkeypatch.setattr(MODELS, "_LONGEST", 420)
    assert pair.scores() == pytest.approx(scores, rel=1e-10)
    MODELS.expected_statistics.cache_clear()


def test_the_models_refuse_what_cannot_be() -> None:
    with pytest.raises(ValueError, match="the shares accepted of all, .* must be a finite number from 0 to 1, not 1.5"):
        MODELS.model({"model": "Acceptances", "accepted": [0.5, 1.5], "true": 0.5})
    with pytest.raises(
        ValueError, match="the shares accepted of all, of true and of false candidates must be .* not 1.125"
    ):
        MODELS.Acceptances((0.5, 0.5), true=0.4, precisions=(0.9, 0.5))
    with pytest.raises(ValueError, match="model must be one of .*, not 'Coins'"):
        MODELS.model({"model": "Coins"})
