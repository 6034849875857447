"""What numbers rest on, in words: answers and wrong ones, or the skewness of the differences; and cautions."""

from __future__ import annotations

from math import isnan
from typing import Any

import pandas as pd

from simstudy.loaders.base import counted


def footing(pair: pd.Series[Any], few_units: bool = False) -> list[str]:
    """Sentences on what a row of Comparisons rests on, and its caution; none for right and wrong answers.

    Of these the verdict tells on how many items the systems differ, and test and interval hold for few of them too.
    With `few_units` another sentence says that test and interval are rough.

    Examples
    --------
    >>> import simstudy as ss
    >>> counts = [[[1, 1, 1]] * 18 + [[0, 0, 1]] * 12, [[0, 1, 1]] * 4 + [[1, 1, 1]] * 26]
    >>> print(*footing(ss.compare(ss.Outputs.from_statistics(counts, "precision", ["new", "old"])).frame.iloc[0]))
    Answers: 18 by new, 0 of them wrong, and 30 by old, 4 wrong. Few wrong answers: p and interval are approximate.
    """
    said = []
    if not isnan(pair["accepted_a"]):
        (of_a, wrong_a), (of_b, wrong_b) = ((pair[f"accepted_{x}"], pair[f"wrong_{x}"]) for x in "ab")
        a, b = pair["system_a"], pair["system_b"]
        said.append(
            f"Answers: {of_a:,.0f} by {a}, {wrong_a:,.0f} of them wrong, and {of_b:,.0f} by {b}, {wrong_b:,.0f} wrong."
        )
    elif pair["interval"] != "score" and not isnan(pair["skewness"]):
        said.append(f"Skewness of the differences: {pair['skewness']:.2f}.")
    # A file of comma-separated values that is read again has NaN for "".
    caution = pair["caution"] if isinstance(pair["caution"], str) else ""
    approximate = [] if pair["exact"] else ["p"]
    approximate += [] if isnan(pair["gain_low"]) else ["interval"]
    if caution and approximate and not few_units:
        verb = "are" if len(approximate) > 1 else "is"
        said.append(f"{caution.capitalize()}: {' and '.join(approximate)} {verb} approximate.")
    return said


def cautioned(pairs: pd.DataFrame) -> str:
    """What a page says of column caution, after a sentence; nothing where no pair has one."""
    n = int((pairs["caution"] != "").sum())
    if not n:
        return ""
    return (
        f" Column caution: where it says so ({n:,} of {counted(len(pairs), 'pair')}), p-value and interval rest on few "
        "wrong or right answers, or on skewed differences, and are approximate."
    )
