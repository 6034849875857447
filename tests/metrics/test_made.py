"""Metrics of users' own: Python functions of summed statistics."""

from __future__ import annotations

from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simstudy as ss
from simstudy.metrics import METRICS
from simstudy.metrics.user_metrics import metric
from tests.oracles import compared

COUNT = count()


def f1(correct: Any, guessed: Any, gold: Any) -> Any:
    return 200 * correct / (guessed + gold)


def missed(correct: Any, guessed: Any, gold: Any) -> Any:
    return 100 - 200 * correct / (guessed + gold)


@pytest.fixture
def statistics(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Three systems on twelve items."""
    gold = np.broadcast_to(rng.integers(1, 5, size=12), (3, 12))
    guessed = rng.integers(1, 5, size=(3, 12))
    return np.stack([rng.binomial(np.minimum(guessed, gold), 0.7), guessed, gold], axis=-1)


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_a_function_is_tested_as_the_metric_that_it_computes(statistics: np.ndarray[Any, Any], test: str) -> None:
    """All shuffles of twelve items are enumerated; resamples are the same ones for the same seed."""
    options = {"test": test, "n_resamples": 5000}
    built_in = compared(ss.Outputs.from_statistics(statistics, METRICS["f1"]), **options)
    own = compared(ss.Outputs.from_statistics(statistics, metric("mine", f1, unit="percent")), **options)
    assert own["p_value"].tolist() == built_in["p_value"].tolist()
    np.testing.assert_allclose(own["gain"], built_in["gain"], rtol=1e-12)
    assert set(own["metric_unit"]) == set(built_in["metric_unit"]) == {"percent"}


def test_where_lower_is_better_the_same_systems_win(statistics: np.ndarray[Any, Any]) -> None:
    more = compared(ss.Outputs.from_statistics(statistics, metric("mine", f1)))
    less = compared(ss.Outputs.from_statistics(statistics, metric("missed", missed, lower_is_better=True)))
    for column in ("system_a", "system_b", "better", "wins"):
        assert less[column].tolist() == more[column].tolist()
    np.testing.assert_allclose(less["p_value"], more["p_value"])
    assert "less than" in ss.verdict(less.iloc[0])


def test_what_is_not_a_number_scores_0_and_is_undefined() -> None:
    own = metric("mine", f1)
    empty = np.zeros((1, 3))
    assert own.score(empty).tolist() == [0.0]
    assert own.defined(np.array([[0, 0, 0], [1, 2, 2]])).tolist() == [False, True]
    infinite = metric("inverse", lambda hits: 1 / hits)
    assert infinite.score(np.array([[0], [4]])).tolist() == [0, 0.25]
    assert infinite.defined(np.array([[0], [4]])).tolist() == [False, True]


def writes_below(a: Any) -> Any:
    if isinstance(a, np.ndarray):
        a.base[...] = 0
    return a / 2


def unlocks_what_is_below(a: Any) -> Any:
    if isinstance(a, np.ndarray):
        a.base.flags.writeable = True
        a.base[...] = 0
    return a / 2


def test_a_function_cannot_write_to_the_sums_it_is_given() -> None:
    """Nor through the array that its own is a view of: the engine's sums stay."""
    with pytest.raises(ValueError, match=r"score\(a\) of metric 'mine' fails: ValueError: .* is read-only"):
        metric("mine", writes_below)
    halves = metric("halves", lambda a: a / 2)
    own = replace(halves, function=unlocks_what_is_below)
    for sums in (np.arange(1.0, 7.0).reshape(2, 3, 1), np.asfortranarray(np.arange(1.0, 7.0).reshape(2, 3))[..., None]):
        before = sums.copy()
        own.score(sums)
        own.defined(sums)
        assert (sums == before).all()


async def later(a: Any) -> Any:
    return a


@pytest.mark.parametrize("unscored", [np.nan, np.inf])
def test_a_test_set_without_a_score_is_refused(unscored: float) -> None:
    own = metric("mine", lambda hits: np.where(hits > 2, hits, unscored))
    outputs = ss.Outputs.from_statistics([[[1], [2]], [[1], [1]]], own, systems=["a", "b"])
    with pytest.raises(ValueError, match=f"must be a finite number for the whole test set, not {unscored} .* 'b'"):
        compared(outputs)


def test_two_functions_of_one_name_have_signatures_of_their_own(statistics: np.ndarray[Any, Any]) -> None:
    def power(exponent: float) -> Any:
        return lambda correct, guessed, gold: (correct / gold) ** exponent

    functions = [f1, missed, lambda correct, guessed, gold: correct / gold, power(2), power(3)]
    said = {
        ss.analyses.signature(compared(ss.Outputs.from_statistics(statistics, metric("mine", function))))
        for function in (*functions, power(2))
    }
    assert len(said) == len(functions)


# Two modules with a metric `score(a, b)` that differ in one thing.
PROGRAMS = {
    "a constant": ("def score(a, b): return 2 * a / b", "2 *", "3 *"),
    "a set": ("def score(a, b): return (a + (2 in {1, 2})) / b", "{1, 2}", "{1, 3}"),
    "a constant of a function inside": ("def score(a, b): return (lambda x: 2 * x)(a) / b", "2 *", "3 *"),
    "a global constant": ("SCALE = 2\ndef score(a, b): return SCALE * a / b", "= 2", "= 3"),
    "a global list": ("SCALES = [2]\ndef score(a, b): return SCALES[0] * a / b", "[2]", "[3]"),
    "a global of a function inside": ("SCALE = 2\ndef score(a, b): return (lambda x: SCALE * x)(a) / b", "= 2", "= 3"),
    "a helper": ("def double(a): return 2 * a\ndef score(a, b): return double(a) / b", "2 *", "3 *"),
    "a default": ("def score(a, b, scale=2): return scale * a / b", "=2", "=3"),
    "a keyword's default": ("def score(a, b, *, scale=2): return scale * a / b", "=2", "=3"),
    "a closure": ("def of(k): return lambda a, b: k['x'] * a / b\nscore = of({'x': 2})", "2}", "3}"),
    "a partial": (
        "from functools import partial\ndef of(a, b, k): return k * a / b\nscore = partial(of, k=2)", "2)", "3)"
    ),
    "a method": (
        "class Of:\n def __init__(self, k): self.k = k\n def of(self, a, b): return self.k * a / b\nscore = Of(2).of",
        "Of(2)", "Of(3)",
    ),
    "an object": (
        "class Of:\n def __init__(self, k): self.k = k\n def __call__(self, a, b): return self.k * a\nscore = Of(2)",
        "Of(2)", "Of(3)",
    ),
    "what numba compiles": ("from numba import njit\n@njit\ndef score(a, b): return 2 * a / b", "2 *", "3 *"),
}  # fmt: skip


@pytest.mark.parametrize("what", PROGRAMS)
def test_functions_that_differ_in_anything_are_told_apart_and_equal_ones_are_not(what: str) -> None:
    source, old, new = PROGRAMS[what]
    assert source.count(old) == 1

    def program(source: str) -> str:
        module: dict[str, Any] = {"__name__": "a_module"}
        exec(source, module)
        return metric("mine", module["score"], columns=["a", "b"]).program  # type: ignore[attr-defined, no-any-return]

    assert program(source) == program(source)
    assert program(source) != program(source.replace(old, new))


def test_a_function_that_calls_itself_is_a_metric() -> None:
    def summed(a: Any, n: int = 2) -> Any:
        return a + (summed(a, n - 1) if n else 0)

    assert metric("mine", summed, columns=["a"]).score(np.array([[2.0]])) == [6.0]


def test_columns_are_the_arguments_names_or_are_given() -> None:
    assert metric("mine", f1).statistics == ("correct", "guessed", "gold")
    with_default = metric(
        "mine", lambda hits, misses, power=2: (hits / (hits + misses)) ** power, columns=["hits", "misses"]
    )
    assert with_default.statistics == ("hits", "misses")
    assert metric("ratio", np.divide, columns=["hits", "total"]).score(np.array([3, 4])) == 0.75


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"score": "f1"}, "score must be a function of summed statistics, not 'f1'"),
        ({"score": max}, "columns must be given: the function does not say"),
        ({"score": lambda *sums: sums[0]}, "columns must be given: the function accepts any number of arguments"),
        (
            {"score": lambda a: None},
            "score(a) of metric 'mine' must return real numbers, not nothing (is a return missing?)",
        ),
        ({"score": lambda: 1}, "score must take an array for each statistic, but the function has no arguments"),
        ({"score": lambda a, b=1: a / b}, "columns must be given: 'b' has a default"),
        ({"score": lambda a: a.sum()}, "score must return one number for each test set"),
        ({"score": lambda a: a / a.max()}, "score must depend on a test set's own sums alone"),
        ({"score": lambda a: a + next(COUNT)}, "score must depend on a test set's own sums alone"),
        (
            {"score": lambda a: np.add(a, 1, out=a)},
            "score(a) of metric 'mine' fails: ValueError: output array is read-only",
        ),
        ({"score": lambda a: a * 1j}, "score(a) of metric 'mine' must return real numbers, not 'complex128'"),
        ({"score": later}, "score(a) of metric 'mine' must return real numbers, not a coroutine"),
        ({"score": lambda a: later(a)}, "score(a) of metric 'mine' must return real numbers, not a coroutine"),
        ({"score": lambda a: [1.0]}, "score must return one number for each test set"),
        ({"score": lambda a: a.nonsense}, "score(a) of metric 'mine' fails: AttributeError"),
        ({"columns": ["correct", "guessed"]}, "score(correct, guessed) of metric 'mine' fails: TypeError"),
        ({"columns": ["a", "a", "b"]}, "columns must be at least one name, and each once, not ['a', 'a', 'b']"),
        ({"unit": "per cent"}, "unit must be one of percent, points, probability, \"\", not 'per cent'"),
        ({"of_item": ["gild"]}, "of_item of metric 'mine' must be among correct, guessed, gold, unlike 'gild'"),
        *(({"name": name}, "name must be printable text that is not blank") for name in (" ", "a\nb", "a|b")),
    ],
)
def test_what_is_no_metric_is_refused(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError) as caught:  # noqa: PT011
        metric(**({"name": "mine", "score": f1} | changed))
    assert str(caught.value).startswith(message)


def test_outputs_are_read_back_with_the_same_function_only(statistics: np.ndarray[Any, Any], tmp_path: Path) -> None:
    path = tmp_path / "outputs.parquet"
    outputs = ss.Outputs.from_statistics(statistics, metric("mine", lambda correct, guessed, gold: correct / gold))
    outputs.save(path)
    with pytest.raises(ValueError, match="has outputs of a user-defined metric, 'mine'"):
        ss.Outputs.load(path)
    with pytest.raises(ValueError, match="has outputs of the metric "):
        ss.Outputs.load(path, metric("mine", f1, columns=["hits", "guesses", "gold"]))
    assert ss.Outputs.load(path, outputs.metric).scores().tolist() == outputs.scores().tolist()
