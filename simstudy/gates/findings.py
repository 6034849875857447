"""The answer to a gate in one comparison, for a fixed number of items."""

from __future__ import annotations

from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

import pandas as pd

from simstudy.comparisons.equivalence import equivalence
from simstudy.engines.descriptions import SIDES
from simstudy.engines.intervals import t_interval
from simstudy.gates.asked import BETTER, EQUIVALENT, Gate
from simstudy.readers.long_table import of_several_tasks
from simstudy.statistics.decisions import Decision, one_row
from simstudy.suites.comparing import at_level
from simstudy.text.numerals import p_floor, p_text
from simstudy.text.plain_text import shown
from simstudy.validation import InputError

if TYPE_CHECKING:
    from simstudy.examination import Examination


@dataclass(frozen=True)
class Finding:
    """The answer to a gate in one comparison."""

    gate: Gate
    #: The comparison in words: "accuracy on news", or "macro average, these tasks".
    of: str
    #: The same in a sentence, with what the p-value rests on.
    told: str
    #: The p-value of the claim: two-sided for better and worse; one-sided for claims about a margin, which are tested
    #: at half of `level`.
    p_value: float
    #: The p-value as it is printed: "= 0.02" or "< 0.001".
    p: str
    level: float
    #: Whether the gate's claim is shown.
    claimed: bool
    #: The gain of system a over system b.
    gain: float
    #: Its interval, at 1 - `level`, and what the interval is called; NaN without one.
    gain_low: float
    gain_high: float
    interval: str
    #: The unit of the metric's scores: percent, points, …
    metric_unit: str
    n_units: int
    #: The sides of a test without a margin: "two-sided" or "one-sided".
    sides: str = "two-sided"
    #: Reasons for a claim that is not shown other than a large p-value, for the end of a sentence.
    why: str = ""
    #: The largest e-value so far, if the test is sequential: the smaller one of two claims.
    e_value: float | None = None
    #: A hash of the units, if the test is sequential, for the next look.
    units: str = ""

    @property
    def threshold(self) -> float:
        """The number that the p-value is compared with."""
        return self.level / 2 if self.gate.kind.with_margin else self.level

    @property
    def passed(self) -> bool:
        """Whether the pipeline may go on, as far as this comparison is asked."""
        return self.claimed == self.gate.kind.unless

    def as_json(self) -> dict[str, Any]:
        """The fields of JSON."""
        content: dict[str, Any] = {
            "gate": self.gate.kind.name, "system": self.gate.a, "other": self.gate.b, "margin": self.gate.margin,
            "of": self.of, "p_value": self.p_value, "alpha": self.threshold, "gain": self.gain,
            "gain_low": self.gain_low, "gain_high": self.gain_high, "passed": self.passed,
        }  # fmt: skip
        if self.e_value is not None:
            content |= {"n_units": self.n_units, "e_value": self.e_value}
        return {name: None if isinstance(value, float) and isnan(value) else value for name, value in content.items()}


def find(gate: Gate, found: Examination, level: float) -> Finding:
    """The answer to a gate in one comparison, in the average that is asked for if there are averages of tasks.

    `level` is two-sided; each one-sided test against a margin has half of it. A ValueError says which of the two
    systems was dropped.
    """
    for name in (gate.a, gate.b):
        if name not in found.outputs.names:
            raise InputError(f"{gate.kind.option}: system '{name}' was dropped as a near-duplicate")
    names = (gate.a, gate.b)
    row = _row_of(found.pairs.frame if found.tasks is None else found.tasks.answer, names)
    of, told = comparison_of(found)
    if found.tasks is None and len(found.pairs) > 1:
        told += " (one pair, named beforehand: p is not corrected for the others)"
    turned = row["system_a"] != gate.a
    ends = _interval(row, found, 1 - level)
    low, high = (-ends[1], -ends[0]) if turned else ends
    p_value, claimed, why = _decided(gate, row, level, of_tasks=found.tasks is not None)
    resampled = 0.0 if gate.kind.with_margin else p_floor(row["n_resamples"])
    threshold = level / 2 if gate.kind.with_margin else level
    alternative = row.get("alternative", "two-sided")
    two_sided = "two-sided " * (alternative != "two-sided")
    return Finding(
        gate, of, told, p_value, equals(p_value, threshold, resampled), level, claimed,
        gain=float(-row["gain"] if turned else row["gain"]), gain_low=low, gain_high=high,
        # As many digits as the level is told with.
        interval=f"{two_sided}{100 - float(f'{100 * level:.2g}'):.10g} % interval",
        metric_unit=str(row["metric_unit"]), n_units=int(row["n_units"]),
        sides=SIDES[alternative], why=why,
    )  # fmt: skip


def comparison_of(found: Examination) -> tuple[str, str]:
    """The name of the comparison, and the same for a sentence."""
    if found.tasks is not None:
        tasks, row = found.tasks, found.tasks.answer.iloc[0]
        of = f"{tasks.average} average"
        return f"{of}, {row['hypothesis']}", f"{of} over {tasks.n_tasks} tasks ({row['hypothesis']})"
    of = found.test_set.metric + (f" on {shown(found.test_set.name)}" if found.test_set.name else "")
    return of, f"{of} on all items together" if of_several_tasks(found.outputs) else of


def equals(p: float, alpha: float, floor: float = 0.0) -> str:
    """A p-value after the letter p; nothing where there is none."""
    if isnan(p):
        return ""
    text = p_text(p, alpha, floor)
    return text if text.startswith("<") else f"= {text}"


def _decided(gate: Gate, row: pd.Series[Any], level: float, *, of_tasks: bool) -> tuple[float, bool, str]:
    """The p-value of the gate's claim, whether the claim is shown, and why it is not if p is small."""
    if gate.margin is not None:
        tested = equivalence(one_row(row), gate.margin).iloc[0]
        # That of the system with the better score, and that of the other one, which equivalence has too.
        of_a = row["system_a"] == gate.a and gate.kind != EQUIVALENT
        p_value = float(tested["p_noninferiority" if of_a else "p_equivalence"])
        return p_value, p_value <= level / 2, "; there is no interval to test a margin by" if isnan(p_value) else ""
    better = gate.a if gate.kind == BETTER else gate.b
    p_value = float(row["p_value"])
    if of_tasks:
        return p_value, row["system_a"] == better and Decision(level).is_significant(row), ""
    why = str(Decision(level).why_not(one_row(row))[0])
    return p_value, row["system_a"] == better and not why, f"; {why}" if why and p_value <= level else ""


def _interval(row: pd.Series[Any], found: Examination, level: float) -> tuple[float, float]:
    """The interval of a row's gain at this level, of the same kind as in the tables."""
    if found.tasks is not None:
        low, high = t_interval(row["gain"], row["gain_se"], row["df"], found.outputs.metric, level)
        return float(low), float(high)
    one = at_level(one_row(row), found.outputs.metric, level).iloc[0]
    return float(one["gain_low"]), float(one["gain_high"])


def _row_of(pairs: pd.DataFrame, names: tuple[str, str]) -> pd.Series[Any]:
    """The row of two systems, whichever of them is first in it."""
    a, b = pairs["system_a"], pairs["system_b"]
    one, other = names
    return pairs[((a == one) & (b == other)) | ((a == other) & (b == one))].iloc[0]
