"""Tasks whose answers are no labels of rows: examples of any kind, base systems of one's own, several metrics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.metrics.annotations import span_counts
from simstudy.running.parallel import CellsFailed
from simstudy.studies.problems import stand_in
from simstudy.training import Examples, Task
from simstudy.training.resampling import Variant, resample_training

SENTENCES = [["a", "b"], ["b", "c", "a"], ["c"], ["a", "a", "b", "d"]]
TAGS = [["B-x", "O"], ["O", "O", "B-x"], ["O"], ["B-x", "I-x", "O", "B-y"]]


@dataclass(frozen=True)
class Lookup:
    """The tag that a word had most often; O for other words."""

    default: str = "O"

    def train(self, examples: Examples, weights: Any, seed: int) -> Callable[[Examples], Any]:
        votes: dict[str, Counter[str]] = {}
        for words, tags, weight in zip(examples.inputs, examples.gold, weights, strict=True):
            for word, tag in zip(words, tags, strict=True):
                votes.setdefault(word, Counter())[tag] += int(weight)
        best = {word: max(sorted(tags), key=tags.__getitem__) for word, tags in votes.items() if tags.total()}
        return lambda other: [[best.get(word, self.default) for word in words] for words in other.inputs]


def count_spans(examples: Examples, answers: Any) -> list[tuple[int, int, int]]:
    return [span_counts(own, gold) for own, gold in zip(answers, examples.gold, strict=True)]


def count_tags(examples: Examples, answers: Any) -> list[list[int]]:
    return [[sum(a == b for a, b in zip(*two, strict=True)), len(two[0])] for two in zip(answers, examples.gold)]  # noqa: B905


def task(**changes: Any) -> Task:
    given: dict[str, Any] = {
        "name": "tags", "train": Examples(SENTENCES * 5, TAGS * 5), "test_sets": {"test": Examples(SENTENCES, TAGS)},
        "systems": {"lookup": Lookup()}, "statistics": {"span_f1": count_spans, "accuracy": count_tags},
    }  # fmt: skip
    return Task(**{**given, **changes})


def test_variants_are_what_training_by_hand_gives() -> None:
    outputs = resample_training(task(), fractions=[0.5], replicates=[2], seed=3)["test"]
    assert (outputs.metric.name, outputs.names) == ("span_f1", ["lookup-10-1", "lookup-10-2"])
    for number, name in enumerate(outputs.names, start=1):
        weights = Variant("lookup", 10, number).training_items(20, 3)
        copies = [k for k, weight in enumerate(weights) for _ in range(weight)]
        trained = Examples([(SENTENCES * 5)[k] for k in copies], [(TAGS * 5)[k] for k in copies])
        answer = Lookup().train(trained, [1] * len(copies), 0)
        by_hand = [span_counts(a, g) for a, g in zip(answer(Examples(SENTENCES, TAGS)), TAGS, strict=True)]
        np.testing.assert_array_equal(outputs.select([name]).statistics[0], by_hand)


def test_a_variant_is_trained_once_for_all_metrics(tmp_path: Path) -> None:
    spans = resample_training(task(), fractions=[1.0], replicates=[2], cache=tmp_path)["test"]
    before = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")}
    tags = resample_training(task(), metric="accuracy", fractions=[1.0], replicates=[2], cache=tmp_path)["test"]
    assert {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.npz")} == before
    assert (spans.metric.name, tags.metric.name) == ("span_f1", "accuracy")
    assert tags.statistics[0, :, 1].tolist() == [2, 3, 1, 4]
    assert spans.statistics[0, :, 2].tolist() == [1, 1, 0, 2]


def test_changed_parameters_counts_and_data_are_other_variants(tmp_path: Path) -> None:
    def trained(**changes: Any) -> int:
        before = len(list(tmp_path.glob("*.npz")))
        resample_training(task(**changes), fractions=[1.0], replicates=[1], cache=tmp_path)
        return len(list(tmp_path.glob("*.npz"))) - before

    assert trained() == 1
    assert trained() == 0
    assert trained(systems={"lookup": Lookup("B-y")}) == 1
    assert trained(statistics={"span_f1": count_spans}) == 1
    assert trained(train=Examples(SENTENCES * 4, TAGS * 4)) == 1


def test_the_stand_ins_are_right_and_wrong_in_every_second_item() -> None:
    right, wrong = stand_in(task(), "test").statistics
    assert right.tolist() == [[1, 1, 1], [1, 1, 1], [0, 0, 0], [2, 2, 2]]
    assert wrong.tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 0], [0, 2, 2]]
    assert stand_in(task(), "test", "accuracy").statistics[1].tolist() == [[2, 2], [0, 3], [1, 1], [0, 4]]


def test_items_are_numbered_or_said() -> None:
    assert Examples(SENTENCES, TAGS).items["id"].tolist() == ["0", "1", "2", "3"]
    items = pd.DataFrame({"id": list("wxyz"), "cluster": ["p", "p", "q", "q"]})
    outputs = resample_training(
        task(test_sets={"test": Examples(SENTENCES, TAGS, items)}), fractions=[1.0], replicates=[2]
    )["test"]
    assert outputs.items["cluster"].tolist() == ["p", "p", "q", "q"]
    assert outputs.natural_unit == "cluster"


@pytest.mark.parametrize(
    ("inputs", "gold", "items", "message"),
    [
        (3, [], None, "inputs must have an entry for each item, not 3"),
        ([], [], None, "inputs must have at least one item"),
        (SENTENCES, TAGS[:3], None, "gold must have an answer for each of the 4 items, not 3"),
        (SENTENCES, TAGS, pd.DataFrame({"id": ["a"]}), "items must have a row for each of the 4 items, not 1"),
        (SENTENCES, TAGS, pd.DataFrame({"name": list("abcd")}), "items must have a column 'id', not only name"),
        (SENTENCES, TAGS, ["a", "b", "c", "d"], "items must be a table"),
    ],
)
def test_bad_examples(inputs: Any, gold: Any, items: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Examples(inputs, gold, *([] if items is None else [items]))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"systems": {"lookup": Lookup}}, "system 'lookup' must have a method train"),
        ({"systems": {"lookup": "HMM"}}, "system 'lookup' must have a method train"),
        ({"systems": {}}, "systems must map names to base systems"),
        ({"statistics": {"span_f2": count_spans}}, "span_f2"),
        ({"statistics": {"span_f1": 3}}, "statistics of 'span_f1' must be a function, not 3"),
        ({"statistics": {}}, "statistics must map metrics to functions"),
        ({"train": (SENTENCES, TAGS)}, "'train' of task 'tags' must be Examples"),
        ({"test_sets": {"test": SENTENCES}}, "'test' of task 'tags' must be Examples"),
    ],
)
def test_bad_tasks(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        task(**changes)


def test_an_unknown_metric_is_named() -> None:
    with pytest.raises(ValueError, match="metric must be one of span_f1, accuracy, not 'f1'"):
        resample_training(task(), metric="f1", fractions=[1.0], replicates=[1])


def test_counts_of_another_shape_are_named() -> None:
    odd = task(statistics={"span_f1": lambda examples, answers: [(1, 1)] * len(answers)})
    # Before anything is trained: the error is not of a cell.
    with pytest.raises(
        ValueError, match=r"^statistics of 'span_f1' on test set 'test' must be of shape \(4, 3\): a row"
    ):
        resample_training(odd, fractions=[1.0], replicates=[1])


def test_counts_of_answers_that_gold_is_not_like_are_named_in_training() -> None:
    def of_answers(examples: Examples, answers: Any) -> Any:
        if answers is examples.gold:
            raise TypeError("gold answers are trees")
        return [(1, 1)] * len(answers)

    with pytest.raises(
        CellsFailed, match=r"statistics of 'span_f1' on test set 'test' must be of shape \(4, 3\): a row"
    ):
        resample_training(task(statistics={"span_f1": of_answers}), fractions=[1.0], replicates=[1])


def test_examples_at_a_prompt_are_two_lines() -> None:
    many = Examples([["word"] * 50] * 1000, [["tag"] * 50] * 1000)
    assert repr(many) == "Examples: 1,000 items\ncolumns of the items: id"
    assert len(many._repr_html_()) < 5000
