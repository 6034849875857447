from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from simstudy.metrics import METRICS
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


@pytest.mark.parametrize("told", [None, True, False])
def test_scores_that_are_called_like_errors_ask_which_way_they_go_unless_it_is_told(told: bool | None) -> None:
    scores = pd.DataFrame({"a": [0.1, 0.2], "b": [0.3, 0.1]})
    scores.columns.name = "loss"
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        outputs = Outputs.from_scores(scores, lower_is_better=told)
    assert ["called 'loss'" in str(one.message) for one in found] == ([True] if told is None else [])
    assert outputs.metric.higher_is_better is not told or told is None


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


YEH = {"both": range(19), "only I": range(19, 47), "only II": range(47, 53)}
YEH_SPURIOUS = {"both": range(200, 205), "only I": range(205, 248), "only II": range(248, 257)}


@pytest.fixture
def relations() -> Outputs:
    """The modifier relations of Yeh (2000, section 3.3): 103 gold (recalls of 45.6 and 24.3 % are of 103)."""
    found = {
        name: [*YEH["both"], *YEH[f"only {name}"], *YEH_SPURIOUS["both"], *YEH_SPURIOUS[f"only {name}"]]
        for name in ("I", "II")
    }
    return Outputs.from_responses(range(103), found, "f1", task="modifiers", test_set="Yeh")


def test_responses_of_yehs_example(relations: Outputs) -> None:
    for metric, printed in (("recall", [45.6, 24.3]), ("precision", [49.5, 64.1]), ("f1", [47.5, 35.2])):
        assert relations.with_metric(metric).scores().round(1).tolist() == printed
    assert relations.n_items == 103 + 5 + 43 + 9
    # What a swap can change are the 28 + 6 + 43 + 9 = 86 responses that he shuffles.
    first, second = relations.statistics
    assert (first != second).any(axis=-1).sum() == 86
    assert (relations.task, relations.test_set, relations.names) == ("modifiers", "Yeh", ["I", "II"])


def test_responses_come_gold_first_and_sets_in_the_order_of_their_text() -> None:
    outputs = Outputs.from_responses([("b", 1), ("a", 2)], {"x": [("z", 0), ("a", 2)], "y": set("qtprs"), "none": []})
    assert outputs.items["id"].tolist() == ["('b', 1)", "('a', 2)", "('z', 0)", *"pqrst"]
    assert outputs.statistics[0].tolist() == [[0, 0, 1], [1, 1, 1], [0, 1, 0], *[[0, 0, 0]] * 5]
    assert outputs.statistics[2].sum(axis=0).tolist() == [0, 0, 2]


def test_another_metric_of_the_same_statistics(relations: Outputs) -> None:
    recall = relations.with_metric("recall")
    assert (recall.metric, relations.metric) == (METRICS["recall"], METRICS["f1"])
    np.testing.assert_array_equal(recall.statistics, relations.statistics)
    assert recall.with_metric("f1").fingerprint() == relations.fingerprint()


ONE = [[[1, 1]], [[0, 1]]]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Outputs.from_statistics([[1, 2]], "accuracy"),
         r"shape \(systems, items, 2: correct, total\).*\(1, 2\)"),
        (lambda: Outputs.from_statistics(np.zeros((2, 0, 2)), "accuracy"), "at least one system and one item"),
        (lambda: Outputs.from_statistics([[[np.nan, 1]]], "mean"),
         "finite; system number 0, item number 0 has sum = nan"),
        (lambda: Outputs.from_statistics([[["1", "1"]]], "accuracy"), "must be numbers"),
        (lambda: Outputs.from_statistics([[[2, 1]]], "accuracy"), "'accuracy' must have 0 <= correct <= total"),
        (lambda: Outputs.from_scores(pd.DataFrame({"old": [1, 0], "new": [1, 2]}, index=["p", "q"]), "accuracy"),
         "unlike correct = 2, total = 1 of system 'new', item 'q'$"),
        (lambda: Outputs.from_statistics([[[-1, 1]]], "accuracy"), "0 <= correct"),
        (lambda: Outputs.from_statistics([[[3, 2, 4]]], "f1"), "correct <= guessed"),
        (lambda: Outputs.from_statistics([[[0.1, -1]]], "mean"), "count >= 0"),
        (lambda: Outputs.from_statistics(ONE, "acuracy"), "did you mean 'accuracy'"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", ["a", "a"]), "systems must be named once each; 'a'"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", ["a"]), "systems must have 2 rows"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", ["a", None]), "name in every row"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", pd.DataFrame({"n": [1, 2]})), "column 'name'; it has n"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", items=[1, 2]), "items must have 1 rows"),
        (lambda: Outputs.from_scores(pd.DataFrame({"a": ["1"]})), "scores must be numbers; column 'a' is"),
        (lambda: Outputs.from_scores(pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])})), "column 'a' is datetime"),
        (lambda: Outputs.from_scores(pd.DataFrame({"a": [1 + 2j]})), "column 'a' is complex"),
        (lambda: Outputs.from_scores(pd.DataFrame({"a": [1.0, None]}, index=["x", "y"])),
         "item 'y' of system 'a' is missing"),
        (lambda: Outputs.from_scores([1, 2]), "must be a pandas DataFrame"),  # type: ignore[arg-type]
        (lambda: Outputs.from_statistics([[[1, 2]], [[1]]], "accuracy"), "must be one rectangular array"),
        (lambda: Outputs.from_statistics(np.full((1, 9, 2), 1e308), "mean"), "finite sums"),
        (lambda: Outputs.from_statistics([[[-(2**52), 1]], [[1, 1]], [[2**53, 1]]], "mean"),
         r"less than 2\^53; sum of system number 2 reaches 9.01e.15"),
        (lambda: Outputs.from_statistics([[[-(2**52), 1], [2**52, 1]]], "mean"), "sum of system number 0 reaches"),
        (lambda: Outputs.from_scores(pd.DataFrame({"a": [1.0]}), "f1"), "'mean' or 'accuracy'"),
        (lambda: Outputs.from_statistics([[[1, 1, 2]], [[1, 2, 3]], [[1, 1, 2]]], "f1", list("abc"), ["q"]),
         "one 'gold' of each item, but item 'q' has 2 by 'a' and 3 by 'b'$"),
        (lambda: Outputs.from_statistics([[[1, 1]], [[1, 2]]], "accuracy"), "one 'total' of each item, but item '0'"),
        (lambda: Outputs.from_statistics([[[1, 1, 1, 2]], [[1, 1, 1, 1]]], "aer"), "one 'sure' of each item"),
        (lambda: Outputs.from_statistics([[[3, 0]], [[1, 1]]], "mean"), "sum = 0 where count is 0"),
        (lambda: Outputs.from_statistics(np.ma.array(ONE, mask=[[[0, 0]], [[1, 1]]]), "accuracy"),
         "^statistics must not be masked, as 2 values are"),
        (lambda: Outputs.from_statistics([np.ma.array([[1, 1]], mask=[[1, 0]])], "accuracy"),
         "^statistics must not be masked, as 1 value is"),
        (lambda: Outputs.from_scores(pd.DataFrame({"a": np.ma.array([1, 0], mask=[0, 1])})),
         "scores must be complete; item '1' of system 'a' is missing"),
        (
            lambda: Outputs.from_statistics([pd.DataFrame(ONE[0])], "accuracy"),
            "statistics must be an array, not tables with names",
        ),
        (lambda: Outputs.from_responses(["a", "a"], {"s": []}), "gold must be distinct; 'a' occurs twice"),
        (lambda: Outputs.from_responses(["a"], {"s": ["b", "b"]}), "responses of system 's' must be distinct; 'b'"),
        (lambda: Outputs.from_responses(["1"], {"s": [1]}), "responses must be different texts; two read '1'"),
        (lambda: Outputs.from_responses([([1], 2)], {"s": []}), "gold must be hashable"),
        (lambda: Outputs.from_responses("abc", {"s": []}), "gold must be a list or set of responses, not 'abc'"),
        (lambda: Outputs.from_responses(["a"], {"s": None}), "responses of system 's' must be a list or set"),  # type: ignore[dict-item]
        (lambda: Outputs.from_responses(["a"], {}), "responses must map the name of each system"),
        (lambda: Outputs.from_responses([], {"s": []}), "at least one response"),
        (lambda: Outputs.from_responses(["a"], {"s": []}, "accuracy"), "metric must use .correct, guessed, gold."),
    ],
)  # fmt: skip
def test_bad_input_is_named(make, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        make()


@pytest.mark.parametrize(
    ("act", "message"),
    [
        (lambda o: o.head(61), "n must be between 1 and 60, the number of items of test set 'made up', not 61"),
        (lambda o: o.head(0), "not 0"),
        (lambda o: o.take([]), "non-empty"),
        (lambda o: o.take([60]), "between 0 and 59"),
        (lambda o: o.take([-1]), "between 0 and 59"),
        (lambda o: o.domain("law"), "domain of test set 'made up' must be one of mail, news, wiki, not 'law'"),
        (lambda o: o.with_metric("f1"), r"statistics \(correct, total\), but 'f1' uses \(correct, guessed, gold\)"),
        (lambda o: o.sum_by("user"), "no column 'user'"),
        (lambda o: o.select(["q"]), "of systems of test set 'made up': q"),
        (lambda o: o.select([]), "the list is empty"),
        (lambda o: o.select(["a", "a"]), "once each, not a, a"),
        (lambda o: o.head(2.5), "n must be a whole number"),
        (lambda o: o.join_systems(o), "'a' occurs twice"),
        (lambda o: o.join_systems(o.head(3)), "test sets differ: 'made up' has 60 items, 'made up' has 3"),
        (lambda o: o.join_items(o), "'s0' occurs twice"),
        (lambda o: o.join_items(o.select(["a", "b"])), "other systems: 'c' is on one side only"),
        (lambda o: o.join_systems(Outputs.from_statistics(ONE, "mean")), "metrics differ: 'accuracy' and 'mean'"),
    ],
)  # fmt: skip
def test_bad_requests_are_named(tagged: Outputs, act, message: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(ValueError, match=message):
        act(tagged)


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
    for array in (np.array(ONE, dtype=">i4"), np.ma.array(ONE, mask=False), np.array(ONE, dtype=np.longdouble)):
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
@settings(max_examples=15, deadline=None)
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


SCORES = pd.DataFrame({"a": [1, 1], "b": [0, 0]}, index=["x", "y"])


def test_tables_meet_scores_by_names_and_ids() -> None:
    systems = pd.DataFrame({"name": ["b", "a"], "group": ["of b", "of a"]})
    items = pd.DataFrame({"id": ["y", "x"], "cluster": ["of y", "of x"]})
    outputs = Outputs.from_scores(SCORES, "accuracy", systems, items)
    assert dict(zip(outputs.names, outputs.scores(), strict=True)) == {"a": 100, "b": 0}
    assert outputs.systems["group"].tolist() == ["of a", "of b"]
    assert outputs.items.to_dict("list") == {"id": ["x", "y"], "cluster": ["of x", "of y"]}
    # Numbers of rows, which pandas gives: by them where the table has them too, else in their order.
    numbered = SCORES.reset_index(drop=True)
    by_number = Outputs.from_scores(numbered, items=pd.DataFrame({"id": [1, 0], "cluster": ["of 1", "of 0"]}))
    assert by_number.items.to_dict("list") == {"id": ["0", "1"], "cluster": ["of 0", "of 1"]}
    assert Outputs.from_scores(numbered, items=items).items["id"].tolist() == ["y", "x"]
    for filtered in (numbered.set_axis([0, 2]), numbered.set_axis([1, 0])):
        with pytest.raises(ValueError, match="items must have a row for each id of the scores"):
            Outputs.from_scores(filtered, items=items)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"systems": pd.DataFrame({"name": ["a", "c"]})},
         "systems must have a row for each name of the scores, .* 'b'$"),
        ({"systems": pd.DataFrame({"name": ["a", "b", "c"]})}, "and no other; the scores lack 'c'$"),
        ({"items": pd.DataFrame({"id": ["x", "z"]})}, "items must have a row for each id .*; the table lacks 'y'$"),
        ({"items": pd.DataFrame({"id": ["x", "x"]})}, "items must be named once each; 'x' occurs twice"),
        ({"systems": ["b", "a"]}, "systems must be a table with a column 'name', not list"),
        ({"items": pd.DataFrame([["x", 1, 2], ["y", 3, 4]], columns=["id", "d", "d"])}, "unlike 'd'$"),
    ],
)  # fmt: skip
def test_tables_of_others_are_refused(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Outputs.from_scores(SCORES, **tables)


def test_names_without_an_order_are_refused() -> None:
    for names in ({"a", "b"}, "ab", {"a": 1, "b": 2}):
        with pytest.raises(ValueError, match="systems must be a list of names or a table, in the order of"):
            Outputs.from_statistics(ONE, "accuracy", names)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="responses of system 's' must be a list or set of responses"):
        Outputs.from_responses(["a"], {"s": {"a": "label"}})


def test_joined_tables_know_what_either_knows_and_may_not_disagree() -> None:
    one = Outputs.from_statistics([[[1, 1, 2], [0, 0, 1]]], "f1", ["a"], pd.DataFrame({"id": ["x", "y"]}))
    items = pd.DataFrame({"id": ["y", "x"], "cluster": ["of y", "of x"]})
    other = Outputs.from_statistics([[[1, 1, 1], [0, 0, 2]]], "f1", ["b"], items)
    assert one.join_systems(other).items["cluster"].tolist() == ["of x", "of y"]
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
