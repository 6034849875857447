"""Laws of score models on data whose numbers are all different: margins, sizes, correlations, weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.truth.scores import (
    Beta,
    CorpusModel,
    GaussianCopula,
    ItemClusters,
    ItemResponse,
    LogNormal,
    ScoreModel,
    StudentT,
    TCopula,
    fit,
)
from simstudy.truth.scores.corpus import Pool
from simstudy.truth.scores.dependence import Independent

SIZES = (7, 1, 2, 5)
MATRIX = np.array([[1, 0.8, 0.1], [0.8, 1, 0.4], [0.1, 0.4, 1]])
NORMAL = [StudentT(mean, spread, 1e9) for mean, spread in ((1.0, 0.5), (2.0, 1.0), (4.0, 3.0))]
N = 20_000


@pytest.mark.parametrize("seed", [0, 5])
def test_sizes_of_clusters_follow_one_another_over_blocks(seed: int) -> None:
    """The first cluster after a block goes on with the sizes where the last one ended; the last one is cut short."""
    # A block has 1,077 clusters of these, which is no multiple of five.
    sizes = (7, 1, 2, 5, 4)
    clusters = ItemClusters(0.3, sizes)
    items = ScoreModel(NORMAL, clusters=clusters).outputs(10_000, seed=seed).items
    counts = items["cluster"].value_counts(sort=False).to_numpy()
    whole = np.resize(sizes, counts.size)
    np.testing.assert_array_equal(counts[:-1], whole[:-1])
    assert counts.sum() == 10_000
    assert counts[-1] <= whole[-1]


def test_a_pair_has_the_margins_and_the_correlation_of_its_two_systems() -> None:
    """Normal scores, of which the correlation is the latent one; standard errors are below 1 / sqrt(N)."""
    model = ScoreModel(NORMAL, GaussianCopula(MATRIX), names=["p", "q", "r"], families=["x", "y", "y"])
    for first, second in ((2, 0), (1, 2), (0, 1)):
        pair = model.pair(first, second)
        drawn = pair.draw(1, N, np.random.default_rng(1)).statistics[0, :, :, 0]
        means, spreads = [1.0, 2, 4], np.array([0.5, 1, 3])
        assert pair.scores() == (means[first], means[second])
        assert (pair.model.names, pair.model.families) == (
            [model.names[first], model.names[second]],
            [model.families[first], model.families[second]],
        )
        np.testing.assert_allclose(drawn.mean(axis=1), pair.scores(), atol=5 * 3 / np.sqrt(N))
        np.testing.assert_allclose(drawn.std(axis=1), spreads[[first, second]], rtol=5 / np.sqrt(N))
        assert np.corrcoef(drawn)[0, 1] == pytest.approx(MATRIX[first, second], abs=5 / np.sqrt(N))


def test_pairs_of_clusters_correlate_where_starts_say() -> None:
    """Correlations of one system in a cluster are `correlation`, none with the next one, in every test set."""
    model = ScoreModel(NORMAL[:2], GaussianCopula(0.5), ItemClusters(0.6, SIZES))
    drawn = model.pair().draw(40, 1000, np.random.default_rng(2))
    assert drawn.starts is not None
    np.testing.assert_array_equal(np.diff(drawn.starts), np.resize(SIZES, 999))
    first = drawn.statistics[:, 0, :, 0]
    inside, ends = drawn.starts[::4], drawn.starts[1::4] - 1
    for at, expected in (((inside, inside + 1), 0.6), ((inside, ends), 0.6), ((ends, ends + 1), 0.0)):
        x, y = (first[:, position].ravel() for position in at)
        assert np.corrcoef(x, y)[0, 1] == pytest.approx(expected, abs=5 / np.sqrt(x.size))


@pytest.mark.parametrize("metric", ["mean", "mean (lower is better)"])
def test_a_gain_moves_the_first_system_only(metric: str) -> None:
    """Its margin is the second's with another mean, or its own; all others stay as they are."""
    margins = [Beta(0.2, 3.0), Beta(0.5, 7.0), LogNormal(0.8, 0.3)]
    model = ScoreModel(margins, GaussianCopula(MATRIX), ItemClusters(0.2, SIZES), metric=metric)
    mean = 0.5 + (0.05 if metric == "mean" else -0.05)
    for null, expected in (("equal margins", Beta(mean, 7.0)), ("equal means", LogNormal(mean, 0.3))):
        moved = model.with_gain(0.05, null=null, systems=(2, 1))  # type: ignore[arg-type]
        assert moved.margins[:2] == tuple(margins[:2])
        assert type(moved.margins[2]) is type(expected)
        assert moved.margins[2].mean == pytest.approx(mean, abs=1e-12)
        u = np.array([0.1, 0.35, 0.8])
        np.testing.assert_allclose(moved.margins[2].quantile(u), expected.quantile(u), rtol=1e-9)
        assert (moved.clusters, moved.dependence) == (model.clusters, model.dependence)


def _corpus(metric: str, statistics: np.ndarray, weights: np.ndarray, dependence: Any = None) -> CorpusModel:
    names = [f"s{k}" for k in range(len(weights))]
    pool = Pool.of(statistics, METRICS[metric])
    return CorpusModel(names, names, METRICS[metric], dependence or Independent(), None, pool, weights)


def _links() -> np.ndarray:
    """Statistics of three aligners for the alignment error rate, of which less is better."""
    rng = np.random.default_rng(5)
    sure = rng.integers(5, 20, 200)
    found = rng.binomial(sure, [[0.4], [0.6], [0.85]])
    both = [found, found + rng.integers(0, 2, found.shape), found + 3, np.broadcast_to(sure, found.shape)]
    return np.stack(both, axis=-1)


@pytest.mark.parametrize("gain", [2.0, -2.0])
def test_a_corpus_model_gets_better_in_the_metrics_direction(gain: float) -> None:
    model = _corpus("aer", _links(), np.eye(3))
    moved = model.with_gain(gain, systems=(0, 1))
    assert moved.scores()[1] == model.scores()[1]
    assert moved.scores()[0] == pytest.approx(model.scores()[1] - gain, abs=1e-9)


def test_mixtures_start_from_the_second_systems_law_or_from_the_firsts() -> None:
    model = _corpus("aer", _links(), np.array([[0.1, 0.9, 0.0], [0.3, 0.3, 0.4], [0.0, 0.5, 0.5]]))
    equal, own = (model.with_gain(1.0, null=null, systems=(2, 1)).weights for null in ("equal margins", "equal means"))
    # One source takes a share s of the law, the others keep 1 - s of theirs.
    start = {"equal": (equal[2], model.weights[1]), "own": (own[2], model.weights[2])}
    for name, (found, law) in start.items():
        kept = found[1] / law[1]
        rest = (found - kept * law) / (1 - kept)
        assert sorted(rest.round(9).tolist()) == [0.0, 0.0, 1.0], name
    np.testing.assert_array_equal(equal[:2], model.weights[:2])


def test_pairs_of_a_corpus_model_keep_their_laws_and_their_correlation() -> None:
    weights = np.array([[1.0, 0, 0], [0.2, 0.8, 0], [0, 0.3, 0.7]])
    links = _links()
    counts = np.stack([links[..., 0], links[..., 2], links[..., 3]], axis=-1)
    model = _corpus("f1", counts, weights, GaussianCopula(MATRIX))
    for first, second in ((2, 0), (0, 1), (1, 2)):
        pair = model.pair(first, second)
        assert pair.scores() == pytest.approx(tuple(model.scores()[[first, second]]))
        assert isinstance(pair.model.dependence, GaussianCopula)
        assert pair.model.dependence.matrix(2)[0, 1] == MATRIX[first, second]
    with pytest.raises(ValueError, match="systems must be two, not 1 twice"):
        model.pair(1, 1)


def test_pairs_keep_the_tails_of_a_t_copula() -> None:
    counts = np.stack([_links()[..., k] for k in (0, 2, 3)], axis=-1)
    copula = TCopula(MATRIX, df=2.0)
    for model in (_corpus("f1", counts, np.eye(3), copula), ScoreModel(NORMAL, copula)):
        dependence = model.pair(2, 0).model.dependence
        assert isinstance(dependence, TCopula)
        assert (dependence.df, dependence.matrix(2)[1, 0]) == (2.0, MATRIX[2, 0])


def test_sources_of_two_systems_are_drawn_apart() -> None:
    """Two systems, each half of either source: with one latent score both are right on half of the items or none."""
    statistics = np.array([[[1, 1]] * 4, [[0, 1]] * 4])
    model = _corpus("accuracy", statistics, np.full((2, 2), 0.5), GaussianCopula(1.0))
    right = model.outputs(N).statistics[..., 0]
    # Cells of the table of both have probability 1/4 each.
    cells = np.bincount(2 * right[0].astype(int) + right[1], minlength=4)
    assert stats.chisquare(cells).pvalue > 1e-6


def test_the_spread_of_t_is_common_to_all_systems() -> None:
    """Squares of uncorrelated t numbers correlate by 1 / (df - 1): their means are those of 1 / spread^2, squared."""
    df = 12.0
    t = stats.t(df).ppf(TCopula(0.0, df=df).uniforms(200_000, 2, np.random.default_rng(0)))
    assert np.corrcoef(t.T**2)[0, 1] == pytest.approx(1 / (df - 1), abs=0.02)


def test_items_discriminate_by_numbers_of_their_own() -> None:
    """Systems of one ability, of no varying difficulty: answers are independent at the middle, else they correlate.

    P(both right) is the mean of the squared probability over discriminations, by Gauss and Hermite's quadrature.
    """
    model = ItemResponse(0.0, 1.0, 1.0)
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    right = 1 / (1 + np.exp(-1.5 * np.exp(nodes)))
    expected = (weights / weights.sum()) @ right**2
    share = float(model.accuracy(1.5))
    drawn = model.uniforms(200_000, 2, np.random.default_rng(1)) > 1 - share
    assert drawn.all(axis=1).mean() == pytest.approx(expected, abs=0.004)
    assert expected - share**2 > 0.01


def test_shrinkage_is_the_part_of_squared_gains_that_is_no_noise() -> None:
    """Pair by pair, written out: mean squared gain, less the variance of each gain over clusters of unlike sizes."""
    rng = np.random.default_rng(4)
    codes = np.repeat(np.arange(11), [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5])
    means = np.array([0.0, 0.35, 0.8, 0.9])[:, None]
    scores = (means + rng.normal(size=(4, 11))[:, codes] * 0.4 + rng.normal(size=(4, codes.size))).round(3)
    items = pd.DataFrame({"id": [str(i) for i in range(codes.size)], "cluster": [f"c{c}" for c in codes]})
    outputs = Outputs.from_statistics(np.stack([scores, np.ones_like(scores)], axis=-1), "mean", items=items)
    squared, noise = [], []
    for a in range(4):
        for b in range(a):
            difference = scores[a] - scores[b]
            squared.append(difference.mean() ** 2)
            sums = np.array([(difference - difference.mean())[codes == c].sum() for c in range(11)])
            noise.append((sums**2).sum() * 11 / 10 / codes.size**2)
    expected = np.sqrt(max(0.0, 1 - np.mean(noise) / np.mean(squared)))
    assert 0.2 < expected < 0.98
    assert fit(outputs).shrinkage == pytest.approx(expected, rel=1e-9)
