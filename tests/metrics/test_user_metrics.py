"""Metrics of users: Python functions of summed statistics or of arrays."""

from __future__ import annotations

import subprocess
import sys
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


@pytest.fixture
def statistics(rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Three systems on twelve items."""
    gold = np.broadcast_to(rng.integers(1, 5, size=12), (3, 12))
    guessed = rng.integers(1, 5, size=(3, 12))
    return np.stack([rng.binomial(np.minimum(guessed, gold), 0.7), guessed, gold], axis=-1)


@pytest.mark.parametrize("test", ["randomization", "bootstrap"])
def test_a_function_is_tested_as_the_metric_that_it_computes(statistics: np.ndarray[Any, Any], test: str) -> None:
    """All shuffles of twelve items are enumerated; resamples are the same for the same seed."""
    metrics = (METRICS["f1"], metric("mine", f1, unit="percent"))
    tables = [compared(ss.Outputs.from_statistics(statistics, m), test=test, n_resamples=5000) for m in metrics]
    assert tables[0]["p_value"].tolist() == tables[1]["p_value"].tolist()
    np.testing.assert_allclose(tables[0]["gain"], tables[1]["gain"], rtol=1e-12)


def test_a_score_that_is_no_finite_number_is_0_and_undefined() -> None:
    inverse = metric("inverse", np.divide, columns=["total", "hits"])
    for mine in (metric("mine", f1), inverse):
        sums = np.array([[0, 0, 0], [1, 2, 2]])[:, : len(mine.statistics)]
        assert mine.score(sums).tolist() == [0, mine.score(sums[1])]
        assert mine.defined(sums).tolist() == [False, True]


@pytest.mark.parametrize("unscored", [np.nan, np.inf])
def test_a_test_set_without_a_score_is_refused(unscored: float) -> None:
    mine = metric("mine", lambda hits: np.where(hits > 2, hits, unscored))
    outputs = ss.Outputs.from_statistics([[[1], [2]], [[1], [1]]], mine, systems=["a", "b"])
    with pytest.raises(ValueError, match=f"must be a finite number for the whole test set, not {unscored} .* 'b'"):
        compared(outputs)


def test_a_function_changes_no_sums_but_its_copy() -> None:
    def doubled(a: Any) -> Any:
        a *= 2
        return a

    sums = np.arange(1.0, 7.0).reshape(2, 3, 1)
    assert metric("twice", doubled).score(sums).tolist() == [[2, 4, 6], [8, 10, 12]]
    assert sums.ravel().tolist() == [1, 2, 3, 4, 5, 6]


SCALE = 2


def test_functions_of_one_name_have_signatures_of_their_own(statistics: np.ndarray[Any, Any]) -> None:
    """They differ in a constant, a default, an enclosed value, a set, an inner function or a number of the module."""

    def power(exponent: float) -> Any:
        return lambda correct, guessed, gold: (correct / gold) ** exponent

    functions: list[Any] = [
        lambda correct, guessed, gold: 2 * correct / gold, lambda correct, guessed, gold: 3 * correct / gold,
        power(2), power(3),
        lambda correct, guessed, gold: (correct + (2 in {"a", "b"})) / gold,
        lambda correct, guessed, gold: (correct + (2 in {"a", "c"})) / gold,
        lambda correct, guessed, gold: (lambda x: 2 * x)(correct) / gold,
        lambda correct, guessed, gold: SCALE * correct / gold,
    ]  # fmt: skip
    columns = ["correct", "guessed", "gold"]
    metrics = [metric("mine", function, columns=columns) for function in functions]
    metrics += [metric("mine", lambda a, b, c, k=k: k * a / c, columns=columns) for k in (2, 3)]
    assert len({one.definition for one in metrics}) == len({one.signature for one in metrics}) == len(metrics)
    again = metric("mine", power(2))
    assert (again, again.definition) == (metrics[2], metrics[2].definition)
    table = compared(ss.Outputs.from_statistics(statistics, again))
    assert again.signature in ss.comparisons.signature(table)


def test_a_definition_is_the_same_in_every_process() -> None:
    """Sets of texts have another order in each."""
    path = str(Path(ss.__file__).parents[1])
    program = "import simstudy as ss; print(ss.metric('m', lambda a: a + ('x' in {'x', 'y', 'z', 'w'})).definition)"
    lines = {
        subprocess.run(
            [sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True, text=True, check=True,
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"score": "f1"}, "score must be a function of summed statistics, not 'f1'"),
        ({"score": max}, "columns must be given: the function does not say"),
        ({"score": lambda: 1}, "columns must be at least one name"),
        ({"score": lambda a: None}, "score(a) of metric 'mine' must return real numbers, not nothing"),
        ({"score": lambda a: a * 1j}, "score(a) of metric 'mine' must return real numbers, not 'complex128'"),
        ({"score": lambda a: a.nonsense}, "score(a) of metric 'mine' fails: AttributeError"),
        ({"score": lambda a: a.sum()}, "score must return one number for each test set"),
        ({"score": lambda a: a / a.max()}, "score must depend on a test set's sums alone"),
        ({"score": lambda a: a + next(COUNT)}, "score must depend on a test set's sums alone"),
        ({"columns": ["a", "a", "b"]}, "columns must be at least one name, and each once, not ['a', 'a', 'b']"),
        ({"unit": "per cent"}, "unit must be one of percent, points, probability, \"\", not 'per cent'"),
        ({"of_item": ["gild"]}, "of_item of metric 'mine' must be among correct, guessed, gold, unlike 'gild'"),
        ({"name": "a|b"}, "name must be printable text that is not blank"),
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
        ss.Outputs.load(path, metric("mine", f1))
    assert ss.Outputs.load(path, outputs.metric).scores().tolist() == outputs.scores().tolist()
