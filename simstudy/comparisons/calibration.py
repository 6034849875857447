"""Does significance here predict who wins elsewhere? After Berg-Kirkpatrick et al. 2012, section 4.2 and Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from simstudy.comparisons.other_systems import OtherSystems, other_systems, redrawn_share_interval
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
"""The Outputs of another test set; or, of each draw, its own."""


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

    With other test sets this is the calibration across domains (Table 1). With Comparisons on test sets redrawn
    from a population (`redraw`; number them in a column ``draw`` and concatenate) and that population as the only
    other test set, it is the calibration under identical distribution.

    Another test set has sampling error of its own, even where it is of the same domain: of gains with p = 0.05 many are
    lost on 400 other items of the *same* population. So a share elsewhere says what is lost to the domain only beside
    the share within the home population: `expected` by a model.

    Parameters
    ----------
    pairs
        Comparisons on the home test set. Pairs of equal score there have no winner and are left out, and so are pairs
        whose test prefers the system with the worse score.
    elsewhere
        Name -> Outputs of the same systems; or, for pairs with a column ``draw``, name -> {draw: Outputs}.
    population
        Whether elsewhere is the population itself, without sampling error of its own. It changes `expected` only.
    bins
        Ascending bounds of p-value bins, each including its lower bound. The window 0.04 <= p <= 0.06 is added.
    min_pairs
        With fewer pairs in a bin there is no share.
    n_bootstrap
        Resamples of systems (and of draws, where there are any) for the intervals.
    seed
        Of those resamples.

    Returns
    -------
    calibration
        task, test_set, n_items, metric, alternative, relation, elsewhere, n_items_elsewhere, p_from, p_to, n_pairs (in
        the bin), n_ties (equal elsewhere: not a win), expected (the mean of `expected_wins` over the bin: what valid
        tests would give without a change of domain; NaN where the pairs have no standard errors), share, low, high
        (fractions, 95 % interval), interval_for (what it holds for, on these items: `Comparisons.thresholds`), note.

    Raises
    ------
    ValueError
        Where a test set has other systems than the pairs, or their metric turned round, bins do not ascend within
        0 … 1, or pairs is not a table of Comparisons of one test, alternative and unit.

    Examples
    --------
    >>> from simstudy.truth.synthetic import correlated_accuracies
    >>> from simstudy.comparisons.comparing import compare
    >>> true = [0.7 + k / 200 for k in range(30)]
    >>> here, there = correlated_accuracies(true, 400, seed=1), correlated_accuracies(true, 100_000, seed=2)
    >>> table = calibration(compare(here), {"there": there}, bins=[0, 0.01, 1])
    >>> table[["share", "expected"]].round(1).iloc[0].tolist()   # nearly every gain that is highly significant is real
    [1.0, 1.0]
    """
    require_columns(pairs, [*TEST_SET, "relation", "system_a", "system_b", "gain", "p_value"])
    require_one_question(pairs)
    bounds = number_list("bins", bins).tolist()
    if len(bounds) < 2 or bounds != sorted(set(bounds)) or bounds[0] < 0 or bounds[-1] > 1:
        raise InputError("bins", "must ascend within 0 and 1", bounds)
    check_mapping("elsewhere", elsewhere, "names of test sets to their Outputs")
    for name, outputs in elsewhere.items():
        for of_draw in outputs.values() if isinstance(outputs, Mapping) else [outputs]:
            check_outputs(f"elsewhere['{name}']", of_draw)
    check_flag("population", population)
    check_whole("min_pairs", min_pairs, 1)
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    if "draw" in pairs and pairs["draw"].isna().any():
        raise InputError("pairs", "must have a draw in every row, or no column 'draw'")
    decided = pairs[prefers_better(pairs)]
    rows = []
    for key, members in relation_classes(decided):
        edges, inside = _bins(members["p_value"].to_numpy(), bounds)
        gains = np.stack([_gain_elsewhere(members, name, outputs) for name, outputs in elsewhere.items()])
        others = other_systems(members)
        n_bins, redrawn = len(inside), None
        if others.interval_for:
            # All pairs of each bin, and those of them that win on each test set elsewhere.
            counted = np.concatenate([inside[None], inside & (gains > 0)[:, None]]).reshape(-1, len(members))
            draw = pd.factorize(members["draw"])[0] if "draw" in members else None
            redrawn = others.redrawn_counts(counted, n_bootstrap, seed, draw)
        for e, (name, outputs) in enumerate(elsewhere.items()):
            n_there = _n_items(outputs)
            expected = expected_wins(members, np.inf if population else n_there / members["n_items"].to_numpy())
            for b, ((p_from, p_to), here) in enumerate(zip(edges, inside, strict=True)):
                gain = gains[e, here]
                counts = None if redrawn is None else (redrawn[(e + 1) * n_bins + b], redrawn[b])
                rows.append(
                    {
                        **key,
                        "alternative": members["alternative"].iloc[0] if "alternative" in members else "",
                        "elsewhere": name,
                        "n_items_elsewhere": n_there,
                        "p_from": p_from,
                        "p_to": p_to,
                        "n_pairs": len(gain),
                        "n_ties": int((gain == 0).sum()),
                        "expected": expected[here].mean() if here.any() else np.nan,
                        **_share(gain > 0, others, counts, min_pairs),
                    }
                )
    return pd.DataFrame(rows, columns=_COLUMNS)


def _share(
    wins: NDArray[np.bool_], others: OtherSystems, counts: tuple[FloatArray, FloatArray] | None, min_pairs: int
) -> dict[str, object]:
    """The share of a bin's pairs that win; counts over resamples: of those that win, and of all."""
    if len(wins) < min_pairs:
        note = f"too few pairs: {len(wins)}, not {min_pairs}"
        return {"share": np.nan, "low": np.nan, "high": np.nan, "interval_for": "", "note": note}
    low, high = (np.nan, np.nan) if counts is None else redrawn_share_interval(*counts)
    return {"share": wins.mean(), "low": low, "high": high, "interval_for": others.interval_for, "note": others.note}


def _bins(p_value: NDArray[np.float64], bounds: list[float]) -> tuple[list[tuple[float, float]], NDArray[np.bool_]]:
    """The two bounds of each bin, and which pairs are in it, (B, P); the last bin and the window include both."""
    inside = [(p_value >= low) & (p_value < high) for low, high in pairwise(bounds)]
    inside[-1] |= p_value == bounds[-1]
    in_window = (p_value >= WINDOW[0]) & (p_value <= WINDOW[1])
    return [*pairwise(bounds), WINDOW], np.stack([*inside, in_window])


def _n_items(outputs: Elsewhere) -> int:
    """How many items there are elsewhere; of draws, the median."""
    if isinstance(outputs, Outputs):
        return outputs.n_items
    return int(np.median([found.n_items for found in outputs.values()]))


def _gain_elsewhere(pairs: pd.DataFrame, name: str, outputs: Elsewhere) -> NDArray[np.float64]:
    """Gain of each pair's home winner on the other test set, positive where it wins there too."""
    by_draw = {None: outputs} if isinstance(outputs, Outputs) else outputs
    draw = (
        pairs["draw"].to_numpy() if "draw" in pairs and not isinstance(outputs, Outputs) else np.full(len(pairs), None)
    )
    if not set(draw) <= set(by_draw):
        raise InputError(f"test set '{name}'", "must be Outputs, or have Outputs for each draw of the pairs")
    first, second, names = system_codes(pairs)
    metric, gain = str(pairs["metric"].iloc[0]), np.empty(len(pairs))
    for number, there in by_draw.items():
        own = there.metric.name
        if metric != own and metric.removesuffix(LOWER) == own.removesuffix(LOWER):
            raise InputError(f"test set '{name}'", f"must have the direction of the pairs, '{metric}'", own)
        those = draw == number
        place = pd.Index(there.names).get_indexer(names)
        ahead, behind = place[first[those]], place[second[those]]
        if (ahead < 0).any() or (behind < 0).any():
            unknown = min(names[place < 0])
            raise InputError(f"test set '{name}'", f"must have the systems of the pairs; it has no '{unknown}'")
        gain[those] = there.gains(ahead, behind)
    return gain


def expected_wins(pairs: pd.DataFrame, items_elsewhere: float | NDArray[np.float64] = np.inf) -> NDArray[np.float64]:
    """The probability that each pair's winner also wins on other items of the same population, by a model.

    1 - p is not the probability that the winner is better: that depends on how far apart such systems are in truth.
    Let the true gains (signed) of these pairs be normal around 0 with variance t^2, and each observed gain normal
    around its true one with its standard error s; t^2 is what the observed gains vary more than their errors explain.
    Then, given an observed gain g, the true one is normal with mean w g and variance w s^2, w = t^2 / (t^2 + s^2), and
    a gain on m times as many items has a further error of variance s^2 / m.

    With m = `items_elsewhere`, one number or (P,), infinite for the population itself. A pair without a standard error
    has NaN.
    """
    if "gain_se" not in pairs:
        return np.full(len(pairs), np.nan)
    gain, se = (pairs[name].to_numpy(dtype=np.float64) for name in ("gain", "gain_se"))
    known = ~np.isnan(se)
    spread = max(float((gain**2 - se**2)[known].mean()), 0.0) if known.any() else 0.0
    weight = spread / (spread + se**2) if spread else np.zeros(len(pairs))
    error = weight * se**2 + se**2 / np.asarray(items_elsewhere, dtype=np.float64)
    mean = weight * gain
    # Where nothing is known of the winner, it wins in half of the cases.
    z = np.divide(mean, np.sqrt(error), out=np.zeros(len(pairs)), where=error > 0)
    return np.where(known, scipy.stats.norm.cdf(z), np.nan)
