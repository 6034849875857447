"""Models of item scores: the true gain, nulls, clusters, pairs, and what a study.toml describes."""

from __future__ import annotations

import tomllib
from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.metrics import METRICS
from simstudy.truth import PAIR_MODELS
from simstudy.truth.known import Scores
from simstudy.truth.scores import (
    Bernoulli,
    Beta,
    BetaBinomial,
    Clayton,
    GaussianCopula,
    Independent,
    ItemClusters,
    Khoudraji,
    LogNormal,
    Ordinal,
    ScoreModel,
    StudentT,
    TruePair,
)
from simstudy.truth.synthetic import clustered_accuracies, outcome_correlation

JUDGE = Ordinal((1, 2, 3, 4, 5), (0.1, 0.2, 0.3, 0.3, 0.1))
FLAT = Ordinal((1, 2, 3, 4, 5), (0.4, 0.0, 0.1, 0.1, 0.4))


@pytest.mark.parametrize(
    ("model", "gain"),
    [
        (ScoreModel([Bernoulli(0.5), Bernoulli(0.7)], GaussianCopula(0.5), metric="accuracy"), 3.0),
        (ScoreModel([JUDGE, FLAT], Clayton(2)), -0.25),
        (ScoreModel([Beta(0.2, 3), Beta(0.3, 1)], GaussianCopula(0.8), metric="ap"), 0.05),
        (ScoreModel([BetaBinomial(8, 0.2, 3), BetaBinomial(5, 0.5, 1)], GaussianCopula(0.8)), 0.5),
        (ScoreModel([LogNormal(1, 1), StudentT(2, 1, 3)]), -0.5),
        (ScoreModel([JUDGE, FLAT], Clayton(2), metric="mean (lower is better)"), 0.25),
    ],
)
@pytest.mark.parametrize("null", ["equal margins", "equal means"])
def test_the_true_gain_is_set_and_found(model: ScoreModel, gain: float, null: str) -> None:
    """In 60,000 items, within 5 standard errors of the mean difference."""
    for wanted in (0.0, gain):
        moved = model.with_gain(wanted, null=null)  # type: ignore[arg-type]
        sign = model.metric.sign
        first, second = moved.scores()
        assert sign * (first - second) == pytest.approx(wanted, abs=1e-11)
        assert second == model.scores()[1]
        drawn = moved.draw(60_000, np.random.default_rng(1))[..., 0] * model.metric.scale
        difference = sign * (drawn[0].astype(float) - drawn[1])
        assert difference.mean() == pytest.approx(wanted, abs=5 * difference.std() / np.sqrt(60_000))


def test_nulls_are_what_their_names_say() -> None:
    """With equal margins any difference is as likely as its opposite; with equal means it is not."""
    model = ScoreModel([JUDGE, FLAT], GaussianCopula(0.6))
    for null, symmetric in (("equal margins", True), ("equal means", False)):
        drawn = model.with_gain(0, null=null).draw(30_000, np.random.default_rng(0))[..., 0]  # type: ignore[arg-type]
        difference = drawn[0] - drawn[1]
        up, down = ([(difference == sign * step).sum() for step in (1, 2, 3)] for sign in (1, -1))
        p_value = stats.chi2_contingency([up, down], correction=False).pvalue
        assert (p_value > 1e-4) == symmetric
    assert model.with_gain(0).margins[0] is model.margins[1]
    assert model.with_gain(0, null="equal means").margins[0].mean == pytest.approx(model.margins[1].mean, abs=1e-14)


def test_a_longer_test_set_begins_with_the_shorter_and_blocks_are_its_parts() -> None:
    for clusters in (None, ItemClusters(0.3, 3), ItemClusters(0.3, 3, varying=True), ItemClusters(0.3, (7, 1, 2))):
        model = ScoreModel([JUDGE] * 3, GaussianCopula(0.5), clusters)
        short, long = (model.outputs(n, seed=4) for n in (100, 9000))
        np.testing.assert_array_equal(long.head(100).statistics, short.statistics)
        np.testing.assert_array_equal(long.head(5000).statistics, model.outputs(5000, seed=4).statistics)
        parts = list(model.blocks(9000, seed=4))
        assert len(parts) > 1
        np.testing.assert_array_equal(np.concatenate([part.statistics for part in parts], axis=1), long.statistics)
        assert (model.outputs(100, seed=5).statistics != short.statistics).any()
        if clusters is not None:
            assert long.items["cluster"][:100].tolist() == short.items["cluster"].tolist()
            labels = np.concatenate([part.clusters for part in parts])
            assert (np.diff(labels) >= 0).all()
            assert (np.diff(labels) <= 1).all()


def test_outputs_say_what_they_are() -> None:
    outputs = ScoreModel([Bernoulli(0.7), Bernoulli(0.6)], metric="accuracy", families=["x", "x"]).outputs(20)
    assert outputs.systems["true_score"].tolist() == [70.0, 60.0]
    assert set(outputs.systems["source"]) == {"synthetic"}
    assert outputs.systems["family"].tolist() == ["x", "x"]
    assert outputs.statistics.dtype == np.int8


def test_clusters_resemble_themselves_as_much_as_was_asked_for() -> None:
    """Correlations of right and wrong in clusters of two, against the bivariate normal distribution."""
    shares = 0.8, 0.6
    model = ScoreModel([Bernoulli(p) for p in shares], GaussianCopula(0.5), ItemClusters(0.4, 2), metric="accuracy")
    right = model.outputs(120_000).statistics[..., 0].reshape(2, -1, 2)
    observed = np.corrcoef(right.transpose(0, 2, 1).reshape(4, -1))
    # Items of a cluster, of one system and of two; two systems on an item.
    for at, pair, latent in [((0, 1), (0.8, 0.8), 0.4), ((0, 3), shares, 0.4 * 0.5), ((0, 2), shares, 0.5)]:
        assert observed[at] == pytest.approx(outcome_correlation(*pair, latent), abs=0.02)
    assert right.mean() == pytest.approx(0.7, abs=0.01)


def test_what_is_common_to_clusters_makes_systems_alike_and_not_their_items() -> None:
    """Latent correlations by algebra, margins as they were: within 5 standard errors of 20,000 clusters of two."""
    clusters = ItemClusters(0.4, 2, common=0.75)
    rng = np.random.default_rng(0)
    uniform = clusters.uniforms(GaussianCopula(0.5), np.full(20_000, 2), 2, rng)
    assert stats.kstest(uniform[::2, 0], "uniform").pvalue > 1e-6
    latent = stats.norm.ppf(uniform).reshape(20_000, 4)
    found = np.corrcoef(latent.T)
    own, one_item, two = 0.4, 0.5 + 0.4 * 0.75 * 0.5, 0.4 * (0.75 + 0.25 * 0.5)
    expected = [[1, one_item, own, two], [one_item, 1, two, own], [own, two, 1, one_item], [two, own, one_item, 1]]
    np.testing.assert_allclose(found, expected, atol=5 / np.sqrt(20_000))


def test_pairs_draw_what_outputs_have() -> None:
    """The law of two systems of three, on 400 test sets: scores, correlation; clusters as units."""
    model = ScoreModel(
        [Bernoulli(0.9), Bernoulli(0.8), Bernoulli(0.6)],
        GaussianCopula([[1, 0.5, 0], [0.5, 1, 0.7], [0, 0.7, 1]]),
        ItemClusters(0.2, (1, 4)),
        metric="accuracy",
    )
    pair = model.pair(1, 2)
    drawn = pair.draw(400, 60, np.random.default_rng(0))
    assert drawn.statistics.shape == (400, 2, 150, 2)
    assert drawn.by("cluster").shape == (400, 2, 60, 2)
    assert pair.units == ("cluster", "item")
    assert pair.true_gain == pytest.approx(20)
    right = drawn.statistics[..., 0].transpose(1, 0, 2).reshape(2, -1)
    assert right.mean(axis=1) == pytest.approx([0.8, 0.6], abs=0.02)
    assert np.corrcoef(right)[0, 1] == pytest.approx(outcome_correlation(0.8, 0.6, 0.7), abs=0.03)


def test_tests_of_drawn_pairs_hold_their_level_on_an_exact_null() -> None:
    """400 test sets: more than 40 rejections at 0.05 have probability below 10^-4."""
    model = ScoreModel([JUDGE, FLAT], Clayton(1)).with_gain(0)
    drawn = DrawnPairs(model.pair().draw(400, 30, np.random.default_rng(0)).by("item"), "mean", n_resamples=499)
    rows = drawn.decisions(["sign_flips", "t_paired"])
    assert all(row["n_rejected"] <= 40 for row in rows)
    assert drawn.coverage(0.0)["n_covered"] >= 355


def test_bernoulli_scores_of_one_item_a_cluster_are_clustered_accuracies_without_clusters() -> None:
    ours = ScoreModel([Bernoulli(0.8)] * 2, GaussianCopula(0.5), ItemClusters(0.0, 5), metric="accuracy").outputs(
        50_000
    )
    theirs = clustered_accuracies([0.8, 0.8], 10_000, 5, within=0, between=0.5)
    both = [(o.statistics[..., 0].sum(axis=0) == 2).mean() for o in (ours, theirs)]
    assert both[0] == pytest.approx(both[1], abs=0.02)


@pytest.mark.parametrize(("correlation", "common"), [(0.0, 0.0), (0.0, 0.8), (0.8, 0.0), (0.8, 0.8), (0.4, 1.0)])
@pytest.mark.parametrize("together", [Independent(), GaussianCopula(0.5)])
def test_a_pair_is_independent_where_its_sums_of_clusters_are(
    together: Independent | GaussianCopula, correlation: float, common: float
) -> None:
    """Of 4,000 clusters, within 5 standard errors; clusters that have a part in common correlate by .1 and more."""
    model = ScoreModel([StudentT(2, 1, 30)] * 2, together, clusters=ItemClusters(correlation, 5, common=common))
    statistics = TruePair(model).draw(1, 4_000, np.random.default_rng(2)).statistics[0, :, :, 0]
    seen = np.corrcoef(statistics.reshape(2, -1, 5).sum(axis=2))[0, 1]
    assert TruePair(model).independent == (abs(seen) < 5 / np.sqrt(4_000))


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
        (lambda: ScoreModel([JUDGE] * 2).with_gain(2.0), "gain must be from -2.1 to 1.9, as the true score of"),
        (lambda: ScoreModel([JUDGE] * 2).with_gain(0, null="none"), "null must be one of equal margins"),  # type: ignore[arg-type]
        (lambda: ScoreModel([JUDGE] * 2).with_gain(0, systems=(0, 2)), "systems must be below 2"),
        (lambda: ScoreModel([JUDGE] * 2).with_gain(0, systems=(1, 1)), "systems must be two, not 1 twice"),
        (lambda: ScoreModel([JUDGE], clusters=ItemClusters(0.1, 30)).outputs(20), "not 30 of 20"),
        (lambda: ScoreModel([JUDGE]).outputs(0), "n_items must be at least 1"),
        (lambda: ItemClusters(1.2, 3), "correlation must be a finite number from 0 to 1"),
        (lambda: ItemClusters(0.2, 3, common=-0.1), "common must be a finite number from 0 to 1"),
        (lambda: ItemClusters(0.2, (3, 0)), "size must be at least 1"),
        (lambda: ItemClusters(0.2, ()), "size must be one whole number"),
        (lambda: TruePair(ScoreModel([JUDGE])), "model must be of two systems"),
        (lambda: ScoreModel([JUDGE] * 2, metric="mean (lower is better)").pair(), "for which higher is better"),
    ],
)
def test_bad_input(make: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make()  # type: ignore[operator]


TABLE = """
scored_by = "ap"
gain = 0
null = "equal means"
margins = [{ kind = "Beta", average = 0.2, concentration = 2 }, { kind = "Beta", average = 0.3, concentration = 6 }]
dependence = { kind = "Khoudraji", shares = [0.9, 0.5], of = { kind = "Clayton", theta = 3.0 } }
clusters = { correlation = 0.2, size = 3 }
"""


def _described(**changed: Any) -> Any:
    # Studies hand over lists as tuples.
    given = {**tomllib.loads(TABLE), **changed}
    return PAIR_MODELS["Scores"](
        **{name: tuple(value) if isinstance(value, list) else value for name, value in given.items()}
    )


def test_a_table_makes_the_model() -> None:
    pair = _described()
    model = ScoreModel(
        [Beta(0.3, 2), Beta(0.3, 6)], Khoudraji(Clayton(3.0), (0.9, 0.5)), ItemClusters(0.2, 3), metric="ap"
    )
    one, other = (of.draw(4, 6, np.random.default_rng(0)).statistics for of in (pair, model.pair()))
    np.testing.assert_array_equal(one, other)
    assert (pair.metric, pair.units, pair.true_gain, pair.exchangeable) == ("ap", ("cluster", "item"), 0, False)
    METRICS["ap"].check(one.reshape(8, -1, 2))


def test_exchangeable_needs_equal_margins_and_symmetry() -> None:
    assert not _described(null="equal margins").exchangeable
    assert _described(null="equal margins", dependence={"kind": "Gumbel", "theta": 2}).exchangeable
    assert not _described(dependence={"kind": "Gumbel", "theta": 2}).exchangeable


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"margins": [{"kind": "Beta"}]}, "margins must be two tables"),
        ({"margins": [{"kind": "Beta"}] * 2}, "margins must have the parameters of Beta"),
        ({"margins": [{"kind": "beta"}] * 2}, "margins.kind must be one of"),
        ({"dependence": {"kind": "Survival", "of": {"kind": "Frank"}}}, "dependence.of.kind must be one of"),
        ({"dependence": 0.5}, "dependence must be a table with kind"),
        ({"gain": 0.8}, "gain must be from -0.3 to 0.7"),
        ({"scored_by": "bleu"}, "metric must take one score of an item"),
    ],
)
def test_tables_that_describe_no_pair(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        _described(**changed)
    assert Scores.__name__ in PAIR_MODELS
