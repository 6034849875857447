"""The verdict of a gate over all its comparisons, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isnan
from typing import Any

from simstudy.gates.asked import BETTER, EQUIVALENT, NOT_WORSE, WORSE, Gate
from simstudy.gates.findings import Finding
from simstudy.text.numerals import score_format
from simstudy.text.plain_text import shown


@dataclass(frozen=True)
class Look:
    """A look of a gate that is asked again and again: its number in the file that keeps them, and its level."""

    file: str
    number: int
    #: The part of alpha that this look may use, and alpha.
    level: float
    alpha: float
    #: Whether it is one that the file had already.
    again: bool

    def told(self) -> str:
        """The look in a sentence."""
        which = f"look {self.number} of {shown(self.file)}{' again: the same outputs' * self.again}"
        return which if self.level == self.alpha else f"{which}, with {_level(self.level)} of the level {self.alpha:g}"


@dataclass(frozen=True)
class Verdict:
    """A gate, and what it found in each of its comparisons."""

    gate: Gate
    findings: tuple[Finding, ...]
    look: Look | None = None

    @property
    def passed(self) -> bool:
        """Whether the pipeline may go on."""
        return all(finding.passed for finding in self.findings)

    @property
    def claimed(self) -> bool:
        """Whether the gate's claim is shown: in every comparison, or, of worse, in any."""
        return self.passed == self.gate.kind.unless

    def as_json(self, part: int) -> dict[str, Any]:
        """The fields of JSON for one comparison."""
        content = self.findings[part].as_json()
        if self.look is not None:
            look = self.look
            content["look"] = {"file": look.file, "number": look.number, "level": look.level, "again": look.again}
        return content

    def sentence(self) -> str:
        """The question and the decision in one line, by the comparison that decides."""
        failed, n = [finding for finding in self.findings if not finding.passed], len(self.findings)
        one = failed[0] if failed else self._weakest()
        said = f"{told(one)}{'' if self.look is None else f' [{self.look.told()}]'}"
        if n == 1:
            return said
        if failed:
            rule = "each must pass" if self.gate.kind.unless else f"each is tested at {_level(one.threshold)}"
            return f"{said} (fails: {len(failed)} of {n} comparisons; {rule})"
        return (
            f"{said}; p is the {'largest' if self.gate.kind.unless else 'smallest'} of {n} comparisons, which all pass"
        )

    def _weakest(self) -> Finding:
        """The comparison that is nearest to failing."""
        turn = 1 if self.gate.kind.unless else -1
        return max(self.findings, key=lambda finding: turn * finding.p_value)


def told(finding: Finding) -> str:
    """The answer in one comparison, in one line."""
    return _SENTENCES[finding.gate.kind](finding)


def _better(finding: Finding) -> str:
    a, b = _names(finding)
    verb = "is" if finding.claimed else "is not"
    said = f"{a} {verb} significantly better than {b} at {_level(finding.level)} by {finding.told}"
    # The p-value is of the system with the better score; of a sequential test it is of a.
    behind = finding.gain < 0 and finding.e_value is None
    said += f": {b} has the better score" if behind else f", {_sided(finding)}{finding.why}"
    return said + _gain(finding)


def _worse(finding: Finding) -> str:
    a, b = _names(finding)
    verb = "is" if finding.claimed else "is not"
    said = f"{a} {verb} significantly worse than {b} at {_level(finding.level)} by {finding.told}"
    ahead = finding.gain > 0 and not finding.claimed
    said += f": {a} has the better score" if ahead else f", {_sided(finding)}{finding.why}"
    if finding.claimed or not finding.gain_low < 0:
        return said + _gain(finding)
    # Passing is no evidence that the two are equal: this is what it may have missed.
    seen = f"it is worse by {_amount(finding, -finding.gain)} in this test set, and"
    if finding.gain >= 0:
        seen = f"the gain is {_amount(finding, finding.gain)} in this test set, but {a}"
    return f"{said}; {seen} may be worse by {_amount(finding, -finding.gain_low)} ({finding.interval})"


def _not_worse(finding: Finding) -> str:
    a, b = _names(finding)
    verb = "is not" if finding.claimed else "may be"
    assert finding.gate.margin is not None
    return f"{a} {verb} worse than {b} by {_amount(finding, finding.gate.margin)} or more by {_against(finding)}"


def _equivalent(finding: Finding) -> str:
    a, b = _names(finding)
    verb = "are" if finding.claimed else "are not shown to be"
    assert finding.gate.margin is not None
    return f"{a} and {b} {verb} equivalent within {_amount(finding, finding.gate.margin)} by {_against(finding)}"


_SENTENCES = {BETTER: _better, WORSE: _worse, NOT_WORSE: _not_worse, EQUIVALENT: _equivalent}


def _against(finding: Finding) -> str:
    """The comparison, the p-value and the level of tests against a margin."""
    tests = "two one-sided tests" if finding.gate.kind == EQUIVALENT else "one-sided test"
    return f"{finding.told}, {_p(finding)} ({tests} at {_level(finding.threshold)}){finding.why}{_gain(finding)}"


def _gain(finding: Finding) -> str:
    """The gain of the test set with its interval, for the end of a sentence."""
    low, high = (_amount(finding, end).split(" ")[0] for end in (finding.gain_low, finding.gain_high))
    ends = "no interval" if isnan(finding.gain_low) else f"{finding.interval}: {low} to {high}"
    return f"; the gain is {_amount(finding, finding.gain)} ({ends})"


def _level(level: float) -> str:
    """A level as it was given, or with two digits where it is a part of one."""
    text = f"{level:g}"
    return text if len(text) <= 6 else f"{level:.2g}"


def _p(finding: Finding) -> str:
    return "without a p-value" if isnan(finding.p_value) else f"p {finding.p}"


def _sided(finding: Finding) -> str:
    """The p-value of a test without a margin, with its sides."""
    return _p(finding) if isnan(finding.p_value) else f"{_p(finding)} ({finding.sides})"


def _names(finding: Finding) -> tuple[str, str]:
    a, b = shown(finding.gate.a), shown(finding.gate.b)
    return a, b if a != b else f"{b} (2)"


def _amount(finding: Finding, amount: float) -> str:
    """So many points, or so much of a metric of another scale."""
    points = "" if finding.metric_unit != "percent" else " point" if amount == 1 else " points"
    text = f"{amount:g}" if amount == finding.gate.margin else format(amount, score_format(100, amount))
    return f"{text}{points}"


def notes_of(verdicts: Sequence[Verdict]) -> list[str]:
    """Notes for readers of the tables, if gates are asked more than once."""
    looks = [verdict.look for verdict in verdicts if verdict.look is not None]
    if any(finding.e_value is not None for verdict in verdicts for finding in verdict.findings):
        return ["p-values and intervals here are for one look; those of the gates (--sequential) hold at every look"]
    if looks:
        return [f"p-values here are for one look; the gates of {shown(looks[0].file)} use a part of the level at each"]
    return []
