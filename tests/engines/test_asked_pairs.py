"""Pairs that are asked for: the rows of all pairs, to the last bit if p-values are exact or resampled."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons import compare
from simstudy.engines.arguments import applicable
from simstudy.engines.registry import TESTS
from simstudy.outputs import Outputs
from tests.engines.pairs import assert_same_pairs

NAMES = [f"s{k:02d}" for k in range(6)]


def right_or_wrong() -> Outputs:
    rng = np.random.default_rng(4)
    return Outputs.from_scores(pd.DataFrame(rng.random((90, 6)) < np.linspace(0.5, 0.7, 6), columns=NAMES), "accuracy")


def decimals() -> Outputs:
    return Outputs.from_scores(pd.DataFrame(np.random.default_rng(5).normal(size=(70, 6)) * np.pi, columns=NAMES))


def counts(metric: Any = "f1") -> Outputs:
    rng = np.random.default_rng(6)
    guessed, gold = rng.integers(1, 6, (6, 60)), np.broadcast_to(rng.integers(1, 6, 60), (6, 60))
    correct = np.minimum(rng.integers(0, 6, (6, 60)), np.minimum(guessed, gold))
    return Outputs.from_statistics(np.stack([correct, guessed, gold], axis=-1), metric, NAMES)


def correlated() -> Outputs:
    rng = np.random.default_rng(7)
    gold = rng.normal(size=40)
    statistics = np.stack([np.broadcast_to(gold, (6, 40)), gold + rng.normal(size=(6, 40))], axis=-1)
    return Outputs.from_statistics(statistics, "pearson", NAMES)


def accepted() -> Outputs:
    """Candidates that are accepted or not, and right or not, of which precision is."""
    rng = np.random.default_rng(8)
    gold, guessed = np.broadcast_to(rng.integers(0, 2, 80), (6, 80)), rng.integers(0, 2, (6, 80))
    return Outputs.from_statistics(np.stack([gold * guessed, guessed, gold], axis=-1), "precision", NAMES)


OUTPUTS = [accepted(), right_or_wrong(), decimals(), counts(), counts("precision"), correlated()]


def rows_with(whole: pd.DataFrame, names: list[str]) -> pd.DataFrame:
    return whole[whole["system_a"].isin(names) | whole["system_b"].isin(names)].reset_index(drop=True)


@pytest.mark.parametrize("test", TESTS)
def test_rows_are_those_of_all_pairs(test: str) -> None:
    """Against a baseline, neighbours, and systems that come later, by each test that applies."""
    asked = [outputs for outputs in OUTPUTS if test in applicable(outputs)]
    assert asked
    for outputs in asked:
        options: dict[str, Any] = {"test": test, "n_resamples": 99 if TESTS[test].n_resamples else None}
        whole = compare(outputs, **options).frame
        order = outputs.best_first().names
        places = whole["system_a"].map(order.index) + 1 == whole["system_b"].map(order.index)
        for against, rows in (
            ("s02", rows_with(whole, ["s02"])),
            (["s04", "s00"], rows_with(whole, ["s00", "s04"])),
            ("neighbours", whole[places].reset_index(drop=True)),
        ):
            assert_same_pairs(compare(outputs, against=against, **options).frame, rows)
        earlier = outputs.select([name for name in NAMES if name not in ("s03", "s05")])
        later = compare(outputs.select(["s03", "s05"]), against=earlier, **options)
        assert_same_pairs(later.frame, rows_with(whole, ["s03", "s05"]))
        assert set(later.systems["name"]) == set(NAMES)  # type: ignore[index]


def test_a_system_may_be_called_neighbours() -> None:
    outputs = Outputs.from_scores(pd.DataFrame({"neighbours": [1, 0, 1], "b": [0, 0, 1], "c": [0, 1, 0]}), "accuracy")
    found = compare(outputs, against="neighbours").frame
    assert ((found["system_a"] == "neighbours") | (found["system_b"] == "neighbours")).all()


@pytest.mark.parametrize(
    ("against", "message"),
    [
        ("s1", "against must be a system, not 's1'.*one of s.*or 'neighbours'"),
        (right_or_wrong(), "systems must"),
        ([], "against must name at least one system"),
        (4, "against must be a list of names of systems, not 4"),
    ],
)
def test_what_is_no_system(against: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        compare(OUTPUTS[1].select(["s01", "s02"]), against=against)


def test_corrections_are_for_the_pairs_that_are_asked() -> None:
    pairs = compare(OUTPUTS[1], against="s03").corrected()
    smallest = pairs["p_value"].min()
    assert pairs["p_holm"].min() == min(1, 5 * smallest)
    with pytest.raises(ValueError, match="every two systems once"):
        pairs.groups()
