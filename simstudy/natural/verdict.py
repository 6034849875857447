"""What one row of Comparisons says, in words that a paper can print."""

from __future__ import annotations

from math import floor, isnan, log10
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analyses.equivalence import BOTH, EQUIVALENT, equivalence
from simstudy.engines.registry import TESTS
from simstudy.metrics.labels import in_percent, label
from simstudy.pvalues import supported

#: With fewer units tests and intervals are rough; the study error_rates says how rough.
FEW_UNITS = 20


def verdict(pair: pd.Series[Any], *, alpha: float = 0.05, margin: float | None = None) -> str:
    """What one row of Comparisons says: gain, interval, p-value, test, sides, units, and what follows.

    Parameters
    ----------
    pair
        A row of what `simstudy.compare` returned.
    alpha
        The level.
    margin
        The smallest true gain that would matter, on the metric's scale, chosen beforehand; then it also says whether
        the two systems are equivalent (`simstudy.equivalence`).

    Raises
    ------
    ValueError
        As `simstudy.equivalence`.

    Examples
    --------
    >>> from simstudy.engines.comparisons import compare
    >>> from simstudy.outputs import Outputs
    >>> outputs = Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 30 + [[0, 1]] * 10], "accuracy", ["new", "old"])
    >>> for part in verdict(compare(outputs).iloc[0]).split("; "):
    ...     print(part)
    new scores 100.00 % accuracy, 25.00 points more than old (75.00 %)
    95 % interval 14.15 to 40.19 points, p = 0.002 (sign-flip test, two-sided, exact)
    40 items, new better on 10, worse on 0, level on 30. The gain is significant at 0.05.
    """
    return " ".join([_measured(pair, alpha), *_decided(pair, alpha, margin), *_remarks(pair, alpha)])


def _measured(pair: pd.Series[Any], alpha: float) -> str:
    a, b = pair["system_a"], pair["system_b"]
    percent, points = (" %", " points") if in_percent(pair["metric"]) else ("", "")
    digits = 2 if max(abs(pair["score_a"]), abs(pair["score_b"])) >= 1 else 4
    if pair["gain"] > 0:
        # A gain that is there must not read 0.00.
        digits = max(digits, -floor(log10(pair["gain"])))
    score_a, score_b, gain, low, high = (
        f"{pair[name]:.{digits}f}" for name in ("score_a", "score_b", "gain", "gain_low", "gain_high")
    )
    score = f"{score_a}{percent} {label(pair['metric'])}"
    if pair["gain"] == 0:
        said = f"{a} and {b} have the same score ({score})"
    else:
        more = "less" if pair["score_a"] < pair["score_b"] else "more"
        said = f"{a} scores {score}, {gain}{points} {more} than {b} ({score_b}{percent})"
    between = "no interval" if isnan(pair["gain_low"]) else f"95 % interval {low} to {high}{points}"
    if pair["gain"] == 0 or (pair["score_a"] < pair["score_b"]):
        between = between.replace("interval", f"interval of the gain of {a}", 1)
    better = f"{a} better on {pair['n_better']:,}, worse on {pair['n_worse']:,}, level on {pair['n_level']:,}"
    return f"{said}; {between}, p {equals(pair['p_value'], alpha)} ({_how(pair, alpha)}); {_units(pair)}, {better}."


def _how(pair: pd.Series[Any], alpha: float) -> str:
    two_sided = pair["alternative"] == "two-sided"
    parts = [TESTS[pair["test"]].title if pair["test"] in TESTS else str(pair["test"])]
    parts.append("two-sided" if two_sided else "one-sided")
    parts.append("exact" if pair["exact"] else "approximate")
    if pair["monte_carlo"]:
        parts.append(
            f"{pair['n_resamples']:,} resamples, 95 % Monte Carlo interval {written(pair['p_low'])} to "
            f"{written(pair['p_high'])}"
        )
    if pair["convention"] != "default":
        parts.append(f"convention {pair['convention']}")
    how = ", ".join(parts)
    if not two_sided and not isnan(pair["p_two_sided"]):
        how += f"; two-sided p {equals(pair['p_two_sided'], alpha)}"
    return how


def _units(pair: pd.Series[Any]) -> str:
    test_set = f" of {pair['test_set']}" if pair["test_set"] else ""
    if pair["unit"] == "item":
        return f"{pair['n_items']:,} items{test_set}"
    return f"{pair['n_units']:,} units ({pair['unit']}) of {pair['n_items']:,} items{test_set}"


def _decided(pair: pd.Series[Any], alpha: float, margin: float | None) -> list[str]:
    said = _significance(pair, alpha)
    if margin is None:
        return [said]
    row = equivalence(pd.DataFrame([pair]), margin, alpha=alpha).iloc[0]
    points = "" if not in_percent(pair["metric"]) else " point" if margin == 1 else " points"
    how = f"two one-sided tests at {alpha / 2:g}"
    a, b = pair["system_a"], pair["system_b"]
    if row["conclusion"] == BOTH:
        return [said, f"But it is smaller than the margin of {margin:g}{points}: the two are equivalent ({how})."]
    if row["conclusion"] == EQUIVALENT:
        return [said, f"The two are equivalent: the true gain is within {margin:g}{points} either way ({how})."]
    if row["p_not_worse"] <= alpha / 2:
        return [said, f"{b} is not worse than {a} by {margin:g}{points} or more (one-sided test at {alpha / 2:g})."]
    return [said, f"It is not shown that {b} is within {margin:g}{points} of {a}."]


def _significance(pair: pd.Series[Any], alpha: float) -> str:
    a, b = pair["system_a"], pair["system_b"]
    if pair["gain"] == 0 and not (pair["p_value"] <= alpha and pair["favours"]):
        return "There is no gain to test."
    if pair["monte_carlo"] and pair["p_low"] <= alpha < pair["p_high"]:
        return f"Whether the gain is significant at {alpha:g} is not sure with so few resamples."
    if pair["p_value"] > alpha:
        return f"The gain is not significant at {alpha:g}: that does not show that the systems are equally good."
    if pair["favours"] == b:
        null = TESTS[pair["test"]].null if pair["test"] in TESTS else "another hypothesis than equal scores"
        return (
            f"The test speaks for {b}, not for {a}: its null hypothesis is not that the scores are equal, but that "
            f"{null}. The gain is not significant."
        )
    if not bool(supported(pd.DataFrame([pair]), alpha).all()):
        differ = "the units that differ are too few"
        return (
            f"The gain is not significant at {alpha:g} whatever this p-value is: {differ}, and by swapping them no p "
            f"below {written(pair['p_floor'])} can be had."
        )
    if pair["alternative"] == "two-sided":
        return f"The gain is significant at {alpha:g}."
    if pair["p_two_sided"] <= alpha:
        return f"The gain is significant at {alpha:g}, one-sided and two-sided."
    return f"At {alpha:g} the gain is significant only if it was said beforehand that {a} is the better."


def _remarks(pair: pd.Series[Any], alpha: float) -> list[str]:
    """What a reader should know of the numbers: few units, and an interval that does not say what the test does."""
    remarks = []
    if pair["n_units"] < FEW_UNITS:
        few = f"{pair['n_units']} items" if pair["unit"] == "item" else f"{pair['n_units']} units ({pair['unit']})"
        remarks.append(f"With {few} test and interval are rough.")
    excluded = pair["gain_low"] > 0
    p_value = pair["p_two_sided"]
    # Where the test speaks for the other system, that was said already.
    agree = pair["favours"] != pair["system_b"]
    if (
        agree
        and alpha == 0.05
        and not isnan(pair["gain_low"])
        and not isnan(p_value)
        and excluded != (p_value <= alpha)
    ):
        null = TESTS[pair["test"]].null if pair["test"] in TESTS else ""
        remarks.append(
            f"Interval and p-value disagree about 0: the interval is approximate, and the test asks whether {null}."
        )
    return remarks


def equals(p: float, alpha: float | None = None) -> str:
    """An equals sign and a p-value as `written` has it, or "< 0.000001".

    Examples
    --------
    >>> equals(0.0312), equals(3e-9), equals(0.0501, 0.05)
    ('= 0.031', '< 0.000001', '= 0.0501')
    """
    # One in a million resamples and one is 0.000001 for a reader.
    return "< 0.000001" if p < 9.95e-7 else f"= {written(p, alpha)}"


def written(p: float, alpha: float | None = None) -> str:
    """A p-value with two significant digits, three decimals where it is large; never rounded across alpha.

    Examples
    --------
    >>> written(0.0312), written(0.5012), written(0.00001), written(1.0), written(0.0504, 0.05)
    ('0.031', '0.501', '0.00001', '1.000', '0.0504')
    """
    if p >= 0.0995:
        return f"{p:.3f}"
    for digits in range(2, 17):
        rounded = float(f"{p:.{digits}g}")
        if alpha is None or (rounded <= alpha) == (p <= alpha):
            break
    return np.format_float_positional(rounded, trim="-")
