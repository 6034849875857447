"""What two systems' right and wrong answers have in common, by the bivariate normal distribution of scipy."""

from __future__ import annotations

import numpy as np
from scipy import stats


def outcome_correlation(accuracy_1: float, accuracy_2: float, latent: float) -> float:
    """The correlation (phi) of right and wrong of two systems whose latent scores correlate by `latent`."""
    bounds = stats.norm.ppf([accuracy_1, accuracy_2])
    both = stats.multivariate_normal([0, 0], [[1, latent], [latent, 1]], allow_singular=True).cdf(bounds)
    spread = np.sqrt(accuracy_1 * (1 - accuracy_1) * accuracy_2 * (1 - accuracy_2))
    return float((both - accuracy_1 * accuracy_2) / spread)
