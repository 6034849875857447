"""Tables of systems and items beside scores: matched by names and ids, joined, and refused."""

from typing import Any

import pandas as pd
import pytest

from simstudy.outputs import Outputs

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
            Outputs.from_statistics([[[1, 1]], [[0, 1]]], "accuracy", names)  # type: ignore[arg-type]
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
