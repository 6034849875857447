"""`compare`: the one door to every test, and the table of Comparisons that comes out."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.choices import check_choice, check_seed, check_whole
from simstudy.engines.bootstrap import bootstrap
from simstudy.engines.tallies import Event
from simstudy.outputs import Outputs
from simstudy.pvalues import CONVENTIONS, monte_carlo_interval
from simstudy.runner import n_workers

#: The tests that `compare` knows: name -> engine.
TESTS = {"bootstrap": bootstrap}

ALTERNATIVES = ("greater", "two-sided")


def compare(
    outputs: Outputs,
    *,
    test: str = "bootstrap",
    n_resamples: int = 1_000_000,
    seed: int = 0,
    alternative: Literal["greater", "two-sided"] = "greater",
    convention: str = "default",
    unit: str = "item",
    strata: str | None = None,
    n_jobs: int = 1,
    tile_size: int | None = None,
    progress: Callable[[int], None] | None = None,
) -> pd.DataFrame:
    """Test the gain of every pair of systems on one test set.

    The same seed gives the same table to the last bit, whatever `n_jobs`, `tile_size` and the order of the
    systems are; all pairs share their resamples (Berg-Kirkpatrick et al. 2012, footnote 5).

    Parameters
    ----------
    outputs
        At least two systems.
    test
        A name in `TESTS`. "bootstrap": the share of resampled test sets x* with gain(x*) >= 2 gain(x).
    n_resamples
        B, at least 1.
    seed
        0 … 2^64 - 1.
    alternative
        "greater": the better system's gain, one-sided. "two-sided": |gain(x*) - gain(x)| >= gain(x).
    convention
        "default": ties count, p = (s + 1) / (B + 1). "bk2012": the published strict > and s / B.
    unit
        What is resampled: "item", or a column of the item table whose values name clusters (documents).
    strata
        A column of the item table; each stratum keeps its number of units. None: one stratum.
    n_jobs
        Threads; -1 for all cores.
    tile_size
        Resamples worked on at a time by a thread, for the curious; chosen by memory if None.
    progress
        Called with the number of resamples just finished, by one thread at a time.

    Returns
    -------
    comparisons
        One row a pair, ordered so that ``gain >= 0`` (a tie of scores is ordered by name), best systems first:
        task, test_set, n_items, metric, test, alternative, convention, unit, system_a, system_b,
        relation ("same family" / "different families"), score_a, score_b, gain (on the metric's scale),
        p_value, p_low, p_high (the 95 % Clopper-Pearson interval for its Monte Carlo error), n_extreme, n_resamples.

    Raises
    ------
    ValueError
        For fewer than two systems, and for any argument outside its rule.

    Examples
    --------
    >>> outputs = Outputs.from_statistics([[[1, 1]] * 40, [[1, 1]] * 30 + [[0, 1]] * 10], "accuracy", ["a", "b"])
    >>> row = compare(outputs, n_resamples=10_000).iloc[0]
    >>> row.system_a, float(row.gain)
    ('a', 25.0)
    >>> 0.0002 < float(row.p_value) < 0.002   # for B without end it is P(Binomial(40, 1/4) >= 20) = 0.0006
    True
    """
    _check(outputs, test, n_resamples, seed, alternative, convention, tile_size)
    ranked = _best_first(outputs)
    statistics, bounds = _units(ranked, unit, strata)
    rule = CONVENTIONS[convention]
    events = [Event(target=2, sign=1, strict=rule.strict)]
    if alternative == "two-sided":
        events.append(Event(target=0, sign=-1, strict=rule.strict))
    extreme = TESTS[test](
        statistics,
        ranked.metric,
        events,
        strata=bounds,
        n_resamples=n_resamples,
        seed=seed,
        n_jobs=n_workers(n_jobs),
        tile_size=tile_size,
        progress=progress,
    )
    i, j = np.triu_indices(ranked.n_systems, k=1)
    scores, rounding = ranked.scores(), ranked.tie_tolerance()
    difference, noise = np.abs(scores[i] - scores[j]), np.maximum(rounding[i], rounding[j])
    count = extreme[i, j]
    low, high = monte_carlo_interval(count, n_resamples)
    names = np.array(ranked.names, dtype=object)
    family = ranked.systems["family"].to_numpy()
    return pd.DataFrame(
        {
            "task": ranked.task,
            "test_set": ranked.test_set,
            "n_items": ranked.n_items,
            "metric": ranked.metric.name,
            "test": test,
            "alternative": alternative,
            "convention": convention,
            "unit": unit,
            "system_a": names[i],
            "system_b": names[j],
            "relation": np.where(family[i] == family[j], "same family", "different families"),
            "score_a": scores[i],
            "score_b": scores[j],
            "gain": np.where(difference > noise, difference, 0.0),
            "p_value": rule.p_value(count, n_resamples),
            "p_low": low,
            "p_high": high,
            "n_extreme": count,
            "n_resamples": n_resamples,
        }
    )


def _check(
    outputs: Outputs,
    test: str,
    n_resamples: int,
    seed: int,
    alternative: str,
    convention: str,
    tile_size: int | None,
) -> None:
    check_choice("test", test, TESTS)
    check_choice("alternative", alternative, ALTERNATIVES)
    check_choice("convention", convention, CONVENTIONS)
    if not isinstance(outputs, Outputs):
        raise ValueError(f"outputs must be Outputs (see Outputs.from_scores), not {type(outputs).__name__}")
    if outputs.n_systems < 2:
        raise ValueError(f"outputs must have at least 2 systems to compare, not {outputs.n_systems}")
    check_whole("n_resamples", n_resamples, 1, 2**53)
    check_seed(seed)
    if tile_size is not None:
        check_whole("tile_size", tile_size, 1, 2**20)


def _best_first(outputs: Outputs) -> Outputs:
    """Systems by score, those that tie by name."""
    scores = outputs.scores() * (1 if outputs.metric.higher_is_better else -1)
    noise = outputs.tie_tolerance()
    order = sorted(range(outputs.n_systems), key=lambda k: -scores[k])
    place = dict.fromkeys(order, 0)
    for before, k in pairwise(order):
        place[k] = place[before] + int(scores[before] - scores[k] > max(noise[before], noise[k]))
    order.sort(key=lambda k: (place[k], outputs.names[k]))
    return outputs.select([outputs.names[k] for k in order])


def _units(outputs: Outputs, unit: str, strata: str | None) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Statistics (K, units, S) with each stratum's units next to each other, and the strata's bounds (H + 1,)."""
    units = outputs if unit == "item" else outputs.sum_by(unit)
    if units.n_items < 2:
        raise ValueError(f"outputs must have at least 2 units to resample ({unit}), not {units.n_items}")
    if strata is None:
        return units.statistics, np.array([0, units.n_items], dtype=np.int64)
    if strata in outputs.items and strata not in units.items:
        raise ValueError(f"strata must hold whole units, but some {unit} has items in more than one {strata}")
    codes, values = pd.factorize(units.labels(strata))
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        # A single unit never varies: were it resampled, its part of every gain would look certain.
        raise ValueError(
            f"strata must have at least 2 units each ({unit}); {strata} '{values[int(sizes.argmin())]}' has 1"
        )
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    return units.statistics[:, np.argsort(codes, kind="stable")], bounds.astype(np.int64)
