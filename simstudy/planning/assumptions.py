"""What a plan takes to be so, in sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from simstudy.planning.benchmarks import EDITIONS, n_pairs, next_edition
from simstudy.planning.cases import GUESSED, Case, Target
from simstudy.planning.differences import Difference, MixedDifference
from simstudy.planning.right_or_wrong import AnswersDifference, JudgedDifference
from simstudy.planning.sentences import true_gain
from simstudy.text.numerals import gain_text, units_name


def assumptions(cases: Sequence[Case], target: Target, answers: pd.DataFrame, *, of_outputs: bool) -> list[str]:
    """The assumptions of a plan."""
    level = target.level
    sides = "two-sided" if level.alternative == "two-sided" else "one-sided (the better system was predicted)"
    shared = f", shared by {level.comparisons} comparisons (Bonferroni)" if level.comparisons > 1 else ""
    said = [
        f"Test: the default of compare (sign flips, or McNemar's exact test), {sides}, p <= {level.alpha:g}{shared}."
    ]
    if any(_by_standard_error(case.middle) for case in cases):
        said.append(
            "Power follows from the standard error of the gain. In simulations of plans for 0.80, power was 0.78 to "
            "0.82 in most conditions. It was 0.78 to 0.85 for large gains in precision and F, and 0.77 to 0.97 for "
            "differences that are very skewed, have long tails or are mostly 0."
        )
    for case in cases:
        row: dict[str, Any] = dict(answers[answers["relation"] == case.relation].iloc[0])
        named = "Guess: " if case.relation == GUESSED else f"{case.relation.capitalize()}: "
        gain = true_gain(row)
        ends = f"; range: {case.said_range(gain)}" if case.range else " (one number, so no range)"
        said.append(f"{named}{case.said(gain)}{ends}.")
    if cases[0].unit != "item":
        said.append(
            f"{units_name(cases[0].unit).capitalize()} have {cases[0].size:.3g} {cases[0].items} on average"
            f"{_unequal(cases[0])} and are independent of each other; {cases[0].items} of one cluster need not be."
        )
    if target.margin is not None:
        said.append(
            f"Tests against the margin are one-sided, each at {level.margin_tail:.3g}, as in equivalence (score "
            "interval of right and wrong answers; t interval of other scores)."
        )
        if (seen := answers["margin_seen"].dropna().iloc[0]) < target.margin:
            said.append(
                f"The margin is one of true gains: test verdicts, whose gains are smaller, against {gain_text(seen)}."
            )
    if target.metric.of_chosen:
        said.append("Of more candidates the same share is accepted.")
    said.append(
        f"New {cases[0].items} come from the same population. The spread of the differences between systems does not "
        "change."
    )
    if any(case.example for case in cases):
        said.append("Close pairs have a gain below twice the one that would be just significant here.")
        low, middle, high = next_edition()
        said.append(
            "The next edition of a benchmark detected "
            f"{low:.2f} to {high:.2f} times the gain that was planned from the last one (median {middle:.2f}; 80 % of "
            f"{len(EDITIONS)} plans for {n_pairs()} next editions)."
        )
    if of_outputs:
        said.append("The plan uses the spread of the differences from the outputs, not the gain that they show.")
    return said


def _by_standard_error(difference: Difference) -> bool:
    if isinstance(difference, MixedDifference):
        return _by_standard_error(difference.parts[0])
    return not isinstance(difference, AnswersDifference | JudgedDifference)


def _unequal(case: Case) -> str:
    if case.design is None:
        return ""
    cv = case.design.cv
    return f" (their standard deviation over that mean: {cv:.2g})" if cv > 0 else ", all of them the same number,"
