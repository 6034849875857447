"""Predictions of leaderboards: counts of one test set, normal forms of many items, and what is drawn independently."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning import leaderboards, predict
from simstudy.planning.settings import Level
from simstudy.truth.synthetic import outcome_correlation


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
    ranked = ss.ranks(pairs).iloc[0]
    groups = ss.groups(pairs, rule="greedy", p="p_value")["group"].max()
    # In an order of systems that is not that of their scores.
    mixed = rng.permutation(k)
    found = leaderboards._leaderboard(scores[mixed], z[np.ix_(mixed, mixed)], leaderboards._Cuts(df + 1, Level()))
    assert found == (ranked["n_separated"], ranked["n_separated_holm"], groups)


def test_wrong_winners_and_significant_pairs_are_those_of_the_normal_form() -> None:
    """Of so many items that true scores are known: the means over 190 pairs of two normal probabilities."""
    true, n = np.linspace(0.55, 0.75, 20).tolist(), 500
    row = predict(ss.truth.correlated_accuracies(true, 40_000, between=0.5), [n], n_draws=500).iloc[0]
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


def test_what_does_not_hang_on_the_scale_does_not() -> None:
    outputs = ss.truth.correlated_accuracies([0.5, 0.55, 0.6, 0.7, 0.75], 200)
    scores = pd.DataFrame(
        outputs.statistics[..., 0].T.astype(float) + np.arange(200)[:, None] % 7, columns=outputs.names
    )
    first, second = (
        predict(ss.Outputs.from_scores(frame, "mean"), [100], n_draws=200) for frame in (scores, 10 * scores)
    )
    columns = [column for column in first if str(column).startswith(("share", "wrong", "separated", "ranks"))]
    pd.testing.assert_frame_equal(first[columns], second[columns])


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


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_units": [20.5]}, "n_units must be"),
        ({"n_draws": 99}, "n_draws must be"),
        ({"by": "vendor"}, "vendor"),
    ],
)
def test_bad_input_is_named(options: dict[str, object], message: str) -> None:
    outputs = ss.truth.correlated_accuracies(np.linspace(0.5, 0.7, 4).tolist(), 50)
    with pytest.raises(ValueError, match=message):
        predict(outputs, **{"n_units": [100], **options})  # type: ignore[arg-type]
