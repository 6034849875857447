"""What systems answered goes with their outputs: every part that is taken has its part of the answers."""

from __future__ import annotations

from dataclasses import replace
from hashlib import blake2b
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.analyses.duplicates import near_duplicates
from simstudy.outputs import Outputs
from simstudy.running.fingerprints import number_of

ANSWERS = np.array([[1, 2, 3, 4], [1, 2, 0, 4], [5, 2, 3, 4]])
ITEMS = pd.DataFrame({"id": list("pqrs"), "domain": list("xxyy"), "cluster": list("uvuv")})


@pytest.fixture
def outputs() -> Outputs:
    """Three systems on four items."""
    statistics = np.ones((3, 4, 2), dtype=int)
    return Outputs.from_statistics(statistics, "accuracy", list("abc"), ITEMS, answers=ANSWERS)


def held(outputs: Outputs) -> list[list[int]]:
    assert outputs.answers is not None
    return outputs.answers.tolist()


def test_every_cut_keeps_them(outputs: Outputs) -> None:
    assert held(outputs.head(2)) == [[1, 2], [1, 2], [5, 2]]
    assert held(outputs.take([3, 0, 3])) == [[4, 1, 4], [4, 1, 4], [4, 5, 4]]
    assert held(outputs.domain("y")) == [[3, 4], [0, 4], [3, 4]]
    assert held(outputs.select(["c", "a"])) == ANSWERS[[2, 0]].tolist()
    assert held(outputs.with_metric("accuracy")) == ANSWERS.tolist()


def test_a_cluster_is_answered_alike_where_each_of_its_items_is(outputs: Outputs) -> None:
    """Of u (p and r) each system says something else, of v (q and s) all say the same."""
    first, second = np.array(held(outputs.sum_by("cluster"))).T
    assert len(set(first)) == 3
    assert len(set(second)) == 1
    swapped = replace(outputs, answers=np.array([[1, 0, 2, 0], [2, 0, 1, 0], [1, 0, 2, 0]])).sum_by("cluster")
    assert (np.array(held(swapped))[:, 0] == held(swapped)[0][0]).tolist() == [True, False, True]


def test_they_are_joined_where_both_have_them(outputs: Outputs) -> None:
    one, others = outputs.select(["b"]), outputs.select(["c", "a"])
    assert held(one.join_systems(others.take([3, 2, 1, 0]))) == ANSWERS[[1, 2, 0]].tolist()
    assert (
        held(outputs.take([2, 1]).join_items(outputs.take([0]).select(["c", "b", "a"])))
        == ANSWERS[:, [2, 1, 0]].tolist()
    )
    unknown = replace(others, answers=None)
    assert one.join_systems(unknown).answers is None
    assert outputs.head(1).join_items(replace(outputs.take([3]), answers=None)).answers is None


def test_they_are_saved_and_belong_to_what_outputs_are(outputs: Outputs, tmp_path: Path) -> None:
    outputs.save(tmp_path / "kept.parquet")
    again = Outputs.load(tmp_path / "kept.parquet")
    assert held(again) == ANSWERS.tolist()
    assert again.fingerprint() == outputs.fingerprint()
    assert replace(outputs, answers=None).fingerprint() != outputs.fingerprint()
    assert replace(outputs, answers=ANSWERS + 1).fingerprint() != outputs.fingerprint()
    with pytest.raises(ValueError, match="read-only"):
        again.answers[0] = 1


def test_near_duplicates_are_by_answers_after_every_cut(outputs: Outputs) -> None:
    wide = replace(outputs, statistics=np.zeros((3, 4, 2), dtype=int) + [0, 1])
    assert near_duplicates(wide.take([1, 3]))["compared"].tolist() == ["answers"] * 3
    assert near_duplicates(wide.take([0, 1]))[["system_a", "system_b"]].to_numpy().tolist() == [["a", "b"]]
    assert near_duplicates(replace(wide, answers=None))["compared"].tolist() == ["scores"] * 3


def test_numbers_stand_for_answers_in_every_process() -> None:
    assert number_of("the cat") == int.from_bytes(blake2b(b"'the cat'", digest_size=8).digest(), "big", signed=True)
    assert -(2**63) <= number_of(("a", ("b", 1))) < 2**63


@pytest.mark.parametrize("wrong", [ANSWERS[:2], ANSWERS.T, ANSWERS / 2, "text"])
def test_what_are_no_answers(wrong: object) -> None:
    with pytest.raises(ValueError, match=r"answers must be whole numbers of shape \(3, 4\)"):
        Outputs.from_statistics(np.ones((3, 4, 2), dtype=int), "accuracy", answers=wrong)
