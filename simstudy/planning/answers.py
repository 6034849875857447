"""What a plan answers of a case: sizes, gains, power, wrong winners and exaggeration, each with its range."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.planning.asked import Asked
from simstudy.planning.cases import Case
from simstudy.planning.forms import Difference
from simstudy.planning.margins import BETTER, shown_within
from simstudy.planning.solving import MOST_UNITS, check_gain, detectable_gain, least_size

# Sizes of the table, around the one that a plan comes to.
_STEPS = np.array([1, 2, 5])
_AROUND = 12.0


def answer(case: Case, asked: Asked, goal: str, n_items: int | None) -> dict[str, Any]:
    """One row of `Plan.answers`: how many items, and what so many items, or as many as there are, tell.

    Parameters
    ----------
    case
        Of which systems.
    asked
        What is asked.
    goal
        What is to be shown.
    n_items
        Of the test set, where that is given: what they tell; else what the planned number tells.

    Raises
    ------
    ValueError
        For a gain that cannot be, and where ten million units are too few.
    """
    gain = (asked.gain or 0.0) if goal != BETTER else asked.gain
    if goal == BETTER and gain is not None:
        check_gain(gain, case.middle)
        case = case.allowing(gain)
    row: dict[str, Any] = {
        "relation": case.relation, "metric": asked.metric.name, "goal": goal, "gain": np.nan if gain is None else gain,
        "margin": np.nan if goal == BETTER else asked.margin, "unit": case.unit,
    }  # fmt: skip
    units: tuple[int | None, int | None, int | None] = (None, None, None)
    if gain is not None:
        units = _sizes(case, asked, gain, goal)
    for end, n in zip(("", "_low", "_high"), units, strict=True):
        row[f"n_units{end}"] = np.nan if n is None else n
        row[f"n_items{end}"] = np.nan if n is None else items_of(case, n)
    at = units[0] if n_items is None else units_of(case, n_items)
    assert at is not None
    return row | {"at_units": at, "at_items": int(round(at * case.size))} | at_size(case, asked, at, goal, gain)


def units_of(case: Case, n_items: int) -> int:
    """How many units so many items are, at least two."""
    return max(2, int(n_items / case.size + 1e-9))


def items_of(case: Case, n_units: int) -> int:
    """How many items so many units are, of which `units_of` makes as many units again."""
    return int(np.ceil(n_units * case.size - 1e-9))


def _sizes(case: Case, asked: Asked, gain: float, goal: str) -> tuple[int | None, int | None, int | None]:
    """The numbers of units with the power, by the middle of the range and by its ends."""

    def size(difference: Difference) -> float:
        settled = difference is case.middle
        found = least_size(_power_at(difference, asked, gain, goal), asked.power, settled=settled)
        return np.inf if found is None else found

    numbers = case.ends(size)
    if not np.isfinite(numbers[0]):
        what = f"gain of {gain:g}" if goal == BETTER else f"margin of {asked.margin:g}"
        raise ValueError(
            f"{'gain' if goal == BETTER else 'margin'} must be larger: no test set of up to {MOST_UNITS:,} units "
            f"shows a {what} with power {asked.power:g}"
        )
    middle, low, high = (int(number) if np.isfinite(number) else None for number in numbers)
    return middle, low, high


def _power_at(difference: Difference, asked: Asked, gain: float, goal: str) -> Callable[[int], float]:
    if goal == BETTER:
        return lambda n: difference.power(gain, n, asked.level)
    margin = asked.margin or 0.0
    return lambda n: shown_within(difference, gain, margin, n, asked.level, goal)


def at_size(case: Case, asked: Asked, n: int, goal: str, gain: float | None) -> dict[str, Any]:
    """What n units tell: columns of `Plan.answers` and `Plan.sizes`, the middle and the ends of the range of each."""
    level = asked.level
    row: dict[str, Any] = {}

    def add(name: str, number: Callable[[Difference], float]) -> None:
        for end, value in zip(("", "_low", "_high"), case.ends(number), strict=True):
            row[f"{name}{end}"] = value

    if goal != BETTER:
        add("power", lambda difference: _power_at(difference, asked, gain or 0.0, goal)(n))
        return row
    add("detectable_gain", lambda difference: detectable_gain(difference, n, power=asked.power, level=level))
    if gain is not None:
        found = {id(end): end.found(gain, n, level) for end in (case.middle, case.low, case.high)}
        for name in ("power", "wrong_winner", "wrong_sign", "exaggeration"):
            add(name, lambda difference, name=name: getattr(found[id(difference)], name))  # type: ignore[misc]
    return row


def sizes_around(n: int) -> list[int]:
    """Round numbers of units about a planned one, and that one.

    Examples
    --------
    >>> sizes_around(969)
    [100, 200, 500, 969, 2000, 5000, 10000]
    """
    steps = [int(step * 10**power) for power in range(1, 8) for step in _STEPS]
    near = [step for step in steps if n / _AROUND <= step <= n * _AROUND and not 0.8 < step / n < 1.25]
    return sorted({*(step for step in near if step <= MOST_UNITS), n})


def merged(sizes: Sequence[int], *, keep: Sequence[int]) -> list[int]:
    """Sizes of several cases as one list, of about a dozen; those to keep are in it.

    Examples
    --------
    >>> merged([100, 200, 500, 1000], keep=[969])
    [100, 200, 500, 969]
    """
    near = {size for size in sizes if all(size == own or not 0.8 < size / own < 1.25 for own in keep)}
    found = sorted(near)
    few = (
        {found[k] for k in np.linspace(0, len(found) - 1, min(len(found), 10)).round().astype(int)} if found else set()
    )
    return sorted(few | set(keep))


def power_curve(cases: Sequence[Case], asked: Asked, units: Sequence[int]) -> pd.DataFrame:
    """The power to find the gain, of these numbers of units: relation, gain, n_units, n_items, power, and its ends."""
    assert asked.gain is not None
    gain, rows = asked.gain, []
    for case in cases:
        able = case.allowing(gain)
        for n in units:
            power, low, high = able.ends(lambda difference, n=n: difference.power(gain, n, asked.level))  # type: ignore[misc]
            rows.append(
                {
                    "relation": case.relation, "gain": gain, "n_units": n, "n_items": round(n * case.size),
                    "power": power, "power_low": low, "power_high": high,
                }
            )  # fmt: skip
    return pd.DataFrame(rows)
