"""Calibration of p-values by who wins elsewhere (Berg-Kirkpatrick et al. 2012, section 4.2 and Table 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from simstudy.comparisons.other_systems import other_systems, redrawn_share_interval
from simstudy.comparisons.relation_classes import relation_classes
from simstudy.comparisons.thresholds import WINDOW
from simstudy.metrics.base import FloatArray
from simstudy.metrics.mean import LOWER
from simstudy.outputs import Outputs, check_outputs
from simstudy.statistics.decisions import prefers_better
from simstudy.tables import TEST_SET, require_columns, require_one_question, system_codes, takes_pairs
from simstudy.validation import InputError, check_flag, check_mapping, check_seed, check_whole, number_list

#: The paper's bins of p-values, continued at both ends to cover all p-values.
TABLE_1 = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)

_COLUMNS = [
    *TEST_SET,
    *("alternative", "relation", "elsewhere", "n_items_elsewhere", "p_from", "p_to", "n_pairs", "n_ties"),
    *("expected", "share", "low", "high", "interval_for", "note"),
]

Elsewhere = Outputs | Mapping[int, Outputs]
"""The Outputs of another test set, or of each draw."""


@takes_pairs
def calibration(
    pairs: pd.DataFrame,
    elsewhere: Mapping[str, Elsewhere],
    *,
    population: bool = False,
    bins: Sequence[float] = TABLE_1,
    min_pairs: int = 20,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """The share of pairs whose winner on the home test set also wins elsewhere, by p-value at home.

    With other test sets this is the calibration across domains (Table 1). With Comparisons on test sets redrawn from a
    population (`redraw`; number them in a column ``draw``) and that population as the only other test set, it is the
    calibration under identical distribution. Another test set has sampling error too, so compare a share with
    `expected`, the share within the home population by a model.

    Parameters
    ----------
    pairs
        Comparisons on the home test set. Pairs without a gain, and pairs whose test prefers the system with the worse
        score, are left out.
    elsewhere
        Name -> Outputs of the same systems; or, for pairs with a column ``draw``, name -> {draw: Outputs}.
    population
        Whether elsewhere is the population itself, without sampling error. It changes only `expected`.
    bins
        Ascending bounds of p-value bins, each including its lower bound. The window 0.04 <= p <= 0.06 is added.
    min_pairs
        With fewer pairs in a bin there is no share.
    n_bootstrap, seed
        Resamples of systems (and of draws, if there are any) for the intervals.

    Returns
    -------
    calibration
        task, test_set, n_items, metric, alternative, relation, elsewhere, n_items_elsewhere, p_from, p_to, n_pairs (in
        the bin), n_ties (equal elsewhere: not a win), expected (the mean of `expected_wins` over the bin: the share
        without a change of domain; NaN without standard errors), share, low, high (fractions, 95 % interval),
        interval_for (what it holds for, on these items: `Comparisons.thresholds`), note.

    Raises
    ------
    ValueError
        If a test set lacks systems of the pairs or has their metric in the other direction.

    Examples
    --------
    >>> from simstudy.truth import correlated_accuracies
    >>> from simstudy.comparisons.comparing import compare
    >>> true = [0.7 + k / 200 for k in range(30)]
    >>> here, there = correlated_accuracies(true, 400, seed=1), correlated_accuracies(true, 100_000, seed=2)
    >>> table = calibration(compare(here), {"there": there}, bins=[0, 0.01, 1])
    >>> table[["share", "expected"]].round(1).iloc[0].tolist()   # nearly every gain that is highly significant is real
    [1.0, 1.0]
    """
    require_columns(pairs, [*TEST_SET, "alternative", "relation", "system_a", "system_b", "gain", "p_value"])
    require_one_question(pairs)
    bounds = number_list("bins", bins).tolist()
    if len(bounds) < 2 or bounds != sorted(set(bounds)) or bounds[0] < 0 or bounds[-1] > 1:
        raise InputError("bins", "must ascend within 0 and 1", bounds)
    check_mapping("elsewhere", elsewhere, "names of test sets to their Outputs")
    by_draw: dict[str, Mapping[Any, Outputs]] = {
        name: outputs if isinstance(outputs, Mapping) else {None: outputs} for name, outputs in elsewhere.items()
    }
    for name, parts in by_draw.items():
        for part in parts.values():
            check_outputs(f"elsewhere['{name}']", part)
    check_flag("population", population)
    check_whole("min_pairs", min_pairs, 1)
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    if "draw" in pairs and pairs["draw"].isna().any():
        raise InputError("pairs", "must have a draw in every row, or no column 'draw'")
    rows = []
    for key, members in relation_classes(pairs[prefers_better(pairs)]):
        edges, inside = _bins(members["p_value"].to_numpy(), bounds)
        gains = [_gain_elsewhere(members, name, parts) for name, parts in by_draw.items()]
        # (1 + E, B, P): all pairs of each bin, and those that win on each test set elsewhere.
        counted = np.stack([inside, *(inside & (gain > 0) for gain in gains)])
        others, redrawn = other_systems(members), np.full((*counted.shape[:2], 1), np.nan)
        if others.interval_for:
            draw = pd.factorize(members["draw"])[0] if "draw" in members else None
            counts = others.redrawn_counts(counted.reshape(-1, len(members)), n_bootstrap, seed, draw)
            redrawn = counts.reshape(*counted.shape[:2], n_bootstrap)
        for e, (name, parts) in enumerate(by_draw.items()):
            n_items = int(np.median([part.n_items for part in parts.values()]))
            expected = expected_wins(members, np.inf if population else n_items / members["n_items"].to_numpy())
            for b, (p_from, p_to) in enumerate(edges):
                n_pairs, n_wins = int(inside[b].sum()), int(counted[e + 1, b].sum())
                row = {
                    **key,
                    "alternative": members["alternative"].iloc[0],
                    "elsewhere": name,
                    "n_items_elsewhere": n_items,
                    "p_from": p_from,
                    "p_to": p_to,
                    "n_pairs": n_pairs,
                    "n_ties": int((gains[e][inside[b]] == 0).sum()),
                    "expected": expected[inside[b]].mean() if n_pairs else np.nan,
                }
                if n_pairs < min_pairs:
                    row |= {"interval_for": "", "note": f"too few pairs: {n_pairs}, not {min_pairs}"}
                else:
                    low, high = redrawn_share_interval(redrawn[e + 1, b], redrawn[0, b])
                    row |= {"share": n_wins / n_pairs, "low": low, "high": high}
                    row |= {"interval_for": others.interval_for, "note": others.note}
                rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _bins(p_value: FloatArray, bounds: list[float]) -> tuple[list[tuple[float, float]], NDArray[np.bool_]]:
    """The two bounds of each bin, and which pairs are in it, (B, P); the last bin and the window include both."""
    inside = [(p_value >= low) & (p_value < high) for low, high in pairwise(bounds)]
    inside[-1] |= p_value == bounds[-1]
    in_window = (p_value >= WINDOW[0]) & (p_value <= WINDOW[1])
    return [*pairwise(bounds), WINDOW], np.stack([*inside, in_window])


def _gain_elsewhere(pairs: pd.DataFrame, name: str, by_draw: Mapping[Any, Outputs]) -> FloatArray:
    """The gain of each pair's home winner on the other test set, positive if it wins there too."""
    draws = pairs["draw"].to_numpy() if "draw" in pairs and None not in by_draw else np.full(len(pairs), None)
    if not set(draws) <= set(by_draw):
        raise InputError(f"test set '{name}'", "must be Outputs, or have Outputs for each draw of the pairs")
    first, second, names = system_codes(pairs)
    metric, gain = str(pairs["metric"].iloc[0]), np.empty(len(pairs))
    for draw, part in by_draw.items():
        other_metric = part.metric.name
        if metric != other_metric and metric.removesuffix(LOWER) == other_metric.removesuffix(LOWER):
            raise InputError(f"test set '{name}'", f"must have the direction of the pairs, '{metric}'", other_metric)
        inside = draws == draw
        place = pd.Index(part.names).get_indexer(names)
        winners, losers = place[first[inside]], place[second[inside]]
        if (winners < 0).any() or (losers < 0).any():
            unknown = min(names[place < 0])
            raise InputError(f"test set '{name}'", f"must have the systems of the pairs; it has no '{unknown}'")
        gain[inside] = part.gains(winners, losers)
    return gain


def expected_wins(pairs: pd.DataFrame, items_elsewhere: float | FloatArray = np.inf) -> FloatArray:
    """The probability that each pair's winner also wins on other items of the same population, by a model.

    1 - p is not the probability that the winner is better: that depends on how far apart such systems truly are. Let
    the true gains (signed) of these pairs be normal around 0 with variance t^2, and each observed gain normal around
    its true one with its standard error s; t^2 is the excess of the observed gains' mean square over that of their
    errors. Given an observed gain g, the true one is normal with mean w g and variance w s^2, w = t^2 / (t^2 + s^2),
    and a gain on m times as many items has a further error of variance s^2 / m.

    m = `items_elsewhere` is one number or (P,), infinite for the population. A pair without a standard error has NaN.
    """
    if "gain_se" not in pairs:
        return np.full(len(pairs), np.nan)
    gain, se = (pairs[name].to_numpy(dtype=np.float64) for name in ("gain", "gain_se"))
    has_error = ~np.isnan(se)
    variance = max(float((gain**2 - se**2)[has_error].mean()), 0.0) if has_error.any() else 0.0
    weight = variance / (variance + se**2) if variance else np.zeros(len(pairs))
    error = weight * se**2 + se**2 / np.asarray(items_elsewhere, dtype=np.float64)
    # Without any variance the winner wins in half of the cases.
    z = np.divide(weight * gain, np.sqrt(error), out=np.zeros(len(pairs)), where=error > 0)
    return np.where(has_error, scipy.stats.norm.cdf(z), np.nan)
