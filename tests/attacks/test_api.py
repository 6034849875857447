"""Odd values for every argument of the functions that notebooks call: a result, or a ValueError of simstudy's own."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st

import simstudy as ss
from simstudy.cli.errors import raised_by_simstudy

SCORES = pd.DataFrame({"old": [1, 0, 1, 0] * 5, "new": [1, 1, 1, 0] * 5, "tiny": [0, 0, 1, 0] * 5})
OUTPUTS = ss.Outputs.from_scores(SCORES, "accuracy")
PAIRS = ss.compare(OUTPUTS)
CANDIDATES = pd.DataFrame({"t": np.arange(20.0), "mi": (7 * np.arange(20)) % 11.0})
GOLD = np.arange(20) % 2 == 0

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

#: A call that works: the function, and its arguments.
CALLS: dict[str, tuple[Callable[..., Any], dict[str, Any]]] = {
    "from_scores": (ss.Outputs.from_scores, {"scores": SCORES, "metric": "accuracy"}),
    "from_statistics": (
        ss.Outputs.from_statistics,
        {"statistics": np.ones((2, 5, 2), dtype=int), "metric": "accuracy", "systems": ["a", "b"]},
    ),
    "compare": (
        ss.compare,
        {"outputs": OUTPUTS, "test": "bootstrap", "n_resamples": 20, "seed": 0, "alternative": "greater", "n_jobs": 1},
    ),
    "leaderboard": (ss.leaderboard, {"outputs": OUTPUTS, "level": 0.95, "seed": 0}),
    "thresholds": (ss.thresholds, {"pairs": PAIRS}),
    "corrected": (ss.corrected, {"pairs": PAIRS}),
    "groups": (ss.groups, {"pairs": PAIRS, "cutoff": 0.05}),
    "equivalence": (ss.equivalence, {"pairs": PAIRS, "margin": 3.0, "alpha": 0.05}),
    "verdict": (ss.verdict, {"pair": PAIRS.iloc[0], "alpha": 0.05, "margin": 1.0}),
    "near_duplicates": (ss.near_duplicates, {"outputs": OUTPUTS}),
    "from_candidates": (ss.Candidates.from_scores, {"scores": CANDIDATES, "true": GOLD, "seed": 0}),
}


def check(name: str, changes: dict[str, Any]) -> None:
    function, arguments = CALLS[name]
    note(f"{name}: {changes!r:.300}")
    caught: Exception | None = None
    try:
        function(**(arguments | changes))
    except ValueError as error:
        caught = error
    if caught is not None:
        assert raised_by_simstudy(caught.__traceback__), repr(caught)
        assert "\n" not in str(caught)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_calls_that_are_attacked_work(name: str) -> None:
    function, arguments = CALLS[name]
    function(**arguments)


@st.composite
def calls(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    name = draw(st.sampled_from(sorted(CALLS)))
    changed = draw(st.lists(st.sampled_from(sorted(CALLS[name][1])), min_size=1, max_size=2, unique=True))
    return name, {argument: draw(st.sampled_from(ODD))() for argument in changed}


@given(calls())
@settings(max_examples=30, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
def test_thirty_odd_calls_end_in_a_result_or_in_a_value_error(call: tuple[str, dict[str, Any]]) -> None:
    check(*call)


@pytest.mark.slow
@given(calls())
@settings(max_examples=500, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_five_hundred_odd_calls_end_in_a_result_or_in_a_value_error(call: tuple[str, dict[str, Any]]) -> None:
    check(*call)
