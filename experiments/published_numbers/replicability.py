"""On how many data sets is a system better? Counts by partial conjunction, and how often they are too large."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from simstudy.studies import clopper_pearson, derived_seed, holm

from .claims import COUNT, claim
from .settings import Replicability

BONFERRONI, FISHER = "Bonferroni", "Fisher"


def counts(p: np.ndarray, method: str, alpha: float = 0.05) -> np.ndarray:
    """The largest u for which "fewer than u of the data sets have an effect" is rejected, and all smaller u; p (M, n).

    The partial conjunction p-value of u combines the n - u + 1 largest p-values (Benjamini and Heller 2008).
    """
    largest_first = -np.sort(-p, axis=-1)
    n = p.shape[-1]
    left = np.arange(n, 0, -1)
    if method == FISHER:
        summed = np.cumsum(-2 * np.log(largest_first), axis=-1)[..., left - 1]
        combined = stats.chi2.sf(summed, 2 * left)
    else:
        # The smallest of the n - u + 1 largest, times their number.
        combined = np.minimum(1, largest_first[..., left - 1] * left)
    return np.asarray((np.maximum.accumulate(combined, axis=-1) <= alpha).sum(axis=-1))


def count_claims(settings: Replicability, alpha: float = 0.05) -> list[dict[str, Any]]:
    """The example of Dror et al.; ours is the number of p-values that Holm's correction leaves significant."""
    p = np.array(settings.p_values)
    ours = int((holm(p) <= alpha).sum())
    source = "Dror et al. 2017, README of their program"
    of = {"published_of": len(p), "ours_of": len(p)}
    return [
        claim(
            source, "data sets on which a system is better, Bonferroni's count", COUNT, settings.bonferroni, ours,
            recomputed=int(counts(p, BONFERRONI, alpha)), **of,
            note="ours is Holm's correction, which rejects as many null hypotheses",
            means="the count is Holm's, and Holm also names the data sets",
        ),
        claim(
            source, "the same, Fisher's count", COUNT, settings.fisher, ours,
            recomputed=int(counts(p, FISHER, alpha)), **of,
            note="theirs supposes independent data sets; ours is Holm's again",
            means="one data set more, if the data sets are independent; it is not named",
        ),
    ]  # fmt: skip


def overcounts(settings: Replicability, seed: int, alpha: float = 0.05) -> pd.DataFrame:
    """How often a count is larger than the number of data sets with an effect.

    Normal statistics with a common correlation; one-sided p-values.
    """
    n = len(settings.p_values)
    rows: list[dict[str, Any]] = []
    for correlation in settings.correlations:
        rng = np.random.default_rng(derived_seed(seed, "overcounts", correlation))
        noise = rng.standard_normal((settings.sets, n))
        noise = np.sqrt(correlation) * rng.standard_normal((settings.sets, 1)) + np.sqrt(1 - correlation) * noise
        for effects in settings.effects:
            p = stats.norm.sf(noise + settings.shift * (np.arange(n) < effects))
            for method in (BONFERRONI, FISHER):
                over = int((counts(p, method, alpha) > effects).sum())
                low, high = clopper_pearson(np.array([over]), np.array([settings.sets]))
                rows.append(
                    {
                        "correlation": correlation, "n_effects": effects, "method": method, "n_sets": settings.sets,
                        "n_over": over, "share": over / settings.sets, "low": float(low[0]), "high": float(high[0]),
                    }
                )  # fmt: skip
    return pd.DataFrame(rows)
