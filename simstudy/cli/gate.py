"""The gate of `simstudy compare --fail-unless-better`: what it asks of a comparison, and how it decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.text.numerals import p_floor, p_text
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.examination import Examination


@dataclass(frozen=True)
class Gate:
    """The finding of a gate in one comparison: whether system `better` is significantly better than `than`."""

    better: str
    than: str
    #: The comparison in words: "accuracy on news", or "macro average, these tasks".
    of: str
    #: The same in a sentence, with the number of tasks.
    told: str
    p_value: float
    #: The p-value as it is printed.
    p: str
    alpha: float
    passed: bool
    #: Whether the other system has the better score.
    behind: bool
    #: Reasons for a failure other than a large p-value, for the end of a sentence.
    why: str = ""

    def as_json(self) -> dict[str, Any]:
        """The field ``gate`` of the JSON."""
        names = ("better", "than", "of", "p_value", "alpha", "passed")
        return {name: getattr(self, name) for name in names}

    def sentence(self) -> str:
        """What was asked and decided, in one line."""
        verb = "is" if self.passed else "is not"
        what = (
            f"{shown(self.better)} {verb} significantly better than {shown(self.than)} at {self.alpha:g} by {self.told}"
        )
        # The p-value is of the system with the better score.
        return f"{what}: {shown(self.than)} has the better score" if self.behind else f"{what}, p {self.p}{self.why}"


def gate_of(found: Examination, names: tuple[str, str], alpha: float) -> Gate:
    """What the gate finds in one comparison: in the average that is asked for, where there are averages of tasks.

    A ValueError says which of the two systems was dropped.
    """
    from simstudy.comparisons.verdict import one_row
    from simstudy.statistics.decisions import Decision

    dropped = [name for name in names if name not in found.outputs.names]
    if dropped:
        raise ValueError(f"--fail-unless-better: system '{dropped[0]}' was dropped as a near-duplicate")
    why = ""
    if found.tasks is not None:
        tasks = found.tasks
        row = _row_of(tasks.answer, names)
        passed = tasks.is_better(*names)
        of, told = f"{tasks.average} average", f"{tasks.average} average over {tasks.n_tasks} tasks"
        of, told = f"{of}, {row['hypothesis']}", f"{told} ({row['hypothesis']})"
    else:
        row = _row_of(found.pairs.frame, names)
        why = Decision(alpha).why_not(one_row(row))[0]
        passed = row["system_a"] == names[0] and not why
        of = told = found.test_set.metric + (f" on {shown(found.test_set.name)}" if found.test_set.name else "")
    ahead = names[0] if row["gain"] == 0 else row["system_a"] if row["gain"] > 0 else row["system_b"]
    if len(found.pairs) > 1 and found.tasks is None:
        told += " (one pair, named beforehand: p is not corrected for the others)"
    p = p_text(row["p_value"], alpha, p_floor(row["n_resamples"]))
    return Gate(
        *names, of, told, float(row["p_value"]), p if p.startswith("<") else f"= {p}", alpha, passed,
        behind=ahead != names[0], why=f"; {why}" if why and row["p_value"] <= alpha else "",
    )  # fmt: skip


def decision(gates: Sequence[Gate]) -> str:
    """One line on all comparisons: the weakest of those that passed, or the first that did not."""
    failed = [gate for gate in gates if not gate.passed]
    first = failed[0] if failed else max(gates, key=lambda gate: gate.p_value)
    if len(gates) == 1:
        return f"gate: {first.sentence()}"
    if failed:
        return f"gate: {first.sentence()} (fails: {len(failed)} of {len(gates)} comparisons; each must pass)"
    return f"gate: {first.sentence()}, the largest p of {len(gates)} comparisons, which all pass"


def _row_of(pairs: pd.DataFrame, names: tuple[str, str]) -> pd.Series[Any]:
    """The row of two systems, whichever of them is first in it."""
    a, b = pairs["system_a"], pairs["system_b"]
    one, other = names
    return pairs[((a == one) & (b == other)) | ((a == other) & (b == one))].iloc[0]
