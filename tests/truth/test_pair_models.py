"""Pair models draw what they say: true scores, what two systems have in common, valid statistics."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from simstudy.metrics import METRICS
from simstudy.truth import PAIR_MODELS, pair_model
from simstudy.truth.pair_answers import Clusters, RightOrWrong
from simstudy.truth.pair_base import Drawn, PairModel
from simstudy.truth.pair_models import Acceptances, GrowingGains, Responses, SkewedMeans
from simstudy.truth.synthetic import clustered_accuracies, outcome_correlation
from simstudy.truth.translations import Translations

MODELS: dict[str, PairModel] = {
    "right or wrong": RightOrWrong((0.85, 0.6), between=0.4),
    "clusters": Clusters((0.85, 0.6), within=0.3, between=0.4, size=4),
    "clusters of any size": Clusters((0.85, 0.6), within=0.3, between=0.4, size=4, varying=True),
    "means": SkewedMeans(0.3),
    "responses": Responses(recall=(0.6, 0.85), precision=(0.9, 0.5)),
    "acceptances": Acceptances((0.7, 0.1), true=0.4),
    "acceptances by truth": Acceptances((0.6, 0.15), true=0.7, precisions=(0.8, 0.9)),
    "growing gains": GrowingGains(size=4, slope=0.1, spread=1.0, gain=0.5),
    "translations": Translations(quality=(0.9, 0.5), length=(0.9, 1.1)),
    "scores": pair_model(
        "Scores", {"margins": [{"kind": "Beta", "average": m, "concentration": 3} for m in (0.3, 0.4)]}
    ),
}
assert {type(model) for model in MODELS.values()} == {*PAIR_MODELS.values()}
each_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@each_model
def test_scores_of_what_is_drawn_are_the_true_ones(model: PairModel) -> None:
    """The mean over 60 large test sets lies within 5.5 of its standard errors, which is small."""
    statistics = model.draw(60, 4000, np.random.default_rng(5)).statistics
    scores = METRICS[model.metric].score(statistics.sum(axis=2, dtype=np.float64))
    error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    assert (np.abs(scores.mean(axis=0) - model.scores()) < 5.5 * error).all()
    assert (error < 0.01 * scores.mean(axis=0)).all()
    assert model.true_gain == model.scores()[0] - model.scores()[1]


@each_model
@pytest.mark.parametrize("n_units", [1, 7])
def test_statistics_are_valid_for_the_metric(model: PairModel, n_units: int) -> None:
    drawn = model.draw(300, n_units, np.random.default_rng(0))
    for unit in model.units:
        statistics = drawn.by(unit)
        n_statistics = len(METRICS[model.metric].statistics)
        assert statistics.shape[:2] == (300, 2)
        assert statistics.shape[3] == n_statistics
        METRICS[model.metric].check(statistics.reshape(600, -1, n_statistics))
    assert drawn.by(model.units[0]).shape[2] == n_units, "units are the independent ones"


def test_clusters_add_up_their_items() -> None:
    drawn = MODELS["clusters of any size"].draw(3, 20, np.random.default_rng(2))
    assert drawn.starts is not None
    ends = [*drawn.starts[1:], drawn.statistics.shape[2]]
    assert len(set(ends - drawn.starts)) > 1
    for k, (start, end) in enumerate(zip(drawn.starts, ends, strict=True)):
        np.testing.assert_array_equal(drawn.by("cluster")[:, :, k], drawn.statistics[:, :, start:end].sum(axis=2))
    items = Drawn(np.zeros((1, 2, 5, 2)))
    assert items.by("cluster") is items.statistics, "items are units where there are no clusters"


def test_correlations_are_those_of_the_latent_scores() -> None:
    statistics = RightOrWrong((0.85, 0.6), between=0.4).draw(1, 200_000, np.random.default_rng(1)).statistics
    assert np.corrcoef(statistics[0, :, :, 0])[0, 1] == pytest.approx(outcome_correlation(0.85, 0.6, 0.4), abs=0.015)


def test_clusters_have_the_law_of_clustered_accuracies() -> None:
    """Correlations of right and wrong within clusters of two, of both systems, against the other generator's."""
    model = Clusters((0.85, 0.6), within=0.3, between=0.4, size=2)
    ours = model.draw(1, 100_000, np.random.default_rng(1)).statistics[0, :, :, 0].reshape(2, -1, 2)
    theirs = clustered_accuracies([0.85, 0.6], 100_000, 2, within=0.3, between=0.4).statistics[..., 0]
    first, second = (np.corrcoef(right.transpose(0, 2, 1).reshape(4, -1)) for right in (ours, theirs.reshape(2, -1, 2)))
    np.testing.assert_allclose(first, second, atol=0.025)
    assert first[0, 1] > 0.1
    assert first[0, 2] > 0.1


def test_sizes_of_clusters_are_geometric_and_the_same_in_a_batch() -> None:
    model = Clusters((0.5, 0.5), within=0.3, between=0.4, size=4, varying=True)
    drawn = model.draw(2, 20_000, np.random.default_rng(3))
    sizes = drawn.by("cluster")[..., 1]
    np.testing.assert_array_equal(sizes[0], sizes[1])
    counts = np.bincount(np.minimum(sizes[0, 0], 12), minlength=13)[1:]
    shares = stats.geom.pmf(np.arange(1, 12), 1 / 4)
    assert stats.chisquare(counts, 20_000 * np.append(shares, 1 - shares.sum())).pvalue > 1e-6


def test_means_differ_in_spread_and_skewness_only() -> None:
    values = SkewedMeans(0.3).draw(1, 200_000, np.random.default_rng(4)).statistics[0, :, :, 0]
    assert values.mean(axis=1) == pytest.approx([1, 1], abs=0.015)
    assert values.std(axis=1) == pytest.approx([1, 0.3], rel=0.03)
    assert stats.skew(values, axis=1) == pytest.approx([2, 0], abs=0.15)
    assert abs(np.corrcoef(values)[0, 1]) < 5.5 / np.sqrt(200_000)


def test_responses_have_the_recall_and_precision_asked_for() -> None:
    model = Responses(recall=(0.6, 0.85), precision=(0.9, 0.5), gold=4)
    correct, guessed, gold = model.draw(1, 200_000, np.random.default_rng(5)).statistics[0].sum(axis=1).T
    assert gold / 200_000 == pytest.approx([4, 4], rel=0.01)
    assert correct / gold == pytest.approx([0.6, 0.85], rel=0.01)
    assert correct / guessed == pytest.approx([0.9, 0.5], rel=0.01)


def test_documents_swing_up_and_down_for_both_systems() -> None:
    """Shares found in documents of some thousand responses: half are recall + swing, half recall - swing, together."""
    model = Responses(recall=(0.5, 0.7), precision=(0.9, 0.5), gold=5000, swing=0.2)
    counts = model.draw(1, 400, np.random.default_rng(0)).statistics[0].astype(float)
    share = counts[..., 0] / counts[..., 2]
    up = share > np.array([[0.5], [0.7]])
    np.testing.assert_array_equal(up[0], up[1])
    assert abs(up[0].mean() - 0.5) < 5 * 0.5 / 20
    for k, recall in enumerate((0.5, 0.7)):
        assert share[k, up[k]].mean() == pytest.approx(recall + 0.2, abs=0.005)
        assert share[k, ~up[k]].mean() == pytest.approx(recall - 0.2, abs=0.005)
    np.testing.assert_array_equal(counts[0, :, 2], counts[1, :, 2])


def test_acceptance_depends_on_nothing_and_truth_is_the_candidates() -> None:
    statistics = Acceptances((0.7, 0.1), true=0.4).draw(1, 200_000, np.random.default_rng(7)).statistics[0]
    true, accepted, gold = (statistics[..., s] for s in range(3))
    np.testing.assert_array_equal(gold[0], gold[1])
    np.testing.assert_array_equal(true, gold & accepted)
    assert accepted.mean(axis=1) == pytest.approx([0.7, 0.1], abs=0.006)
    assert np.abs(np.corrcoef([gold[0], *accepted])[np.triu_indices(3, 1)]).max() < 5.5 / np.sqrt(200_000)


def test_acceptance_may_depend_on_truth() -> None:
    """By Bayes: P(accepted | true) = 0.6 x 0.8 / 0.7, and for each system regardless of the other."""
    drawn = MODELS["acceptances by truth"].draw(1, 200_000, np.random.default_rng(7)).statistics[0]
    gold, accepted = drawn[0, :, 2] == 1, drawn[..., 1]
    assert accepted.mean(axis=1) == pytest.approx([0.6, 0.15], abs=0.006)
    assert accepted[:, gold].mean(axis=1) == pytest.approx([0.6 * 0.8 / 0.7, 0.15 * 0.9 / 0.7], abs=0.007)
    assert abs(np.corrcoef(accepted[:, gold])[0, 1]) < 5.5 / np.sqrt(gold.sum())


def test_gains_grow_with_the_cluster_and_are_what_they_should_be_over_all_items() -> None:
    sums = GrowingGains(size=4, slope=0.1, spread=2.0, gain=0.5).draw(20, 20_000, np.random.default_rng(8)).statistics
    sizes, differences = sums[:, 0, :, 1].ravel(), (sums[:, 0, :, 0] - sums[:, 1, :, 0]).ravel()
    for s in (1, 5, 12):
        of_size = differences[sizes == s] / s
        expected, spread = 0.5 + 0.1 * (s - 7), 2.0 / np.sqrt(s)
        assert of_size.mean() == pytest.approx(expected, abs=5.5 * spread / np.sqrt(len(of_size)))
        assert of_size.std() == pytest.approx(spread, rel=0.05)
    shares = stats.geom.pmf(np.arange(1, 12), 1 / 4)
    counts = np.bincount(np.minimum(sizes, 12).astype(int), minlength=13)[1:]
    assert stats.chisquare(counts, len(sizes) * np.append(shares, 1 - shares.sum())).pvalue > 1e-6
    assert (sums[0, 0, :, 1] != sums[1, 0, :, 1]).any(), "sizes are drawn for each test set"


#: Models of two systems that may be exchanged, with fields that make them unlike.
LIKE: list[tuple[PairModel, dict[str, object]]] = [
    (RightOrWrong((0.7, 0.7), 0.4), {"accuracies": (0.7, 0.6)}),
    (Clusters((0.7, 0.7), 0.3, 0.4, 5), {"accuracies": (0.7, 0.6)}),
    (Responses((0.6, 0.6), (0.9, 0.9)), {"recall": (0.6, 0.8), "precision": (0.9, 0.5)}),
    (Translations((0.9, 0.9), (1.1, 1.1)), {"quality": (0.9, 0.5), "length": (1.1, 1.0)}),
    (GrowingGains(4, 0.0, 1.0), {"slope": 0.1, "gain": 0.5}),
    (Acceptances((0.4, 0.4), 0.5), {"accepted": (0.4, 0.2), "precisions": (0.6, 0.8)}),
    (Acceptances((0.4, 0.4), 0.5, (0.7, 0.7)), {"accepted": (0.4, 0.2), "precisions": (0.6, 0.8)}),
]


@pytest.mark.parametrize(("model", "unlike"), LIKE, ids=lambda of: type(of).__name__)
def test_systems_may_be_exchanged_where_all_their_parameters_are_alike(
    model: PairModel, unlike: dict[str, object]
) -> None:
    """And no model but that of means draws two systems that have nothing in common."""
    assert model.exchangeable
    assert not model.independent
    for name, value in unlike.items():
        assert not replace(model, **{name: value}).exchangeable  # type: ignore[type-var]
    assert (SkewedMeans(1.0).exchangeable, SkewedMeans(1.0).independent) == (False, True)


HALF = (0.5, 0.5)


@pytest.mark.parametrize(
    ("model", "arguments", "message"),
    [
        (RightOrWrong, ((0.5, 1.2), 0.5), r"accuracies must be two fractions from 0 to 1, .*, not \(0.5, 1.2\)"),
        (RightOrWrong, ((0.5,), 0.5), r"accuracies must be two fractions .* one for each system, not \(0.5,\)"),
        (RightOrWrong, (0.5, 0.5), "accuracies must be a list of numbers, not 0.5"),
        (RightOrWrong, (HALF, 1.5), "between must be a finite number from 0 to 1, not 1.5"),
        (Clusters, ((-0.5, 0.5), 0.1, 0.1, 5), "accuracies must be two fractions"),
        (Clusters, (HALF, -0.1, 0.5, 5), "within must be a finite number from 0 to 1, not -0.1"),
        (Clusters, (HALF, 0.1, float("nan"), 5), "between must be a"),
        (Clusters, (HALF, 0.6, 0.5, 5), "within and between must be at most 1 in sum, not 0.6 and 0.5"),
        (Clusters, (HALF, 0.1, 0.5, 0), "size must be at least 1, not 0"),
        (Clusters, (HALF, 0.1, 0.5, 2.5), "size must be a whole number"),
        (Clusters, (HALF, 0.1, 0.5, 5, "yes"), "varying must be True or False, not 'yes'"),
        (SkewedMeans, (-0.3,), "spread must be a finite number of at least 0, not -0.3"),
        (SkewedMeans, ("wide",), "spread must be a number, not 'wide'"),
        (Responses, ((0.5, 1.5), HALF), "recall must be two fractions"),
        (Responses, (HALF, (0.5, 0)), r"precision must be above 0, not \(0.5, 0\)"),
        (Responses, (HALF, (0.5, 2)), "precision must be two fractions"),
        (Responses, (HALF, HALF, float("inf")), "gold must be a finite number of at least 0, not inf"),
        (Responses, (HALF, HALF, 3, -0.1), "swing must be a finite number from 0 to 1, not -0.1"),
        (Responses, ((0.5, 0.9), HALF, 3, 0.2), r"swing must be at most 0.1 for recall \(0.5, 0.9\), not 0.2"),
        (Responses, ((0.5, 0.1), HALF, 3, 0.2), r"swing must be at most 0.1 for recall \(0.5, 0.1\), not 0.2"),
        (Acceptances, ((0.5, -1), 0.5), "accepted must be two fractions"),
        (Acceptances, (HALF, 50), "true must be a finite number from 0 to 1, not 50"),
        (Acceptances, (HALF, 0.5, (0.5, 1.5)), "precisions must be two fractions"),
        (
            Acceptances,
            (HALF, 0.4, (0.9, 0.5)),
            "precisions must not need more true or false candidates than there are .*, unlike 0.9",
        ),
        (GrowingGains, (0, 0.1, 1), "size must be at least 1, not 0"),
        (GrowingGains, (5, float("inf"), 1), "slope must be a finite number"),
        (GrowingGains, (5, 0.1, -1), "spread must be a finite number of at least 0, not -1"),
        (GrowingGains, (5, 0.1, 1, "x"), "gain must be a number, not 'x'"),
        (Translations, ((0.5, float("inf")), (1, 1)), "quality must be two numbers, one for each system, not"),
        (Translations, (HALF, (1, 2.5)), "length must be two numbers from 0 to 2, one for each system"),
        (Translations, (HALF, (1, 1), -1), "shared must be a finite number of at least 0, not -1"),
        (Translations, (HALF, (1, 1), 0.5, -1), "own must be"),
        (Translations, (HALF, (1, 1), 0.5, 0.4, 1.1), "goes_on must be a finite number from 0 to 1, not 1.1"),
    ],
)
def test_parameters_are_checked(model: type[PairModel], arguments: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=f"^{message}"):
        model(*arguments)


def test_parameters_at_the_edge_of_their_rules_are_taken() -> None:
    """What is left is then 0, or, in binary, as little below 0: it must not become NaN or a chance below 0."""
    rng = np.random.default_rng(0)
    for model in (
        RightOrWrong((0, 1), between=1),
        Clusters((0.5, 0.5), within=0.7, between=0.3, size=1),
        Clusters((0.5, 0.5), within=0.9, between=0.1 + 1e-16, size=1),
        Responses(recall=(0.9, 0.1), precision=(1, 0.5), swing=0.1),
        Responses(recall=(0.7, 0.3), precision=(1, 0.5), swing=0.3),
        Acceptances((0, 1), true=1),
    ):
        assert (model.draw(2, 50, rng).statistics >= 0).all()
    assert RightOrWrong((0, 1), between=1).draw(1, 9, rng).statistics[0, :, :, 0].tolist() == [[0] * 9, [1] * 9]
