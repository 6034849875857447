"""Does significance here predict who wins elsewhere? After Berg-Kirkpatrick et al. 2012, section 4.2 and Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.analyses.expected_wins import expected_wins
from simstudy.analyses.other_systems import OtherSystems, other_systems
from simstudy.analyses.relation_classes import relation_classes
from simstudy.inputs import number_list
from simstudy.metrics.mean import LOWER
from simstudy.outputs import Outputs, check_outputs
from simstudy.pvalues import speaks_for_gain
from simstudy.tables import TEST_SET, require_columns, require_one_question
from simstudy.validation import check_flag, check_mapping, check_seed, check_whole

#: The paper's bins of p-values, continued at both ends to cover all p-values.
TABLE_1 = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)

_COLUMNS = [
    *TEST_SET,
    "alternative",
    "relation",
    "elsewhere",
    "n_items_elsewhere",
    "p_from",
    "p_to",
    "n_pairs",
    "n_ties",
    "expected",
    "share",
    "low",
    "high",
    "interval_for",
    "note",
]

#: What `with_baseline` adds.
BASELINE = ["baseline", "baseline_low", "baseline_high", "n_items_baseline"]

#: The paper's window around p = 0.05.
WINDOW = (0.04, 0.06)

Elsewhere = Outputs | Mapping[int, Outputs]
"""The Outputs of another test set; or, of each draw, its own."""


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
    the share on as many items of the home population: `expected` by a model, and `with_baseline` as measured.

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
    >>> from simstudy.generators.synthetic import correlated_accuracies
    >>> from simstudy.engines.comparisons import compare
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
    decided = pairs[(pairs["gain"] > 0) & speaks_for_gain(pairs)]
    rows = []
    for key, members in relation_classes(decided):
        p_value = members["p_value"].to_numpy()
        resampled = _Resampled(members, n_bootstrap, seed)
        for name, outputs in elsewhere.items():
            gain = _gain_elsewhere(members, name, outputs)
            n_there = _n_items(outputs)
            expected = expected_wins(members, np.inf if population else n_there / members["n_items"].to_numpy())
            for low, high, inside in _bins(p_value, bounds):
                n_pairs = int(inside.sum())
                row = {
                    **key,
                    "alternative": members["alternative"].iloc[0] if "alternative" in members else "",
                    "elsewhere": name,
                    "n_items_elsewhere": n_there,
                    "p_from": low,
                    "p_to": high,
                    "n_pairs": n_pairs,
                    "n_ties": int((gain[inside] == 0).sum()),
                    "expected": expected[inside].mean() if n_pairs else np.nan,
                }
                if n_pairs < min_pairs:
                    note = f"too few pairs: {n_pairs}, not {min_pairs}"
                    empty = {"share": np.nan, "low": np.nan, "high": np.nan, "interval_for": ""}
                    rows.append({**row, **empty, "note": note})
                    continue
                bottom, top = resampled.interval(inside, gain > 0)
                share = float((gain[inside] > 0).mean())
                found = {"share": share, "low": bottom, "high": top, "interval_for": resampled.others.interval_for}
                rows.append({**row, **found, "note": resampled.others.note})
    return pd.DataFrame(rows, columns=_COLUMNS)


def with_baseline(table: pd.DataFrame, baseline: pd.DataFrame) -> pd.DataFrame:
    """A calibration across domains with what comes out where there is no other domain.

    Parameters
    ----------
    table
        What `calibration` returned for other test sets.
    baseline
        What it returned for halves of the home test set (`simstudy.generators.redrawn.halves`): p-values from one
        half, winners looked for on items of the other. For each test set elsewhere as many as keep the ratio of the two
        numbers of items: half as many for half a test set. Then a share is comparable, although both sampling errors
        are larger; with the full number the baseline would be too high.

    Returns
    -------
    table
        A copy with baseline, baseline_low, baseline_high (fractions) and n_items_baseline. What is lost to the domain
        is baseline less share.

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


def _bins(p_value: NDArray[np.float64], bounds: list[float]) -> list[tuple[float, float, NDArray[np.bool_]]]:
    bins = [
        (low, high, (p_value >= low) & ((p_value < high) | ((high == bounds[-1]) & (p_value == high))))
        for low, high in zip(bounds, bounds[1:], strict=False)
    ]
    return [*bins, (*WINDOW, (p_value >= WINDOW[0]) & (p_value <= WINDOW[1]))]


def _n_items(outputs: Elsewhere) -> int:
    """How many items there are elsewhere; of draws, the median."""
    if isinstance(outputs, Outputs):
        return outputs.n_items
    return int(np.median([found.n_items for found in outputs.values()]))


def _gain_elsewhere(pairs: pd.DataFrame, name: str, outputs: Elsewhere) -> NDArray[np.float64]:
    """Gain of each pair's home winner on the other test set, positive where it wins there too."""
    if isinstance(outputs, Outputs):
        return _gains_on(pairs, name, outputs)
    if "draw" not in pairs or not set(pairs["draw"]) <= set(outputs):
        raise ValueError(f"test set '{name}' must be Outputs, or have Outputs for each draw of the pairs")
    gain = np.empty(len(pairs))
    for draw, found in outputs.items():
        those = (pairs["draw"] == draw).to_numpy()
        gain[those] = _gains_on(pairs[those], name, found)
    return gain


def _gains_on(pairs: pd.DataFrame, name: str, outputs: Outputs) -> NDArray[np.float64]:
    own = outputs.metric.name
    for metric in set(pairs["metric"]) - {own}:
        if str(metric).removesuffix(LOWER) == own.removesuffix(LOWER):
            raise ValueError(f"test set '{name}' must have the direction of the pairs, '{metric}', not '{own}'")
    known = pd.Index(outputs.names)
    first, second = (known.get_indexer(pd.Index(pairs[side])) for side in ("system_a", "system_b"))
    if (first < 0).any() or (second < 0).any():
        unknown = min([*pairs["system_a"][first < 0], *pairs["system_b"][second < 0]])
        raise ValueError(f"test set '{name}' must have the systems of the pairs; it has no '{unknown}'")
    return outputs.gains(first, second)


class _Resampled:
    """Shares of wins over resamples of the systems, and of the draws where test sets were redrawn."""

    def __init__(self, pairs: pd.DataFrame, n_bootstrap: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.others: OtherSystems = other_systems(pairs)
        self._clusters = self.others.drawn(n_bootstrap, rng).astype(np.float64)
        self._draw = pd.factorize(pairs["draw"])[0] if "draw" in pairs else np.zeros(len(pairs), dtype=np.int64)
        n_draws = int(self._draw.max()) + 1 if len(pairs) else 1
        one = np.ones((n_bootstrap, 1), dtype=np.int64)
        self._draws = rng.multinomial(n_draws, np.full(n_draws, 1 / n_draws), size=n_bootstrap) if n_draws > 1 else one

    def interval(self, inside: NDArray[np.bool_], wins: NDArray[np.bool_]) -> tuple[float, float]:
        """The 95 % interval of the share among the pairs inside; NaN where the systems are too few for one."""
        if not self.others.interval_for:
            return np.nan, np.nan
        low, high = np.nanpercentile(self._shares(inside, wins), [2.5, 97.5])
        return float(low), float(high)

    def _shares(self, inside: NDArray[np.bool_], wins: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(n_bootstrap,) shares; a pair counts as often as its systems, or families, and its draw are there."""
        won = total = np.zeros(len(self._clusters))
        for d in range(self._draws.shape[1]):
            here = inside & (self._draw == d)
            total = total + self._draws[:, d] * self._weight(here)
            won = won + self._draws[:, d] * self._weight(here & wins)
        shares: NDArray[np.float64] = np.divide(won, total, out=np.full(len(total), np.nan), where=total > 0)
        return shares

    def _weight(self, members: NDArray[np.bool_]) -> NDArray[np.float64]:
        n_clusters = self._clusters.shape[1]
        first, second = self.others.first[members], self.others.second[members]
        between, within = np.zeros((n_clusters, n_clusters)), np.zeros(n_clusters)
        alike = first == second
        np.add.at(between, (first[~alike], second[~alike]), 1)
        np.add.at(within, first[alike], 1)
        crossed = ((self._clusters @ between) * self._clusters).sum(axis=1)
        return np.asarray(crossed + self._clusters @ within)
