"""Does significance here predict who wins elsewhere? After Berg-Kirkpatrick et al. 2012, section 4.2 and Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

from simstudy.analyses.expected_wins import expected_wins
from simstudy.analyses.other_systems import OtherSystems, other_systems
from simstudy.analyses.relation_classes import relation_classes
from simstudy.metrics.mean import LOWER
from simstudy.outputs import Outputs, check_outputs
from simstudy.statistics.decisions import speaks_for_gain
from simstudy.tables import TEST_SET, require_columns, require_one_question, system_codes, takes_pairs
from simstudy.validation import check_flag, check_mapping, check_seed, check_whole, number_list

#: The paper's bins of p-values, continued at both ends to cover all p-values.
TABLE_1 = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)

_COLUMNS = [
    *TEST_SET,
    *("alternative", "relation", "elsewhere", "n_items_elsewhere", "p_from", "p_to", "n_pairs", "n_ties"),
    *("expected", "share", "low", "high", "interval_for", "note"),
]

#: What `with_baseline` adds.
BASELINE = ["baseline", "baseline_low", "baseline_high", "n_items_baseline"]

#: The paper's window around p = 0.05.
WINDOW = (0.04, 0.06)

# Weights of pairs that are held at a time: 32 MiB.
_TOGETHER = 2**22

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
    """Share of pairs, by p-value on the home test set, whose winner there also wins elsewhere.

    With other test sets this is the calibration across domains (Table 1). With Comparisons on test sets redrawn
    from a population (`redraw`; number them in a column ``draw`` and concatenate) and that population as the only
    other test set, it is the calibration under identical distribution.

    Another test set has sampling error of its own, even where it is of the same domain: of gains with p = 0.05 many are
    lost on 400 other items of the *same* population. So a share elsewhere says what is lost to the domain only beside
    the share within the home population: `expected` by a model, and `with_baseline` as measured.

    Parameters
    ----------
    pairs
        Comparisons on the home test set. Pairs of equal score there have no winner and are left out, and so are pairs
        whose test speaks for the system with the worse score.
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
        (fractions, 95 % interval), interval_for (what it speaks for, on these items; see `simstudy.thresholds`), note.

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
        raise ValueError(f"bins must ascend within 0 and 1, not {bounds}")
    check_mapping("elsewhere", elsewhere, "names of test sets to their Outputs")
    for name, outputs in elsewhere.items():
        for of_draw in outputs.values() if isinstance(outputs, Mapping) else [outputs]:
            check_outputs(f"elsewhere['{name}']", of_draw)
    check_flag("population", population)
    check_whole("min_pairs", min_pairs, 1)
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    if "draw" in pairs and pairs["draw"].isna().any():
        raise ValueError("pairs must have a draw in every row, or no column 'draw'")
    decided = pairs[speaks_for_gain(pairs)]
    rows = []
    for key, members in relation_classes(decided):
        edges, inside = _bins(members["p_value"].to_numpy(), bounds)
        gains = np.stack([_gain_elsewhere(members, name, outputs) for name, outputs in elsewhere.items()])
        others = other_systems(members)
        redrawn = (
            _redrawn_shares(members, others, inside, gains > 0, n_bootstrap=n_bootstrap, seed=seed)
            if others.interval_for
            else None
        )
        for e, (name, outputs) in enumerate(elsewhere.items()):
            gain, n_there = gains[e], _n_items(outputs)
            expected = expected_wins(members, np.inf if population else n_there / members["n_items"].to_numpy())
            for b, ((p_from, p_to), here) in enumerate(zip(edges, inside, strict=True)):
                rows.append(
                    {
                        **key,
                        "alternative": members["alternative"].iloc[0] if "alternative" in members else "",
                        "elsewhere": name,
                        "n_items_elsewhere": n_there,
                        "p_from": p_from,
                        "p_to": p_to,
                        "n_pairs": int(here.sum()),
                        "n_ties": int((gain[here] == 0).sum()),
                        "expected": expected[here].mean() if here.any() else np.nan,
                        **_share(gain[here] > 0, others, None if redrawn is None else redrawn[e, b], min_pairs),
                    }
                )
    return pd.DataFrame(rows, columns=_COLUMNS)


def _share(
    wins: NDArray[np.bool_], others: OtherSystems, redrawn: NDArray[np.float64] | None, min_pairs: int
) -> dict[str, object]:
    """The share of a bin's pairs that win, its interval by the redrawn shares, and a note; NaN for too few pairs."""
    if len(wins) < min_pairs:
        note = f"too few pairs: {len(wins)}, not {min_pairs}"
        return {"share": np.nan, "low": np.nan, "high": np.nan, "interval_for": "", "note": note}
    low, high = (np.nan, np.nan) if redrawn is None else np.nanpercentile(redrawn, [2.5, 97.5])
    share = wins.mean()
    return {"share": share, "low": low, "high": high, "interval_for": others.interval_for, "note": others.note}


def with_baseline(table: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    """A calibration across domains with what comes out where there is no other domain.

    The baseline is what `calibration` returned for halves of the home test set (`simstudy.truth.redrawn.halves`):
    p-values from one half, winners looked for on items of the other, for each test set elsewhere as many as keep the
    ratio of the two numbers of items. Then a share is comparable, although both sampling errors are larger; with the
    full number of items the baseline would be too high. What is lost to the domain is baseline less share.

    Examples
    --------
    >>> key = {"relation": "all pairs", "elsewhere": "tweets", "p_from": 0.0, "p_to": 1.0}
    >>> table = pd.DataFrame([{**key, "share": 0.6}])
    >>> halves = pd.DataFrame([{**key, "share": 0.7, "low": 0.6, "high": 0.8, "n_items_elsewhere": 200}])
    >>> with_baseline(table, halves)[["share", "baseline", "n_items_baseline"]].iloc[0].tolist()
    [0.6, 0.7, 200.0]
    """
    names = {"share": "baseline", "low": "baseline_low", "high": "baseline_high"}
    keys = ["relation", "elsewhere", "p_from", "p_to"]
    renamed = baseline.rename(columns={**names, "n_items_elsewhere": "n_items_baseline"})
    return table.merge(renamed[[*keys, *BASELINE]], on=keys, how="left")


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
        raise ValueError(f"test set '{name}' must be Outputs, or have Outputs for each draw of the pairs")
    first, second, names = system_codes(pairs)
    metric, gain = str(pairs["metric"].iloc[0]), np.empty(len(pairs))
    for number, there in by_draw.items():
        own = there.metric.name
        if metric != own and metric.removesuffix(LOWER) == own.removesuffix(LOWER):
            raise ValueError(f"test set '{name}' must have the direction of the pairs, '{metric}', not '{own}'")
        those = draw == number
        place = pd.Index(there.names).get_indexer(names)
        ahead, behind = place[first[those]], place[second[those]]
        if (ahead < 0).any() or (behind < 0).any():
            unknown = min(names[place < 0])
            raise ValueError(f"test set '{name}' must have the systems of the pairs; it has no '{unknown}'")
        gain[those] = there.gains(ahead, behind)
    return gain


def _redrawn_shares(
    pairs: pd.DataFrame,
    others: OtherSystems,
    inside: NDArray[np.bool_],
    wins: NDArray[np.bool_],
    *,
    n_bootstrap: int,
    seed: int,
) -> NDArray[np.float64]:
    """(E, B, R) shares of wins elsewhere by bin over resamples of the systems, and of the draws where there are any.

    A pair counts as often as both of its systems, or families, and its draw are there. The pairs of one draw are summed
    by their weights first and multiplied by the number of times that the draw is there after that, so that the weights
    of two systems are computed once for all draws.
    """
    rng = np.random.default_rng(seed)
    clusters = np.ascontiguousarray(others.drawn(n_bootstrap, rng).T, dtype=np.float64)
    draw = pd.factorize(pairs["draw"])[0] if "draw" in pairs else np.zeros(len(pairs), dtype=np.int64)
    n_draws = int(draw.max()) + 1
    draws = np.ones((1, n_bootstrap))
    if n_draws > 1:
        draws = rng.multinomial(n_draws, np.full(n_draws, 1 / n_draws), size=n_bootstrap).T.astype(np.float64)
    # All pairs of a bin, and those of them that win.
    counted = np.concatenate([inside[None], inside & wins[:, None]]).reshape(-1, len(pairs))
    cells, cell = np.unique(others.first * len(clusters) + others.second, return_inverse=True)
    first, second = np.divmod(cells, len(clusters))
    row, pair = np.nonzero(counted)
    shape = (len(counted) * n_draws, len(cells))
    n_pairs = sparse.csr_array((np.ones(len(row)), (row * n_draws + draw[pair], cell[pair])), shape=shape)
    sums = np.empty((len(counted), n_bootstrap))
    width = max(1, _TOGETHER // max(shape))
    for begin in range(0, n_bootstrap, width):
        some = clusters[:, begin : begin + width]
        # Two systems of one family are there as often as it is.
        weights = np.where((first == second)[:, None], some[first], some[first] * some[second])
        by_draw = (n_pairs @ weights).reshape(len(counted), n_draws, -1)
        sums[:, begin : begin + width] = (by_draw * draws[:, begin : begin + width]).sum(axis=1)
    total, *won = sums.reshape(-1, len(inside), n_bootstrap)
    return np.divide(won, total, out=np.full((len(wins), *total.shape), np.nan), where=total > 0)
