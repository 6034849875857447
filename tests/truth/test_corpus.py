"""Corpus metrics: statistics that keep their rules, true scores of the population, gains by root finding."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.truth import GaussianCopula, ItemClusters, Responses, ScoreModel, fit
from simstudy.truth.corpus import CorpusModel, Pool, item_scores, like_items

RNG = np.random.default_rng(0)
# Two systems each; a third, in between, has half of its items from either.
F1 = Responses(recall=(0.8, 0.5), precision=(0.85, 0.6)).draw(1, 300, RNG).statistics[0]


def _translations(rng: np.random.Generator) -> np.ndarray:
    """Matches of 1- to 4-grams, their numbers, and lengths of translation and reference, of sentences; no words."""
    reference = 5 + rng.negative_binomial(2, 2 / 19, 300)
    length = np.stack([np.maximum(rng.binomial(reference, 0.95), 1), reference])
    hard = 0.5 * rng.standard_normal(300) + 0.4 * rng.standard_normal((2, 300))
    matched = [rng.binomial(length, special.expit(np.array([[0.9], [0.3]]) + hard))]
    for _ in range(3):
        matched.append(rng.binomial(np.maximum(matched[-1] - 1, 0), 0.6))
    total = [np.maximum(length - n, 0) for n in range(4)]
    return np.stack([*matched, *total, length, np.broadcast_to(reference, length.shape)], axis=-1)


BLEU = _translations(RNG)


def _three(statistics: np.ndarray, metric: str) -> Outputs:
    between = np.where((np.arange(statistics.shape[1]) % 2 == 0)[:, None], statistics[0], statistics[1])
    return Outputs.from_statistics(np.stack([statistics[0], between, statistics[1]]), metric, ["good", "mid", "bad"])


CASES = {"f1": _three(F1, "f1"), "bleu": _three(BLEU, "bleu")}
each = pytest.mark.parametrize("outputs", CASES.values(), ids=CASES)


def _model(outputs: Outputs) -> CorpusModel:
    model = fit(outputs, shrink=False).model
    assert isinstance(model, CorpusModel)
    return model


@each
def test_true_scores_are_those_of_the_real_test_set(outputs: Outputs) -> None:
    """And what is drawn has them, within 5 standard errors over 30 test sets (the jackknife is not needed)."""
    model = _model(outputs)
    np.testing.assert_allclose(model.scores(), outputs.scores(), rtol=1e-12)
    drawn = np.array([model.outputs(2000, seed=seed).scores() for seed in range(30)])
    error = drawn.std(axis=0, ddof=1) / np.sqrt(30)
    assert (np.abs(drawn.mean(axis=0) - outputs.scores()) < 5 * error).all()


@each
def test_vectors_are_real_ones_of_the_system_and_shared_statistics_are_shared(outputs: Outputs) -> None:
    drawn = _model(outputs).outputs(500)  # from_statistics checks the metric's rules, and what systems share
    for own, real in zip(drawn.statistics, outputs.statistics, strict=True):
        assert {tuple(vector) for vector in own.tolist()} <= {tuple(vector) for vector in real.tolist()}
    if outputs.metric.name == "bleu":
        lengths = drawn.statistics[..., 9]
        assert np.corrcoef(lengths[0], lengths[2])[0, 1] > 0.9


@each
def test_what_systems_have_in_common_is_kept(outputs: Outputs) -> None:
    """The correlation of item scores, against the real ones; the standard error is about 0.04 in 300 items."""
    model = _model(outputs)
    drawn = model.outputs(4000)
    real, found = (np.corrcoef(item_scores(o.statistics, o.metric)) for o in (outputs, drawn))
    np.testing.assert_allclose(found, real, atol=0.17)


@each
@pytest.mark.parametrize("null", ["equal margins", "equal means"])
def test_the_gain_is_set(outputs: Outputs, null: str) -> None:
    model = _model(outputs)
    for systems, gain in (((0, 1), 1.5), ((0, 1), -1.5), ((0, 1), 0.0), ((1, 2), 0.0)):
        moved = model.with_gain(gain, null=null, systems=systems)  # type: ignore[arg-type]
        first, second = moved.scores()[list(systems)]
        assert first - second == pytest.approx(gain, abs=1e-9)
        assert moved.weights.sum(axis=1) == pytest.approx([1, 1, 1])
        same = bool((moved.weights[systems[0]] == moved.weights[systems[1]]).all())
        assert same == (gain == 0 and (null == "equal margins" or systems == (1, 2)))
    pair = model.with_gain(0.0, null=null)  # type: ignore[arg-type]
    scores = pair.metric.score(pair.draw(200, 300, RNG).statistics.sum(axis=2, dtype=float))
    gains = scores[:, 0] - scores[:, 1]
    assert abs(gains.mean()) < 5 * gains.std() / np.sqrt(200) + 0.05


def test_mixtures_have_the_law_of_their_sources() -> None:
    """One kind of items, three of each of two systems: the mean of each cell's share by counting."""
    statistics = np.array([[[0, 1], [1, 1], [1, 1]], [[0, 1], [0, 1], [1, 1]]]) * np.array([1, 1])
    pool = Pool.of(statistics, METRICS["accuracy"])
    weights = np.array([[0.25, 0.75], [0.0, 1.0]])
    model = CorpusModel(
        pool=pool,
        weights=weights,
        metric=METRICS["accuracy"],
        names=["a", "b"],
        families=["a", "b"],
        dependence=GaussianCopula(0.0),
    )
    assert model.scores() == pytest.approx([100 * (0.25 * 2 / 3 + 0.75 / 3), 100 / 3])
    drawn = model.outputs(20_000).statistics[..., 0]
    assert drawn.mean(axis=1) == pytest.approx(model.scores() / 100, abs=0.02)
    assert np.corrcoef(drawn)[0, 1] == pytest.approx(0, abs=0.03)


def test_like_items_of_lengths_are_neighbours() -> None:
    kinds = like_items(CASES["bleu"].statistics, METRICS["bleu"])
    lengths = CASES["bleu"].statistics[0, :, 9]
    assert np.bincount(kinds).min() >= 25
    for kind in range(kinds.max()):
        assert lengths[kinds == kind].max() < lengths[kinds == kind + 1].min()


def test_clusters_and_nested_test_sets() -> None:
    items = pd.DataFrame({"id": [str(i) for i in range(300)], "cluster": [str(i // 3) for i in range(300)]})
    model = _model(Outputs.from_statistics(CASES["f1"].statistics, "f1", items=items))
    assert isinstance(model.clusters, ItemClusters)
    short, long = (model.outputs(n, seed=2) for n in (60, 5000))
    np.testing.assert_array_equal(long.head(60).statistics, short.statistics)


def test_scores_of_all_items_are_no_corpus() -> None:
    assert isinstance(fit(Outputs.from_scores(pd.DataFrame(RNG.random((20, 2))))).model, ScoreModel)


@each
def test_items_are_ranked_by_what_they_add_to_the_score(outputs: Outputs) -> None:
    """Of F, the numerator less what the system's score makes of the denominator; of BLEU, what leaving it out loses."""
    statistics, metric = outputs.statistics.astype(float), outputs.metric
    for own, found in zip(statistics, item_scores(outputs.statistics, metric), strict=True):
        if metric.name == "f1":
            above, below = 2 * own[:, 0], own[:, 1] + own[:, 2]
            expected = above - above.sum() / below.sum() * below
        else:
            expected = metric.score(own.sum(axis=0)) - np.array([metric.score(own.sum(axis=0) - item) for item in own])
        assert np.corrcoef(found, expected)[0, 1] == pytest.approx(1, abs=1e-9)
        assert found @ expected > 0


@each
def test_a_pool_has_each_kinds_items_from_the_worst_to_the_best(outputs: Outputs) -> None:
    """Ties in an order of each system's own."""
    pool, scores = Pool.of(outputs.statistics, outputs.metric), item_scores(outputs.statistics, outputs.metric)
    for order, own in zip(pool.order, scores, strict=True):
        kinds = pool.alike[order]
        assert (np.diff(kinds) >= 0).all()
        assert (np.diff(own[order])[np.diff(kinds) == 0] >= 0).all()
        assert sorted(order) == list(range(len(own)))
    tied = Pool.of(np.ones((2, 50, 2), dtype=int), METRICS["accuracy"])
    assert tied.order[0].tolist() != tied.order[1].tolist() != list(range(50))


def test_mixtures_start_from_the_second_systems_law_or_from_the_firsts() -> None:
    weights = np.array([[0.1, 0.9, 0.0], [0.3, 0.3, 0.4], [0.0, 0.5, 0.5]])
    model = replace(_model(CASES["f1"]), weights=weights)
    equal, kept = (model.with_gain(1.0, null=null, systems=(2, 1)).weights for null in ("equal margins", "equal means"))
    # One source takes a share s of the law, the others keep 1 - s of theirs.
    for mixture, law in ((equal[2], weights[1]), (kept[2], weights[2])):
        share = mixture[1] / law[1]
        rest = (mixture - share * law) / (1 - share)
        assert sorted(rest.round(9).tolist()) == [0.0, 0.0, 1.0]
    np.testing.assert_array_equal(equal[:2], weights[:2])


def test_sources_of_two_systems_are_drawn_apart() -> None:
    """Two systems, each half of either source: with one latent score both are right on half of the items or none."""
    pool = Pool.of(np.array([[[1, 1]] * 4, [[0, 1]] * 4]), METRICS["accuracy"])
    model = CorpusModel(
        pool=pool,
        weights=np.full((2, 2), 0.5),
        metric=METRICS["accuracy"],
        names=["a", "b"],
        families=["a", "b"],
        dependence=GaussianCopula(1.0),
    )
    right = model.outputs(20_000).statistics[..., 0]
    # Cells of the table of both have probability 1/4 each.
    cells = np.bincount(2 * right[0].astype(int) + right[1], minlength=4)
    assert stats.chisquare(cells).pvalue > 1e-6
