"""What a simulation of a plan found, and how that is told."""

from __future__ import annotations

from dataclasses import dataclass
from math import nan

import numpy as np
from scipy import special

from simstudy.text.numerals import units_name, units_text
from simstudy.text.plain_text import shown
from simstudy.text.reprs import FieldsMixin

# How often an exact plan is said to be off, and the error of a power from which on a plan is of no use.
_RATE, _FAR = 0.01, 0.1


@dataclass(frozen=True)
class Simulated(FieldsMixin):
    """What the default test found on test sets of a fitted model.

    Attributes
    ----------
    relation
        The case that it is held against.
    systems
        Those that the model was fitted to.
    n_sets, n_asked, n_units
        Test sets, how many were asked for, and units of each.
    power, low, high
        The share of them where the gain was found, with its 95 % interval.
    expected
        The closed form's power for the spread that the model's systems have, as estimated from the test sets.
    error
        The standard error of the difference between `power` and `expected`, which come from the same test sets.
    spread, spread_outputs
        The standard deviation of the difference on one unit, of the model's systems and of the outputs. The two differ
        because the model has another gain.
    wrong_winner
        The share where the worse system had the better score.
    exaggeration
        The mean observed gain of significant winners over the true one; NaN where none was significant.
    fitted
        Whether test sets are of that model. Else they are of the outputs' own units, and units on which the first
        system is better are drawn more often.
    planned
        The closed form's power for the outputs' own spread.
    unit
        What a unit is called.
    of_samples
        Whether each unit is a question with several samples.
    """

    relation: str
    systems: tuple[str, str]
    n_sets: int
    n_asked: int
    n_units: int
    power: float
    low: float
    high: float
    expected: float
    error: float
    spread: float
    spread_outputs: float
    wrong_winner: float
    exaggeration: float
    fitted: bool = True
    planned: float = nan
    unit: str = "item"
    of_samples: bool = False

    @property
    def _called(self) -> str:
        return "sample_of" if self.of_samples else self.unit

    @property
    def off(self) -> bool:
        """Whether simulation and closed form differ by more than chance makes them differ for 1 % of exact plans."""
        return bool(abs(self.power - self.expected) > -special.ndtri(_RATE / 2) * self.error)

    @property
    def warning(self) -> str:
        """What must be known of a plan that its simulation does not confirm, in a sentence; else empty."""
        if self.planned > self.high + _FAR or self.planned < self.low - _FAR:
            return (
                f"Do not rely on this plan: it expects power {self.planned:.2f}, and the simulated power is "
                f"{self.power:.2f}."
            )
        return "This plan is somewhat off: its simulation differs from it by more than chance." if self.off else ""

    def text(self) -> str:
        """What was found, in sentences; what must be known of it comes first."""
        differ = f"Only 1 in {1 / _RATE:.0f} exact plans is that far off." if self.off else "Chance can explain that."
        yours = "" if self.warning else "The simulation confirms the formula."
        larger = f"Significant gains are {self.exaggeration:.2f} times the true gain."
        said = [
            self.warning, f"Simulated: {self._found}", self._fewer, self._compared, differ, yours,
            f"Wrong winner: {100 * self.wrong_winner:.2g} %.", "" if np.isnan(self.exaggeration) else larger,
        ]  # fmt: skip
        return " ".join(filter(None, said))

    def methods(self) -> str:
        """What was found, in sentences for a section of methods: without `remarks`."""
        wrong = f"The worse system has the better score in {100 * self.wrong_winner:.2g} % of these test sets."
        larger = f"Their significant gains are on average {self.exaggeration:.2f} times the true gain."
        said = [f"A simulation checks the plan: {self._found}", self._compared, wrong]
        return " ".join([*said, *([] if np.isnan(self.exaggeration) else [larger])])

    @property
    def remarks(self) -> list[str]:
        """What must be known of the plan or of its simulation, beside a section of methods."""
        return [remark for remark in (self.warning, self._fewer) if remark]

    @property
    def _found(self) -> str:
        return (
            f"the gain is significant in {100 * self.power:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f}, "
            f"95 % interval) of {self.n_sets:,} test sets of {units_text(self.n_units, self._called)} "
            f"{self._drawn_from}."
        )

    @property
    def _fewer(self) -> str:
        if self.n_sets == self.n_asked:
            return ""
        return (
            f"Only {self.n_sets:,} were simulated instead of {self.n_asked:,}: sets are large, and memory is bounded."
        )

    @property
    def _compared(self) -> str:
        return (
            f"The plan's formula gives {100 * self.expected:.1f} % with the standard deviation of these test sets' "
            f"differences. The two are {100 * abs(self.power - self.expected):.1f} points apart (standard error "
            f"{100 * self.error:.1f})."
        )

    @property
    def _drawn_from(self) -> str:
        names = " and ".join(shown(name) for name in self.systems)
        if self.fitted:
            return f"drawn from a model fitted to {names}"
        return (
            f"of {names}. They were drawn from the {units_name(self._called)} of the pilot with unequal chances, so "
            "that the true gain is the planned one"
        )
