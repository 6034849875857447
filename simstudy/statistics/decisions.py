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

#: The columns that a decision may be made on: of one pair by itself, and corrected for the number of pairs.
P_COLUMNS = ("p_value", "p_holm", "p_bh")

TOO_FEW = "too few units differ"

#: Why a gain may not be significant, in the order in which it is asked.
REASONS = ("no gain", "p above alpha", "the test does not prefer it", TOO_FEW, "not certain enough")


@dataclass(frozen=True)
class Decision(FieldsMixin):
    """Whether gains are significant.

    A gain is significant where all of this holds:

    - it is above 0, and the test prefers the system that has it (`prefers_better`);
    - p is at most alpha. A p-value from resamples is taken as it is: (count + 1) / (resamples + 1) keeps the level
      for any number of resamples (Phipson and Smyth 2010);
    - it is within reach: swapping the units that differ could give a p-value of at most alpha at all (p_floor);
    - where `certainty` is asked for, the probability that the significance level of all resamples together is at most
      alpha is at least that (`simstudy.analyses.certainty`; Chinchor 1992, TST3). Without Monte Carlo error it is 0
      or 1.

    A corrected p-value is some number of times as large as the pair's own. Reach and certainty are then asked for at
    alpha divided by this number, so that no correction makes a gain significant that is not so by itself.

    Pairs are rows of Comparisons, with p_value and the column `p`; the columns gain, better (with system_a), p_floor,
    n_extreme and n_resamples count where they are there.

    Attributes
    ----------
    alpha
        The level, a fraction.
    certainty
        A fraction, or None for p-values as they are; Chinchor's alpha and certainty are 0.1 and 0.99.
    p
        The column that is decided on: "p_value", or "p_holm" or "p_bh" of `simstudy.analyses.corrected`.

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
        holds = [
            pairs["gain"].to_numpy() > 0 if "gain" in pairs else np.ones(len(pairs), dtype=np.bool_),
            _numbers(pairs, self.p) <= self.alpha,
            prefers_better(pairs),
            self.within_reach(pairs),
            self.rejects(pairs),
        ]
        return np.select([~one for one in holds], REASONS, "").astype(object)

    def prefers_worse(self, pairs: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether the same rule prefers the system with the worse score, (P,).

        Tests of another null hypothesis than equal scores can; such a gain is not significant.
        """
        if "better" not in pairs:
            return np.zeros(len(pairs), dtype=np.bool_)
        return (pairs["better"] == pairs["system_b"]).to_numpy(dtype=np.bool_) & self.rejects(pairs)

    def within_reach(self, pairs: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether each pair differs on enough units for a p-value of at most alpha, (P,)."""
        if "p_floor" not in pairs:
            return np.ones(len(pairs), dtype=np.bool_)
        floor = _numbers(pairs, "p_floor")
        return np.asarray((floor if self.p == "p_value" else floor * self._times(pairs)) <= self.alpha)

    def rejects(self, pairs: pd.DataFrame) -> NDArray[np.bool_]:
        """Whether each test rejects its null hypothesis, whomever it holds for, (P,)."""
        found = (_numbers(pairs, self.p) <= self.alpha) & self.within_reach(pairs)
        if self.certainty is not None and "n_resamples" in pairs:
            drawn = pairs["n_resamples"].to_numpy() > 0
            count, of = (_numbers(pairs, name)[drawn] for name in ("n_extreme", "n_resamples"))
            found[drawn] &= posterior(count, of, self.alpha / self._times(pairs)[drawn]) >= self.certainty
        return found

    def _times(self, pairs: pd.DataFrame) -> NDArray[np.float64]:
        """How many times its own p-value each pair's corrected one is, (P,)."""
        own, p = _numbers(pairs, "p_value"), _numbers(pairs, self.p)
        return np.divide(p, own, out=np.ones_like(p), where=own > 0)


def _numbers(pairs: pd.DataFrame, column: str) -> NDArray[np.float64]:
    return pairs[column].to_numpy(dtype=np.float64)


def one_row(pair: pd.Series[Any]) -> pd.DataFrame:
    """A table of one pair."""
    return pd.DataFrame([pair]).infer_objects()


def prefers_better(pairs: pd.DataFrame) -> NDArray[np.bool_]:
    """Whether each pair has a gain and its test prefers the system that has it, (P,).

    A test of another null hypothesis than equal scores (the sign test, Wilcoxon's) may prefer the system with the
    worse score; its p-value is then no evidence for the gain. Without a column ``better`` every test is taken to prefer
    the better system.
    """
    holds = np.ones(len(pairs), dtype=np.bool_)
    if "better" in pairs:
        holds &= (pairs["better"] == pairs["system_a"]).to_numpy(dtype=np.bool_)
    # A sign test may prefer one of two systems with equal scores.
    return holds & (pairs["gain"] > 0).to_numpy(dtype=np.bool_) if "gain" in pairs else holds


def two_sided(pairs: pd.DataFrame) -> pd.DataFrame:
    """Comparisons by their two-sided p-values, which one-sided ones have beside theirs.

    All that belongs to a p-value is the two-sided one's: its resamples and their count, its Monte Carlo interval, its
    reach, and the system that the test prefers. Where the convention has no two-sided p-value it stays missing.
    Corrected p-values and conclusions rest on the one-sided ones: those columns are dropped.
    """
    one = (pairs["alternative"] != "two-sided").to_numpy(dtype=np.bool_)
    if not one.any():
        return pairs
    p = _numbers(pairs, "p_two_sided")
    drawn = one & (pairs["n_resamples"] > 0).to_numpy() & ~np.isnan(p)
    n_extreme, n_resamples = (np.where(one & ~drawn, 0, pairs[name]) for name in ("n_extreme", "n_resamples"))
    for name in pairs.loc[drawn, "convention"].unique():
        those = drawn & (pairs["convention"] == name).to_numpy()
        n_extreme[those] = CONVENTIONS[name].n_extreme(p[those], n_resamples[those])
    low, high = np.where(one, p, pairs["p_low"]), np.where(one, p, pairs["p_high"])
    low[drawn], high[drawn] = clopper_pearson(n_extreme[drawn], n_resamples[drawn])
    floor = _numbers(pairs, "p_floor")
    # A one-sided test names nobody where it has more than half of its distribution against the gain.
    other = one & (pairs["better"] == "").to_numpy() & (pairs["p_value"] > 0.5).to_numpy() & (p < 1)
    return pairs.drop(columns=[*ADDED], errors="ignore").assign(
        alternative="two-sided",
        p_value=p,
        p_low=low,
        p_high=high,
        p_floor=np.where(one, np.minimum(2 * floor, 1), floor),
        better=pairs["better"].where(~other, pairs["system_b"]),
        n_extreme=n_extreme,
        n_resamples=n_resamples,
    )
