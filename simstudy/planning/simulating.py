"""A plan held against simulation: test sets drawn from a model that was fitted to a pilot, each one tested.

Where the model has no gain as large as the asked one, they are drawn from the pilot's own units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import scipy

from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, FloatArray
from simstudy.outputs import Outputs
from simstudy.outputs.samples import SAMPLE_OF
from simstudy.outputs.units import in_units
from simstudy.planning.cases import BETTER, Case, Target
from simstudy.planning.differences import Difference, NormalDifference
from simstudy.planning.pilots import of_two
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.sampled import called
from simstudy.planning.settings import FEWEST_SETS, Level, Pilot
from simstudy.planning.simulated import Simulated
from simstudy.planning.spreads import gain_parts
from simstudy.running.progress import doing
from simstudy.statistics.pvalues import clopper_pearson
from simstudy.text.numerals import units_name, units_text
from simstudy.truth import fit
from simstudy.validation import InputError

# Numbers that are drawn in all, by the statistics of an item: two, or more, which cost more.
_DRAWN = {2: 20_000_000, 3: 4_000_000}
_TOGETHER = 2_000_000

# The part of a spread by which it is changed to see what power hangs on.
_STEP = 0.02

# Of so few units (the number that would have as unequal weights at random) a population is not made.
_FEWEST = 5

# A unit is drawn at most exp(2 x this) times as often as another.
_STEEPEST = 50.0

#: From numbers of test sets and units, and a generator: statistics (sets, 2, units, S) of two systems.
_Draw = Callable[[int, int, np.random.Generator], Array]


def held(pilot: Pilot, case: Case, target: Target, row: Mapping[str, Any]) -> tuple[Simulated | None, list[str]]:
    """A plan held against simulation, of two systems or the most ordinary pair of many; or a note why it is not."""
    outputs = pilot.outputs
    if pilot.n_sets == 0:
        return None, []
    if target.gain is None or row["goal"] != BETTER:
        return None, ["The plan is not simulated: that needs a gain above 0."]
    if pilot.unit not in (None, outputs.natural_unit):
        return None, [
            "The plan is not simulated: its resampling units are not the natural ones "
            f"({units_name(called(outputs, outputs.natural_unit), 1)})."
        ]
    two = outputs if outputs.n_systems == 2 else outputs.select(list(case.example))
    found = simulate(two, target, int(row["at_units"]), case=case, n_sets=pilot.n_sets, seed=pilot.seed)
    return (None, [f"The plan is not simulated: {found}."]) if isinstance(found, str) else (found, [])


def simulate(
    outputs: Outputs, target: Target, n_units: int, *, case: Case, n_sets: int = 2000, seed: int = 0
) -> Simulated | str:
    """The power of sign flips on test sets of a model fitted to two systems' outputs; or why there is none.

    The second system keeps its scores' law; the first one's is moved until the true gain is the asked one. A law that
    cannot be moved so far gives way to the outputs' units (`tilted_chances`), which are their natural ones.
    """
    assert target.gain is not None
    if not outputs.metric.higher_is_better or outputs.metric.name not in METRICS:
        return f"{outputs.metric.label} is not drawn"
    per_set = 2 * n_units * case.size
    n_asked, n_sets = n_sets, min(n_sets, int(_DRAWN[min(outputs.statistics.shape[2], 3)] / per_set))
    if n_sets < FEWEST_SETS:
        return f"test sets of {units_text(n_units, case.called)} are too large to draw"
    # A corpus metric's model goes as far as from the worse system to the better one.
    best_first = outputs.select([outputs.names[k] for k in np.argsort(-outputs.scores(), kind="stable")])
    try:
        with doing("fitting a model to the outputs"):
            draw, fitted = _of_model(best_first, target.gain), True
    except InputError:
        try:
            draw, fitted = _of_own_units(in_units(best_first), target.gain), False
        except InputError as error:
            return f"no population of these {units_name(case.called)} has the gain ({error})"
    rejected, first_better, gains, sizes = _tested(
        draw, outputs.metric.name, target.level,
        n_units=n_units, n_sets=n_sets, at_once=max(1, int(_TOGETHER / per_set)), seed=seed,
    )  # fmt: skip
    found, middle = rejected & first_better, of_two(outputs).middle
    low, high = clopper_pearson(int(found.sum()), n_sets)
    spread, expected, se = against_closed_form(
        found, np.where(first_better, gains, -gains), middle, gain=target.gain, n_units=n_units, level=target.level
    )
    return Simulated(
        relation=case.relation,
        systems=(best_first.names[0], best_first.names[1]),
        n_sets=n_sets,
        n_asked=n_asked,
        n_units=n_units,
        power=int(found.sum()) / n_sets,
        low=float(low),
        high=float(high),
        expected=expected,
        error=se,
        spread=spread,
        spread_outputs=middle.sd_of(0.0),
        wrong_winner=1 - int(first_better.sum()) / n_sets,
        exaggeration=sizes / int(rejected.sum()) / target.gain if rejected.any() else np.nan,
        fitted=fitted,
        planned=middle.allowing(target.gain).power(target.gain, n_units, target.level),
        unit=case.unit,
        of_samples=case.called == SAMPLE_OF,
    )


def _tested(
    draw: _Draw, metric: str, level: Level, *, n_units: int, n_sets: int, at_once: int, seed: int
) -> tuple[Array, Array, FloatArray, float]:
    """Of each drawn test set (M,): whether it is significant, whether the first system is ahead, and the winner's gain.

    The last number is the sum of the significant gains.
    """
    alpha, sides = level.alpha / level.comparisons, level.alternative
    rejected, first_better, gains, sizes = [], [], [], 0.0
    with doing("simulating test sets", n_sets) as advance:
        for batch, start in enumerate(range(0, n_sets, at_once)):
            rng, some = np.random.default_rng([seed, batch]), min(at_once, n_sets - start)
            drawn = DrawnPairs(draw(some, n_units, rng), metric, seed=seed)
            p_values = drawn.p_values(["sign_flips"], [sides], named=sides == "greater")
            rejected.append(p_values["sign_flips", sides] <= alpha)
            first_better.append(drawn.first_is_better)
            gains.append(drawn.gains)
            sizes += float(drawn.gains[rejected[-1]].sum())
            advance(some)
    return np.concatenate(rejected), np.concatenate(first_better), np.concatenate(gains), sizes


def _of_model(outputs: Outputs, gain: float) -> _Draw:
    """How test sets of a model fitted to two systems are drawn; a ValueError where it cannot have the gain."""
    pair = fit(outputs, shrink=False).model.with_gain(gain)
    return lambda n_sets, n_units, rng: pair.draw(n_sets, n_units, rng).by(pair.units[0])


def _of_own_units(units: Outputs, gain: float) -> _Draw:
    """How test sets of two systems' own units are drawn, (n_sets, 2, n_units, S), by `tilted_chances`."""
    chances, statistics = tilted_chances(units, gain), units.statistics.transpose(1, 0, 2)

    def draw(n_sets: int, n_units: int, rng: np.random.Generator) -> Array:
        return np.asarray(statistics[rng.choice(len(chances), size=(n_sets, n_units), p=chances)].swapaxes(1, 2))

    return draw


def tilted_chances(units: Outputs, gain: float) -> FloatArray:
    """With which chances (n,) two systems' units are drawn so that the first one's true gain over the second is this.

    They are proportional to exp(t d), of a unit that adds d to the gain: the smallest change that makes the gain
    (exponential tilting; Efron 1981; Davison and Hinkley 1997, section 4.4). A ValueError where none makes such a gain,
    or few units would have to carry it.
    """
    parts = gain_parts(units)
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
        raise InputError("gain", "must be from {:.3f} to {:.3f}, however the units are weighted".format(*ends), gain)
    found = chances(float(scipy.optimize.brentq(off, -_STEEPEST, _STEEPEST, xtol=1e-12)))
    if 1 / float(found @ found) < _FEWEST:
        raise InputError("gain", "must be smaller, because it would rest on too few units", gain)
    return found


def against_closed_form(
    found: Array, gains: FloatArray, difference: Difference, *, gain: float, n_units: int, level: Level
) -> tuple[float, float, float]:
    """The spread that observed gains have, the power that the closed form expects of it, and that comparison's error.

    `found` (M,) is whether the gain was found on each test set, and `gains` (M,) are those of the truly better system.
    The spread is the standard deviation of one unit's difference. The error is that of the share found minus the power,
    which are from the same test sets (delta method).
    """

    def power(spread: float) -> float:
        if isinstance(difference, RightOrWrongDifference):
            share = (spread**2 + gain**2) / difference.scale**2
            return RightOrWrongDifference(min(share, 1.0), difference.scale).power(gain, n_units, level)
        assert isinstance(difference, NormalDifference)
        return difference.times(spread / difference.sd).power(gain, n_units, level)

    spread = float(gains.std(ddof=1) * np.sqrt(n_units))
    slope = (power(spread * (1 + _STEP)) - power(spread * (1 - _STEP))) / (2 * _STEP)
    # What each test set adds to the share found, and to the logarithm of the spread.
    of_spread = ((gains - gains.mean()) ** 2 / gains.var() - 1) / 2
    influence = found - slope * of_spread
    return spread, power(spread), float(influence.std(ddof=1) / np.sqrt(len(gains)))
