"""Numbers depend neither on workers, tiles and the order of systems nor on which other pairs are asked for."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.comparisons import compare
from simstudy.engines.arguments import applicable
from simstudy.outputs import Outputs
from tests.engines.pairs import ASKED, assert_same_pairs, scored
from tests.oracles import GEOMETRIC, ascending, compared

RNG = np.random.default_rng(4)
NAMES = list("abcdef")
ANSWERS = scored(RNG.binomial(1, np.linspace(0.5, 0.7, 6)[:, None], size=(6, 90)), "accuracy")
COUNTS = ascending(RNG.integers(0, 6, size=(6, 60, 3)))
ACCEPTED, TRUE = RNG.integers(0, 2, size=(6, 80)), RNG.integers(0, 2, size=80)
GOLD = RNG.integers(0, 2, size=40)
GUESSED = GOLD + RNG.normal(size=(6, 40)).round(1)


def outputs_of(metric: Any, *statistics: np.ndarray) -> Outputs:
    return Outputs.from_statistics(np.stack(np.broadcast_arrays(*statistics), axis=-1), metric, NAMES)


OUTPUTS = [
    ANSWERS,
    outputs_of("accuracy", RNG.binomial(COUNTS[0, :, 2], 0.6, size=(6, 60)), COUNTS[0, :, 2]),
    scored(RNG.normal(size=(6, 70)) * np.pi),
    Outputs.from_statistics(COUNTS, "f1", NAMES),
    Outputs.from_statistics(COUNTS[:, :12], "f1", NAMES),
    Outputs.from_statistics(COUNTS, "precision", NAMES),
    Outputs.from_statistics(np.sort(RNG.integers(0, 9, size=(6, 60, 4)), axis=-1), GEOMETRIC, NAMES),
    outputs_of("precision", ACCEPTED * TRUE, ACCEPTED, TRUE),
    *(outputs_of(metric, GOLD, GUESSED) for metric in ("pearson", "spearman", "auc")),
    outputs_of("median", GUESSED),
]


@pytest.fixture(autouse=True)
def compiled() -> None:
    """Approximated tails have other last bits until numba is there."""
    importlib.import_module("numba")


@pytest.mark.parametrize(
    ("test", "monte_carlo", "convention"),
    [*((test, monte_carlo, "default") for test, monte_carlo in ASKED), ("bootstrap", True, "sacrebleu")],
)
def test_numbers_are_the_same(test: str, monte_carlo: bool, convention: str) -> None:
    """With other threads and tiles, in another order, for two systems alone, and for some of the pairs."""
    asked = [outputs for outputs in OUTPUTS if test in applicable(outputs)]
    assert asked
    for outputs in asked:
        options: dict[str, Any] = {"test": test, "monte_carlo": monte_carlo, "convention": convention}
        options |= {"n_resamples": 99, "seed": 3}
        whole = compared(outputs, **options)
        resampled = (whole["computation"] == "resampled").any()
        for layout in ({"tile_size": 40}, {"tile_size": 7, "n_jobs": 3}) if resampled else ({"n_jobs": 3},):
            pd.testing.assert_frame_equal(compared(outputs, **options, **layout), whole, check_exact=True)
        pd.testing.assert_frame_equal(compared(outputs.select(list("dbecaf")), **options), whole, check_exact=True)
        systems, order = whole[["system_a", "system_b"]], outputs.best_first().names
        places = whole["system_a"].map(order.index) + 1 == whole["system_b"].map(order.index)
        for against, rows in (
            ("c", systems.eq("c").any(axis=1)),
            (["e", "a"], systems.isin(["a", "e"]).any(axis=1)),
            ("neighbours", places),
        ):
            assert_same_pairs(compared(outputs, against=against, **options), whole[rows].reset_index(drop=True))
        later, earlier = outputs.select(["d", "f"]), outputs.select(list("abce"))
        rows = systems.isin(["d", "f"]).any(axis=1)
        assert_same_pairs(compared(later, against=earlier, **options), whole[rows].reset_index(drop=True))
        alone = systems.isin(["d", "f"]).all(axis=1)
        assert_same_pairs(compared(later, **options), whole[alone].reset_index(drop=True))


def test_many_pairs_in_parts_are_each_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [(outputs, "sign_flips") for outputs in OUTPUTS[:7]]
    asked += [(OUTPUTS[2], test) for test in ("t_paired", "sign", "wilcoxon")]
    whole = [compared(outputs, test=test, n_resamples=99) for outputs, test in asked]
    monkeypatch.setattr("simstudy.engines.classical_tests._TOGETHER", 150)
    monkeypatch.setattr("simstudy.engines.wins._TOGETHER", 50)
    for (outputs, test), expected in zip(asked, whole, strict=True):
        pd.testing.assert_frame_equal(compared(outputs, test=test, n_resamples=99), expected)


def test_a_system_may_be_called_neighbours() -> None:
    outputs = Outputs.from_scores(pd.DataFrame({"neighbours": [1, 0, 1], "b": [0, 0, 1], "c": [0, 1, 0]}), "accuracy")
    found = compare(outputs, against="neighbours").frame
    assert ((found["system_a"] == "neighbours") | (found["system_b"] == "neighbours")).all()


def test_corrections_are_for_the_pairs_that_are_asked() -> None:
    pairs = compare(ANSWERS, against="d").corrected()
    smallest = pairs["p_value"].min()
    assert pairs["p_holm"].min() == min(1, 5 * smallest)
    with pytest.raises(ValueError, match="every two systems once"):
        pairs.groups()


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
