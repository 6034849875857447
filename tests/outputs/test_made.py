"""Outputs made from scores, statistics and answers, and what is refused: in one line that names it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from simstudy.outputs import Outputs

WIDE = pd.DataFrame({"old": [1, 0, 0, 1], "new": [1, 1, 0, 1]}, index=["q1", "q2", "q3", "q4"])
SCORES = pd.DataFrame({"a": [1, 1], "b": [0, 0]}, index=["x", "y"])
ONE = [[[1, 1]], [[0, 1]]]


@pytest.mark.parametrize(
    "table",
    [
        WIDE,
        WIDE.rename_axis("qid"),
        WIDE.rename_axis("item").reset_index(),
        WIDE.assign(item=list(WIDE.index)).sample(frac=1, random_state=1),
        pa.Table.from_pandas(WIDE.rename_axis("item").reset_index()),
        WIDE.astype({"old": "Int64", "new": "category"}),
        {"old": WIDE["old"], "new": WIDE["new"][::-1]},
    ],
)
def test_tables_of_all_kinds_are_the_same_outputs(table: Any) -> None:
    outputs = Outputs.from_scores(table, "accuracy")
    assert outputs.names == ["old", "new"]
    by_item = dict(zip(outputs.items["id"], outputs.statistics[..., 0].T.tolist(), strict=True))
    assert by_item == {"q1": [1, 1], "q2": [0, 1], "q3": [0, 0], "q4": [1, 1]}
    assert outputs.statistics.dtype.kind == "i"


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (WIDE.set_index(pd.Index(["a", None, "c", "d"])), "an item in every row; row 2 has none"),
        (WIDE.set_index(pd.Index([1.0, 2.0, np.nan, 4.0])), "an item in every row; row 3 has none"),
        (WIDE.assign(item=["a", " ", "c", "d"]), "an item in every row; row 2 has none"),
        (WIDE.rename_axis("item").reset_index().melt("item", var_name="system", value_name="score"),
         r"a column for each system; 'system' is none; describe items by items=…, or .* simstudy.load"),
        *((WIDE.assign(**{name: 1}), f"a column for each system; '{name}' is none")
          for name in ("domain", "factor", "Doc", "cluster", "sample")),
        (WIDE.assign(user=1).rename_axis("item").set_index("user", append=True), "'user' is none"),
        (WIDE.reset_index(drop=True).assign(question_id=range(4)), "is it column 'question_id'"),
        (WIDE.replace(0, np.nan), "item 'q2' of system 'old' is missing"),
        ({"a": "10"}, "a list of scores for each system"),
        ({"a": WIDE["old"], "b": [1, 0, 0, 1]}, "items of all systems .Series., or of none"),
        (3, "must be a pandas DataFrame, a table of polars or pyarrow, or a dictionary"),
        (WIDE["old"], "must be a pandas DataFrame"),
        (pd.DataFrame({"a": ["1"]}), "scores must be numbers .*; column 'a' is str"),
        (pd.DataFrame({"a": [1 + 2j]}), "column 'a' is complex"),
        (pd.DataFrame({"a": np.ones(1, np.float16)}), "column 'a' is float16"),
        (pd.DataFrame({"a": [1.0, None]}, index=["x", "y"]), "item 'y' of system 'a' is missing"),
        ({"a": [1.0, 0.5], "b": [0.5, np.inf]}, "must be finite; item '1' of system 'b' has correct = inf"),
        (pd.DataFrame({"old": [1, 0], "new": [1, 2]}, index=["p", "q"]),
         "unlike correct = 2, total = 1 of system 'new', item 'q'$"),
    ],
)  # fmt: skip
def test_scores_that_are_refused(scores: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Outputs.from_scores(scores, "accuracy")


def test_tables_are_matched_with_scores_by_names_and_ids() -> None:
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
def test_tables_of_other_systems_or_items_are_refused(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Outputs.from_scores(SCORES, **tables)


def test_a_mask_without_effect_is_taken_off() -> None:
    masked = Outputs.from_statistics(np.ma.array(ONE, mask=False), "accuracy")
    assert masked.scores().tolist() == [100, 0]
    assert type(masked.statistics) is np.ndarray


def test_references_that_depend_on_the_answer_may_differ() -> None:
    """The nearest of several references in length, and the candidates that a system accepts."""
    bleu = [[4, 3, 2, 1, 4, 3, 2, 1, 4, length] for length in (4, 5)]
    assert Outputs.from_statistics([[one] for one in bleu], "bleu").n_systems == 2
    assert Outputs.from_statistics([[[1, 1], [0, 0]], [[1, 1], [0, 1]]], "precision@2").n_systems == 2


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Outputs.from_statistics([[1, 2]], "accuracy"),
         r"shape \(systems, items, 2: correct, total\).*\(1, 2\)"),
        (lambda: Outputs.from_statistics(np.zeros((2, 0, 2)), "accuracy"), "at least one system and one item"),
        (lambda: Outputs.from_statistics([[[np.nan, 1]]], "mean"),
         "finite; item '0' of system 'system-1' has sum = nan"),
        (lambda: Outputs.from_statistics([[["1", "1"]]], "accuracy"), "must be numbers"),
        (lambda: Outputs.from_statistics([[[2, 1]]], "accuracy"), "'accuracy' must have 0 <= correct <= total"),
        *((lambda kind=kind: Outputs.from_statistics(np.array(ONE, dtype=kind), "accuracy"), "must be numbers .whole")
          for kind in ("f2", ">i4", ">f8", "longdouble", "object")),
        *((lambda names=names: Outputs.from_statistics(ONE, "accuracy", names), "a list of names or a table")
          for names in ({"a", "b"}, "ab", {"a": 1, "b": 2})),
        (lambda: Outputs.from_statistics(ONE, "acuracy"), "did you mean 'accuracy'"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", ["a", "a"]), "systems must be named once each; 'a'"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", ["a"]), "systems must have 2 rows"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", ["a", None]), "name in every row"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", pd.DataFrame({"n": [1, 2]})), "column 'name'; it has n"),
        (lambda: Outputs.from_statistics(ONE, "accuracy", items=[1, 2]), "items must have 1 rows"),
        (lambda: Outputs.from_statistics([[[1, 2]], [[1]]], "accuracy"), "must be one rectangular array"),
        (lambda: Outputs.from_statistics([[[-(2**52), 1]], [[1, 1]], [[2**53, 1]]], "mean"),
         r"less than 2\^53; sum of system 'system-3' reaches 9.01e.15"),
        (lambda: Outputs.from_statistics([[[-(2**52), 1], [2**52, 1]]], "mean"), "sum of system 'system-1' reaches"),
        (lambda: Outputs.from_scores(pd.DataFrame({"a": [1.0]}), "f1"), "'mean' or 'accuracy'"),
        (lambda: Outputs.from_statistics([[[1, 1, 2]], [[1, 2, 3]], [[1, 1, 2]]], "f1", list("abc"), ["q"]),
         "one 'gold' of each item, but item 'q' has 2 by 'a' and 3 by 'b'$"),
        (lambda: Outputs.from_statistics(np.ma.array(ONE, mask=[[[0, 0]], [[1, 1]]]), "accuracy"),
         "^statistics must not be masked, as 2 values are"),
        (lambda: Outputs.from_statistics([np.ma.array([[1, 1]], mask=[[1, 0]])], "accuracy"),
         "^statistics must not be masked, as 1 value is"),
        (lambda: Outputs.from_scores(pd.DataFrame({"a": np.ma.array([1, 0], mask=[0, 1])})),
         "scores must be complete; item '1' of system 'a' is missing"),
        (lambda: Outputs.from_statistics([pd.DataFrame(ONE[0])], "accuracy"),
         "statistics must be an array, not tables: put"),
    ],
)  # fmt: skip
def test_bad_input_is_named_in_one_line(make, message: str) -> None:  # type: ignore[no-untyped-def]
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
        (lambda o: o.sum_by("user"), "column must be a column of the items of test set 'made up', not 'user'"),
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
