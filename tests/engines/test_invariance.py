"""No p-value depends on the unit of the scores, nor on the order of systems, items and columns."""

from __future__ import annotations

import warnings
from itertools import cycle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simstudy.comparisons.correlation import correlation
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.engines.arguments import applicable
from simstudy.engines.needs import MEAN
from simstudy.engines.registry import TESTS
from simstudy.metrics.user_metrics import metric
from simstudy.outputs import Outputs
from tests.engines.pairs import KINDS, by_item, made, scored
from tests.oracles import compared as table_of

NAMES = ["a", "b", "c"]
# Words and recall count as errors do, and what precision and F are of matters little.
UNLIKE = sorted({*KINDS} - {"recall", "f0.5", "muc_recall", "muc_precision", "muc_f", "silent f1", "words"})
OF_MEANS = [name for name, test in TESTS.items() if test.needs in ((), (MEAN,))]
COMPUTED = ("sign_flips", "randomization", "wilcoxon")
# What is told of a pair and has no unit, and what has that of the scores.
FREE = ["p_value", "p_low", "p_high", "p_two_sided", "p_floor", "wins", "losses", "ties", "df"]
FACTORS = st.sampled_from([0.1, 0.01, 100.0, 7.0, 1e-13, 6e10, 1e154, 1e-200, 1e280, 1e-280])
SCALED = ["gain", "gain_se", "gain_low", "gain_high", "minimum_detectable_gain", "score_a", "score_b"]


def rows(table: pd.DataFrame) -> pd.DataFrame:
    """Comparisons by pair, whichever of the two comes first."""
    pair = [" ".join(sorted(two)) for two in zip(table["system_a"], table["system_b"], strict=True)]
    return table.assign(pair=pair).set_index("pair").sort_index()


def compared(values: np.ndarray, test: str, count: float = 1.0, **options: Any) -> pd.DataFrame:
    """Comparisons of a mean of values (K, n), each of so many counts."""
    outputs = Outputs.from_statistics(by_item(values) * [1.0, count], "mean", NAMES)
    drawn = {"n_resamples": 300, "monte_carlo": True} if TESTS[test].n_resamples else {}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return rows(table_of(outputs, test=test, **{**drawn, **options}))


def item_scores(seed: int, whole: bool, n: int = 25) -> np.ndarray:
    rng = np.random.default_rng(seed)
    scores = rng.integers(-3, 6, (3, n)).astype(float) if whole else rng.normal(size=(3, n)).round(3) * np.pi
    scores[:, 0] += 1.0
    return np.asarray(scores)


@pytest.mark.parametrize(
    ("test", "monte_carlo"), [(test, True) for test in OF_MEANS] + [(test, False) for test in COMPUTED]
)
@settings(max_examples=2, deadline=None)
@given(st.integers(0, 999), st.integers(-900, 900), FACTORS, st.booleans(), st.sampled_from(["two-sided", "greater"]))
def test_the_unit_of_scores_changes_nothing(
    test: str, monte_carlo: bool, seed: int, power: int, constant: float, whole: bool, alternative: str
) -> None:
    """A power of two changes no bit, any other constant the last ones. Whole scores stay whole multiples."""
    scores = item_scores(seed, whole)
    options: dict[str, Any] = {"alternative": alternative} | ({} if monte_carlo else {"monte_carlo": False})
    one = compared(scores, test, **options)
    near: dict[str, Any]
    for factor, near in ((2.0**power, {"check_exact": True}), (constant, {"rtol": 1e-9})):
        other = compared(scores * factor, test, **options)
        pd.testing.assert_frame_equal(one[FREE], other[FREE], **near)
        pd.testing.assert_frame_equal(one[SCALED] * factor, other[SCALED], **near)
        assert one[["better", "computation"]].equals(other[["better", "computation"]])


@pytest.mark.parametrize("test", OF_MEANS)
def test_a_system_of_another_size_leaves_the_other_two_as_they_are(test: str) -> None:
    """A perplexity that ran away: its grid is its own. Nor does the unit of the counts matter."""
    scores = np.abs(item_scores(5, whole=False))
    alone, beside = compared(scores, test), compared(scores * [[1.0], [1.0], [1e30]], test)
    pd.testing.assert_frame_equal(alone.loc[["a b"], FREE], beside.loc[["a b"], FREE], rtol=1e-9)
    in_counts = compared(scores * 1e-100, test, 1e-100)
    pd.testing.assert_frame_equal(alone[[*FREE, *SCALED]], in_counts[[*FREE, *SCALED]], rtol=1e-9)


@pytest.mark.parametrize("test", ["bootstrap", "randomization"])
def test_scores_of_a_function_may_have_any_unit(test: str) -> None:
    """Differences of 1e-13 are no ties if the scores are as small."""
    loss = metric("loss", lambda total, count: total / count)
    tables = []
    for factor in (1.0, 2.0**-40):
        outputs = scored(item_scores(7, whole=False) * factor, loss)
        tables.append(rows(table_of(outputs, test=test, n_resamples=300, monte_carlo=True)))
    pd.testing.assert_frame_equal(tables[0][FREE], tables[1][FREE])
    assert (tables[0]["p_value"] < 0.9).any()


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ([[1e-310, 0.0], [0.0, 1e-320]], "in another unit: the largest of system 'a' is 1e-310"),
        ([[1e300, 0.0], [1.0, 1e20]], "in another unit: the largest of system 'a' is 1e.300"),
        ([[1e100, 0.0], [1e-100, 0.0]], "the largest of system 'b' is 1e-100, of all systems 1e.100"),
    ],
)
def test_sizes_that_double_precision_can_not_hold_are_refused(scores: list[list[float]], message: str) -> None:
    for refused in (table_of, leaderboard, correlation):
        with pytest.raises(ValueError, match=f"^[^\n]*{message}[^\n]*$"):
            refused(scored(scores))


@pytest.mark.parametrize(("kind", "unit"), list(zip(UNLIKE, cycle(["item", "cluster"]), strict=False)))
@settings(max_examples=1, deadline=None)
@given(st.integers(0, 999))
def test_the_order_of_systems_and_items_changes_nothing(kind: str, unit: str, seed: int) -> None:
    """By item or by cluster in turn: both are asked of every test."""
    rng = np.random.default_rng(seed)
    pair_metric, pair = made(kind, 24, rng)
    # What an item asks for is the same for all systems: the third is a mixture of the first two.
    mixed = np.where(rng.random((24, 1)) < 0.5, pair[0], pair[1])
    items = pd.DataFrame({"id": [f"i{k}" for k in range(24)], "cluster": [f"d{k // 2}" for k in range(24)]})
    outputs = Outputs.from_statistics(np.concatenate([pair, mixed[None]]), pair_metric, NAMES, items)
    order, systems = rng.permutation(24), [NAMES[k] for k in rng.permutation(3)]
    shuffled = outputs.take(order).select(systems)
    for test in applicable(outputs, unit=unit):
        options: dict[str, Any] = {"test": test, "unit": unit}
        options |= {"n_resamples": 200, "monte_carlo": True} if TESTS[test].n_resamples else {}
        one, other = (rows(table_of(either, **options)) for either in (outputs, shuffled))
        pd.testing.assert_frame_equal(one[[*FREE, "system_a"]], other[[*FREE, "system_a"]], rtol=1e-12)
