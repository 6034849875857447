"""Comparisons as a paper shows them: the table of pairs, and the sentences for the sections of results and methods."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from simstudy.comparisons.verdict import cautions_of, decided, of_metric, with_shown_names
from simstudy.engines.descriptions import SIDES
from simstudy.engines.registry import TESTS
from simstudy.papers import basis
from simstudy.papers import pairs as tables
from simstudy.papers.document import Paper, PValue, Text, joined
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import holm
from simstudy.text.numerals import counted, number_text, p_digits, p_floor, p_text


def paper(pairs: pd.DataFrame, signed: str, *, alpha: float, family: str = "", most: int | None = None) -> Paper:
    """The paper of Comparisons, which have p_holm: corrected for `family`, by default for all of them."""
    form = tables.number_format(pairs)
    if len(pairs) == 1 and not family:
        table = tables.of_two(pairs, alpha=alpha, form=form)
        results = of_pair(pairs, alpha=alpha, form=form)
        return Paper(tables=[table], results=results, methods=methods_of_two(pairs, signed))
    family = family or f"all {len(pairs):,} pairs"
    table = tables.of_pairs(pairs, alpha=alpha, form=form, most=most, family=family)
    methods = joined(basis.compared(pairs), basis.corrected_for(family), basis.intervals(pairs), basis.software(signed))
    return Paper(tables=[table], results=[counted_significant(pairs, alpha)], methods=methods)


def methods_of_two(pairs: pd.DataFrame, signed: str) -> Text:
    """How two systems were compared."""
    return joined(basis.compared(pairs), basis.NOT_CORRECTED, basis.intervals(pairs), basis.software(signed))


def differing(rejected: int, of: str, pairs: pd.DataFrame, alpha: float) -> str:
    """So many of these pairs differ significantly after Holm's correction, in a sentence; one pair tells the test."""
    sides = SIDES[pairs["alternative"].iloc[0]]
    valid = "" if sides == "two-sided" else "; valid only where the better system was predicted"
    said = f"{rejected:,} of {of} differ significantly at {alpha:g} ({sides}, Holm{valid})."
    return said + basis.asked_instead(pairs)


def counted_significant(pairs: pd.DataFrame, alpha: float) -> str:
    """How many pairs differ significantly after Holm's correction, in a sentence, and why none can where that is so."""
    rejected = int(Decision(alpha, p="p_holm").significant(pairs).sum())
    said = differing(rejected, counted(len(pairs), "pair"), pairs, alpha)
    least = pairs["p_floor"].min()
    # Pairs that were selected may be corrected for more than these.
    own = np.allclose(holm(pairs["p_value"].to_numpy(dtype=np.float64)), pairs["p_holm"])
    if least * len(pairs) <= alpha or not own:
        return said
    times = "" if len(pairs) == 1 else f", and Holm's correction multiplies the smallest by {len(pairs):,}"
    return f"{said} None can: too few units differ. Swapping them gives no p-value below {p_digits(least)}{times}."


def of_pair(pairs: pd.DataFrame, *, alpha: float, form: str, margin: float | None = None) -> Text:
    """The result of one pair, in sentences: the decision, the numbers, and what limits them."""
    row = with_shown_names(pairs.iloc[0])
    decision, cautions = " ".join(decided(row, alpha, margin)), " ".join(cautions_of(row, alpha))
    # A negative skewness has a minus sign, as all numbers of a paper.
    return joined([decision], _numbers(row, alpha, form), [re.sub(r"(?<=: )-(?=\d)", "−", cautions)])


def _numbers(row: pd.Series[Any], alpha: float, form: str) -> Text:
    a, b = row["system_a"], row["system_b"]
    percent, points = (" %", " points") if row["metric_unit"] == "percent" else ("", "")
    score_a, score_b, gain = (number_text(row[name], form) for name in ("score_a", "score_b", "gain"))
    score = f"{score_a}{percent} {of_metric(row['metric'])}"
    if row["gain"] == 0:
        said, of = f"{a} and {b} have the same score, {score}", f"of the gain of {a}"
    else:
        more = "less" if row["score_a"] < row["score_b"] else "more"
        said, of = f"{a} scores {score}, {gain}{points} {more} than {b} ({score_b}{percent})", "of the gain"
    if np.isnan(row["gain_low"]):
        between = "no interval"
    else:
        low, high = (number_text(row[f"gain_{end}"], form) for end in ("low", "high"))
        between = f"95 % confidence interval {of} {low} to {high}{points}"
    p = p_text(row["p_value"], alpha, p_floor(row["n_resamples"]))
    test = f"{SIDES[row['alternative']]} {TESTS[row['test']].title}"
    return [
        f"{said}: {between}, ", PValue(p if p.startswith("<") else f"= {p}"),
        f" ({test}). {basis.differing_units(row)}",
    ]  # fmt: skip
