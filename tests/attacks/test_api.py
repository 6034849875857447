"""Odd values for every argument of the functions that notebooks call: a result, or an InputError."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from copy import copy
from functools import partial
from inspect import isfunction
from operator import attrgetter
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import simstudy as ss
from simstudy.validation import InputError
from tests.attacks.calls import CALLS, FOLDER, PAIRS, SCORES

#: What may be given for an argument.
ODD: list[Callable[[], Any]] = [
    *(
        partial(copy, value)
        for value in (None, True, -1, 0, 2, 1e6, float("nan"), float("inf"), 10**30, 1j, len, pd.NA)
    ),
    *(
        partial(copy, value)
        for value in ("", "nonsense", "5", b"x", "\x1b[31m", [], [1, 2], ["a", "a"], (), {}, {"a": 1})
    ),
    *(partial(copy, value) for value in ({1, 2}, range(3), pd.Timestamp("2020-01-01"), SCORES, PAIRS, pd.DataFrame())),
    *(partial(np.array, value) for value in ([], [1.5], [[0.0, 0.0], [0.0, 0.0]], ["a", "b"])),
    *(partial(pd.DataFrame, value) for value in ({"a": ["x"]}, {"old": [np.nan]})),
    partial(pd.Series, [1, 2]),
    object,
]


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Odd paths are files of a folder of their own; figures are closed."""
    monkeypatch.chdir(tmp_path)
    yield
    plt.close("all")


def check(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    """Call it: there must be a result, or an InputError of one line."""
    caught: InputError | OSError | None = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            function(**arguments)
    except (InputError, OSError) as error:
        caught = error
    finally:
        plt.close("all")
    assert caught is None or isinstance(caught, InputError) or caught.errno is not None, repr(caught)
    assert "\n" not in str(caught)


def test_every_public_function_is_attacked() -> None:
    attacked = {getattr(function, "__func__", function) for function, _ in CALLS.values()} | {ss.run_study}
    names = [*dir(ss), *(f"plot.{name}" for name in ss.plot.__all__)]
    functions = {name: attrgetter(name)(ss) for name in names}
    missing = [name for name, of in functions.items() if isfunction(of) and of not in attacked]
    assert missing == [], "a call of each belongs into tests/attacks/calls.py"


@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_calls_that_are_attacked_work(name: str) -> None:
    function, arguments = CALLS[name]
    function(**arguments)


@pytest.mark.parametrize(
    ("name", "argument", "odd", "message"),
    [
        ("plan with fields of nouns", "cost_cluster", None, "Costs.cluster must be a number, not None"),
        ("plan with a pilot", "unit", pd.NA, "Pilot.unit must be the name of a column of the items, or None, not <NA>"),
        ("plot.exaggeration", "most", None, "most must be a number, not None"),
        ("plot.exaggeration", "most", 1, "most must be a finite number above 1, not 1"),
    ],
)
def test_missing_values_are_refused_by_the_name_of_their_argument(
    name: str, argument: str, odd: object, message: str
) -> None:
    function, arguments = CALLS[name]
    with pytest.raises(ValueError, match=f"^{message}$"):
        function(**arguments | {argument: odd})


def test_what_is_no_study_is_refused() -> None:
    for study in ODD:
        with pytest.raises(ValueError, match="^[^\n]*$") as refused:
            ss.run_study(study(), out=FOLDER / "results")
        assert isinstance(refused.value, InputError), study


# Imports and figures take their time; one folder serves all examples.
_SLOW = [HealthCheck.too_slow, HealthCheck.function_scoped_fixture]


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(name for name, (_, arguments) in CALLS.items() if arguments)))
    changed = draw(st.lists(st.sampled_from(sorted(CALLS[name][1])), min_size=1, max_size=2, unique=True))
    return name, {argument: draw(st.sampled_from(ODD))() for argument in changed}


@given(calls())
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=_SLOW)
def test_thirty_odd_calls_end_in_a_result_or_in_a_value_error(call: tuple[str, dict[str, Any]]) -> None:
    name, changes = call
    note(f"{name}: {changes!r:.300}")
    function, arguments = CALLS[name]
    check(function, arguments | changes)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CALLS))
def test_one_odd_argument_ends_in_a_result_or_in_a_value_error(name: str) -> None:
    function, arguments = CALLS[name]
    for argument in arguments:
        for odd in ODD:
            if callable(odd()) and argument in ("progress", "finished", "draw"):
                continue  # what a user's own function raises is the user's
            check(function, arguments | {argument: odd()})


@pytest.mark.slow
@given(calls())
@settings(max_examples=500, deadline=None, suppress_health_check=_SLOW)
def test_five_hundred_odd_calls_end_in_a_result_or_in_a_value_error(call: tuple[str, dict[str, Any]]) -> None:
    name, changes = call
    note(f"{name}: {changes!r:.300}")
    function, arguments = CALLS[name]
    check(function, arguments | changes)
