"""One pair of systems, compared."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import pandas as pd

from simstudy.comparisons.verdict import verdict
from simstudy.statistics.decisions import Decision, one_row
from simstudy.text.plain_text import shown
from simstudy.text.reprs import FieldsMixin, in_columns, listed
from simstudy.validation import InputError, nearest


@dataclass(frozen=True, repr=False, eq=False)
class Pair(FieldsMixin):
    """Two systems on one test set: the gain of the better one, how well it is known, and its p-value.

    Attributes
    ----------
    system_a, system_b
        The system with the better score, and the other one.
    score_a, score_b, gain, gain_low, gain_high
        On the metric's scale; the ends of the 95 % interval are NaN where there is none.
    p_value
        A fraction, of the test and the sides that `row` names.
    row
        All columns of `simstudy.Comparisons`.

    Examples
    --------
    >>> import simstudy as ss
    >>> pair = ss.compare(ss.truth.correlated_accuracies([0.7, 0.9], 400)).pair("system-1", "system-2")
    >>> pair.system_a, pair.gain > 10, pair.significant()
    ('system-2', True, True)
    """

    system_a: str
    system_b: str
    score_a: float
    score_b: float
    gain: float
    gain_low: float
    gain_high: float
    p_value: float
    row: pd.Series[Any]

    @classmethod
    def of_row(cls, row: pd.Series[Any]) -> Self:
        """From a row of Comparisons."""
        return cls(
            str(row["system_a"]),
            str(row["system_b"]),
            float(row["score_a"]),
            float(row["score_b"]),
            float(row["gain"]),
            float(row["gain_low"]),
            float(row["gain_high"]),
            float(row["p_value"]),
            row,
        )

    def significant(self, alpha: float = 0.05) -> bool:
        """Whether the gain is significant at alpha, by this pair alone (`simstudy.statistics.decisions.Decision`)."""
        return Decision(alpha).is_significant(self.row)

    def why_not(self, alpha: float = 0.05) -> str:
        """Why the gain is not significant at alpha; empty where it is."""
        return str(Decision(alpha).why_not(one_row(self.row))[0])

    def verdict(self, *, alpha: float = 0.05, margin: float | None = None) -> str:
        """What the comparison says, in words (`simstudy.verdict`)."""
        return verdict(self.row, alpha=alpha, margin=margin)

    def __repr__(self) -> str:
        return "\n".join(map(in_columns, self.verdict().splitlines()))


def no_pair(first: str, second: str, n: int, names: list[str]) -> InputError:
    """Why two names are not those of one pair, of which a table of these systems has n."""
    for name in (first, second):
        if name not in names:
            known = f"there are {listed([shown(one) for one in names])}" if names else "there are no pairs"
            hint = nearest(name, names)
            return InputError("first and second", "must be systems", name, f"{hint}; {known}" if hint else known)
    if first == second:
        return InputError("first and second", f"must be two systems, not '{first}' twice")
    there = f"{n} (several test sets?)" if n else "none"
    return InputError("first and second", f"must name one pair; '{first}' and '{second}' name {there}")
