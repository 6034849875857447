"""What a plan says, in sentences that a paper can print."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.engines.descriptions import SIDES
from simstudy.metrics.base import Metric
from simstudy.pairs import ALL_PAIRS
from simstudy.planning.answers import ENDS, answer
from simstudy.planning.cases import BETTER, GUESSED, LEVEL, NOT_WORSE, TWO_SYSTEMS, Case, Target
from simstudy.planning.designs import AS_PLANNED, BEST
from simstudy.planning.sampling import MOST_TIMES
from simstudy.text.numerals import gain_text, units_name, units_text
from simstudy.validation import InputError

# Where the excess kurtosis of a pilot's differences is above this part of the number of units, power was off by more
# than 0.03 in simulations (tests/planning/test_plans_hold.py). The least number of units there.
_LONG_TAILED, _CHECKED = 0.1, 90


def counted_samples(n: int) -> str:
    """So many samples, for sentences."""
    return f"{n:,} sample{'' if n == 1 else 's'}"


def sentence(case: Case, target: Target, row: Mapping[str, Any]) -> str:
    """One row of `Plan.answers` in a sentence for a methods section."""
    have = f"With {_count(case, row['at_units'], row['at_items'])} and {case.said(true_gain(row))}"
    if row["goal"] != BETTER:
        return f"{have}, {_within(target, row)}"
    n = int(row["at_units"])
    if target.level.attainable_tail(n) == 0:
        return f"{have}, no gain can be significant {_how(target)}: the least possible p-value is {row['least_p']:.2g}."
    if np.isnan(row["gain"]):
        found = gain_in(target.metric, row["minimum_detectable_gain"])
        if np.isnan(row["minimum_detectable_gain"]):
            return f"{have}, the test {_how(target)} detects no true gain with power {target.power:g}."
        return (
            f"{have}, the test {_how(target)} detects a true gain of "
            f"{found}{_range(row, 'minimum_detectable_gain', gain_text, case)} with power "
            f"{target.power:g}{_averaged(case)}."
        )
    wrong = "less than 0.1 %" if row["wrong_winner"] < 0.001 else f"{100 * row['wrong_winner']:.2g} %"
    return (
        f"{have}, the test {_how(target)} detects a true gain of {gain_in(target.metric, row['gain'])} with power "
        f"{row['power']:.2f}{_range(row, 'power', '{:.2f}'.format, case)}{_averaged(case)}. Wrong winner: "
        f"{wrong} of such test sets. Significant gains are on average "
        f"{row['exaggeration']:.2f} times the true gain (type M error)."
    )


def true_gain(row: Mapping[str, Any]) -> float:
    """The true gain that a row is about: the planned one, else the one that is detected; 0 where there is none."""
    gains = (row["gain"], row.get("minimum_detectable_gain", np.nan))
    return next((float(gain) for gain in gains if not np.isnan(gain)), 0.0)


def _within(target: Target, row: Mapping[str, Any]) -> str:
    margin = gain_in(target.metric, row["margin"])
    what = (
        f"a system is not worse by {margin} or more" if row["goal"] == NOT_WORSE else f"two systems are within {margin}"
    )
    truth = "equal systems" if row["gain"] == 0 else f"a true gain of {gain_in(target.metric, row['gain'])}"
    tests = "one-sided test" if row["goal"] == NOT_WORSE else "two one-sided tests"
    level = f"{target.level.margin_tail:.3g}"
    return f"you show with power {row['power']:.2f} that {what} ({truth}; {tests} at {level})."


def needed(case: Case, target: Target, row: Mapping[str, Any]) -> str:
    """How many items a row needs, in a sentence; empty if the plan has neither gain nor margin."""
    if np.isnan(row["n_units"]):
        return ""
    what = {BETTER: f"to detect a true gain of {gain_in(target.metric, row['gain'])}"}.get(
        row["goal"],
        f"to show “{row['goal']}” by {gain_in(target.metric, row['margin'] if not np.isnan(row['margin']) else 0)}",
    )
    if not case.range:
        ends = ""
    elif np.isnan(row["n_items_high"]):
        ends = f"from {row['n_items_low']:,.0f} to more than any test set has, {case.coverage}"
    else:
        ends = f"{row['n_items_low']:,.0f} to {row['n_items_high']:,.0f}, {case.coverage}"
    count = _count(case, row["n_units"], row["n_items"], ends)
    return f"You need {count} {what} with power {target.power:g}{_of(case)}."


def if_corrected(case: Case, target: Target, row: Mapping[str, Any], n_systems: int) -> str:
    """What comparisons of many systems need if they share the level, in sentences; empty for a level that is shared."""
    if n_systems < 3 or target.level.comparisons > 1 or row["goal"] != BETTER:
        return ""

    # The sentence needs no ranges, and they take most of the time.
    middle = replace(case, range="", single=None)

    def shared(comparisons: int) -> str:
        level = replace(target.level, comparisons=comparisons)
        try:
            own = answer(middle, replace(target, level=level), BETTER)
        except InputError:
            # No test set is large enough.
            own = {"n_items": np.nan, "minimum_detectable_gain": np.nan}
        if np.isnan(row["gain"]):
            gain = own["minimum_detectable_gain"]
            ends = f"the test detects {'no true gain' if np.isnan(gain) else gain_in(target.metric, gain)}"
        else:
            items = own["n_items"]
            ends = (
                f"you need {'more than any test set has' if np.isnan(items) else f'at most {items:,.0f} {case.items}'}"
            )
        return f"{ends} (--comparisons {comparisons})"

    pairs, baseline = n_systems * (n_systems - 1) // 2, n_systems - 1
    return (
        f"This is for one comparison, not corrected. If you correct for all {pairs} pairs, as compare does, "
        f"{shared(pairs)}. If you correct for {baseline} comparisons with one baseline, {shared(baseline)}."
    )


def _of(case: Case) -> str:
    # Plans for all pairs are for those in doubt: the next sentence says for how many.
    return "" if case.relation in (GUESSED, TWO_SYSTEMS, ALL_PAIRS) else f" ({case.relation})"


def costing(case: Case, target: Target, row: Mapping[str, Any], designs: pd.DataFrame) -> str:
    """The cost of a plan for a gain and of its cheapest design, in sentences; empty where costs are not known."""
    if row["goal"] != BETTER or np.isnan(row["n_units"]) or "cost" not in designs or designs["cost"].isna().all():
        return ""
    of = _of(case)
    asked, best = (designs[designs["which"].str.contains(which, regex=False)] for which in (AS_PLANNED, BEST))
    own = asked["cost"].iloc[0]
    if best.empty or best.index[0] == asked.index[0]:
        least = "" if best.empty else ", the least of all designs"
        return f"They cost {_money(own)}{least}{of}."
    one = best.iloc[0]
    if "samples" in designs:
        what = f"{one['n_items']:,.0f} questions with {counted_samples(int(one['samples']))} each"
    else:
        what = f"{one['n_units']:,.0f} clusters of {one['items_per_unit']:.3g} items"
    return f"They cost {_money(own)}. The cheapest design is {what}, for {_money(one['cost'])}{of}."


def limited(case: Case, designs: pd.DataFrame) -> str:
    """What limits the samples of the cheapest design, in a sentence; empty where nothing does."""
    known = case.components
    if known is None or designs.empty:
        return ""
    best, most = designs.loc[designs["which"].str.contains(BEST, regex=False), "samples"], known.most_samples
    if known.safe > 0 and (best > known.samples).any():
        return (
            f"The outputs do not show that the gain varies between {units_name(case.called)}: designs with more than "
            f"{known.samples:.3g} samples take the upper bound of that variance, and none has more than {most:,}."
        )
    if (best == most).any():
        most_samples = counted_samples(most)
        return f"No plan proposes more than {most_samples} of a question, {MOST_TIMES} times those of the outputs."
    return ""


def of_few_samples(case: Case) -> list[str]:
    """Notes on what the outputs' samples do not tell."""
    known = case.components
    if known is None:
        return []
    notes, unit = [], units_name(case.called, 1)
    if known.safe > 0:
        notes.append(
            f"between-{unit} variance is not distinguishable from 0 in the outputs: plans for more samples take its "
            "upper bound (80 %, one-sided)"
        )
    if case.samples > known.most_samples:
        notes.append(
            f"{counted_samples(case.samples)} of a question are more than {MOST_TIMES} times those of the outputs: the "
            "plan extrapolates"
        )
    return notes


def in_next_edition(case: Case, target: Target, row: Mapping[str, Any]) -> str:
    """What is to be expected of the next edition of a benchmark, in a sentence; empty where there is none."""
    if row["next_gain_low"] > 0:
        ends = f"detect a gain of {gain_text(row['next_gain_low'])} to {gain_text(row['next_gain_high'])}"
    elif row["next_items_low"] > 0:
        ends = f"need {row['next_items_low']:,.0f} to {row['next_items_high']:,.0f} {case.items}"
    else:
        return ""
    return f"Editions differ. Expect the next one to {ends}, the range of 80 % of plans from earlier editions."


def single_pairs(case: Case, target: Target, row: Mapping[str, Any]) -> str:
    """What the plan is for single pairs, of which a case has many; empty where it has one."""
    if row["single_gain_low"] > 0:
        ends = f"{gain_text(row['single_gain_low'])} to {gain_text(row['single_gain_high'])}"
        return f"Pairs differ: 80 % of them detect a gain of {ends}."
    if np.isnan(row["single_power_low"]):
        return ""
    few, many = (
        "more" if np.isnan(row[f"single_items_{end}"]) else f"{row[f'single_items_{end}']:,.0f}" for end in ENDS
    )
    return (
        f"Pairs differ: 80 % of them need {few} to {many} {case.items}. With {int(row['at_items']):,}, 80 % of them "
        f"have power {row['single_power_low']:.2f} to {row['single_power_high']:.2f}."
    )


def left_open(case: Case, target: Target, row: Mapping[str, Any]) -> str:
    """What a pilot of two systems leaves open of the power, in sentences; empty for other cases."""
    if case.relation != TWO_SYSTEMS or row["goal"] != BETTER or np.isnan(row["gain"]):
        return ""
    far = (
        f"With {int(row['n_items_high']):,} {case.items} the lower end of this interval is at least {target.power:g}."
        if np.isfinite(row["n_items_high"])
        else f"No number of {case.items} brings the lower end of this interval to {target.power:g}."
    )
    low, high, items = f"{row['power_low']:.2f}", f"{row['power_high']:.2f}", f"{int(row['at_items']):,} {case.items}"
    said = f"By the pilot, the power with {items} is {low} to {high} ({100 * LEVEL:g} % interval). {far}"
    if row["kurtosis"] - 3 > _LONG_TAILED * row["at_units"]:
        said += (
            f" The pilot's differences have long tails, or most of them are 0 (kurtosis {row['kurtosis']:.0f}): the "
            f"simulated power of such plans was 0.77 to 0.97 where 0.80 was planned, with "
            f"{units_text(_CHECKED, case.unit)} or more."
        )
        if row["at_units"] < _CHECKED:
            said += " This plan has fewer: do not rely on it."
    return said


def gain_in(metric: Metric, gain: float) -> str:
    """A gain with its unit: '1 point of accuracy', '0.02 of average precision'."""
    number = f"{gain:,.0f}" if 1e4 <= abs(gain) < 1e15 else f"{gain:.3g}"
    unit = (" point" if number == "1" else " points") if metric.unit in ("percent", "points") else ""
    return f"{number}{unit} of {metric.label}"


def _count(case: Case, units: float, items: float, ends: str = "") -> str:
    """So many units and items; `ends` are those of a range of items."""
    if case.unit == "item":
        return _items(case, items) + (f" ({ends})" if ends else "")
    size = f"{case.size:.3g}"
    each = f"{size} {units_name(case.item, 1 if size == '1' else 2)}"
    return f"{units_text(units, case.unit)} of {each} ({', '.join(filter(None, [units_text(items, case.item), ends]))})"


def _items(case: Case, items: float) -> str:
    """So many items; questions with the number of samples of each, where that is known."""
    samples = "" if case.components is None else f" with {counted_samples(case.samples)} each"
    return f"{units_text(items, case.item)}{samples}"


def _money(cost: float) -> str:
    return f"{cost:,.0f}" if cost >= 1000 else f"{cost:.4g}"


def _how(target: Target) -> str:
    sides = SIDES[target.level.alternative]
    corrected = f", corrected for {target.level.comparisons} comparisons" if target.level.comparisons > 1 else ""
    return f"({sides}, p <= {target.level.alpha:g}{corrected})"


def _range(row: Mapping[str, Any], name: str, write: Any, case: Case) -> str:
    if not case.range:
        return ""
    low, high = (row[f"{name}_{end}"] for end in ("low", "high"))
    ends = f"{write(low)} to {write(high)}" if np.isfinite(high) else f"from {write(low)}"
    return f" ({ends}, {case.coverage})"


def _averaged(case: Case) -> str:
    return " on average over these pairs" if case.example else ""
