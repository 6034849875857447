"""Outputs: cut, summed by cluster, joined; nothing changes in place and nothing is lost."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simstudy.metrics import METRICS
from simstudy.metrics.mean import Mean
from simstudy.outputs import Outputs
from tests.oracles import ascending

ANSWERS = np.array([[1, 2, 3, 4], [1, 2, 0, 4], [5, 2, 3, 4]])
COUNTS = hnp.arrays(
    np.int64, st.tuples(st.integers(1, 4), st.integers(1, 8), st.just(3)), elements=st.integers(0, 50)
).map(ascending)  # correct <= guessed <= gold, which is one for all systems


@given(COUNTS, st.data())
@settings(max_examples=25, deadline=None)
def test_cluster_sums_keep_the_scores(counts: np.ndarray, data: st.DataObject) -> None:
    n = counts.shape[1]
    clusters = data.draw(st.lists(st.sampled_from("abc"), min_size=n, max_size=n))
    items = pd.DataFrame({"id": range(n), "cluster": clusters})
    outputs = Outputs.from_statistics(counts, "f1", items=items)
    summed = outputs.sum_by("cluster")
    assert (summed.n_items, summed.statistics.dtype) == (len(set(clusters)), np.int64)
    np.testing.assert_array_equal(summed.scores(), outputs.scores())
    for i, cluster in enumerate(summed.items["id"]):
        expected = sum(counts[:, j] for j in range(n) if clusters[j] == cluster)
        np.testing.assert_array_equal(summed.statistics[:, i], expected)


@pytest.mark.parametrize(("kind", "summed"), [("int8", np.int64), ("uint8", np.int64), ("float32", np.float64)])
def test_cluster_sums_have_room_for_large_clusters(kind: str, summed: type) -> None:
    value = 0.1 if kind == "float32" else 100
    statistics = np.full((1, 2000, 2), [value, 1], dtype=kind)
    sums = Outputs.from_statistics(statistics, "mean", items=pd.DataFrame({"id": range(2000), "cluster": "d"})).sum_by(
        "cluster"
    )
    assert sums.statistics.dtype == summed
    assert sums.statistics.ravel() == pytest.approx([2000 * float(statistics[0, 0, 0]), 2000], rel=1e-12)


@pytest.mark.parametrize(
    ("domains", "kept"),
    [(["x", "x", "y"], True), (["x", None, "y"], False), ([None, None, "y"], True), (["x", "z", "y"], False)],
)
def test_a_column_of_which_a_cluster_has_a_part_only_is_not_constant(domains: list[str | None], kept: bool) -> None:
    items = pd.DataFrame({"id": list("abc"), "cluster": ["d1", "d1", "d2"], "domain": domains})
    summed = Outputs.from_statistics(np.ones((2, 3, 2), dtype=int), "accuracy", items=items).sum_by("cluster")
    assert ("domain" in summed.items) is kept
    if kept:
        assert [one if isinstance(one, str) else None for one in summed.items["domain"]] == [domains[0], "y"]


def test_head_take_and_domains(tagged: Outputs) -> None:
    assert tagged.head(60).fingerprint() == tagged.fingerprint()
    head = tagged.head(7)
    np.testing.assert_array_equal(head.statistics, tagged.statistics[:, :7])
    assert list(head.items["id"]) == [f"s{i}" for i in range(7)]
    taken = tagged.take([3, 3, 1])
    assert list(taken.items["id"]) == ["s3", "s3#2", "s1"]
    np.testing.assert_array_equal(taken.statistics, tagged.statistics[:, [3, 3, 1]])
    assert tagged.take([0, 0]).take([0, 0, 1, 1]).items["id"].is_unique
    domains = tagged.by_domain()
    assert list(domains) == ["news", "wiki", "mail"]
    assert domains["wiki"].test_set == "wiki"
    np.testing.assert_array_equal(domains["wiki"].statistics, tagged.statistics[:, 1::3])


def test_labels_are_text_whatever_the_column_holds() -> None:
    items = pd.DataFrame({"id": ["x", "y", "z"], "domain": [2, 1, 2]})
    outputs = Outputs.from_statistics(np.ones((1, 3, 2), int), "accuracy", items=items)
    assert outputs.domain("2").items["id"].tolist() == ["x", "z"]
    assert {name: part.test_set for name, part in outputs.by_domain().items()} == {"2": "2", "1": "1"}
    with pytest.raises(ValueError, match=r"^domain must be one of 1, 2, not '3'$"):
        outputs.domain("3")
    assert outputs.sum_by("domain").items.to_dict("list") == {"id": ["2", "1"], "domain": [2, 1]}


@pytest.mark.parametrize("blank", ["", "\u00a0", None])
def test_a_blank_label_is_missing(blank: object) -> None:
    items = pd.DataFrame({"id": ["x", "y"], "cluster": ["d1", blank]})
    outputs = Outputs.from_statistics(np.ones((1, 2, 2), int), "accuracy", items=items, test_set="t")
    with pytest.raises(ValueError, match=r"^item 'y' of test set 't' has no cluster$"):
        outputs.sum_by("cluster")


def test_joining_systems_and_items(tagged: Outputs) -> None:
    front, back = tagged.select(["a", "b"]), tagged.select(["c", "d", "e"])
    # An order that is not its own inverse.
    joined = front.join_systems(back.take(np.random.default_rng(0).permutation(60)))
    np.testing.assert_array_equal(joined.statistics, tagged.statistics)
    assert joined.names == tagged.names
    pd.testing.assert_frame_equal(joined.items, tagged.items)
    first, rest = tagged.head(20), tagged.take(np.arange(20, 60))
    shuffled = rest.select(list("edcba"))
    whole = first.join_items(shuffled)
    np.testing.assert_array_equal(whole.statistics, tagged.statistics)


def test_joined_tables_know_what_either_knows_and_may_not_disagree() -> None:
    one = Outputs.from_statistics([[[1, 1, 2], [0, 0, 1]]], "f1", ["a"], pd.DataFrame({"id": ["x", "y"]}))
    items = pd.DataFrame({"id": ["y", "x"], "cluster": ["of y", "of x"]})
    other = Outputs.from_statistics([[[1, 1, 1], [0, 0, 2]]], "f1", ["b"], items)
    assert one.join_systems(other).items["cluster"].tolist() == ["of x", "of y"]
    halves = [
        replace(part, items=part.items.assign(domain=d)) for part, d in ((one, ["p", None]), (other, ["q", None]))
    ]
    assert halves[0].join_systems(halves[1]).items["domain"].tolist() == ["p", "q"]
    again = Outputs.from_statistics([[[1, 1, 1], [0, 0, 2]]], "f1", ["c"], items.assign(cluster=["of y", "of z"]))
    with pytest.raises(ValueError, match="^item 'x' has the cluster 'of x' here and 'of z' there$"):
        one.join_systems(other).join_systems(again)
    gold = Outputs.from_statistics([[[1, 1, 1], [0, 0, 3]]], "f1", ["d"], items)
    with pytest.raises(ValueError, match="item 'x' has 2 by 'a' and 3 by 'd'$"):
        one.join_systems(gold)
    systems = pd.DataFrame({"name": ["a"], "group": ["g"]})
    more = Outputs.from_statistics([[[1, 1, 1]]], "f1", systems, ["z"])
    assert one.join_items(more).systems["group"].tolist() == ["g"]
    with pytest.raises(ValueError, match="^system 'a' has the group 'g' here and 'h' there$"):
        more.join_items(Outputs.from_statistics([[[1, 1, 1]]], "f1", systems.assign(group="h"), ["w"]))


def test_answers_go_with_their_items_and_systems() -> None:
    items = pd.DataFrame({"id": list("pqrs"), "domain": list("xxyy")})
    outputs = Outputs.from_statistics(np.ones((3, 4, 2), dtype=int), "accuracy", list("abc"), items, answers=ANSWERS)

    def answers(part: Outputs) -> list[list[int]]:
        assert part.answers is not None
        return part.answers.tolist()

    assert answers(outputs.head(2)) == [[1, 2], [1, 2], [5, 2]]
    assert answers(outputs.take([3, 0, 3])) == [[4, 1, 4], [4, 1, 4], [4, 5, 4]]
    assert answers(outputs.domain("y")) == [[3, 4], [0, 4], [3, 4]]
    first, others = outputs.select(["b"]), outputs.select(["c", "a"])
    assert answers(first.join_systems(others.take([3, 2, 1, 0]))) == ANSWERS[[1, 2, 0]].tolist()
    joined = outputs.take([2, 1]).join_items(outputs.take([0]).select(["c", "b", "a"]))
    assert answers(joined) == ANSWERS[:, [2, 1, 0]].tolist()
    assert first.join_systems(replace(others, answers=None)).answers is None
    assert outputs.sum_by("domain").answers is None
    for other in (None, ANSWERS + 1):
        assert replace(outputs, answers=other).fingerprint() != outputs.fingerprint()


@pytest.mark.parametrize("wrong", [ANSWERS[:2], ANSWERS.T, ANSWERS / 2, "text"])
def test_what_are_no_answers(wrong: Any) -> None:
    with pytest.raises(ValueError, match=r"answers must be whole numbers of shape \(3, 4\)"):
        Outputs.from_statistics(np.ones((3, 4, 2), dtype=int), "accuracy", answers=wrong)


def test_nothing_changes_in_place(tagged: Outputs) -> None:
    before = tagged.statistics.copy()
    with pytest.raises(ValueError, match="read-only"):
        tagged.statistics[0, 0, 0] = 1
    part = tagged.head(10)
    part.systems.loc[0, "name"] = "changed"
    assert tagged.names[0] == "a"
    copied = before.copy()
    outputs = Outputs.from_statistics(copied, "accuracy")
    copied[:] = 0
    np.testing.assert_array_equal(outputs.statistics, before)


def test_another_metric_of_the_same_statistics() -> None:
    f1 = Outputs.from_statistics([[[3, 4, 6], [0, 1, 0]]], "f1")
    recall = f1.with_metric("recall")
    assert (recall.metric, f1.metric) == (METRICS["recall"], METRICS["f1"])
    np.testing.assert_array_equal(recall.statistics, f1.statistics)
    assert recall.scores().tolist() == [50]
    assert recall.with_metric("f1").fingerprint() == f1.fingerprint()
    with pytest.raises(ValueError, match="unlike sum = 2, count = 1 of system 'system-1', item '0'$"):
        Outputs.from_statistics([[[2, 1]]], "mean").with_metric(Mean("share", low=0, high=1))


def test_fingerprints_are_of_the_content(tagged: Outputs) -> None:
    assert tagged.take(np.arange(60)).fingerprint() == tagged.fingerprint()
    other = tagged.statistics.copy()
    other[0, 0, 0] -= 1
    changed = Outputs.from_statistics(
        other, "accuracy", tagged.systems, tagged.items, task=tagged.task, test_set=tagged.test_set
    )
    renamed = Outputs.from_statistics(tagged.statistics, "accuracy", list("abcdf"), tagged.items)
    others = [
        changed, renamed, tagged.head(59), tagged.take(np.arange(60)[::-1]), replace(tagged, task="parsing"),
        replace(tagged, test_set="another"), replace(tagged, items=tagged.items.assign(domain="news")),
        replace(tagged, systems=tagged.systems.assign(group="g")),
    ]  # fmt: skip
    assert len({outputs.fingerprint() for outputs in (tagged, *others)}) == 1 + len(others)


def test_scores_that_differ_by_rounding_tie_and_ties_go_by_name() -> None:
    """0.1 + 0.2 + 0.3 is not 0.3 + 0.2 + 0.1 to a computer; b is ahead of them, and of errors behind."""
    scores = pd.DataFrame({"d": [0.3, 0.2, 0.1], "c": [0.1, 0.2, 0.3], "b": [0.1, 0.2, 0.3 + 1e-9]})
    outputs = Outputs.from_scores(scores)
    assert outputs.scores()[0] != outputs.scores()[1]
    assert outputs.best_first().names == ["b", "c", "d"]
    first, second = np.array([0, 2, 1]), np.array([1, 0, 2])
    assert outputs.gains(first, second).tolist() == [0, pytest.approx(1e-9 / 3), pytest.approx(-1e-9 / 3)]
    errors = Outputs.from_scores(scores, lower_is_better=True)
    assert errors.best_first().names == ["c", "d", "b"]
    assert errors.gains(first, second).tolist() == [0, pytest.approx(-1e-9 / 3), pytest.approx(1e-9 / 3)]


def test_missing_families_are_the_systems_themselves() -> None:
    systems = pd.DataFrame({"name": ["a", "b"], "family": ["x", None]})
    outputs = Outputs.from_statistics([[[1, 1]], [[1, 1]]], "accuracy", systems)
    assert list(outputs.systems["family"]) == ["x", "b"]
    assert list(outputs.systems.columns[:6]) == ["name", "family", "group", "train_size", "replicate", "source"]


@pytest.mark.parametrize(
    ("clusters", "unit"),
    [([1, 1, 2], "cluster"), ([None, None, None], "item"), (["d1", None, "d2"], "cluster")],
)
def test_the_natural_unit_is_the_cluster_if_any_item_has_one(clusters: list[Any], unit: str) -> None:
    items = pd.DataFrame({"id": ["x", "y", "z"], "domain": "news"})
    outputs = Outputs.from_statistics([[[1, 1], [0, 1], [1, 1]]], "accuracy", items=items)
    assert outputs.natural_unit == "item"
    assert replace(outputs, items=items.assign(cluster=clusters)).natural_unit == unit
