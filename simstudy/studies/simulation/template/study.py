"""Tests of your own: each is a function that gets one simulated test set and returns numbers by name."""

from __future__ import annotations

import numpy as np
from scipy import stats

from simstudy.studies import Replicate


def trimmed_t(replicate: Replicate) -> dict[str, float]:
    """The t test of the trimmed mean of the differences (Yuen 1974), and its 95 % interval."""
    differences = np.sort(replicate.scores[0] - replicate.scores[1])
    n, cut = len(differences), int(0.2 * len(differences))
    kept = n - 2 * cut
    estimate = differences[cut : n - cut].mean()
    winsorized = differences.clip(differences[cut], differences[n - cut - 1])
    error = winsorized.std(ddof=1) * np.sqrt((n - 1) / (kept * (kept - 1)))
    low, high = stats.t.interval(0.95, kept - 1, estimate, error)
    p_value = 2 * stats.t.sf(abs(estimate / error), kept - 1)
    return {"p_value": p_value, "estimate": estimate, "low": low, "high": high}
