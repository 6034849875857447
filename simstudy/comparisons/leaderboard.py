"""A leaderboard with what is known of its places: each score's interval, each system's ranks, and who may be best."""

from __future__ import annotations

import numpy as np
import pandas as pd
from scipy import special

from simstudy.comparisons.stepdown import GainParts, gain_parts, places
from simstudy.engines.arguments import items_of_units
from simstudy.engines.array_scores import bootstrap_deviations
from simstudy.engines.intervals import score_range
from simstudy.metrics import Metric
from simstudy.metrics.arrays import ArrayMetric
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.influence import contributions, deviations, n_undefined
from simstudy.metrics.scaling import rescaled
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.units import in_units
from simstudy.running.progress import doing
from simstudy.statistics.multiplicity import RANK_DRAWS
from simstudy.statistics.proportions import wilson
from simstudy.validation import InputError, check_fraction, check_seed, check_text, check_whole

# Variances below the square of this part of the contributions' size are rounding.
_ROUNDING = 1e-12


def leaderboard(
    outputs: Outputs, *, unit: str | None = None, level: float = 0.95, n_bootstrap: int = RANK_DRAWS, seed: int = 0
) -> pd.DataFrame:
    """The systems of one test set, best first, with a confidence set for the rank of each.

    Who leads is seen in the data, and so is who is compared with whom: tests of single pairs, one by one, would tell
    many of equally good systems apart from the luckiest. Here all pairs are one family. With probability `level` the
    sets rank_low … rank_high hold the true ranks of *all* systems at once, and, another statement of the same
    probability, every truly best system has may_be_best. The sets rank_low_own … rank_high_own are for the reader who
    had one system in mind before seeing the scores: each holds its own system's rank with that probability.

    Parameters
    ----------
    outputs
        K systems on n items, of any metric. The true rank is of the scores on the population that the units are from.
    unit
        What is drawn independently of each other: "item", or a column of the items (document, user) whose values are
        the units. None: the column ``cluster`` where the items have one, else "item".
    level
        Coverage of the sets and of the scores' intervals, a fraction.
    n_bootstrap
        Draws of signs. With 2,000 a place at the edge of a set may depend on the seed.
    seed
        Of the draws, 0 … 2^64 - 1.

    Returns
    -------
    board
        One row a system: task, test_set, n_items, metric, unit, n_units, system, family, score, score_se (standard
        error by the jackknife, or by the bootstrap if the metric is no function of sums; NaN where nothing varies),
        score_low, score_high (interval of this score alone, whatever the others' are: Wilson's (1927) for items that
        are right or wrong and taken one by one, else score_se with Student's t, within the metric's scale),
        rank (1 and the number of systems with a better score), rank_low, rank_high (simultaneous), rank_low_own,
        rank_high_own (marginal), may_be_best, n_undefined (units without which the system's score would be 0 / 0: with
        any, its spread is not known, it has no interval and differs from none), level.

    Raises
    ------
    ValueError
        For a level that is no fraction, too few draws for it, a bad seed, and a unit that is no column of the items
        or that some items lack.

    Notes
    -----
    rank_low is 1 and the number of systems that are significantly better, rank_high is K less the number that are
    significantly worse, in one stepdown over the K (K - 1) hypotheses that one system is no better than another; of
    tied systems either may be first (Mogstad, Romano, Shaikh and Wilhelm 2024; R's
    ``csranks(x, Sigma, simul=TRUE)``, and ``simul=FALSE`` for the own sets). may_be_best asks for less, only whether
    any system is better, as Hsu's (1984) comparisons with the best do, and steps down over systems: it leaves out every
    system that ``cstaubest(tau=1)``, which is rank_low = 1, would leave out, and sometimes more.

    How a draw is made is told in `simstudy.comparisons.stepdown`. How often the sets hold all ranks has been measured
    (docs/concepts/groups_and_ranks.md).

    Examples
    --------
    >>> from simstudy.truth import correlated_accuracies
    >>> board = leaderboard(correlated_accuracies([0.5, 0.7, 0.7, 0.9], 300))
    >>> board[["system", "rank", "rank_low", "rank_high", "may_be_best"]].head(3).to_numpy().tolist()
    [['system-4', 1, 1, 1, True], ['system-2', 2, 2, 3, False], ['system-3', 3, 2, 3, False]]
    """
    require_outputs(outputs)
    check_fraction("level", level)
    check_text("unit", unit, "the name of a column of the items", or_none=True)
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    if (1 - level) * (n_bootstrap + 1) < 1 - 1e-9:
        raise InputError(
            "n_bootstrap",
            f"must be at least 1 / (1 - level) - 1, or no pair is ever significant, not {n_bootstrap} with level "
            f"{level}",
        )
    unit = unit or outputs.natural_unit
    ordered = outputs.best_first()
    metric, scores = outputs.metric, ordered.scores()
    if isinstance(metric, ArrayMetric):
        arrays, bounds, members = items_of_units(ordered, unit)
        n, undefined = int(bounds[-1]), np.zeros(len(scores), dtype=np.int64)
        parts = bootstrap_deviations(metric, arrays, members, bounds, seed)
        se = _standard_errors(parts, undefined, resampled=True)
        reach = special.stdtrit(n - 1, (1 + level) / 2) * se
        low, high = (np.clip(end, *score_range(metric)) for end in (scores - reach, scores + reach))
        gains = GainParts.from_scores(metric.sign * scores, metric.sign * parts, undefined > 0)
    else:
        units = in_units(ordered, unit)
        n = units.n_items
        statistics, factor = rescaled(units.statistics, metric)
        undefined = n_undefined(statistics, metric)
        parts = contributions(statistics, metric)
        se = factor * _standard_errors(parts, undefined)
        low, high = _intervals(units.statistics, metric, scores, se, level)
        gains = gain_parts(statistics, metric, undefined > 0)
    with doing(f"ranks of {len(scores)} systems"):
        found = places(gains, level=level, n_bootstrap=n_bootstrap, seed=seed)
    return pd.DataFrame(
        {
            "task": outputs.task,
            "test_set": outputs.test_set,
            "n_items": outputs.n_items,
            "metric": metric.name,
            "unit": unit,
            "n_units": n,
            "system": ordered.names,
            "family": ordered.systems["family"].to_numpy(),
            "score": scores,
            "score_se": se,
            "score_low": low,
            "score_high": high,
            "rank": _place(ordered),
            "rank_low": found.low,
            "rank_high": found.high,
            "rank_low_own": found.low_own,
            "rank_high_own": found.high_own,
            "may_be_best": found.may_be_best,
            "n_undefined": undefined,
            "level": level,
        }
    )


def _standard_errors(parts: FloatArray, undefined: IntArray, *, resampled: bool = False) -> FloatArray:
    variance = ((parts if resampled else deviations(parts)) ** 2).sum(axis=1)
    variance[variance <= _ROUNDING**2 * (parts**2).sum(axis=1)] = np.nan
    variance[undefined > 0] = np.nan
    return np.asarray(np.sqrt(variance))


def _intervals(
    statistics: Array, metric: Metric, scores: FloatArray, se: FloatArray, level: float
) -> tuple[FloatArray, FloatArray]:
    """Bounds of each score by itself, (K,) each."""
    n = statistics.shape[1]
    scale = score_range(metric)
    if (ratio := metric.ratio(statistics)) is not None and (worth := _worth_of_right(*ratio)):
        low, high = wilson(ratio[0].sum(axis=1) / (worth * n), n, level)
        return metric.scale * worth * low, metric.scale * worth * high
    if ratio is not None and np.isinf(scale).all() and ((ratio[0] >= 0) & (ratio[0] <= ratio[1])).all():
        # A mean of shares; errors have no upper end.
        scale = (0.0, metric.scale)
    reach = special.stdtrit(n - 1, (1 + level) / 2) * se
    return np.clip(scores - reach, *scale), np.clip(scores + reach, *scale)


def _worth_of_right(above: Array, below: Array) -> int:
    """The numerator of a right answer, 1 or 100, if every unit (K, n) is one right or wrong answer; else 0."""
    worth = 100 if above.max() > 1 else 1
    return worth * bool((below == 1).all() and ((above == 0) | (above == worth)).all())


def score_interval(outputs: Outputs, unit: str | None) -> str:
    """How `leaderboard` makes intervals of scores: "wilson", "jackknife" or "bootstrap" (t intervals, the last two)."""
    if isinstance(outputs.metric, ArrayMetric):
        return "bootstrap"
    ratio = outputs.metric.ratio(in_units(outputs, unit or outputs.natural_unit).statistics)
    return "wilson" if ratio is not None and _worth_of_right(*ratio) else "jackknife"


def _place(ordered: Outputs) -> IntArray:
    """1 and the number of systems whose score is better by more than rounding, (K,)."""
    every = np.arange(ordered.n_systems)
    return np.asarray(1 + (ordered.gains(every, every[:, None]) > 0).sum(axis=1), dtype=np.int64)
