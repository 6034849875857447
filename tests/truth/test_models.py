"""One contract over all models: drawn scores are the true ones, gains are set, nulls and units are what they say."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.truth import (
    MODELS,
    Bernoulli,
    Beta,
    BetaBinomial,
    Clayton,
    Gamma,
    GaussianCopula,
    Gumbel,
    Independent,
    ItemClusters,
    KnownTruth,
    LogNormal,
    Ordinal,
    Responses,
    ScoreModel,
    StudentT,
    Survival,
    clustered_accuracies,
    correlated_accuracies,
    fit,
    named_model,
    right_or_wrong,
)
from simstudy.truth.corpus import CorpusModel
from tests.truth.bivariate import outcome_correlation

JUDGE = Ordinal((1, 2, 3, 4, 5), (0.1, 0.2, 0.3, 0.3, 0.1))
FLAT = Ordinal((1, 2, 3, 4, 5), (0.4, 0.0, 0.1, 0.1, 0.4))


def _counts() -> Outputs:
    """Statistics of three aligners for the alignment error rate, of which less is better."""
    rng = np.random.default_rng(5)
    sure = rng.integers(5, 20, 200)
    matched = rng.binomial(sure, [[0.4], [0.6], [0.85]])
    both = [matched, matched + rng.integers(0, 2, matched.shape), matched + 3, np.broadcast_to(sure, matched.shape)]
    return Outputs.from_statistics(np.stack(both, axis=-1), "aer")


#: Models with a gain, on the metric's scale, that they can have.
KNOWN: dict[str, tuple[KnownTruth, float]] = {
    "right or wrong": (right_or_wrong((0.85, 0.6), 0.4), 3.0),
    "clusters": (right_or_wrong((0.85, 0.6), 0.4, within=0.3, size=4), -3.0),
    "clusters of any size": (right_or_wrong((0.85, 0.6), 0.4, within=0.3, size=4, varying=True), 3.0),
    "prompts x questions": (
        ScoreModel([JUDGE, FLAT], GaussianCopula(0.5), ItemClusters(0.3, 4, crossed=0.001)),
        0.25,
    ),
    "ratings": (ScoreModel([JUDGE, FLAT], Clayton(2)), -0.25),
    "ratings of three": (ScoreModel([JUDGE, FLAT, JUDGE], GaussianCopula(0.5), ItemClusters(0.2, (1, 3))), 0.25),
    "average precision": (ScoreModel([Beta(0.2, 3), Beta(0.3, 1)], GaussianCopula(0.8), metric="ap"), 0.05),
    "samples": (ScoreModel([BetaBinomial(8, 0.2, 3), BetaBinomial(5, 0.5, 1)], GaussianCopula(0.8)), 0.5),
    "costs": (ScoreModel([Gamma(1, 1), LogNormal(1.2, 1)], Gumbel(3.0, (0.9, 0.5))), 0.5),
    "long tails": (ScoreModel([LogNormal(1, 1), StudentT(2, 1, 3)]), -0.5),
    "errors": (ScoreModel([JUDGE, FLAT], Clayton(2), metric="mean (lower is better)"), 0.25),
    "responses": (Responses((0.6, 0.85), (0.9, 0.5)), 0.5),
    "responses alike": (Responses((0.6, 0.7), (0.9, 0.8), 4.0, 0.2, GaussianCopula(0.7)), -2.0),
    "links": (fit(_counts(), shrink=False).model, 2.0),
}
each = pytest.mark.parametrize("name", KNOWN)


def _scores(model: KnownTruth, n_sets: int, n_units: int, seed: int) -> np.ndarray:
    """Scores (sets, K) of drawn test sets."""
    statistics = model.draw(n_sets, n_units, np.random.default_rng(seed)).statistics
    return np.asarray(model.metric.score(statistics.sum(axis=2, dtype=np.float64)))


@each
def test_scores_of_what_is_drawn_are_the_true_ones(name: str) -> None:
    """The mean over 60 large test sets lies within 5.5 of its standard errors, which is small."""
    model, _ = KNOWN[name]
    scores = _scores(model, 60, 3000, 5)
    error = scores.std(axis=0, ddof=1) / np.sqrt(len(scores))
    assert (np.abs(scores.mean(axis=0) - model.scores()) < 5.5 * error).all()
    assert (error < 0.01 * scores.mean(axis=0)).all()
    first, second = model.scores()[:2]
    assert model.true_gain == pytest.approx(first - second if model.metric.higher_is_better else second - first)
    table = model.outputs(50).systems
    np.testing.assert_allclose(table["true_score"], model.scores())
    assert set(table["source"]) == {"synthetic"}


@each
@pytest.mark.parametrize("null", ["equal margins", "equal means"])
def test_a_gain_is_set_exactly_and_drawn(name: str, null: str) -> None:
    """Of the first system over the second, which stays as it is: mean gains within 5 standard errors."""
    model, gain = KNOWN[name]
    for wanted in (0.0, gain):
        moved = model.with_gain(wanted, null=null)  # type: ignore[arg-type]
        assert moved.true_gain == pytest.approx(wanted, abs=1e-9)
        np.testing.assert_allclose(moved.scores()[1:], model.scores()[1:])
        gains = np.diff(_scores(moved, 60, 1000, 1)[:, 1::-1])[:, 0] * model.metric.sign
        assert gains.mean() == pytest.approx(wanted, abs=5 * gains.std(ddof=1) / np.sqrt(60))
    assert model.with_gain(0.0).alike == (model.n_systems == 2)


@each
@pytest.mark.parametrize("n_units", [1, 7])
def test_drawn_statistics_are_valid_for_the_metric(name: str, n_units: int) -> None:
    model, _ = KNOWN[name]
    drawn = model.draw(100, n_units, np.random.default_rng(0))
    n_statistics = len(model.metric.statistics)
    for unit in model.units:
        statistics = drawn.by(unit)
        assert statistics.shape == (100, model.n_systems, statistics.shape[2], n_statistics)
        model.metric.check(statistics.reshape(100 * model.n_systems, -1, n_statistics))
    assert drawn.by(model.units[0]).shape[2] == n_units, "units are the independent ones"


@each
def test_a_longer_test_set_begins_with_the_shorter(name: str) -> None:
    model, _ = KNOWN[name]
    short, long = (model.outputs(n, seed=4) for n in (100, 9000))
    np.testing.assert_array_equal(long.head(100).statistics, short.statistics)
    np.testing.assert_array_equal(long.head(5000).statistics, model.outputs(5000, seed=4).statistics)
    assert (model.outputs(100, seed=5).statistics != short.statistics).any()
    if model.clusters is not None:
        assert long.items["cluster"][:100].tolist() == short.items["cluster"].tolist()


@each
def test_what_may_be_exchanged_and_what_is_independent_is_so(name: str) -> None:
    """Swapped systems have the same law: mean gains of units and of their signs are 0, within 5 standard errors."""
    model, _ = KNOWN[name]
    if model.n_systems > 2 or model.metric.name == "aer":
        return
    null = model.with_gain(0.0)
    assert null.exchangeable == (name != "costs")
    assert not model.exchangeable
    assert model.independent == (name == "long tails")
    sums = null.draw(1, 8000, np.random.default_rng(3)).by(null.units[0])[0, ..., 0].astype(np.float64)
    difference = np.sign(sums[0] - sums[1])
    if null.exchangeable:
        assert abs(difference.mean()) < 5 * difference.std() / np.sqrt(8000)
    r = np.corrcoef(sums)[0, 1]
    assert (abs(r) < 5 / np.sqrt(8000)) == null.independent, r


def test_nulls_are_what_their_names_say() -> None:
    """With equal margins any difference is as likely as its opposite; with equal means it is not."""
    model = ScoreModel([JUDGE, FLAT], GaussianCopula(0.6))
    for null, symmetric in (("equal margins", True), ("equal means", False)):
        drawn = model.with_gain(0, null=null).draw(1, 30_000, np.random.default_rng(0))  # type: ignore[arg-type]
        difference = np.diff(drawn.statistics[0, ..., 0], axis=0)
        up, down = ([(difference == sign * step).sum() for step in (1, 2, 3)] for sign in (1, -1))
        p_value = stats.chi2_contingency([up, down], correction=False).pvalue
        assert (p_value > 1e-4) == symmetric
    assert model.with_gain(0).margins[0] is model.margins[1]


def test_a_gain_moves_one_system_only() -> None:
    """Its margin is the other's with another mean, or its own; all others stay as they are."""
    margins = [Beta(0.2, 3.0), Beta(0.5, 7.0), LogNormal(0.8, 0.3)]
    for metric, mean in (("mean", 0.55), ("mean (lower is better)", 0.45)):
        model = ScoreModel(margins, GaussianCopula(0.4), ItemClusters(0.2, (3, 1)), metric=metric)
        for null, expected in (("equal margins", Beta(mean, 7.0)), ("equal means", LogNormal(mean, 0.3))):
            moved = model.with_gain(0.05, null=null, systems=(2, 1))  # type: ignore[arg-type]
            assert moved.margins[:2] == tuple(margins[:2])
            assert type(moved.margins[2]) is type(expected)
            u = np.array([0.1, 0.35, 0.8])
            np.testing.assert_allclose(moved.margins[2].quantile(u), expected.quantile(u), rtol=1e-9)
            assert (moved.clusters, moved.dependence) == (model.clusters, model.dependence)


def test_responses_have_the_recall_the_precision_and_the_swing_asked_for() -> None:
    """Shares in documents of some thousand responses: half are recall + swing, half recall - swing, together."""
    model = Responses(recall=(0.5, 0.7), precision=(0.9, 0.5), gold=5000, swing=0.2)
    counts = model.draw(1, 400, np.random.default_rng(0)).statistics[0].astype(float)
    share = counts[..., 0] / counts[..., 2]
    up = share > np.array([[0.5], [0.7]])
    np.testing.assert_array_equal(up[0], up[1])
    assert abs(up[0].mean() - 0.5) < 5 * 0.5 / 20
    for k, recall in enumerate((0.5, 0.7)):
        assert share[k, up[k]].mean() == pytest.approx(recall + 0.2, abs=0.005)
        assert share[k, ~up[k]].mean() == pytest.approx(recall - 0.2, abs=0.005)
        assert counts[k, :, 0].sum() / counts[k, :, 1].sum() == pytest.approx(model.precision[k], rel=0.03)
    np.testing.assert_array_equal(counts[0, :, 2], counts[1, :, 2])
    # Found responses of given documents are binomial: their variance is that of so many coins.
    few = Responses(recall=(0.6, 0.6), precision=(1, 1), gold=9, swing=0.0).draw(1, 40_000, np.random.default_rng(1))
    correct, _, gold = few.statistics[0, 0].T
    eight = correct[gold == 8]
    expected = stats.binom.pmf(np.arange(9), 8, 0.6) * eight.size
    assert stats.chisquare(np.bincount(eight, minlength=9), expected).pvalue > 1e-6
    alike = Responses((0.6, 0.6), (1, 1), 9, 0.0, GaussianCopula(1.0)).draw(1, 500, np.random.default_rng(1))
    np.testing.assert_array_equal(alike.statistics[0, 0], alike.statistics[0, 1])


def test_rank_correlation_with_clusters_is_that_of_the_sum() -> None:
    """Of normal scores: Kendall's tau of 20,000 items, one of each cluster, within 5 standard errors."""
    clusters = ItemClusters(0.5, 2, effects=Independent())
    model = ScoreModel([StudentT(0, 1), StudentT(0, 1)], GaussianCopula(0.8), clusters)
    drawn = model.draw(1, 20_000, np.random.default_rng(0)).statistics[0, :, ::2, 0]
    tau = model.rank_correlation()[0, 1]
    assert tau == pytest.approx(2 / np.pi * np.arcsin(0.4))
    assert stats.kendalltau(*drawn).statistic == pytest.approx(tau, abs=5 * 0.005)
    assert ScoreModel([JUDGE] * 2, Clayton(2.0)).rank_correlation()[0, 1] == 0.5
    assert np.isnan(ScoreModel([JUDGE] * 2, Clayton(2.0), clusters).rank_correlation()).all()


def test_correlations_of_answers_are_those_of_the_latent_scores() -> None:
    """On items, and in clusters of two, whose effects each system has of its own; standard errors are below 0.005."""
    true, n = [0.6, 0.7, 0.9], 50_000
    right = correlated_accuracies(true, n, families=["x", "x", "y"], between=0.4, within=0.85).statistics[..., 0]
    np.testing.assert_allclose(right.mean(axis=1), true, atol=0.012)
    for i, j, latent in [(0, 1, 0.85), (0, 2, 0.4), (1, 2, 0.4)]:
        expected = outcome_correlation(true[i], true[j], latent)
        assert np.corrcoef(right)[i, j] == pytest.approx(expected, abs=0.027)
    pair = [0.6, 0.85]
    outcomes = clustered_accuracies(pair, n, 2, within=0.3, between=0.45, seed=2).statistics[..., 0]
    # System 1 item 1, system 1 item 2, system 2 item 1 …
    outcomes = outcomes.reshape(2, n, 2).transpose(0, 2, 1).reshape(4, n)
    same_item = outcome_correlation(*pair, 0.45)
    of_one = [outcome_correlation(accuracy, accuracy, 0.3) for accuracy in pair]
    expected = [
        [1, of_one[0], same_item, 0],
        [of_one[0], 1, 0, same_item],
        [same_item, 0, 1, of_one[1]],
        [0, same_item, of_one[1], 1],
    ]
    np.testing.assert_allclose(np.corrcoef(outcomes), expected, atol=0.026)


def test_all_of_the_latent_score_may_be_shared() -> None:
    """What is left for an answer is then 0, or, as 0.7 + 0.2 + 0.1 is not 1 in binary, as little below 0."""
    nested = correlated_accuracies([0.6, 0.7], 500, families=["x", "x"], between=0.3, within=1.0).statistics[..., 0]
    assert (nested[0] <= nested[1]).all()
    assert 0 < clustered_accuracies([0.5], 500, 2, within=0.7, between=0.2 + 0.1).scores()[0] < 100
    of_one = clustered_accuracies([0.4, 0.4], 500, 3, within=1, between=0).statistics[..., 0].reshape(2, 500, 3)
    assert (of_one == of_one[..., :1]).all()
    assert (of_one[0] != of_one[1]).any()
    assert right_or_wrong((0, 1), 1.0).draw(1, 9, np.random.default_rng(0)).statistics[0, :, 0, 0].tolist() == [0, 1]


def test_sizes_of_clusters_follow_one_another_over_blocks() -> None:
    """The first cluster after a block goes on with the sizes where the last one ended; the last one is cut short."""
    # A block has 1,077 clusters of these, which is no multiple of five.
    sizes = (7, 1, 2, 5, 4)
    items = ScoreModel([JUDGE], clusters=ItemClusters(0.3, sizes)).outputs(10_000, seed=5).items
    counts = items["cluster"].value_counts(sort=False).to_numpy()
    whole = np.resize(sizes, counts.size)
    np.testing.assert_array_equal(counts[:-1], whole[:-1])
    assert counts.sum() == 10_000
    assert counts[-1] <= whole[-1]


def test_sizes_that_vary_are_geometric_and_the_same_in_a_batch() -> None:
    drawn = KNOWN["clusters of any size"][0].draw(2, 20_000, np.random.default_rng(3))
    sizes = drawn.by("cluster")[..., 1]
    np.testing.assert_array_equal(sizes[0], sizes[1])
    counts = np.bincount(np.minimum(sizes[0, 0], 12), minlength=13)[1:]
    shares = stats.geom.pmf(np.arange(1, 12), 1 / 4)
    assert stats.chisquare(counts, 20_000 * np.append(shares, 1 - shares.sum())).pvalue > 1e-6
    assert drawn.starts is not None
    np.testing.assert_array_equal(drawn.by("cluster")[0, 0, 0], drawn.statistics[0, 0, : drawn.starts[1]].sum(axis=0))


def test_places_of_a_test_set_are_the_same_in_all_its_blocks() -> None:
    """Prompts decide all here: a system has one answer to each prompt, in 9,000 items and in every seed another."""
    model = ScoreModel([Bernoulli(0.5)] * 2, clusters=ItemClusters(0.0, 5, crossed=1.0), metric="accuracy")
    tables = [model.outputs(9_000, seed=seed).statistics[..., 0].reshape(2, -1, 5) for seed in range(20)]
    assert all((table == table[:, :1]).all() for table in tables)
    assert np.mean([table[:, 0] for table in tables]) == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(200))
    drawn = model.draw(200, 3, np.random.default_rng(0)).statistics[..., 0].reshape(200, 2, 3, 5)
    assert (drawn == drawn[:, :, :1]).all()
    assert drawn.mean() == pytest.approx(0.5, abs=5 * 0.5 / np.sqrt(2000))


def test_tests_of_drawn_pairs_hold_their_level_on_an_exact_null() -> None:
    """400 test sets: more than 40 rejections at 0.05 have probability below 10^-4."""
    model = ScoreModel([JUDGE, FLAT], Clayton(1)).with_gain(0)
    drawn = DrawnPairs(model.draw(400, 30, np.random.default_rng(0)).by("item"), "mean", n_resamples=499)
    rows = drawn.decisions(["sign_flips", "t_paired"])
    assert all(row["n_rejected"] <= 40 for row in rows)
    assert drawn.coverage(0.0)["n_covered"] >= 355


TABLE = """
metric = "ap"
gain = 0
null = "equal means"
margins = [{ kind = "Beta", average = 0.2, concentration = 2 }, { kind = "Beta", average = 0.3, concentration = 6 }]
dependence = { kind = "Survival", of = { kind = "Gumbel", theta = 3.0, shares = [0.9, 0.5] } }
clusters = { correlation = 0.2, size = 3, effects = { kind = "Independent" } }
"""


def _described(**changed: Any) -> KnownTruth:
    return named_model("Scores", {**tomllib.loads(TABLE), **changed})


def test_a_table_makes_the_model() -> None:
    described = _described()
    model = ScoreModel(
        [Beta(0.3, 2), Beta(0.3, 6)],
        Survival(Gumbel(3.0, (0.9, 0.5))),
        ItemClusters(0.2, 3, effects=Independent()),
        metric="ap",
    )
    one, other = (of.draw(4, 6, np.random.default_rng(0)).statistics for of in (described, model))
    np.testing.assert_array_equal(one, other)
    assert (described.metric, described.units, described.exchangeable) == (METRICS["ap"], ("cluster", "item"), False)
    assert described.true_gain == pytest.approx(0, abs=1e-15)
    assert not _described(null="equal margins").exchangeable
    assert _described(null="equal margins", dependence={"kind": "Gumbel", "theta": 2}).exchangeable
    boards = MODELS["Scores"]([{"kind": "Bernoulli", "probability": 0.7}], metric="accuracy", n_systems=4)
    assert boards.scores().tolist() == [70.0] * 4
    assert MODELS["RightOrWrong"]([0.9, 0.8, 0.7], 0.5).n_systems == 3
    points = {"recall": [0.6, 0.7], "precision": [0.9, 0.8], "gain": -1.5, "null": "equal means"}
    moved = named_model("Responses", points)
    assert (moved.true_gain, moved.precision) == (pytest.approx(-1.5), (0.9, 0.8))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"margins": []}, "margins must be tables, one of each system"),
        ({"margins": [{"kind": "Beta"}] * 2}, "margins must have the parameters of Beta, average, concentration: "),
        ({"margins": [{"kind": "Beta", "mean": 1}]}, "margins must have parameters of Beta, .* not 'mean'"),
        ({"dependance": {}}, "model must have parameters of Scores, margins, .*, not 'dependance'"),
        ({"margins": [{"kind": "beta"}] * 2}, "margins.kind must be one of"),
        ({"dependence": {"kind": "Survival", "of": {"kind": "Frank"}}}, "dependence.of.kind must be one of"),
        ({"dependence": 0.5}, "dependence must be a table with kind"),
        ({"clusters": {"correlation": 0.2}}, "clusters must have the parameters of ItemClusters, .*: .*'size'"),
        ({"clusters": {"correlation": 0.2, "size": 3, "effects": 2}}, "clusters.effects must be a table"),
        ({"gain": 0.8}, "gain must be from -0.3 to 0.7"),
        ({"metric": "bleu"}, "metric must take one score of an item"),
        ({"n_systems": 3}, "n_systems must be left out"),
    ],
)
def test_tables_that_describe_no_model(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _described(**changed)


LINKS = KNOWN["links"][0]
assert isinstance(LINKS, CorpusModel)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ScoreModel([]), "margins must be a list of margins"),
        (lambda: ScoreModel([0.8, 0.7]), r"such as \[Bernoulli\(0.8\), Bernoulli\(0.75\)\], not \[0.8, 0.7\]"),  # type: ignore[list-item]
        (lambda: ScoreModel([JUDGE], metric="ap"), "margins must have scores from 0 to 1, as metric 'ap' does"),
        (lambda: ScoreModel([JUDGE], metric="f1"), "metric must take one score of an item"),
        (lambda: ScoreModel([JUDGE], 0.5), "dependence must be a Dependence"),  # type: ignore[arg-type]
        (lambda: ScoreModel([JUDGE], clusters=3), "clusters must be ItemClusters"),  # type: ignore[arg-type]
        (lambda: ScoreModel([JUDGE] * 2, names=["a", "a"]), "names must be named once each"),
        (lambda: ScoreModel([JUDGE] * 2, families=["a"]), "families must have 2 names"),
        (lambda: ScoreModel([JUDGE] * 3, GaussianCopula(-0.6)), "correlation must be from -0.5 to 1"),
        (
            lambda: ScoreModel([JUDGE] * 2, clusters=ItemClusters(0.1, 2, effects=GaussianCopula(np.eye(3)))),
            "correlation must be of 2 systems",
        ),
        (lambda: ScoreModel([JUDGE] * 2).with_gain(2.0), "gain must be from -2.1 to 1.9, as the true score of"),
        (lambda: ScoreModel([JUDGE] * 2).with_gain(0, null="none"), "null must be one of equal margins"),  # type: ignore[arg-type]
        (lambda: ScoreModel([JUDGE] * 2).with_gain(0, systems=(0, 2)), "systems must be below 2"),
        (lambda: ScoreModel([JUDGE] * 2).with_gain(0, systems=(1, 1)), "systems must be two, not 1 twice"),
        (lambda: ScoreModel([JUDGE]).outputs(0), "n_items must be at least 1"),
        (lambda: LINKS.with_gain(60), "gain must be from .* and sources' are from .* not 60"),
        (lambda: right_or_wrong((0.5, 1.2), 0.5), "accuracies must be one or more fractions from 0 to 1"),
        (lambda: right_or_wrong((), 0.5), "accuracies must be one or more fractions from 0 to 1"),
        (lambda: right_or_wrong((0.5, 0.5), 0.5, within=0.6, size=3), "at most 1 in sum, not 0.6 and 0.5"),
        (lambda: clustered_accuracies([0.5], 0, 2), "n_clusters must be at least 1, not 0"),
        (lambda: clustered_accuracies([0.5], 3, 1.5), "cluster_size must be a whole number"),  # type: ignore[arg-type]
        (lambda: correlated_accuracies([0.5], 5, between=0.9), "0 <= between <= within <= 1, not 0.9 and 0.8"),
        (lambda: correlated_accuracies([0.5, 0.6], 5, families=["x"]), "families must have 2 names|must be of 2"),
        (lambda: correlated_accuracies([0.5], 5, seed=-1), "seed must be at least 0"),
        (lambda: Responses((0.5, 1.5), (0.5, 0.5)), "recall must be fractions from 0 to 1, one of each system"),
        (lambda: Responses((0.5, 0.5), (0.5,)), "precision must be fractions from 0 to 1, one of each system"),
        (lambda: Responses((0.5, 0.5), (0.5, 0)), r"precision must be above 0, not \(0.5, 0.0\)"),
        (lambda: Responses((0.5, 0.9), (0.5, 0.5), 3, 0.2), r"swing must be at most 0.1 for recall"),
        (lambda: Responses((0.6, 0.6), (0.8, 0.8)).with_gain(40), "gain must be from -50.7937 to 16.1345"),
        (lambda: replace(LINKS, clusters=None).with_gain(0, null=""), "null must be one of"),  # type: ignore[arg-type]
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]
