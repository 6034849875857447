"""Which items decide a gain, against what leaving them out does."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.analyses import deciding_items
from simstudy.analyses.contributions import contributions_of_pairs, item_scores
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.outputs.test_set import ItemTexts
from tests.metrics.test_influence import statistics_of
from tests.oracles import ascending


def gain(outputs: Outputs, one: str, other: str) -> float:
    scores = dict(zip(outputs.names, outputs.scores(), strict=True))
    return float(scores[one] - scores[other]) * outputs.metric.sign


def of_metric(name: str, rng: np.random.Generator, n: int = 30) -> Outputs:
    counts = ascending(rng.integers(0, 7, size=(2, n, 3))) if name == "f1" else statistics_of(METRICS[name], n, rng)
    return Outputs.from_statistics(counts, name, ["a", "b"])


@pytest.mark.parametrize("name", ["accuracy", "f1", "bleu", "chrf"])
def test_the_gain_without_an_item_is_that_of_the_others(name: str, rng: np.random.Generator) -> None:
    outputs = of_metric(name, rng)
    found = deciding_items(outputs, "b", "a", n=30)
    assert found.gain == pytest.approx(gain(outputs, "b", "a"))
    assert found.items["contribution"].abs().is_monotonic_decreasing
    assert found.items["contribution"].sum() == pytest.approx(found.gain, rel=1e-4, abs=1e-4)
    assert found.items["share"].sum() == pytest.approx(1, rel=1e-3)
    for row in found.items.itertuples():
        others = outputs.take([i for i in range(30) if str(i) != row.id])
        assert row.gain_without == pytest.approx(gain(others, "b", "a"), abs=1e-9)
        one = outputs.take([int(row.id)])
        defined = outputs.metric.defined(one.statistics[:, 0])
        scores = np.where(defined, one.scores(), np.nan)
        np.testing.assert_allclose([row.score_b, row.score_a], scores)


def test_wins_and_losses_are_those_of_the_comparison_by_cluster_and_of_items() -> None:
    rng = np.random.default_rng(8)
    scores = pd.DataFrame({"a": rng.integers(0, 3, 60), "b": rng.integers(0, 3, 60) + (rng.random(60) < 0.4)})
    items = pd.DataFrame({"id": range(60), "cluster": rng.integers(0, 12, 60)})
    found = ss.examine(Outputs.from_scores(scores, items=items)).deciding_items("b", "a", 60)
    difference = scores["b"] - scores["a"]
    by_cluster = difference.groupby(items["cluster"]).sum()
    expected = [[int((d > 0).sum()), int((d < 0).sum()), int((d == 0).sum())] for d in (difference, by_cluster)]
    assert found.counts[["wins", "losses", "ties"]].to_numpy().tolist() == expected
    assert found.counts["unit"].tolist() == ["item", "cluster"]
    clusters = found.clusters
    assert clusters is not None
    own = clusters.set_index("cluster")
    np.testing.assert_allclose(own["contribution"], (by_cluster / 60).loc[own.index.astype(int)])
    for name, row in own.iterrows():
        kept = items["cluster"].astype(str) != name
        assert row["gain_without"] == pytest.approx(difference[kept].mean())
        assert row["n_items"] == (~kept).sum()
    assert found.items["cluster"].tolist() == [items["cluster"][int(i)] for i in found.items["id"]]


@pytest.mark.parametrize("seed", range(4))
def test_the_fewest_items_that_undo_a_gain_of_means(seed: int) -> None:
    """Of a mean no other choice of as few items does it: all choices are tried."""
    rng = np.random.default_rng(seed)
    scores = pd.DataFrame({"a": rng.integers(0, 5, 10) + 1, "b": rng.integers(0, 5, 10)})
    difference = (scores["a"] - scores["b"]).to_numpy()
    sign = np.sign(difference.sum()) or 1
    found = deciding_items(Outputs.from_scores(scores), "a", "b", n=3)
    enough = [
        k
        for k in range(1, 10)
        if any(sign * np.delete(difference, those).sum() <= 0 for those in combinations(range(10), k))
    ]
    carried = found.carried
    if difference.sum() == 0:
        assert carried.empty
    else:
        told = carried["n_reversing"].iloc[0]
        assert (None if pd.isna(told) else int(told)) == (enough[0] if enough else None)


def test_what_the_items_carry_that_add_most() -> None:
    """Of 40 items ten are told; they are those with the largest differences, of whoever leads."""
    rng = np.random.default_rng(2)
    scores = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40) + 0.4})
    difference = np.sort((scores["b"] - scores["a"]).to_numpy())[::-1]
    assert difference.sum() > 0
    found = deciding_items(Outputs.from_scores(scores), "a", "b")
    ten = found.carried.set_index("n_top").loc[10]
    assert found.gain == pytest.approx(-difference.mean())
    assert ten["contribution"] == pytest.approx(difference[:10].sum() / 40)
    assert ten["share"] == pytest.approx(difference[:10].sum() / difference.sum())
    assert ten["gain_without"] == pytest.approx(difference[10:].mean())
    said = found.sentences
    assert said[0].startswith("Wins, losses and ties of a: ")
    assert said[1].startswith("Without the 10 items that add most to it, the gain of b would be ")
    assert "chosen by their outcome" in said[-1]


def test_lower_is_better_turns_wins_round(rng: np.random.Generator) -> None:
    scores = pd.DataFrame({"a": rng.random(20), "b": rng.random(20)})
    higher, lower = (Outputs.from_scores(scores, lower_is_better=which) for which in (False, True))
    one, other = (deciding_items(outputs, "a", "b", n=20).items for outputs in (higher, lower))
    np.testing.assert_allclose(one["contribution"], -other["contribution"])
    np.testing.assert_allclose(one["gain_without"], -other["gain_without"])


def test_of_many_pairs_at_once_each_is_that_pair(rng: np.random.Generator) -> None:
    for name in ("accuracy", "f1", "bleu"):
        both = np.concatenate([statistics_of(METRICS[name], 25, rng) for _ in range(2)])
        outputs = Outputs.from_statistics(ascending(both) if name == "f1" else both, name)
        i, j = np.triu_indices(4, 1)
        for (a, b), parts in zip(zip(i, j, strict=True), contributions_of_pairs(outputs, i, j), strict=True):
            own = deciding_items(outputs, outputs.names[a], outputs.names[b], n=25).items
            np.testing.assert_allclose(parts[own["id"].astype(int)], own["contribution"], rtol=1e-9, atol=1e-12)


def test_battles_have_the_points_of_who_met(tmp_path: object) -> None:
    votes = [("x", "y", "a"), ("y", "x", "tie"), ("y", "z", "b"), ("z", "x", "b"), ("x", "y", "b"), ("z", "y", "b")]
    path = f"{tmp_path}/votes.csv"
    pd.DataFrame(votes, columns=["model_a", "model_b", "winner"]).to_csv(path, index=False)
    outputs = ss.load(path, "win_rate").outputs
    scores = pd.DataFrame(item_scores(outputs).T, columns=outputs.names)
    assert scores["x"].iloc[[0, 1, 3, 4]].tolist() == [1, 0.5, 1, 0]
    assert scores["x"].isna().tolist() == [False, False, True, False, False, True]
    np.testing.assert_array_equal(item_scores(outputs.select(["y", "x"]))[1], [1, 0.5, np.nan, np.nan, 0, np.nan])


@pytest.mark.parametrize("metric", ["bradley_terry", "win_rate"])
def test_in_an_arena_only_battles_of_the_two_are_won_and_lost(metric: str, tmp_path: Path) -> None:
    """As in the table of pairs, whoever is named first; battles with a third system still add to the gain."""
    votes = [("x", "y", "a"), ("y", "x", "tie"), ("y", "z", "b"), ("z", "x", "b"), ("x", "y", "b"), ("z", "y", "b"),
             ("x", "z", "b"), ("y", "x", "b")]  # fmt: skip
    table = pd.DataFrame(votes, columns=["model_a", "model_b", "winner"])
    table.assign(question_id=[1, 1, 2, 2, 3, 3, 4, 4]).to_csv(tmp_path / "votes.csv", index=False)
    told = ss.examine(tmp_path / "votes.csv", metric)
    row = told.pairs.pair("x", "y").row
    counted = (row[["wins", "losses"]] if row["system_a"] == "x" else row[["losses", "wins"]]).tolist()
    assert counted == [2, 1]
    found = told.deciding_items("x", "y", n=8)
    assert found.counts.to_numpy().tolist() == [["battle", *counted, row["ties"]]]
    assert found.sentences[0] == "Wins, losses and ties of x: 2, 1 and 1 of 4 battles with y."
    assert told.deciding_items("y", "x").sentences[0] == "Wins, losses and ties of y: 1, 2 and 1 of 4 battles with x."
    assert found.items["contribution"].sum() == pytest.approx(found.gain)
    known = ["win", "tie", "neither", "neither", "loss", "neither", "neither", "win"]
    outcomes = {str(item): outcome for item, outcome in zip(told.outputs.items["id"], known, strict=True)}
    assert dict(zip(found.items["id"], found.items["outcome"], strict=True)) == outcomes


def test_systems_that_never_met_have_no_wins(tmp_path: Path) -> None:
    votes = [("x", "y", "a"), ("y", "x", "a"), ("z", "y", "a"), ("y", "z", "a")]
    pd.DataFrame(votes, columns=["model_a", "model_b", "winner"]).to_csv(tmp_path / "votes.csv", index=False)
    found = ss.examine(tmp_path / "votes.csv", "win_rate").deciding_items("x", "z")
    assert found.sentences[0] == "Wins, losses and ties of x: 0, 0 and 0 of 0 battles with z."


def test_a_metric_of_arrays_leaves_items_out(rng: np.random.Generator) -> None:
    gold = np.arange(30) % 2
    statistics = np.stack([np.stack([gold, gold + rng.normal(size=30)], axis=1) for _ in range(2)])
    outputs = Outputs.from_statistics(statistics, "auc", ["a", "b"])
    found = deciding_items(outputs, "a", "b", n=30)
    assert found.items["contribution"].sum() == pytest.approx(found.gain)
    for row in found.items.head(5).itertuples():
        others = outputs.take([i for i in range(30) if str(i) != row.id])
        assert row.gain_without == pytest.approx(gain(others, "a", "b"), abs=1e-12)
        assert (row.score_a, row.score_b) == tuple(statistics[:, int(row.id), 1])
    assert found.carried["n_reversing"].isna().all()


def test_texts_stand_beside_the_numbers() -> None:
    outputs = Outputs.from_scores(pd.DataFrame({"a": [1, 0, 1], "b": [0, 0, 1]}, index=["x", "y", "z"]), "accuracy")
    texts = ItemTexts(answers={"b": {"x": "no", "y": "yes"}})
    found = deciding_items(outputs, "a", "b", texts=texts)
    assert found.items[["id", "outcome"]].to_numpy().tolist() == [["x", "win"], ["y", "tie"], ["z", "tie"]]
    assert found.items["answer_b"].tolist() == ["no", "yes", None]
    assert not {"answer_a", "input", "reference"} & {*found.items}
    assert "Without the item that adds most" in str(found)
    assert "<table" in found._repr_html_()


def test_equal_systems_have_no_lead_that_could_be_carried() -> None:
    outputs = Outputs.from_scores(pd.DataFrame({"a": [1, 0], "b": [0, 1]}), "accuracy")
    found = deciding_items(outputs, "a", "b")
    assert found.carried.empty
    assert found.items["share"].isna().all()
    assert len(found.sentences) == 2


def test_what_is_wrong_is_told() -> None:
    outputs = Outputs.from_scores(pd.DataFrame({"a": [1, 0], "b": [0, 1]}), "accuracy")
    with pytest.raises(ValueError, match="systems must be two, not 'a' twice"):
        deciding_items(outputs, "a", "a")
    with pytest.raises(ValueError, match="names must be of systems: c"):
        deciding_items(outputs, "a", "c")
    with pytest.raises(ValueError, match="n must be at least 1"):
        deciding_items(outputs, "a", "b", n=0)
    with pytest.raises(ValueError, match="unit must be a column of the items, not 'doc'"):
        deciding_items(outputs, "a", "b", unit="doc")


def test_of_samples_units_are_called_samples_and_questions() -> None:
    rows = [
        (name, q, k, int((q + k) % 3 < 1 + (name == "new")))
        for name in ("new", "old")
        for q in range(6)
        for k in (1, 2)
    ]
    table = pd.DataFrame(rows, columns=["system", "item", "sample", "score"])
    found = ss.examine(table, "accuracy").deciding_items("new", "old")
    assert found.counts["unit"].tolist() == ["sample", "question"]
    assert found.counts[["wins", "losses", "ties"]].sum(axis=1).tolist() == [12, 6]
