"""The outputs that a plan is made from."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

from simstudy.validation import check_choice, check_text, check_whole

if TYPE_CHECKING:
    from simstudy.outputs import Outputs

#: Test sets that a simulation, and a prediction, must have at least.
FEWEST_SETS, FEWEST_DRAWS = 200, 100


@dataclass(frozen=True, eq=False)
class Pilot:
    """Outputs that a plan is made from, how they are read, and what is drawn.

    Attributes
    ----------
    outputs
        Of two systems (a pilot) or more (a leaderboard), with at least ten items or clusters.
    by
        Three systems or more: the column of their table that tells which ones are related.
    unit
        The resampling unit, "item" or a column of the items; None: the natural unit.
    duplicates
        Three systems or more: "drop" leaves near-duplicates out (`simstudy.analyses.near_duplicates`), which differ
        less than systems that somebody would compare, if three others are left; or "keep".
    n_sets
        Test sets to draw from a fitted model, to compare the closed form with: at least 200, or 0 for none.
    n_draws
        Three systems or more: test sets of each size that are drawn to predict what they show (at least 100, or 0 for
        none).
    seed
        Of what is drawn, from 0 to 2^64 - 1.

    Raises
    ------
    ValueError
        For what are no Outputs, an unknown way with duplicates, and numbers of test sets that are too small.

    Examples
    --------
    >>> import simstudy as ss
    >>> outputs = ss.truth.correlated_accuracies([0.7, 0.75], n_items=200)
    >>> found = ss.plan(ss.Pilot(outputs, n_sets=0), gain=5)
    >>> found.simulated is None
    True
    """

    outputs: Outputs
    by: str | None = None
    unit: str | None = None
    duplicates: str = "drop"
    n_sets: int = 2000
    n_draws: int = 1000
    seed: int = 0

    @property
    def settings(self) -> dict[str, Any]:
        """All but the outputs."""
        return {one.name: getattr(self, one.name) for one in fields(self) if one.name != "outputs"}

    def __post_init__(self) -> None:
        from simstudy.analyses.duplicates import DUPLICATES
        from simstudy.outputs import check_outputs

        check_outputs("pilot", self.outputs)
        check_text("Pilot.by", self.by, "the name of a column of the systems", or_none=True)
        check_text("Pilot.unit", self.unit, "the name of a column of the items", or_none=True)
        check_choice("Pilot.duplicates", self.duplicates, DUPLICATES)
        for name, fewest in (("n_sets", FEWEST_SETS), ("n_draws", FEWEST_DRAWS)):
            check_whole(f"Pilot.{name}", number := getattr(self, name), 0)
            if number:
                check_whole(f"Pilot.{name}", number, fewest)
        check_whole("Pilot.seed", self.seed, 0, 2**64)
        if self.by is not None and self.outputs.n_systems == 2:
            raise ValueError("Pilot.by must be None with outputs of two systems, which are one pair")
