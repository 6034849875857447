"""Test sets of a pilot's own units, some of which are drawn more often, so that the true gain is the asked one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import optimize

from simstudy.metrics.base import Array, FloatArray
from simstudy.metrics.influence import contributions
from simstudy.outputs import Outputs

# Of so few units (the number that would have as unequal weights at random) a population is not made.
_FEWEST = 5

# A unit is drawn at most exp(2 x this) times as often as another.
_STEEPEST = 50.0


@dataclass(frozen=True, eq=False)
class TiltedUnits:
    """Two systems' units with the probabilities with which they are drawn.

    Attributes
    ----------
    statistics
        (2, n units, S).
    chances
        (n,) whose sum is 1.
    """

    statistics: Array
    chances: FloatArray

    @classmethod
    def with_gain(cls, units: Outputs, gain: float) -> TiltedUnits:
        """The units of two systems, drawn so that the first one's true gain over the second is this.

        Chances are proportional to exp(t d), of a unit that adds d to the gain: the smallest change that makes the
        gain (exponential tilting; Efron 1981; Davison and Hinkley 1997, section 4.4).

        Raises
        ------
        ValueError
            Where no chances make such a gain, or few units would have to carry it.

        Examples
        --------
        >>> units = Outputs.from_statistics([[[1, 1]] * 30 + [[0, 1]] * 20, [[0, 1]] * 20 + [[1, 1]] * 30], "accuracy")
        >>> tilted = TiltedUnits.with_gain(units, 25.0)
        >>> float((tilted.chances @ (units.statistics[0] - units.statistics[1])).round(6)[0])
        0.25
        """
        first, second = contributions(units.statistics, units.metric)
        parts = first - second
        parts = parts / np.abs(parts).max()
        statistics = units.statistics.astype(np.float64)

        def chances(tilt: float) -> FloatArray:
            weights = np.exp(tilt * parts - (tilt * parts).max())
            return np.asarray(weights / weights.sum())

        def off(tilt: float) -> float:
            scores = units.metric.score(units.n_items * np.einsum("n,kns->ks", chances(tilt), statistics))
            return float(scores[0] - scores[1]) - gain

        if not off(-_STEEPEST) <= 0 <= off(_STEEPEST):
            ends = (end + gain for end in (off(-_STEEPEST), off(_STEEPEST)))
            raise ValueError("gain must be from {:.3f} to {:.3f}, whichever units come, not {:g}".format(*ends, gain))
        found = chances(float(optimize.brentq(off, -_STEEPEST, _STEEPEST, xtol=1e-12)))
        if 1 / float(found @ found) < _FEWEST:
            raise ValueError(f"gain must be smaller, as few units would carry it, not {gain:g}")
        return cls(units.statistics, found)

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Array:
        """Statistics (n_sets, 2, n_units, S) of test sets."""
        drawn = rng.choice(len(self.chances), size=(n_sets, n_units), p=self.chances)
        return np.asarray(self.statistics.transpose(1, 0, 2)[drawn].swapaxes(1, 2))
