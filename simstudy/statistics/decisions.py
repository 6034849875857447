"""When a gain is significant: the one rule that every table, figure, verdict and gate goes by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.schema import ADDED
from simstudy.statistics.pvalues import CONVENTIONS, clopper_pearson, posterior
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import check_choice, check_fraction

#: The columns that a decision may be made on: a pair's own p-value, and those corrected for the number of pairs.
P_COLUMNS = ("p_value", "p_holm", "p_bh")

TOO_FEW = "too few units differ"

#: Why a gain is not significant: the first of these reasons that holds.
REASONS = ("no gain", "p above alpha", "the test does not prefer it", TOO_FEW, "not certain enough")


@dataclass(frozen=True)
class Decision(FieldsMixin):
    """Whether gains are significant.

    A gain is significant if

    - it is above 0, and the test prefers the system that has it (`prefers_better`);
    - p is at most alpha. A p-value from resamples is taken as it is: (count + 1) / (resamples + 1) keeps the level
      for any number of resamples (Phipson and Smyth 2010);
    - swapping the units that differ could give a p-value of at most alpha at all (p_floor);
    - with `certainty`: the probability that the significance level of all resamples together is at most alpha is at
      least `certainty` (`simstudy.comparisons.certainty`; Chinchor 1992, TST3). Without Monte Carlo error it is 0 or 1.

    A corrected p-value is a multiple of the pair's own. Then the last two rules hold at alpha divided by this factor,
    so that no correction makes a gain significant that is not significant by itself.

    Pairs are rows of Comparisons, with p_value and the column `p`. The columns gain, better (with system_a), p_floor,
    n_extreme and n_resamples may be missing.

    Attributes
    ----------
    alpha
        The level, a fraction.
    certainty
        A fraction, or None for p-values as they are; Chinchor's alpha and certainty are 0.1 and 0.99.
    p
        The column of p-values: "p_value", or "p_holm" or "p_bh" of `simstudy.comparisons.corrected`.

    Examples
    --------
    >>> pairs = pd.DataFrame({"p_value": [0.0415, 0.0994, 0.0994], "n_extreme": [414, 993, 0],
    ...                       "n_resamples": [9999, 9999, 0]})
    >>> Decision(0.1).significant(pairs).tolist(), Decision(0.1, certainty=0.99).significant(pairs).tolist()
    ([True, True, True], [True, False, True])
    >>> Decision(0.1).significant(pairs.assign(system_a="a", better=["a", "a", "b"])).tolist()
    [True, True, False]
    >>> Decision(0.1).significant(pairs.assign(p_floor=[0.01, 0.25, 0.01])).tolist()
    [True, False, True]
    """

    alpha: float = 0.05
    certainty: float | None = None
    p: str = "p_value"

    def __post_init__(self) -> None:
        check_fraction("alpha", self.alpha)
        if self.certainty is not None:
            check_fraction("certainty", self.certainty)
        check_choice("p", self.p, P_COLUMNS)

    def significant(self, pairs: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether each pair's gain is significant, (P,)."""
        return prefers_better(pairs) & self.rejects(pairs)

    def is_significant(self, pair: pd.Series[Any]) -> bool:
        """Whether the gain of one pair, a row of such a table, is significant."""
        return bool(self.significant(one_row(pair))[0])

    def why_not(self, pairs: pd.DataFrame) -> NDArray[np.object_]:
        """Why each pair's gain is not significant, (P,): one of `REASONS`; "" where it is.

        Examples
        --------
        >>> pairs = pd.DataFrame({"gain": [2.0, 0.0, 1.0, 3.0], "p_value": [0.01, 1.0, 0.2, 0.04],
        ...                       "p_floor": [0.001, 0.001, 0.001, 0.06]})
        >>> Decision().why_not(pairs).tolist()
        ['', 'no gain', 'p above alpha', 'too few units differ']
        """
        rules = [
            pairs["gain"].to_numpy() > 0 if "gain" in pairs else np.ones(len(pairs), dtype=np.bool_),
            _numbers(pairs, self.p) <= self.alpha,
            prefers_better(pairs),
            self.within_reach(pairs),
            self.rejects(pairs),
        ]
        return np.select([~holds for holds in rules], REASONS, "").astype(object)

    def prefers_worse(self, pairs: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether the same rule prefers the system with the worse score, (P,); such a gain is not significant."""
        if "better" not in pairs:
            return np.zeros(len(pairs), dtype=np.bool_)
        return (pairs["better"] == pairs["system_b"]).to_numpy(dtype=np.bool_) & self.rejects(pairs)

    def within_reach(self, pairs: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether each pair differs on enough units for a p-value of at most alpha, (P,)."""
        if "p_floor" not in pairs:
            return np.ones(len(pairs), dtype=np.bool_)
        floor = _numbers(pairs, "p_floor")
        return np.asarray((floor if self.p == "p_value" else floor * self._correction_factor(pairs)) <= self.alpha)

    def rejects(self, pairs: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether each test rejects its null hypothesis, whichever system it prefers, (P,)."""
        rejected = (_numbers(pairs, self.p) <= self.alpha) & self.within_reach(pairs)
        if self.certainty is not None and "n_resamples" in pairs:
            drawn = pairs["n_resamples"].to_numpy() > 0
            n_extreme, n_resamples = (_numbers(pairs, name)[drawn] for name in ("n_extreme", "n_resamples"))
            level = self.alpha / self._correction_factor(pairs)[drawn]
            rejected[drawn] &= posterior(n_extreme, n_resamples, level) >= self.certainty
        return rejected

    def _correction_factor(self, pairs: pd.DataFrame) -> NDArray[np.float64]:
        """Each pair's corrected p-value over its own, (P,)."""
        uncorrected, p = _numbers(pairs, "p_value"), _numbers(pairs, self.p)
        return np.divide(p, uncorrected, out=np.ones_like(p), where=uncorrected > 0)


def _numbers(pairs: pd.DataFrame, column: str) -> NDArray[np.float64]:
    return pairs[column].to_numpy(dtype=np.float64)


def one_row(pair: pd.Series[Any]) -> pd.DataFrame:
    """A table of one pair."""
    return pd.DataFrame([pair]).infer_objects()


def prefers_better(pairs: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether each pair has a gain and its test prefers the system that has it, (P,).

    A test of another null hypothesis than equal scores (the sign test, Wilcoxon's) may prefer the system with the
    worse score, or one of two systems with equal scores. Without a column ``better`` every test is taken to prefer the
    better system.
    """
    holds = np.ones(len(pairs), dtype=np.bool_)
    if "better" in pairs:
        holds &= (pairs["better"] == pairs["system_a"]).to_numpy(dtype=np.bool_)
    return holds & (pairs["gain"] > 0).to_numpy(dtype=np.bool_) if "gain" in pairs else holds


def two_sided(pairs: pd.DataFrame) -> pd.DataFrame:
    """Comparisons by their two-sided p-values, which one-sided ones have beside theirs.

    Everything that belongs to a p-value becomes two-sided: its resamples and their count, its Monte Carlo interval, its
    reach, and the system that the test prefers. If the convention has no two-sided p-value, it stays missing.
    Corrected p-values and conclusions rest on the one-sided ones: those columns are dropped.
    """
    one_sided = (pairs["alternative"] != "two-sided").to_numpy(dtype=np.bool_)
    if not one_sided.any():
        return pairs
    p = _numbers(pairs, "p_two_sided")
    drawn = one_sided & (pairs["n_resamples"] > 0).to_numpy() & ~np.isnan(p)
    n_extreme, n_resamples = (np.where(one_sided & ~drawn, 0, pairs[name]) for name in ("n_extreme", "n_resamples"))
    for name in pairs.loc[drawn, "convention"].unique():
        rows = drawn & (pairs["convention"] == name).to_numpy()
        n_extreme[rows] = CONVENTIONS[name].n_extreme(p[rows], n_resamples[rows])
    low, high = (np.where(one_sided, p, pairs[name]) for name in ("p_low", "p_high"))
    low[drawn], high[drawn] = clopper_pearson(n_extreme[drawn], n_resamples[drawn])
    floor = _numbers(pairs, "p_floor")
    # A one-sided test prefers no system if more than half of its distribution is against the gain.
    other = one_sided & (pairs["better"] == "").to_numpy() & (pairs["p_value"] > 0.5).to_numpy() & (p < 1)
    return pairs.drop(columns=[*ADDED], errors="ignore").assign(
        alternative="two-sided",
        p_value=p,
        p_low=low,
        p_high=high,
        p_floor=np.where(one_sided, np.minimum(2 * floor, 1), floor),
        better=pairs["better"].where(~other, pairs["system_b"]),
        n_extreme=n_extreme,
        n_resamples=n_resamples,
    )
