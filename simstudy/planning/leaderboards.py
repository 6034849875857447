"""What a fresh test set will show of the systems of a leaderboard: significant pairs, significant neighbours, ranks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from simstudy.comparisons.relation_classes import related
from simstudy.comparisons.thresholds import LEAST_PAIRS, PERCENTILE, WINDOW
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.influence import contributions, deviations
from simstudy.outputs import Outputs, check_outputs
from simstudy.pairs import ALL_PAIRS
from simstudy.planning.differences import t_cut
from simstudy.planning.pilots import check_units
from simstudy.planning.settings import FEWEST_DRAWS, Level
from simstudy.planning.spreads import is_right_or_wrong
from simstudy.planning.true_scores import Posterior, posterior, root
from simstudy.running.progress import doing
from simstudy.validation import InputError, check_list, check_seed, check_whole

#: What is counted on each test set: of pairs, and of the whole leaderboard.
OF_PAIRS = ("share_significant", "wrong_winner", "threshold")
OF_LEADERBOARDS = ("separated", "separated_corrected", "ranks")

# Prediction intervals: how much of what is drawn lies inside, in percent.
_INSIDE = (80, 95)

# How often the units of the outputs are weighted anew, since spreads are not known exactly either.
_SPREADS = 25


def predict(
    outputs: Outputs,
    n_units: Sequence[int],
    *,
    level: Level | None = None,
    by: str | None = None,
    unit: str | None = None,
    n_draws: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """What test sets of these sizes, of new units of the same population, will show of the same systems.

    True scores are drawn given the observed ones: among many systems some are ahead by luck, so that the prior is that
    of all systems' true scores, which is estimated too (James and Stein 1961). To each draw comes the error
    of a test set of n units, with the covariance of all systems' scores, and what it shows is counted. The covariances
    are the outputs', whose units are weighted anew (Rubin 1981) since they are a sample.

    Measured coverage on 100 simulated leaderboards each, of 12 to 30 systems: of the share of significant pairs the
    80 % intervals hold 68 - 80 % and the 95 % intervals 88 - 92 %, the less the more skewed true scores are, and of
    wrong winners 71 - 82 % and 88 - 96 %; those of counts, which have few values, hold more than they say (slow tests;
    on real halves: the study planning_validation). Where all systems are equally good there are no wrong winners: what
    is predicted then are pairs of true scores that are too near for anybody to care.

    Parameters
    ----------
    outputs
        Of at least three systems and ten units.
    n_units
        Sizes, each at least two.
    level
        Of the test; two-sided at 0.05 by default. Neighbours of a leaderboard are always tested two-sided.
    by
        The column of the systems' table that tells which are related; None: all pairs are one class.
    unit
        What is drawn independently; by default the natural unit.
    n_draws
        Of test sets, at least 100.
    seed
        0 … 2^64 - 1.

    Returns
    -------
    predicted
        One row a relation class and size: relation, n_systems, n_pairs, n_units, n_items; share_significant (of the
        pairs), wrong_winner (the share whose truly worse system has the better score), threshold (the 95th percentile
        of the gains of pairs with 0.04 <= p <= 0.06, NaN where most test sets have fewer than 20 such pairs); of all
        systems also separated (neighbours that differ significantly), separated_corrected (and by Holm's correction
        for all neighbours), ranks (groups by the rule "greedy" of `Comparisons.groups`, p-values not corrected). Each
        is the median over test sets, with the 80 % and 95 % prediction intervals _low80, _high80, _low95, _high95.

    Raises
    ------
    ValueError
        For fewer than three systems or ten units, and sizes below two.

    Examples
    --------
    >>> import simstudy as ss
    >>> outputs = ss.truth.correlated_accuracies([0.60 + k / 100 for k in range(12)], 400)
    >>> small, large = predict(outputs, [400, 4000], n_draws=200)["share_significant"]
    >>> bool(small < large)
    True
    """
    check_outputs("outputs", outputs)
    check_list("n_units", n_units, "whole numbers")
    for n in n_units:
        check_whole("n_units", n, 2)
    check_whole("n_draws", n_draws, FEWEST_DRAWS)
    check_seed(seed)
    level = Level() if level is None else level
    if outputs.n_systems < 3:
        raise InputError("outputs", "must be of at least three systems to be predicted", outputs.n_systems)
    units = check_units(outputs, unit)
    better = units.metric.sign
    board = _known(better * units.scores(), better * contributions(units.statistics, units.metric), units, seed)
    classes = _classes(outputs, by)
    rows, sizes = [], [*dict.fromkeys(n_units)]
    for n in sizes:
        with doing(f"predicting test sets of {n:,} units", n_draws) as advance:
            rng = np.random.default_rng([seed, n])
            found = _counted(board, n, level, classes, rng=rng, n_draws=n_draws, advance=advance)
        for relation, members in classes.items():
            row = {
                "relation": relation, "n_systems": len(np.unique(members)), "n_pairs": members.shape[1], "n_units": n,
                "n_items": ceil(n * outputs.n_items / units.n_items - 1e-9),
            }  # fmt: skip
            for name, drawn in found[relation].items():
                row |= _summed_up(name, drawn)
            rows.append(row)
    return pd.DataFrame(rows)


@dataclass(frozen=True, eq=False)
class _Board:
    """What is known of K systems: their true scores and the covariances of a unit, B of each, drawn in turn."""

    truths: list[Posterior]
    #: (B, K, K) covariances of the systems' scores on one unit, after what all systems share is taken away.
    spreads: FloatArray
    #: (K, K) shares of units that only one of two systems has right, where units are right or wrong; else None.
    answers: FloatArray | None
    #: What a share of 1 is.
    scale: float


def _known(scores: FloatArray, parts: FloatArray, units: Outputs, seed: int) -> _Board:
    """What units tell of systems, from scores (K,) and what each unit adds to them (K, n): larger is better."""
    n = units.n_items
    centred = deviations(parts) * np.sqrt(n)
    # What is hard for all systems moves them all alike, and no gain.
    centred -= centred.mean(axis=0)
    rng = np.random.default_rng([seed, 1])
    spreads = []
    for _ in range(_SPREADS):
        weights = rng.exponential(size=n)
        weights /= weights.mean()
        mean = (centred * weights).mean(axis=1, keepdims=True)
        moved = (centred - mean) * np.sqrt(weights)
        spreads.append(moved @ moved.T)
    answers = None
    if is_right_or_wrong(units):
        right = units.statistics[..., 0].astype(np.float64)
        both = right @ right.T
        own = right.sum(axis=1)
        answers = (own[:, None] + own[None, :] - 2 * both) / n
    whole = centred @ centred.T
    truths = [posterior(scores, whole / n, rng.exponential(size=len(scores))) for _ in spreads]
    return _Board(truths, np.stack(spreads), answers, units.metric.scale)


def _classes(outputs: Outputs, by: str | None) -> dict[str, IntArray]:
    """Each relation class's pairs as two rows of positions."""
    i, j = np.triu_indices(outputs.n_systems, 1)
    everything = {ALL_PAIRS: np.stack([i, j])}
    if by is None:
        return everything
    names = np.array(outputs.names)
    pairs = pd.DataFrame({"system_a": names[i], "system_b": names[j]})
    of_pairs = related(pairs, outputs.systems, by)["relation"].to_numpy()
    classes = {str(name): everything[ALL_PAIRS][:, of_pairs == name] for name in sorted(set(of_pairs), reverse=True)}
    return classes if len(classes) == 1 else classes | everything


def _counted(
    board: _Board,
    n: int,
    level: Level,
    classes: dict[str, IntArray],
    *,
    rng: np.random.Generator,
    n_draws: int,
    advance: Callable[[int], None],
) -> dict[str, dict[str, FloatArray]]:
    """What each of the drawn test sets of n units shows, (R,) for each number of each class."""
    roots = [root(spread / n) for spread in board.spreads]
    errors = [_standard_errors(board, spread, n) for spread in board.spreads]
    of_all = next(reversed(classes))
    found = {
        relation: {
            name: np.full(n_draws, np.nan) for name in OF_PAIRS + (OF_LEADERBOARDS if relation == of_all else ())
        }
        for relation in classes
    }
    cuts = _Cuts(n, level)
    for draw in range(n_draws):
        which = draw % len(roots)
        true = board.truths[which].draw(rng)
        scores = true + roots[which] @ rng.standard_normal(len(true))
        if board.answers is not None:
            scores = np.round(scores * n / board.scale) * board.scale / n
        z = np.abs(scores[:, None] - scores[None, :])
        if board.answers is not None:
            # One item less, as exact tests count half of it.
            z = np.maximum(z - board.scale / n, 0.0)
        z = np.divide(z, errors[which], out=np.zeros_like(z), where=errors[which] > 0)
        for relation, (i, j) in classes.items():
            gains, of_pairs = scores[i] - scores[j], z[i, j]
            counts = found[relation]
            counts["share_significant"][draw] = (of_pairs >= cuts.pair).mean()
            counts["wrong_winner"][draw] = (gains * (true[i] - true[j]) < 0).mean()
            window = (of_pairs >= cuts.window[0]) & (of_pairs <= cuts.window[1])
            if window.sum() >= LEAST_PAIRS:
                counts["threshold"][draw] = np.percentile(np.abs(gains[window]), PERCENTILE)
        for name, number in zip(OF_LEADERBOARDS, _leaderboard(scores, z, cuts), strict=True):
            found[of_all][name][draw] = number
        advance(1)
    return found


class _Cuts:
    """How many standard errors a gain must be: for pairs, for neighbours (two-sided), and at the ends of a window."""

    def __init__(self, n: int, level: Level) -> None:
        sides = 2 if level.alternative == "two-sided" else 1
        df = max(n - 1, 1)
        neighbours = Level(level.alpha)
        self.pair = t_cut(level.attainable_tail(n), df)
        self.neighbour = t_cut(neighbours.attainable_tail(n), df)
        self.least_p = neighbours.least_p(n)
        self.window = tuple(t_cut(p / sides, df) for p in reversed(WINDOW))
        self.alpha, self.df = level.alpha, df


def _standard_errors(board: _Board, spread: FloatArray, n: int) -> FloatArray:
    """(K, K) of all gains on n units, under the null hypothesis where units are right or wrong."""
    if board.answers is not None:
        return board.scale * np.sqrt(board.answers / n)
    own = np.diag(spread)
    return np.asarray(np.sqrt(np.maximum(own[:, None] + own[None, :] - 2 * spread, 0.0) / n))


def _leaderboard(scores: FloatArray, z: FloatArray, cuts: _Cuts) -> tuple[int, int, int]:
    """How many neighbours differ significantly, how many after Holm's correction, and how many ranks there are."""
    order = np.argsort(-scores, kind="stable")
    ordered = z[np.ix_(order, order)]
    neighbours = np.diag(ordered, 1)
    p = np.maximum(np.sort(2 * special.stdtr(cuts.df, -neighbours)), cuts.least_p)
    holds = p * np.arange(len(p), 0, -1) <= cuts.alpha
    corrected = len(p) if holds.all() else int(holds.argmin())
    ranks, leader = 1, 0
    for k in range(1, len(order)):
        if ordered[leader, k] >= cuts.neighbour:
            ranks, leader = ranks + 1, k
    return int((neighbours >= cuts.neighbour).sum()), corrected, ranks


def _summed_up(name: str, drawn: FloatArray) -> dict[str, float]:
    """The median and the prediction intervals; NaN where most test sets have no such number."""
    known = drawn[np.isfinite(drawn)]
    columns = [name, *(f"{name}_{end}{inside}" for inside in _INSIDE for end in ("low", "high"))]
    if len(known) <= len(drawn) / 2:
        return dict.fromkeys(columns, np.nan)
    # Of counts an end is one of them.
    method: Any = "inverted_cdf" if name in OF_LEADERBOARDS else "linear"
    found = np.quantile(known, [(1 + sign * inside / 100) / 2 for inside in _INSIDE for sign in (-1, 1)], method=method)
    return dict(zip(columns, map(float, [np.median(known), *found]), strict=True))
