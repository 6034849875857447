"""Which items decide a gain, against what leaving them out does; battles of an arena, and their win rates."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.comparisons import deciding_items
from simstudy.comparisons.deciding_items import contributions_of_pairs, item_scores
from simstudy.examination import Examination
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.outputs.test_set import ItemTexts
from tests.metrics.test_influence import statistics_of
from tests.oracles import ascending


def gain(outputs: Outputs, first: str, second: str) -> float:
    scores = dict(zip(outputs.names, outputs.scores(), strict=True))
    return float(scores[first] - scores[second]) * outputs.metric.sign


def random_outputs(name: str, rng: np.random.Generator, n: int = 30, k: int = 2) -> Outputs:
    """Systems a, b, … of a metric."""
    if name == "f1":
        # The first item has no name, and none is found: its score is 0 / 0.
        counts = ascending(rng.integers(0, 7, size=(k, n, 3)) * (np.arange(n) > 0)[:, None])
    elif name == "auc":
        gold = np.arange(n) % 2
        counts = np.stack([np.stack([gold, gold + rng.normal(size=n)], axis=1) for _ in range(k)])
    elif name == "mean (lower is better)":
        counts = np.stack([rng.random((k, n)), np.ones((k, n))], axis=-1)
    else:
        counts = np.concatenate([statistics_of(METRICS[name], n, rng) for _ in range(k // 2)])
    return Outputs.from_statistics(counts, name, list("abcd"[:k]))


@pytest.mark.parametrize("name", ["accuracy", "f1", "bleu", "chrf", "auc", "mean (lower is better)"])
def test_the_gain_without_an_item_is_that_of_the_others(name: str, rng: np.random.Generator) -> None:
    outputs = random_outputs(name, rng)
    deciding = deciding_items(outputs, "b", "a", n=30)
    assert deciding.gain == pytest.approx(gain(outputs, "b", "a"))
    assert deciding.items["contribution"].abs().is_monotonic_decreasing
    assert deciding.items["contribution"].sum() == pytest.approx(deciding.gain, rel=1e-4, abs=1e-4)
    assert deciding.items["share"].sum() == pytest.approx(1, rel=1e-3)
    for row in deciding.items.itertuples():
        others = outputs.take([i for i in range(30) if str(i) != row.id])
        assert row.gain_without == pytest.approx(gain(others, "b", "a"), abs=1e-9)
        assert row.outcome == {1: "win", -1: "loss", 0: "tie"}[int(np.sign(row.contribution))]
        item = outputs.take([int(row.id)])
        if outputs.metric.of_sums:
            scores = np.where(outputs.metric.defined(item.statistics[:, 0]), item.scores(), np.nan)
        else:
            scores = item.statistics[:, 0, 1]
            assert deciding.carried["n_reversing"].isna().all()
        np.testing.assert_allclose([row.score_b, row.score_a], scores)


def test_wins_and_losses_are_those_of_the_comparison_by_cluster_and_of_items() -> None:
    rng = np.random.default_rng(8)
    scores = pd.DataFrame({"a": rng.integers(0, 3, 60), "b": rng.integers(0, 3, 60) + (rng.random(60) < 0.4)})
    items = pd.DataFrame({"id": range(60), "cluster": rng.integers(0, 12, 60)})
    deciding = ss.examine(Outputs.from_scores(scores, items=items)).deciding_items("b", "a", 60)
    difference = scores["b"] - scores["a"]
    by_cluster = difference.groupby(items["cluster"]).sum()
    expected = [[int((d > 0).sum()), int((d < 0).sum()), int((d == 0).sum())] for d in (difference, by_cluster)]
    assert deciding.counts[["wins", "losses", "ties"]].to_numpy().tolist() == expected
    assert deciding.counts["unit"].tolist() == ["item", "cluster"]
    assert deciding.sentences[2].startswith("Without the cluster that adds most to it, the gain of b would be ")
    assert deciding.clusters is not None
    clusters = deciding.clusters.set_index("cluster")
    np.testing.assert_allclose(clusters["contribution"], (by_cluster / 60).loc[clusters.index.astype(int)])
    np.testing.assert_allclose(clusters["share"], clusters["contribution"] / difference.mean())
    for name, row in clusters.iterrows():
        kept = items["cluster"].astype(str) != name
        assert row["gain_without"] == pytest.approx(difference[kept].mean())
        assert row["n_items"] == (~kept).sum()
        assert row["outcome"] == {1: "win", -1: "loss", 0: "tie"}[int(np.sign(by_cluster[int(str(name))]))]
    assert deciding.items["cluster"].tolist() == [items["cluster"][int(i)] for i in deciding.items["id"]]


@pytest.mark.parametrize("seed", [0, 1, 2, 3, 21])
def test_the_fewest_items_that_undo_a_gain_of_means(seed: int) -> None:
    """No other choice of fewer items does it: all choices are tried. In the last the two are equal."""
    rng = np.random.default_rng(seed)
    scores = pd.DataFrame({"a": rng.integers(0, 5, 10) + 1, "b": rng.integers(0, 5, 10)})
    difference = (scores["a"] - scores["b"]).to_numpy()
    sign = np.sign(difference.sum())
    deciding = deciding_items(Outputs.from_scores(scores), "a", "b", n=3)
    enough = [
        k
        for k in range(1, 10)
        if any(sign * np.delete(difference, chosen).sum() <= 0 for chosen in combinations(range(10), k))
    ]
    assert deciding.carried["n_reversing"].dropna().tolist() == (enough[:1] if sign else [])
    assert (
        deciding.carried.empty == deciding.items["share"].isna().all() == (len(deciding.sentences) == 2) == (sign == 0)
    )


def test_the_items_that_add_most_to_the_lead_of_either_system() -> None:
    """Of 40 items these are the ten with the largest differences."""
    rng = np.random.default_rng(2)
    scores = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40) + 0.4})
    difference = np.sort((scores["b"] - scores["a"]).to_numpy())[::-1]
    deciding = deciding_items(Outputs.from_scores(scores), "a", "b")
    top = deciding.carried.set_index("n_top").loc[10]
    assert deciding.gain == pytest.approx(-difference.mean())
    assert top["contribution"] == pytest.approx(difference[:10].sum() / 40)
    assert top["share"] == pytest.approx(difference[:10].sum() / difference.sum())
    assert top["gain_without"] == pytest.approx(difference[10:].mean())
    without, enough = f"{difference[10:].mean():.3g}", top["n_reversing"]
    assert deciding.sentences[1] == (
        f"Without the 10 items that add most to it, the gain of b would be {without} instead of "
        f"{difference.mean():.3g}. Leaving out {enough} items is enough to undo it."
    )


def test_many_pairs_at_once_have_the_contributions_of_each(rng: np.random.Generator) -> None:
    for name in ("accuracy", "f1", "bleu"):
        outputs = random_outputs(name, rng, 25, 4)
        i, j = np.triu_indices(4, 1)
        for a, b, parts in zip(i, j, contributions_of_pairs(outputs, i, j), strict=True):
            items = deciding_items(outputs, outputs.names[a], outputs.names[b], n=25).items
            np.testing.assert_allclose(parts[items["id"].astype(int)], items["contribution"], rtol=1e-9, atol=1e-12)


VOTES = [("x", "y", "a"), ("y", "x", "tie"), ("y", "z", "b"), ("z", "x", "b"), ("x", "y", "b"), ("z", "y", "b"),
         ("x", "z", "b"), ("y", "x", "b")]  # fmt: skip


def arena(path: Path, metric: str) -> Examination:
    """Votes of questions with two battles each."""
    table = pd.DataFrame(VOTES, columns=["model_a", "model_b", "winner"])
    table.assign(question_id=table.index // 2).to_csv(path / "votes.csv", index=False)
    return ss.examine(path / "votes.csv", metric)


def test_battles_have_the_points_of_who_met(tmp_path: Path) -> None:
    outputs = arena(tmp_path, "win_rate").outputs
    place = np.argsort(outputs.items["id"].astype(int))
    both = item_scores(outputs.select(["y", "x"]))
    for points, z in ((item_scores(outputs)[outputs.names.index("x")], [1, 0]), (both[1], [np.nan, np.nan])):
        np.testing.assert_array_equal(points[place], [1, 0.5, np.nan, z[0], 0, np.nan, z[1], 1])


@pytest.mark.parametrize("metric", ["bradley_terry", "win_rate"])
def test_in_an_arena_only_battles_of_the_two_are_won_and_lost(metric: str, tmp_path: Path) -> None:
    """As in the table of pairs, whoever is named first; battles with a third system still add to the gain."""
    examination = arena(tmp_path, metric)
    row = examination.pairs.pair("x", "y").row
    counts = (row[["wins", "losses"]] if row["system_a"] == "x" else row[["losses", "wins"]]).tolist()
    assert counts == [2, 1]
    deciding = examination.deciding_items("x", "y", n=8)
    assert deciding.counts.to_numpy().tolist() == [["battle", *counts, row["ties"]]]
    assert deciding.sentences[0] == "Wins, losses and ties of x: 2, 1 and 1 of 4 battles with y."
    assert examination.deciding_items("y", "x").sentences[0].startswith("Wins, losses and ties of y: 1, 2 and 1 of 4 ")
    assert deciding.items["contribution"].sum() == pytest.approx(deciding.gain)
    expected = ["win", "tie", "neither", "neither", "loss", "neither", "neither", "win"]
    outcomes = {str(item): outcome for item, outcome in zip(examination.outputs.items["id"], expected, strict=True)}
    assert dict(zip(deciding.items["id"], deciding.items["outcome"], strict=True)) == outcomes


def test_win_rates_are_counted_and_have_wilsons_interval(tmp_path: Path) -> None:
    rates = ss.comparisons.win_rates(arena(tmp_path, "win_rate").outputs, level=0.8).set_index(["system", "opponent"])
    assert rates.loc[("x", "y"), ["battles", "wins", "losses", "ties"]].tolist() == [4, 2, 1, 1]
    interval = stats.binomtest(1, 2).proportion_ci(0.8, method="wilson")
    expected = pytest.approx([50, 100 * interval.low, 100 * interval.high])
    assert rates.loc[("y", "z"), ["win_rate", "win_rate_low", "win_rate_high"]].tolist() == expected


def test_texts_stand_beside_the_numbers() -> None:
    outputs = Outputs.from_scores(pd.DataFrame({"a": [1, 0, 1], "b": [0, 0, 1]}, index=["x", "y", "z"]), "accuracy")
    texts = ItemTexts(answers={"b": {"x": "no", "y": "yes"}})
    deciding = deciding_items(outputs, "a", "b", texts=texts)
    assert deciding.items[["id", "answer_b"]].to_numpy().tolist() == [["x", "no"], ["y", "yes"], ["z", None]]
    assert not {"answer_a", "input", "reference"} & {*deciding.items}
    assert "Without the item that adds most" in str(deciding)


@pytest.mark.parametrize(
    ("names", "options", "message"),
    [
        ("aa", {}, "systems must be two, not 'a' twice"),
        ("ac", {}, "names must be of systems: c"),
        ("ab", {"n": 0}, "n must be at least 1"),
        ("ab", {"unit": "doc"}, "unit must be a column of the items, not 'doc'"),
    ],
)
def test_slips_are_named(names: str, options: dict[str, Any], message: str) -> None:
    outputs = Outputs.from_scores(pd.DataFrame({"a": [1, 0], "b": [0, 1]}), "accuracy")
    with pytest.raises(ValueError, match=message):
        deciding_items(outputs, *names, **options)


def test_units_of_samples_are_samples_and_questions() -> None:
    table = pd.DataFrame([(s, q, k) for s in ("new", "old") for q in range(6) for k in (1, 2)])
    table = table.set_axis(["system", "item", "sample"], axis=1).assign(score=[1, 0, 1, 1, 0, 0] * 4)
    deciding = ss.examine(table, "accuracy").deciding_items("new", "old")
    assert deciding.counts["unit"].tolist() == ["sample", "question"]
    assert deciding.counts[["wins", "losses", "ties"]].sum(axis=1).tolist() == [12, 6]
