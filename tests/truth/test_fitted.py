"""What is fitted is what was put in."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits

from simstudy.outputs import Outputs
from simstudy.truth import (
    Bernoulli,
    Beta,
    GaussianCopula,
    ItemClusters,
    Ordinal,
    Responses,
    ScoreModel,
    correlated_accuracies,
    fit,
    of_families,
)
from simstudy.truth.corpus import CorpusModel, Pool
from simstudy.truth.dependence import nearest_correlation
from simstudy.truth.fitted import _within_kinds
from simstudy.truth.latent import Classes, latent_correlation

JUDGE = Ordinal((1, 2, 3, 4, 5), (0.1, 0.2, 0.3, 0.3, 0.1))


def test_correlations_do_not_depend_on_the_number_of_threads() -> None:
    """Correlations of so many systems differ in the last bit where two threads share the work."""
    rng = np.random.default_rng(0)
    right = rng.normal(size=(300, 1)) + rng.normal(size=(300, 130)) + np.linspace(0, 0.5, 130) > 0
    outputs = Outputs.from_scores(pd.DataFrame(right.astype(float)).add_prefix("s"), "mean")
    correlations = []
    for n in (1, 2):
        with threadpool_limits(n, user_api="blas"):
            correlations.append(fit(outputs).correlation)
    np.testing.assert_array_equal(*correlations)


def test_margins_dependence_and_clusters_come_back() -> None:
    """3,000 clusters: the standard error of a correlation is about 0.02."""
    matrix = of_families(list("xxyy"), between=0.3, within=0.8)
    margins = [Bernoulli(0.8), JUDGE, Beta(0.3, 2), Ordinal((0, 9), (0.5, 0.5))]
    model = ScoreModel(margins, GaussianCopula(matrix), ItemClusters(0.25, (1, 2, 5)), families=list("xxyy"))
    fitted = fit(model.outputs(8000, seed=1), shrink=False)
    np.testing.assert_allclose(fitted.correlation, matrix, atol=0.06)
    again = fitted.model
    assert isinstance(again, ScoreModel)
    assert again.clusters is not None
    assert again.clusters.correlation == pytest.approx(0.25, abs=0.04)
    assert again.clusters.size[:4] == (1, 2, 5, 1)  # type: ignore[index]
    assert list(again.families) == list("xxyy")
    np.testing.assert_allclose(again.scores(), model.outputs(8000, seed=1).scores(), rtol=1e-12)
    assert fitted.notes == ()


@pytest.mark.parametrize("common", [0.0, 0.5, 1.0])
def test_what_clusters_have_in_common_comes_back(common: float) -> None:
    """3,000 clusters; systems on one item correlate by d + within s (1 - d), whether all of it is learned or not."""
    effects = GaussianCopula(common + (1 - common) * 0.4)
    model = ScoreModel([JUDGE, Bernoulli(0.6), JUDGE], GaussianCopula(0.4), ItemClusters(0.3, 4, effects=effects))
    fitted = fit(model.outputs(12_000, seed=2), shrink=False)
    clusters = fitted.model.clusters
    assert clusters is not None
    assert clusters.correlation == pytest.approx(0.3, abs=0.04)
    above = np.triu_indices(3, 1)
    learned = clusters.effects or fitted.model.dependence
    assert isinstance(learned, GaussianCopula)
    np.testing.assert_allclose(learned.matrix(3)[above], effects.matrix(3)[above], atol=0.1)
    np.testing.assert_allclose(fitted.correlation[above], 0.4 + 0.3 * common * 0.6, atol=0.05)
    dependence = fitted.model.dependence
    assert isinstance(dependence, GaussianCopula)
    np.testing.assert_allclose(dependence.matrix(3)[above], 0.4, atol=0.06)


def test_shrinkage_takes_out_what_noise_makes_of_equal_systems() -> None:
    """Of 40 equal systems nearly all differences are noise; of very different ones nearly none."""
    equal = fit(correlated_accuracies([0.7] * 40, 300, seed=3))
    assert equal.shrinkage < 0.45
    assert any("gains made smaller by" in note for note in equal.notes)
    assert fit(correlated_accuracies([0.7] * 40, 300, seed=3), shrink=False).notes == ()
    unlike = fit(correlated_accuracies(np.linspace(0.2, 0.9, 40).tolist(), 300, seed=3))
    assert unlike.shrinkage > 0.97
    gains = unlike.model.scores()
    assert gains.std() == pytest.approx(100 * np.linspace(0.2, 0.9, 40).std(), rel=0.05)


def test_what_cannot_be_learned_is_said() -> None:
    frame = pd.DataFrame({"a": [1, 0] * 6, "b": [1, 0] * 6, "none": [0] * 12})
    fitted = fit(Outputs.from_scores(frame, "accuracy"))
    percent = f"{100 * (1 - fitted.shrinkage):.1f} %"
    assert fitted.notes == (
        "one score on all items, and no correlation with others: none",
        "pairs as alike, or as unlike, as their margins allow: 1",
        f"gains made smaller by {percent}, what seems noise of them; shrink=False keeps them",
    )
    assert fitted.correlation[2].tolist() == [0, 0, 1]
    assert (fitted.model.outputs(50).statistics[2, :, 0] == 0).all()


@pytest.mark.parametrize(
    ("outputs", "message"),
    [
        (correlated_accuracies([0.5, 0.6], 9), "outputs must have at least 10 items to be fitted, not 9"),
        (3, "outputs must be Outputs"),
    ],
)
def test_bad_input(outputs: Outputs, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit(outputs)


def test_shrunken_true_scores_are_drawn_towards_the_mean_of_all_systems() -> None:
    """By the factor that is told; each system of a corpus metric is mixed with all."""
    rng = np.random.default_rng(6)
    ratings = rng.integers(0, 10, (80, 4)) + np.array([0, 0, 1, 0])
    counts = Responses((0.6, 0.72), (0.7, 0.74)).draw(2, 60, rng).statistics
    for outputs in (
        Outputs.from_scores(pd.DataFrame(ratings, columns=list("abcd"))),
        correlated_accuracies([0.5, 0.65, 0.75, 0.6], 150, seed=1),
        Outputs.from_statistics(np.concatenate(counts)[[0, 1]], "f1"),
    ):
        fitted = fit(outputs)
        assert 0 < fitted.shrinkage < 0.99
        if isinstance(fitted.model, CorpusModel):
            k = outputs.n_systems
            np.testing.assert_allclose(fitted.model.weights.sum(axis=1), 1)
            off = fitted.model.weights[~np.eye(k, dtype=bool)]
            np.testing.assert_allclose(off, (1 - fitted.shrinkage) / k)
        else:
            observed = outputs.scores()
            expected = observed.mean() + fitted.shrinkage * (observed - observed.mean())
            np.testing.assert_allclose(fitted.model.scores(), expected)


def test_the_distance_is_that_of_the_nearest_correlations_from_those_of_pairs() -> None:
    """Of 14 systems on 15 items no joint distribution has all of them."""
    outputs = correlated_accuracies([0.5] * 14, 15, between=0.3, seed=2)
    fitted = fit(outputs, shrink=False)
    of_pairs = latent_correlation(Classes(outputs.statistics[..., 0].astype(float)))[0]
    assert np.linalg.eigvalsh(of_pairs)[0] < -0.05
    assert fitted.distance == pytest.approx(np.linalg.norm(fitted.correlation - of_pairs))
    assert fitted.distance > 0.1
    assert np.linalg.eigvalsh(fitted.correlation)[0] > -1e-8


def test_clusters_in_common_leave_the_nearest_dependence_that_there_is() -> None:
    """What all systems share is taken out: 12 systems on 40 items have no joint distribution of what is left."""
    margins, clusters = [Bernoulli(0.5)] * 12, ItemClusters(0.6, 4, effects=GaussianCopula(0.68))
    outputs = ScoreModel(margins, GaussianCopula(0.2), clusters).outputs(40, seed=1)
    fitted = fit(outputs, shrink=False)
    scores = outputs.statistics[..., 0].astype(float)
    of_pairs = latent_correlation(Classes(scores))[0]
    possible, moved = nearest_correlation(of_pairs)
    model = fitted.model
    assert isinstance(model, ScoreModel)
    assert isinstance(model.dependence, GaussianCopula)
    assert model.clusters is not None
    left = model.dependence.matrix(12)
    assert isinstance(model.clusters.effects, GaussianCopula)
    # Effects are share + (1 - share) x what items have in common.
    in_common = model.clusters.effects.matrix(12)
    part = model.clusters.correlation * float((in_common - left)[0, 1] / (1 - left[0, 1]))
    assert 0.1 < part < 0.9
    assert np.linalg.eigvalsh((possible - part) / (1 - part))[0] < -0.01
    np.testing.assert_allclose(fitted.correlation, part + (1 - part) * left)
    assert fitted.distance == pytest.approx(moved + np.linalg.norm(fitted.correlation - possible))
    assert np.linalg.norm(fitted.correlation - possible) > 0.01


def test_a_text_is_ranked_by_what_it_has_beyond_the_mean_of_its_kind() -> None:
    alike, scores = np.array([0, 1, 0, 2, 1, 0]), np.array([[1.0, 2, 6, 9, 5, 2], [0.3, 0.1, 0.1, 0.7, 0.2, 0.2]])
    expected = [[-2, -1.5, 3, 0, 1.5, -1], [0.1, -0.05, -0.1, 0, 0.05, 0]]
    pool = Pool(np.zeros((2, 6, 1)), alike, np.tile(np.arange(6), (2, 1)))
    np.testing.assert_allclose(_within_kinds(pool, scores), expected, atol=1e-9)


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
