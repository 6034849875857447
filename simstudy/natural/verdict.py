"""One sentence on two systems that a person can quote."""

from __future__ import annotations

from math import floor, log10
from typing import Any

import numpy as np
import pandas as pd

from simstudy.metrics.labels import in_percent, label

#: Tests by the names that a report gives them.
NAMES = {
    "bootstrap": "paired bootstrap",
    "randomization": "approximate randomization",
    "t_paired": "paired t test",
    "z_paired": "paired z test",
    "sign": "sign test",
    "wilcoxon": "Wilcoxon signed-rank test",
    "mcnemar": "McNemar's test",
    "z_independent": "z test for independent samples",
    "t_two_sample": "two-sample t test",
    "two_proportions": "test of two proportions",
    "chi_square": "chi-square test",
    "fisher": "Fisher's exact test",
}


def verdict(pair: pd.Series[Any], *, alpha: float = 0.05, other_tail: float | None = None) -> str:
    """What one row of Comparisons says, in one or two sentences.

    Parameters
    ----------
    pair
        A row of what `simstudy.compare` returned.
    alpha
        The level.
    other_tail
        The same pair's p-value under the other alternative, where it is known.

    Examples
    --------
    >>> from simstudy.engines.comparisons import compare
    >>> from simstudy.outputs import Outputs
    >>> outputs = Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 30 + [[0, 1]] * 10], "accuracy", ["new", "old"])
    >>> said, decided = verdict(compare(outputs).iloc[0]).split(": p ")
    >>> said
    'new scores 100.00 % accuracy, 25.00 points more than old (75.00 %), on 40 items'
    >>> decided
    '= 0.00057 (paired bootstrap, one-sided, exact). The gain is significant at 0.05.'
    >>> verdict(compare(outputs).iloc[0], other_tail=0.0011).split(").")[-1]
    ' The gain is significant at 0.05, one-sided and two-sided.'
    """
    two_sided = pair["alternative"] == "two-sided"
    sides = "two-sided" if two_sided else "one-sided"
    how = f"{NAMES.get(pair['test'], pair['test'])}, {sides}"
    if pair["n_resamples"]:
        how += (
            f", {pair['n_resamples']:,} resamples, 95 % Monte Carlo interval {written(pair['p_low'])} to "
            f"{written(pair['p_high'])}"
        )
    elif pair["exact"]:
        how += ", exact"
    if pair["convention"] != "default":
        how += f", convention {pair['convention']}"
    if other_tail is not None:
        how += f"; {'one' if two_sided else 'two'}-sided p {equals(other_tail, alpha)}"
    a, b = pair["system_a"], pair["system_b"]
    percent, points = (" %", " points") if in_percent(pair["metric"]) else ("", "")
    test_set = f" of {pair['test_set']}" if pair["test_set"] else ""
    on = f"on {pair['n_items']:,} items{test_set}"
    digits = 2 if max(abs(pair["score_a"]), abs(pair["score_b"])) >= 1 else 4
    if pair["gain"] > 0:
        # A gain that is there must not read 0.00.
        digits = max(digits, -floor(log10(pair["gain"])))
    score_a, score_b, gain = (f"{pair[name]:.{digits}f}" for name in ("score_a", "score_b", "gain"))
    score = f"{score_a}{percent} {label(pair['metric'])}"
    if pair["gain"] == 0:
        return f"{a} and {b} have the same score ({score}) {on}: there is no gain to test."
    more = "less" if pair["score_a"] < pair["score_b"] else "more"
    said = f"{a} scores {score}, {gain}{points} {more} than {b} ({score_b}{percent}), {on}"
    said += f": p {equals(pair['p_value'], alpha)} ({how})."
    return f"{said} {_decision(pair, alpha, other_tail)}"


def speaks_for_other(pairs: pd.DataFrame | pd.Series[Any]) -> Any:
    """Whether the p-value of a row of Comparisons, or of each of several, speaks for the system with the lower score.

    Fisher's test looks at what only one of two systems accepts. Where they accept different numbers of candidates, the
    one that is better there may have the lower precision (Evert 2004, footnote 13).
    """
    return (pairs["test"] == "fisher") & (pairs["statistic"] < 0) & (pairs["gain"] > 0)


def _decision(pair: pd.Series[Any], alpha: float, other_tail: float | None) -> str:
    if pair["n_resamples"] and pair["p_low"] <= alpha < pair["p_high"]:
        return f"Whether the gain is significant at {alpha:g} is not sure with so few resamples."
    if pair["p_value"] <= alpha and speaks_for_other(pair):
        return (
            f"This does not speak for {pair['system_a']}: of what only one of the two accepts, more is true of what "
            f"{pair['system_b']} accepts. They accept different numbers of items, so that precision and this test ask "
            "different things."
        )
    if pair["p_value"] > alpha:
        return f"The gain is not significant at {alpha:g}: that does not show that the systems are equally good."
    if other_tail is None or pair["alternative"] == "two-sided":
        return f"The gain is significant at {alpha:g}."
    if other_tail <= alpha:
        return f"The gain is significant at {alpha:g}, one-sided and two-sided."
    return f"At {alpha:g} the gain is significant only if it was said beforehand that {pair['system_a']} is the better."


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
