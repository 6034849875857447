"""Translations without words have the population BLEU that they say."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import special, stats
from simstudy.truth.translations import Translations

from simstudy.truth import translations


def expected_matches(words: int, p: float, goes_on: float) -> list[float]:
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
    found = translations._matches(np.array([[words]]), p, goes_on)
    expected = np.array([expected_matches(words, chance, goes_on) for chance in p])
    np.testing.assert_allclose(np.array(found)[:, 0].T, expected, atol=1e-12)


@pytest.mark.parametrize("length", [0.9, 1.0, 1.08])
def test_expected_statistics_are_the_means_of_what_is_drawn(length: float) -> None:
    model = Translations(quality=(0.7, 0.7), length=(length, length))
    drawn = model.draw(1, 60_000, np.random.default_rng(1)).statistics[0, 0].astype(float)
    expected = translations._expected(0.7, length, float(np.hypot(model.shared, model.own)), model.goes_on)
    error = drawn.std(axis=0) / np.sqrt(len(drawn))
    assert (np.abs(drawn.mean(axis=0) - expected) < 5.5 * error).all()


def test_nodes_and_lengths_are_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    model = Translations(quality=(1.2, 0.4), length=(0.9, 1.08))
    scores = model.scores()
    translations._expected.cache_clear()
    monkeypatch.setattr(translations, "_NODES", 61)
    monkeypatch.setattr(translations, "_LONGEST", 420)
    assert model.scores() == pytest.approx(scores, rel=1e-10)
    translations._expected.cache_clear()


def test_sentences_are_as_hard_for_both_as_they_share() -> None:
    """Log-odds of a word correlate by shared^2 / (shared^2 + own^2); a sentence's share of matches by less."""
    apart, alike = (
        Translations((0.5, 0.5), (1.0, 1.0), shared=shared, own=own).draw(1, 50_000, np.random.default_rng(2))
        for shared, own in ((0.0, 0.6), (0.6, 0.0))
    )
    first, second = (
        np.corrcoef(drawn.statistics[0, :, :, 0] / drawn.statistics[0, :, :, 8])[0, 1] for drawn in (apart, alike)
    )
    assert abs(first) < 5.5 / np.sqrt(50_000)
    assert second > 0.3


def test_words_are_matched_with_the_chance_that_quality_gives() -> None:
    model = Translations((0.5, -0.3), (1.0, 1.0), shared=0.0, own=0.0)
    statistics = model.draw(1, 100_000, np.random.default_rng(3)).statistics[0].sum(axis=1)
    assert statistics[:, 0] / statistics[:, 8] == pytest.approx(special.expit([0.5, -0.3]), abs=0.003)
    assert (statistics[:, 8] == statistics[:, 9]).all(), "as long as the references"
