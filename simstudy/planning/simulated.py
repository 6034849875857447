"""A plan held against simulation: test sets drawn of a model that was fitted to a pilot, each one tested.

Where the model has no gain as large as the asked one, they are drawn of the pilot's own units.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.generators.scores import fit
from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, FloatArray
from simstudy.outputs import Outputs
from simstudy.plain_text import shown
from simstudy.planning.asked import Asked
from simstudy.planning.cases import Case
from simstudy.planning.forms import NormalDifference
from simstudy.planning.pilots import of_two
from simstudy.planning.right_or_wrong import RightOrWrongDifference
from simstudy.planning.tilted import TiltedUnits
from simstudy.pvalues import clopper_pearson
from simstudy.units import in_units
from simstudy.validation import check_seed, check_whole

# Numbers that are drawn in all, by the statistics of an item: two, or more, which cost more.
_DRAWN = {2: 20_000_000, 3: 4_000_000}
_TOGETHER = 2_000_000
_FEWEST_SETS = 200


@dataclass(frozen=True)
class Simulated:
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
        The closed form's power for the spread that the model's systems have.
    spread, spread_outputs
        The standard deviation of the difference on one unit, of the model's systems and of those that it was fitted to:
        with another gain two systems are not as unlike each other as they were.
    wrong_winner
        The share where the worse system had the better score.
    exaggeration
        The mean observed gain of significant winners over the true one; NaN where none was significant.
    fitted
        Whether test sets are of that model; else they are of the outputs' own units, of which those that speak for the
        first system are drawn more often.
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
    spread: float
    spread_outputs: float
    wrong_winner: float
    exaggeration: float
    fitted: bool = True

    def text(self) -> str:
        """What was found, in a sentence."""
        names = " and ".join(shown(name) for name in self.systems)
        fewer = " (no more, as they are large)" if self.n_sets < self.n_asked else ""
        within = self.low <= self.expected <= self.high
        verdict = "within the error of simulation" if within else "beyond its error, so that this plan is somewhat off"
        return (
            f"Simulated: on {self.n_sets:,} test sets{fewer} of {self.n_units:,} units {self._drawn_of(names)} the "
            f"gain is found in {100 * self.power:.1f} % ({100 * self.low:.1f} to {100 * self.high:.1f}); the closed "
            f"form says {100 * self.expected:.1f} % of "
            f"systems whose difference on one unit has their standard deviation, {self.spread:.3g} (the outputs': "
            f"{self.spread_outputs:.3g}), which is {verdict}. The worse system has the better score in "
            f"{100 * self.wrong_winner:.2g} %, and significant gains are {self.exaggeration:.2f} times the true one."
        )

    def _drawn_of(self, names: str) -> str:
        if self.fitted:
            return f"drawn of a model fitted to {names}"
        return f"of {names}, some of which are drawn more often so that the true gain is the one to find,"


def simulate(
    outputs: Outputs, asked: Asked, n_units: int, *, case: Case, n_sets: int = 2000, seed: int = 0
) -> Simulated | str:
    """The power of sign flips on test sets of a model fitted to two systems' outputs; or why there is none.

    The second system keeps its scores' law; the first one's is moved until the true gain is the asked one. A law that
    cannot be moved so far gives way to the outputs' units (`TiltedUnits`). Units of the outputs are their natural ones.
    """
    check_whole("n_sets", n_sets, 1)
    check_seed(seed)
    assert asked.gain is not None
    if not outputs.metric.higher_is_better or outputs.metric.name not in METRICS:
        return f"{outputs.metric.label} is not drawn"
    per_set = 2 * n_units * case.size
    n_asked, n_sets = n_sets, min(n_sets, int(_DRAWN[min(outputs.statistics.shape[2], 3)] / per_set))
    if n_sets < _FEWEST_SETS:
        return f"test sets of {n_units:,} units are too many to draw"
    # A corpus metric's model goes as far as from the worse system to the better one.
    best_first = outputs.select([outputs.names[k] for k in np.argsort(-outputs.scores(), kind="stable")])
    try:
        draw, fitted = _of_model(best_first, asked.gain), True
    except ValueError:
        try:
            draw, fitted = TiltedUnits.with_gain(in_units(best_first), asked.gain).draw, False
        except ValueError as error:
            return f"no population of such units has the gain ({error})"
    level = asked.level
    alpha, named = level.alpha / level.comparisons, level.alternative == "greater"
    found = significant = first_better = 0
    signed: list[FloatArray] = []
    sizes = 0.0
    at_once = max(1, int(_TOGETHER / per_set))
    for batch, start in enumerate(range(0, n_sets, at_once)):
        rng = np.random.default_rng([seed, batch])
        drawn = DrawnPairs(draw(min(at_once, n_sets - start), n_units, rng), outputs.metric.name, seed=seed)
        rejected = (
            drawn.p_values(["sign_flips"], [level.alternative], named=named)["sign_flips", level.alternative] <= alpha
        )
        found += int((rejected & drawn.first_is_better).sum())
        significant += int(rejected.sum())
        first_better += int(drawn.first_is_better.sum())
        sizes += float(drawn.gains[rejected].sum())
        signed.append(np.where(drawn.first_is_better, drawn.gains, -drawn.gains))
    low, high = clopper_pearson(found, n_sets)
    spread = float(np.concatenate(signed).std(ddof=1) * np.sqrt(n_units))
    of_outputs = of_two(outputs)
    closed = of_outputs.middle
    if isinstance(closed, NormalDifference):
        closed = closed.times(spread / closed.sd)
    if isinstance(of_outputs.middle, RightOrWrongDifference):
        scale = of_outputs.middle.scale
        closed = RightOrWrongDifference(min((spread**2 + asked.gain**2) / scale**2, 1.0), scale)
    return Simulated(
        case.relation,
        (best_first.names[0], best_first.names[1]),
        n_sets,
        n_asked,
        n_units,
        found / n_sets,
        float(low),
        float(high),
        closed.power(asked.gain, n_units, level),
        spread,
        of_outputs.middle.sd_of(0.0),
        1 - first_better / n_sets,
        sizes / significant / asked.gain if significant else np.nan,
        fitted,
    )


def _of_model(outputs: Outputs, gain: float) -> Callable[[int, int, np.random.Generator], Array]:
    """How test sets of a model fitted to two systems are drawn; a ValueError where it cannot have the gain."""
    pair = fit(outputs, shrink=False).model.with_gain(gain).pair()  # type: ignore[attr-defined]
    return lambda n_sets, n_units, rng: pair.draw(n_sets, n_units, rng).by(pair.units[0])
