"""What fresh test sets will show: the truth, brute force, normal forms, counts of one test set, fresh test sets."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning import leaderboards, predict
from simstudy.planning.settings import Level
from simstudy.planning.true_scores import Posterior, posterior
from tests.oracles import compared
from tests.truth.bivariate import outcome_correlation

ACCURACIES = [0.60 + k / 60 for k in range(14)]


@pytest.fixture(scope="module")
def outputs() -> ss.Outputs:
    return ss.truth.correlated_accuracies(ACCURACIES, 500, families=list("aabbccddeeffgg"), seed=5)


def test_equal_errors_of_variants_leave_their_difference_known() -> None:
    covariance = np.array([[4.0, 4.0, 0.0], [4.0, 4.0, 0.0], [0.0, 0.0, 4.0]])
    found = posterior(np.array([10.0, 9.0, -20.0]), covariance, np.ones(3))
    spread = found.root @ found.root.T
    assert spread[0, 0] + spread[1, 1] - 2 * spread[0, 1] == pytest.approx(0, abs=1e-9)


def test_true_scores_have_the_prior_of_weighted_systems_and_errors_of_their_own() -> None:
    """Of weights 1, 2, 3, 4: their mean and spread; a system is drawn towards it by its own error; but never wholly."""
    scores, errors, weights = np.array([3.0, -8, 11, 6]), np.array([1.0, 4, 9, 2]), np.array([1.0, 2, 3, 4])
    middle = np.average(scores, weights=weights)
    spread = np.average((scores - middle) ** 2, weights=weights) * 4 / 3 - np.average(errors, weights=weights)
    part = spread / (spread + errors)
    found = posterior(scores, np.diag(errors), 7 * weights)
    np.testing.assert_allclose(found.mean, middle + part * (scores - middle))
    np.testing.assert_allclose(found.root @ found.root.T, np.diag(part * errors), atol=1e-12)
    drawn = np.array([found.draw(np.random.default_rng(k)) for k in range(4000)])
    np.testing.assert_allclose(drawn.mean(axis=0), found.mean, atol=5 * 3 / np.sqrt(4000))
    np.testing.assert_allclose(drawn.var(axis=0), part * errors, rtol=0.13)
    # Scores much nearer than their errors: a tenth of the mean error is the least standard deviation.
    least = posterior(scores / 1000, np.diag(errors), weights)
    np.testing.assert_allclose(np.diag(least.root @ least.root.T), 0.04 * errors / (0.04 + errors))


def test_large_pilots_predict_what_fresh_test_sets_show() -> None:
    """Medians of 24 fresh test sets, from 10,000 items of the same systems."""
    known = ss.truth.correlated_accuracies(ACCURACIES, 10_000, seed=6)
    row = predict(known, [300], n_draws=300).iloc[0]
    shown = []
    for seed in range(24):
        pairs = compared(ss.truth.correlated_accuracies(ACCURACIES, 300, seed=100 + seed), test="mcnemar")
        ranks = ss.comparisons.ranks(pairs).iloc[0]
        groups = ss.comparisons.groups(pairs, rule="greedy", p="p_value")["group"].max()
        share = float(((pairs["p_value"] <= 0.05) & (pairs["gain"] > 0)).mean())
        shown.append((share, ranks["n_significant"], ranks["n_significant_holm"], groups))
    fresh = pd.DataFrame(shown, columns=["share_significant", "separated", "separated_corrected", "ranks"])
    assert row["share_significant"] == pytest.approx(fresh["share_significant"].median(), abs=0.03)
    for name in ("separated", "separated_corrected", "ranks"):
        assert abs(row[name] - fresh[name].median()) <= 1
    inside = fresh["share_significant"].between(row["share_significant_low95"], row["share_significant_high95"])
    assert inside.mean() >= 0.85


def test_relations_are_rows_and_numbers_do_not_hang_on_the_sizes_asked_with_them(outputs: ss.Outputs) -> None:
    table = predict(outputs, [200, 800], by="family", n_draws=100)
    assert table["relation"].unique().tolist() == ["same family", "different families", "all pairs"]
    assert table.groupby("relation")["n_pairs"].first().to_dict() == {
        "same family": 7, "different families": 84, "all pairs": 91,
    }  # fmt: skip
    alone = predict(outputs, [800], by="family", n_draws=100)
    pd.testing.assert_frame_equal(alone, table[table["n_units"] == 800].reset_index(drop=True))
    assert table.loc[table["relation"] != "all pairs", "ranks"].isna().all()


@pytest.mark.parametrize("seed", range(4))
def test_neighbours_and_ranks_are_counted_as_of_a_table(seed: int) -> None:
    """The numbers of `ranks` and `groups`, from p-values of Student's t."""
    rng, k, df = np.random.default_rng(seed), 9, 40
    scores = np.sort(rng.normal(0, 2, k))[::-1]
    z = np.abs(scores[:, None] - scores[None, :]) * rng.uniform(0.5, 3, (k, k))
    z = np.triu(z, 1) + np.triu(z, 1).T
    i, j = np.triu_indices(k, 1)
    names = np.array([f"s{n}" for n in range(k)])
    pairs = pd.DataFrame(
        {
            "task": "t", "test_set": "s", "n_items": df + 1, "metric": "mean", "test": "t", "alternative": "two-sided",
            "system_a": names[i], "system_b": names[j], "score_a": scores[i], "score_b": scores[j],
            "gain": scores[i] - scores[j], "p_value": 2 * stats.t.sf(z[i, j], df), "n_extreme": 0, "n_resamples": 0,
        }
    )  # fmt: skip
    ranked = ss.comparisons.ranks(pairs).iloc[0]
    groups = ss.comparisons.groups(pairs, rule="greedy", p="p_value")["group"].max()
    # In an order of systems that is not that of their scores.
    mixed = rng.permutation(k)
    found = leaderboards._leaderboard(scores[mixed], z[np.ix_(mixed, mixed)], leaderboards._Cuts(df + 1, Level()))
    assert found == (ranked["n_significant"], ranked["n_significant_holm"], groups)


def test_wrong_winners_and_significant_pairs_are_those_of_the_normal_form() -> None:
    """Of so many items that true scores are known: the means over 190 pairs of two normal probabilities."""
    true, n = np.linspace(0.55, 0.75, 20).tolist(), 500
    row = predict(ss.truth.correlated_accuracies(true, 20_000, between=0.5), [n], n_draws=300).iloc[0]
    wrong, significant = [], []
    for a in range(20):
        for b in range(a):
            p, q = true[a], true[b]
            both = outcome_correlation(p, q, 0.5) * np.sqrt(p * (1 - p) * q * (1 - q))
            se = np.sqrt((p * (1 - p) + q * (1 - q) - 2 * both) / n)
            wrong.append(stats.norm.cdf((q - p) / se))
            significant.append(stats.norm.sf(1.96 - (p - q) / se) + stats.norm.cdf(-1.96 - (p - q) / se))
    # A median is not the mean, ties are no wrong winners, and exact tests count half an item less.
    assert row["wrong_winner"] == pytest.approx(np.mean(wrong), abs=0.012)
    assert row["share_significant"] == pytest.approx(np.mean(significant), abs=0.025)
    for measure in ("wrong_winner", "share_significant"):
        ends = [row[f"{measure}{end}"] for end in ("_low95", "_low80", "", "_high80", "_high95")]
        assert ends == sorted(ends)


def test_each_of_the_drawn_spreads_and_priors_is_used_as_often(
    outputs: ss.Outputs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A test set has the error of the covariance with which it comes; 25 weightings of the units, in turn."""
    drawn, cut = [], leaderboards._SPREADS
    own = Posterior.draw
    monkeypatch.setattr(Posterior, "draw", lambda self, rng: drawn.append(id(self)) or own(self, rng))
    predict(outputs, [100], n_draws=4 * cut)
    assert len(set(drawn)) == cut
    assert {drawn.count(one) for one in drawn} == {4}


def test_documents_are_what_is_drawn() -> None:
    """Items of a document that are all alike are one: what is predicted is as of the documents."""
    outputs = ss.truth.correlated_accuracies(np.linspace(0.5, 0.8, 6).tolist(), 100)
    scores = outputs.statistics[..., 0].T.astype(float)
    once = ss.Outputs.from_scores(pd.DataFrame(scores, columns=outputs.names), "mean")
    names = [f"{k}-{i}" for k in range(100) for i in range(5)]
    table = pd.DataFrame(np.repeat(scores, 5, axis=0), columns=outputs.names, index=names)
    items = pd.DataFrame({"id": names, "cluster": [f"d{k}" for k in range(100) for _ in range(5)]})
    repeated = ss.Outputs.from_statistics(
        np.stack([table.to_numpy().T, np.ones((6, 500))], axis=-1), "mean", list(outputs.names), items=items
    )
    alone, of_documents = predict(once, [100], n_draws=300).iloc[0], predict(repeated, [100], n_draws=300).iloc[0]
    assert of_documents["n_items"] == 500
    assert of_documents["share_significant"] == pytest.approx(alone["share_significant"], abs=1 / 15)
    items_as_units = predict(repeated, [500], unit="item", n_draws=300).iloc[0]
    assert items_as_units["share_significant"] > of_documents["share_significant"]


def test_thresholds_of_one_side_are_of_twice_the_p_values(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = ss.truth.correlated_accuracies((0.6 + np.arange(50) / 400).tolist(), 200)
    found = predict(outputs, [300], level=Level(0.01, "greater", 3), n_draws=100)
    monkeypatch.setattr(leaderboards, "WINDOW", (0.08, 0.12))
    expected = predict(outputs, [300], level=Level(0.3), n_draws=100)
    assert found["threshold"].item() == expected["threshold"].item() > 0


def test_what_a_plan_by_item_predicts_is_of_items_although_there_are_documents() -> None:
    """The same answers without a word of documents: their natural unit is the item."""
    rng = np.random.default_rng(5)
    n_documents, size = 40, 6
    hard = np.repeat(rng.normal(size=(4, n_documents)), size, axis=1)
    right = (hard + rng.normal(size=hard.shape) < np.array([[0.2], [0.4], [0.6], [0.9]])).astype(int)
    statistics = np.stack([right, np.ones_like(right)], axis=-1)
    documents = pd.DataFrame({
        "id": [str(i) for i in range(n_documents * size)],
        "cluster": np.repeat([f"document-{j}" for j in range(n_documents)], size),
    })  # fmt: skip
    plans = [
        ss.plan(
            ss.Pilot(ss.Outputs.from_statistics(statistics, "accuracy", items=items), unit=unit, n_sets=0, n_draws=100),
            sizes=[240],
        )
        for items, unit in ((documents, "item"), (None, None))
    ]
    by_item, without = (found.predicted for found in plans)
    assert by_item["n_items"].tolist() == by_item["n_units"].tolist() == [240]
    pd.testing.assert_frame_equal(by_item, without)


@pytest.mark.slow
@pytest.mark.statistical
@pytest.mark.parametrize(
    ("k", "n", "wanted", "skewed"), [(30, 400, 400, True), (12, 400, 1600, False), (20, 100, 400, False)]
)
def test_prediction_intervals_cover(k: int, n: int, wanted: int, skewed: bool) -> None:
    """Of 100 leaderboards: 80 % intervals hold 65 % and more, 95 % intervals 85 % and more; counts more still."""
    names = ("share_significant", "separated", "ranks")
    inside = {(name, share): 0 for name in names for share in (80, 95)}
    for seed in range(100):
        rng = np.random.default_rng([k, n, seed])
        spread = -0.08 * rng.gamma(1.0, 1.0, k) + 0.85 if skewed else 0.7 + 0.05 * rng.normal(size=k)
        true = np.clip(spread, 0.02, 0.98).tolist()
        row = predict(
            ss.truth.correlated_accuracies(true, n, seed=2 * seed + 1), [wanted], n_draws=200, seed=seed
        ).iloc[0]
        pairs = compared(ss.truth.correlated_accuracies(true, wanted, seed=2 * seed + 2), test="mcnemar")
        shown = {
            "share_significant": float(((pairs["p_value"] <= 0.05) & (pairs["gain"] > 0)).mean()),
            "separated": float(ss.comparisons.ranks(pairs)["n_significant"].iloc[0]),
            "ranks": float(ss.comparisons.groups(pairs, rule="greedy", p="p_value")["group"].max()),
        }
        for name, share in inside:
            inside[name, share] += row[f"{name}_low{share}"] <= shown[name] <= row[f"{name}_high{share}"]
    print(k, n, wanted, inside)
    assert all(count >= (65 if share == 80 else 85) for (_, share), count in inside.items())
