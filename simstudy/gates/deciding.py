"""All gates of a call decided, over all comparisons, and kept in the file of looks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from simstudy.comparisons.arrivals import Arrivals
from simstudy.gates.asked import Gate
from simstudy.gates.findings import Finding, comparison_of, find
from simstudy.gates.looks import SEQUENTIAL, Looks, Plan, looks_file
from simstudy.gates.sequential import find_sequentially
from simstudy.gates.verdicts import Verdict
from simstudy.running.fingerprints import describe
from simstudy.validation import InputError

if TYPE_CHECKING:
    from simstudy.examination import Examination


def decide(
    gates: Sequence[Gate],
    parts: Sequence[Examination],
    plan: Plan,
    path: Path | None = None,
    *,
    score_range: tuple[float, float] | None = None,
) -> list[Verdict]:
    """The verdicts of gates, each over all parts.

    With a file of looks, what is decided is kept there before anybody sees it.
    """
    if plan.rule == SEQUENTIAL and any(part.tasks is not None for part in parts):
        raise InputError("sequential", "must not be given for averages of tasks; --domain chooses one task")
    with nullcontext() if path is None else looks_file(path, plan) as looks:
        return [_verdict(gate, parts, plan, looks, score_range) for gate in gates]


def _verdict(
    gate: Gate, parts: Sequence[Examination], plan: Plan, looks: Looks | None, score_range: tuple[float, float] | None
) -> Verdict:
    sequential = plan.rule == SEQUENTIAL
    arrived = [
        Arrivals.of(part.outputs, gate.a, gate.b, unit=part.test_set.unit, score_range=score_range)
        for part in parts
        if sequential
    ]
    if looks is None:
        return Verdict(gate, _findings(gate, parts, arrived, plan.alpha))
    for part, one in zip(parts, arrived, strict=False):
        looks.check_units(gate, comparison_of(part)[0], one)
    compared = [[comparison_of(part)[0], part.outputs.select([gate.a, gate.b]).fingerprint()] for part in parts]
    inputs = describe([gate.kind.name, gate.a, gate.b, gate.margin, compared])
    look = looks.ask(inputs)
    # Any of several comparisons fails a gate of this kind: they share the level of the look.
    shared = 1 if gate.kind.unless or sequential else len(parts)
    verdict = Verdict(gate, _findings(gate, parts, arrived, look.level / shared), look)
    looks.keep(verdict, inputs)
    return verdict


def _findings(
    gate: Gate, parts: Sequence[Examination], arrived: Sequence[Arrivals], level: float
) -> tuple[Finding, ...]:
    if not arrived:
        return tuple(find(gate, part, level) for part in parts)
    return tuple(find_sequentially(gate, part, one, level) for part, one in zip(parts, arrived, strict=True))
