"""Does significance here predict who wins elsewhere? After Berg-Kirkpatrick et al. 2012, section 4.2 and Table 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.analyses.classes import TEST_SET, multiplicities, relation_classes, require_columns, system_codes
from simstudy.choices import check_seed, check_whole
from simstudy.outputs import Outputs

#: The paper's bins of p-values, continued at both ends to cover all p-values.
TABLE_1 = (0.0, 0.00125, 0.0025, 0.005, 0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 1.0)

_COLUMNS = [
    *TEST_SET,
    "relation",
    "elsewhere",
    "n_items_elsewhere",
    "p_from",
    "p_to",
    "n_pairs",
    "n_ties",
    "confidence",
    "share",
    "low",
    "high",
    "note",
]

#: The paper's window around p = 0.05.
WINDOW = (0.04, 0.06)


def calibration(
    pairs: pd.DataFrame,
    elsewhere: Mapping[str, Outputs],
    *,
    bins: Sequence[float] = TABLE_1,
    min_pairs: int = 20,
    n_bootstrap: int = 1000,
    seed: int = 0,
) -> pd.DataFrame:
    """Share of pairs, by p-value on the home test set, whose winner there also wins elsewhere.

    With other test sets this is the calibration across domains (Table 1). With Comparisons on test sets redrawn
    from a population (`redraw`; number them in a column ``draw`` and concatenate) and that population as the only
    other test set, it is the calibration under identical distribution.

    Parameters
    ----------
    pairs
        Comparisons on the home test set. Pairs of equal score there have no winner and are left out.
    elsewhere
        Name -> Outputs of the same systems.
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
        task, test_set, n_items, metric, relation, elsewhere, n_items_elsewhere, p_from, p_to, n_pairs (in the
        bin), n_ties (equal elsewhere: not a win), confidence (mean of 1 - p in the bin; of 1 - p / 2 where p is
        two-sided), share, low, high (fractions, 95 % interval), note.

    Raises
    ------
    ValueError
        Where a test set has other systems than the pairs, bins do not ascend within 0 … 1, or pairs is not a
        table of Comparisons.

    Examples
    --------
    >>> from simstudy.generators.synthetic import correlated_accuracies
    >>> from simstudy.engines.comparisons import compare
    >>> true = [0.7 + k / 200 for k in range(30)]
    >>> here, there = correlated_accuracies(true, 400, seed=1), correlated_accuracies(true, 100_000, seed=2)
    >>> table = calibration(compare(here, n_resamples=2000), {"there": there}, bins=[0, 0.01, 1])
    >>> table["share"].round(1).tolist()[:1]   # nearly every gain that is highly significant is real
    [1.0]
    """
    require_columns(pairs, [*TEST_SET, "relation", "system_a", "system_b", "gain", "p_value"])
    bounds = np.atleast_1d(bins).tolist()
    if len(bounds) < 2 or bounds != sorted(set(bounds)) or bounds[0] < 0 or bounds[-1] > 1:
        raise ValueError(f"bins must ascend within 0 and 1, not {bounds}")
    if not elsewhere:
        raise ValueError("elsewhere must have at least one test set")
    check_whole("min_pairs", min_pairs, 1)
    check_whole("n_bootstrap", n_bootstrap, 1)
    check_seed(seed)
    if "draw" in pairs and pairs["draw"].isna().any():
        raise ValueError("pairs must have a draw in every row, or no column 'draw'")
    decided = pairs[pairs["gain"] > 0]
    rows = []
    for key, members in relation_classes(decided):
        for name, outputs in elsewhere.items():
            gain = _gain_elsewhere(members, name, outputs)
            resampled = _Resampled(members, gain > 0, n_bootstrap, seed)
            p_value = members["p_value"].to_numpy()
            promised = _promised(members)
            for low, high, inside in _bins(p_value, bounds):
                n_pairs = int(inside.sum())
                row = {
                    **key,
                    "elsewhere": name,
                    "n_items_elsewhere": outputs.n_items,
                    "p_from": low,
                    "p_to": high,
                    "n_pairs": n_pairs,
                    "n_ties": int((gain[inside] == 0).sum()),
                    "confidence": promised[inside].mean() if n_pairs else np.nan,
                }
                if n_pairs < min_pairs:
                    note = f"too few pairs: {n_pairs}, not {min_pairs}"
                    rows.append({**row, "share": np.nan, "low": np.nan, "high": np.nan, "note": note})
                else:
                    bottom, top = np.nanpercentile(resampled.shares(inside), [2.5, 97.5])
                    share = float((gain[inside] > 0).mean())
                    rows.append({**row, "share": share, "low": bottom, "high": top, "note": ""})
    return pd.DataFrame(rows, columns=_COLUMNS)


def _bins(p_value: NDArray[np.float64], bounds: list[float]) -> list[tuple[float, float, NDArray[np.bool_]]]:
    bins = [
        (low, high, (p_value >= low) & ((p_value < high) | ((high == bounds[-1]) & (p_value == high))))
        for low, high in zip(bounds, bounds[1:], strict=False)
    ]
    return [*bins, (*WINDOW, (p_value >= WINDOW[0]) & (p_value <= WINDOW[1]))]


def _promised(pairs: pd.DataFrame) -> NDArray[np.float64]:
    """The confidence that the winner is the better system: half of a two-sided p-value is the other tail's."""
    tails = np.where(pairs["alternative"] == "two-sided", 2, 1) if "alternative" in pairs else 1
    return np.asarray(1 - pairs["p_value"].to_numpy() / tails)


def _gain_elsewhere(pairs: pd.DataFrame, name: str, outputs: Outputs) -> NDArray[np.float64]:
    """Gain of each pair's home winner on the other test set, positive where it wins there too."""
    scores = pd.Series(outputs.scores(), index=outputs.names)
    unknown = set(pairs["system_a"]).union(pairs["system_b"]).difference(scores.index)
    if unknown:
        raise ValueError(f"test set '{name}' must have the systems of the pairs; it has no '{min(unknown)}'")
    gain = scores.loc[pairs["system_a"]].to_numpy() - scores.loc[pairs["system_b"]].to_numpy()
    rounding = pd.Series(outputs.tie_tolerance(), index=outputs.names)
    noise = np.maximum(rounding.loc[pairs["system_a"]].to_numpy(), rounding.loc[pairs["system_b"]].to_numpy())
    gain = np.where(np.abs(gain) > noise, gain, 0.0)
    return np.asarray(gain if outputs.metric.higher_is_better else -gain, dtype=np.float64)


class _Resampled:
    """Shares of wins over resamples of the systems, and of the draws where test sets were redrawn."""

    def __init__(self, pairs: pd.DataFrame, wins: NDArray[np.bool_], n_bootstrap: int, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self._first, self._second, n_systems = system_codes(pairs)
        self._wins = wins
        self._systems = multiplicities(n_systems, n_bootstrap, rng).astype(np.float64)
        self._draw = pd.factorize(pairs["draw"])[0] if "draw" in pairs else np.zeros(len(pairs), dtype=np.int64)
        n_draws = int(self._draw.max()) + 1
        one = np.ones((n_bootstrap, 1), dtype=np.int64)
        self._draws = multiplicities(n_draws, n_bootstrap, rng) if n_draws > 1 else one

    def shares(self, inside: NDArray[np.bool_]) -> NDArray[np.float64]:
        """(n_bootstrap,) shares among the pairs inside; a pair counts as often as its systems and draw are there."""
        won = total = np.zeros(len(self._systems))
        for d in range(self._draws.shape[1]):
            here = inside & (self._draw == d)
            total = total + self._draws[:, d] * self._weight(here)
            won = won + self._draws[:, d] * self._weight(here & self._wins)
        shares: NDArray[np.float64] = np.divide(won, total, out=np.full(len(total), np.nan), where=total > 0)
        return shares

    def _weight(self, members: NDArray[np.bool_]) -> NDArray[np.float64]:
        n_systems = self._systems.shape[1]
        pairs = np.zeros((n_systems, n_systems))
        np.add.at(pairs, (self._first[members], self._second[members]), 1)
        return np.asarray(((self._systems @ pairs) * self._systems).sum(axis=1))
