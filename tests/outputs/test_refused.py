"""Outputs that are refused, and requests of them that are: the message names what is wrong."""

import numpy as np
import pandas as pd
import pytest

from simstudy.outputs import Outputs

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
        (lambda: Outputs.from_scores({"a": [1.0, 0.5], "b": [0.5, np.inf]}),
         "scores must be finite; item '1' of system 'b' has inf"),
        (lambda: Outputs.from_statistics([pd.DataFrame(ONE[0])], "accuracy"),
         "statistics must be an array, not tables with names"),
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
