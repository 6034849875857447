"""The tables of a plan: what it answers of a case and of other sizes, and the power curve."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from simstudy.planning.benchmarks import next_edition
from simstudy.planning.cases import BETTER, EQUIVALENT, Case, Target
from simstudy.planning.differences import Difference
from simstudy.planning.solving import MOST_UNITS, check_gain, least_size, minimum_detectable_gain
from simstudy.text.numerals import units_text
from simstudy.validation import InputError

#: How columns of the ends of a range end.
ENDS = ("low", "high")

# Sizes of the table, around the one that a plan comes to.
_STEPS = np.array([1, 2, 5])
_AROUND = 12.0


def answer(case: Case, target: Target, goal: str) -> dict[str, Any]:
    """One row of `Plan.answers`: how many items, and what these tell, or those that the target has."""
    gain = (target.gain or 0.0) if goal != BETTER else target.gain
    if goal == BETTER and gain is not None:
        check_gain(gain, case.middle)
        case = case.allowing(gain)
    row: dict[str, Any] = {
        "relation": case.relation, "metric": target.metric.name, "goal": goal, "gain": np.nan if gain is None else gain,
        "margin": np.nan if goal == BETTER else target.margin, "unit": case.unit,
    }  # fmt: skip
    units = (None, None, None) if gain is None else _sizes(case, target, gain, goal)
    for end, n in zip(("", "_low", "_high"), units, strict=True):
        row[f"n_units{end}"] = np.nan if n is None else n
        row[f"n_items{end}"] = np.nan if n is None else items_of(case, n)
    at = units[0] if target.n_items is None else units_of(case, target.n_items)
    assert at is not None
    row |= {"at_units": at, "at_items": items_of(case, at), "least_p": target.level.least_p(at)}
    row |= at_size(case, target, at, goal, gain) | {"kurtosis": case.kurtosis}
    row["margin_seen"] = np.nan if goal == BETTER or target.margin is None else case.middle.visible * target.margin
    return row | _of_single_pairs(case, target, row) | _in_next_edition(case, row)


def _of_single_pairs(case: Case, target: Target, row: Mapping[str, Any]) -> dict[str, float]:
    """The numbers between which 80 % of a case's pairs lie, each planned alone; NaN where a case has one pair."""
    numbers = dict.fromkeys((f"single_{name}_{end}" for name in ("gain", "items", "power") for end in ENDS), np.nan)
    if case.single is None or row["goal"] != BETTER:
        return numbers

    def add(name: str, values: Iterable[float]) -> None:
        for end, value in zip(ENDS, sorted(values), strict=True):
            numbers[f"single_{name}_{end}"] = value if value < np.inf else np.nan

    units, gain, level = row["at_units"], row["gain"], target.level
    if np.isnan(gain):
        gains = [minimum_detectable_gain(pair, units, power=target.power, level=level) for pair in case.single]
        add("gain", [np.nan, np.nan] if np.isnan(gains).any() else gains)
        return numbers
    pairs = [pair.allowing(gain) for pair in case.single]
    sizes = [least_size(lambda n, pair=pair: pair.power(gain, n, level), target.power) or np.inf for pair in pairs]  # type: ignore[misc]
    add("items", [np.ceil(size * case.size - 1e-9) for size in sizes])
    add("power", [pair.power(gain, units, level) for pair in pairs])
    return numbers


def _in_next_edition(case: Case, row: Mapping[str, Any]) -> dict[str, float]:
    """The range of the gain that a benchmark's next edition detects, or of the items that it needs for the gain."""
    known = bool(case.example) and row["goal"] == BETTER
    (low, _, high), gain = next_edition(), row["minimum_detectable_gain"] if known and np.isnan(row["gain"]) else np.nan
    items = row["n_items"] if known else np.nan
    return {
        "next_gain_low": low * gain, "next_gain_high": high * gain,
        "next_items_low": low**2 * items, "next_items_high": high**2 * items,
    }  # fmt: skip


def other_sizes(cases: Sequence[Case], target: Target, at: Sequence[int]) -> pd.DataFrame:
    """What test sets of several numbers of units tell, of each case."""
    gain = target.gain if target.gain is not None and target.gain > 0 else None
    rows = []
    for case in cases:
        able = case if gain is None else case.allowing(gain)
        for n in at:
            row = {
                "relation": case.relation, "metric": target.metric.name, "n_units": n, "n_items": items_of(case, n),
            }  # fmt: skip
            row |= at_size(able, target, n, BETTER, gain)
            for goal in target.goals:
                if goal != BETTER:
                    row[f"shown_{goal.replace(' ', '_')}"] = at_size(case, target, n, goal, target.gain)["power"]
            rows.append(row)
    return pd.DataFrame(rows)


def units_of(case: Case, n_items: int) -> int:
    """How many units so many items are, at least two."""
    return max(2, int(n_items / case.size + 1e-9))


def items_of(case: Case, n_units: int) -> int:
    """How many items so many units are, of which `units_of` makes as many units again."""
    return int(np.ceil(n_units * case.size - 1e-9))


def _sizes(case: Case, target: Target, gain: float, goal: str) -> tuple[int | None, int | None, int | None]:
    """The numbers of units with the power, by the middle of the range and by its ends."""

    def size(difference: Difference) -> float:
        settled = difference is case.middle
        found = least_size(_power_at(difference, target, gain, goal), target.power, settled=settled)
        return np.inf if found is None else found

    numbers = case.ends(size)
    if not np.isfinite(numbers[0]):
        what = f"gain of {gain:g}" if goal == BETTER else f"margin of {target.margin:g}"
        raise InputError(
            "gain" if goal == BETTER else "margin",
            f"must be larger: no test set of up to {units_text(MOST_UNITS, case.called)} shows a {what} with power "
            f"{target.power:g}",
        )
    middle, low, high = (int(number) if np.isfinite(number) else None for number in numbers)
    return middle, low, high


def _power_at(difference: Difference, target: Target, gain: float, goal: str) -> Callable[[int], float]:
    if goal == BETTER:
        return lambda n: difference.power(gain, n, target.level)
    # The tests of `Comparisons.equivalence`: one-sided, each at half of a two-sided alpha (Schuirmann 1987).
    margin, tail, both = target.margin or 0.0, target.level.margin_tail, goal == EQUIVALENT
    return lambda n: difference.within(gain, margin, n, tail, both=both)


def at_size(case: Case, target: Target, n: int, goal: str, gain: float | None) -> dict[str, Any]:
    """What n units tell: columns of `Plan.answers` and `Plan.sizes`, the middle and the ends of the range of each."""
    level = target.level
    if goal != BETTER:
        return _ranged("power", case, lambda difference: _power_at(difference, target, gain or 0.0, goal)(n))
    row = _ranged(
        "minimum_detectable_gain",
        case,
        lambda difference: minimum_detectable_gain(difference, n, power=target.power, level=level),
    )
    if gain is not None:
        found = {id(end): end.detection(gain, n, level) for end in (case.middle, case.low, case.high)}
        for name in ("power", "wrong_winner", "wrong_sign", "exaggeration"):
            row |= _ranged(name, case, lambda difference, name=name: getattr(found[id(difference)], name))  # type: ignore[misc]
    return row


def _ranged(name: str, case: Case, number: Callable[[Difference], float]) -> dict[str, Any]:
    """A number of a case with the ends of its range, as columns."""
    return dict(zip((name, f"{name}_low", f"{name}_high"), case.ends(number), strict=True))


def sizes_around(n: int) -> list[int]:
    """Round numbers of units about a planned one, and that one."""
    steps = [int(step * 10**power) for power in range(1, 8) for step in _STEPS]
    near = [step for step in steps if n / _AROUND <= step <= n * _AROUND and not 0.8 < step / n < 1.25]
    return sorted({*(step for step in near if step <= MOST_UNITS), n})


def merged(sizes: Sequence[int], *, keep: Sequence[int]) -> list[int]:
    """Sizes of several cases as one list, of about a dozen; those to keep are in it."""
    found = sorted({size for size in sizes if all(size == own or not 0.8 < size / own < 1.25 for own in keep)})
    few = np.linspace(0, len(found) - 1, min(len(found), 10)).round().astype(int)
    return sorted({*(found[k] for k in few), *keep})


def power_curve(cases: Sequence[Case], target: Target, units: Sequence[int]) -> pd.DataFrame:
    """The power to find the gain, of these numbers of units: relation, gain, n_units, n_items, power, and its ends."""
    assert target.gain is not None
    gain, rows = target.gain, []
    for case in cases:
        able = case.allowing(gain)
        for n in units:
            row = {"relation": case.relation, "gain": gain, "n_units": n, "n_items": items_of(case, n)}
            power = _ranged("power", able, lambda difference, n=n: difference.power(gain, n, target.level))  # type: ignore[misc]
            rows.append(row | power)
    return pd.DataFrame(rows)


def in_whole_clusters(case: Case, n_items: int | None, sizes: Sequence[int] | None) -> list[str]:
    """Notes on numbers of items that are no whole clusters; a ValueError for fewer than two clusters."""
    notes, least = [], int(np.ceil(2 * case.size - 1e-9))
    for argument, n in (("n_items", n_items), *(("sizes", size) for size in (() if sizes is None else sizes))):
        if case.unit == "item" or n is None:
            continue
        if n < least:
            raise InputError(argument, f"must be at least {least:,}, the {case.items} of two clusters", n)
        units = units_of(case, n)
        if (whole := items_of(case, units)) != n:
            notes.append(
                f"{n:,} {case.items} are no whole number of clusters of {case.size:.3g}: planned are "
                f"{units_text(units, case.unit)}, {whole:,} {case.items}"
            )
    return notes
