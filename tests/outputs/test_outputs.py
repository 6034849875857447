from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simstudy.outputs import Outputs
from tests.oracles import ascending, compared

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


def test_cluster_sums_keep_only_columns_that_are_constant_within_clusters(tagged: Outputs) -> None:
    assert list(tagged.sum_by("cluster").items.columns) == ["id", "cluster"]
    by_domain = tagged.sum_by("domain")
    assert by_domain.items["id"].tolist() == ["news", "wiki", "mail"]


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


@pytest.mark.parametrize("blank", ["", " ", "\u00a0", None, np.nan])
def test_a_blank_label_is_missing(blank: object) -> None:
    items = pd.DataFrame({"id": ["x", "y"], "cluster": ["d1", blank]})
    outputs = Outputs.from_statistics(np.ones((1, 2, 2), int), "accuracy", items=items, test_set="t")
    for act in (outputs.labels, outputs.sum_by):
        with pytest.raises(ValueError, match=r"^item 'y' of test set 't' has no cluster$"):
            act("cluster")


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


def test_nothing_changes_in_place(tagged: Outputs) -> None:
    before = tagged.statistics.copy()
    with pytest.raises(ValueError, match="read-only"):
        tagged.statistics[0, 0, 0] = 1
    given_array = before.copy()
    outputs = Outputs.from_statistics(given_array, "accuracy")
    given_array[:] = 0
    np.testing.assert_array_equal(outputs.statistics, before)


def test_repeated_items_of_repeated_items_have_ids_of_their_own(tagged: Outputs) -> None:
    assert tagged.take([0, 0]).take([0, 0, 1, 1]).items["id"].is_unique


def test_a_part_has_tables_of_its_own(tagged: Outputs) -> None:
    part = tagged.head(10)
    part.systems.loc[0, "name"] = "changed"
    assert tagged.names[0] == "a"


def test_scores_in_any_numeric_columns() -> None:
    frame = pd.DataFrame({"a": [True, False], "b": [1, 0], "c": pd.array([1, 1], dtype="Int64")})
    whole = Outputs.from_scores(frame, "accuracy")
    assert whole.scores().tolist() == [50.0, 50.0, 100.0]
    assert whole.statistics.dtype.kind == "i"
    decimals = Outputs.from_scores(pd.DataFrame({"a": [0.5, 0.25], "b": [1, 0]}, index=["q1", "q2"]))
    assert decimals.scores().tolist() == [0.375, 0.5]
    assert list(decimals.items["id"]) == ["q1", "q2"]


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
    [
        (["d1", "d1", "d2"], "cluster"),
        ([1, 1, 2], "cluster"),
        ([None, None, None], "item"),
        (["d1", None, "d2"], "cluster"),
    ],
)
def test_what_is_drawn_on_its_own_is_a_document_where_there_are_any(clusters: list[object], unit: str) -> None:
    """A column in which some are missing is one all the same: whoever takes it is told which."""
    statistics = [[[1, 1], [0, 1], [1, 1]]]
    items = pd.DataFrame({"id": ["x", "y", "z"], "domain": "news"})
    assert Outputs.from_statistics(statistics, "accuracy", items=items).natural_unit == "item"
    assert Outputs.from_statistics(statistics, "accuracy", items=items.assign(cluster=clusters)).natural_unit == unit
    assert Outputs.from_statistics(statistics, "accuracy").natural_unit == "item"


def test_numbers_of_other_machines_and_masks_without_effect() -> None:
    one = [[[1, 1]], [[0, 1]]]
    for array in (np.array(one, dtype=">i4"), np.ma.array(one, mask=False), np.array(one, dtype=np.longdouble)):
        outputs = Outputs.from_statistics(array, "accuracy")
        assert outputs.scores().tolist() == [100, 0]
        assert outputs.statistics.dtype.isnative
        assert outputs.statistics.dtype.itemsize <= 8
        assert type(outputs.statistics) is np.ndarray


def test_references_that_depend_on_the_answer_may_differ() -> None:
    """The nearest of several references in length, and the candidates that a system accepts."""
    bleu = [[4, 3, 2, 1, 4, 3, 2, 1, 4, length] for length in (4, 5)]
    assert Outputs.from_statistics([[one] for one in bleu], "bleu").n_systems == 2
    assert Outputs.from_statistics([[[1, 1], [0, 0]], [[1, 1], [0, 1]]], "precision@2").n_systems == 2


@given(st.integers(2, 6), st.data())
@settings(max_examples=6, deadline=None)
def test_whole_numbers_and_the_same_decimals_have_one_p_value_with_items_without_a_score(
    n: int, data: st.DataObject
) -> None:
    """Integers are settled by integers, decimals by a tolerance: items of count 0 are the same to both."""
    counts = np.array(data.draw(st.lists(st.integers(0, 3), min_size=2 * n, max_size=2 * n))).reshape(2, n)
    sums = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=2 * n, max_size=2 * n))).reshape(2, n)
    statistics = np.stack([np.where(counts > 0, sums, 0), counts], axis=-1)
    for test in ("bootstrap", "randomization"):
        whole, decimal = (
            compared(Outputs.from_statistics(array, "mean", ["a", "b"]), test=test, n_resamples=199)
            for array in (statistics, statistics / 8)
        )
        assert whole["p_value"].tolist() == decimal["p_value"].tolist()
