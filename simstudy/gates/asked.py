"""Gates: questions to two systems that decide about an exit code."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from simstudy.text.reprs import listed
from simstudy.validation import InputError, nearest


@dataclass(frozen=True)
class Kind:
    """A question to a pair of systems, and the claim that answers it."""

    name: str
    #: Whether the claim is about a margin.
    with_margin: bool
    #: Whether the pipeline fails unless the claim is shown; otherwise it fails if the claim is shown.
    unless: bool = True

    @property
    def option(self) -> str:
        """The option of the command that asks it."""
        return f"--fail-{'unless' if self.unless else 'if'}-{self.name.replace(' ', '-')}"


BETTER = Kind("better", with_margin=False)
WORSE = Kind("worse", with_margin=False, unless=False)
NOT_WORSE = Kind("not worse", with_margin=True)
EQUIVALENT = Kind("equivalent", with_margin=True)

#: Every kind of gate.
KINDS = (BETTER, WORSE, NOT_WORSE, EQUIVALENT)


@dataclass(frozen=True)
class Gate:
    """A question to two systems that were named beforehand: is the first better, worse, not worse, or equivalent."""

    kind: Kind
    #: The system that is asked about, and the one that it is compared with.
    a: str
    b: str
    #: The smallest true gain that would matter, on the metric's scale, where the kind has one.
    margin: float | None = None

    @property
    def asked(self) -> str:
        """The option with its systems, as it is typed."""
        return f"{self.kind.option} {self.a} {self.b}"

    def check(self, names: Sequence[str]) -> None:
        """Raise a ValueError where the two are not among these systems, or one system."""
        for name in (self.a, self.b):
            if name not in names:
                known = listed([*names], 8)
                raise InputError(f"{self.kind.option}: no system '{name}' among {known}{nearest(name, names)}")
        if self.a == self.b:
            raise InputError(self.kind.option, f"must name two different systems, not '{self.a}' twice")


def gates_of(asked: Sequence[tuple[Kind, Sequence[tuple[str, str]]]], margin: float | None) -> list[Gate]:
    """The gates of all kinds in order; a ValueError says which one lacks a margin, or is asked twice."""
    found: list[Gate] = []
    for kind, pairs in asked:
        if pairs and kind.with_margin and margin is None:
            raise InputError(f"{kind.option} needs --margin: the smallest true gain that would matter")
        found += [Gate(kind, a, b, margin if kind.with_margin else None) for a, b in pairs]
    for k, gate in enumerate(found):
        if gate in found[:k]:
            raise InputError(gate.kind.option, f"must be given once for '{gate.a}' and '{gate.b}', not twice")
    return found
