"""Collections of systems with continuous scores, drawn from a population of which there can be as many as one likes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats
from scipy.special import ndtr

CRITICAL = 1.959964


class Population:
    """Systems of families on n items: a score is the true mean, the family's and the system's own noise on the item.

    Items differ in how much they tell systems apart, and families and systems in how noisy they are, which is what
    makes standard errors differ; true means spread so far that about one pair in twenty is just significant. (What all
    systems share on an item leaves every gain and every standard error as it is, so there is none.)
    """

    def __init__(self, rng: np.random.Generator, n: int, *, kin: bool) -> None:
        self.rng, self.n, self.share = rng, n, 0.5 if kin else 0.0
        self.items = np.exp(0.4 * rng.standard_normal(n) - 0.16)

    def families(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """What the systems of each family have in common on each item, and their mean."""
        return self._noise(count) * np.sqrt(self.share), 0.7 * self._means(count)

    def systems(self, families: tuple[np.ndarray, np.ndarray], codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Scores, and covariance of the mean scores, of a system for each entry of codes: its family."""
        noise, means = families
        own = self._noise(len(codes)) * np.sqrt(1 - self.share)
        scores = (means[codes] + 0.7 * self._means(len(codes)))[:, None] + noise[codes] + own
        centred = scores - scores.mean(axis=1, keepdims=True)
        return scores.mean(axis=1), centred @ centred.T / (self.n * (self.n - 1))

    def _noise(self, count: int) -> np.ndarray:
        scale = np.exp(0.3 * self.rng.standard_normal((count, 1)))
        return self.rng.standard_normal((count, self.n)) * self.items * scale

    def _means(self, count: int) -> np.ndarray:
        """Means whose differences are a few standard errors."""
        return 4.5 * np.sqrt(2 / self.n) * self.rng.standard_normal(count)


def pairs_of(means: np.ndarray, covariance: np.ndarray, codes: np.ndarray) -> pd.DataFrame:
    """Comparisons of all pairs, two-sided and normal."""
    order = np.argsort(-means, kind="stable")
    i, j = (order[side] for side in np.triu_indices(len(means), 1))
    gain, variance = means[i] - means[j], np.diag(covariance)
    se = np.sqrt(variance[i] + variance[j] - 2 * covariance[i, j])
    names = np.array([f"s{k:03}" for k in range(len(means))], dtype=object)
    family = np.array([f"f{k:03}" for k in codes], dtype=object)
    return pd.DataFrame(
        {
            "task": "t", "test_set": "s", "n_items": 300, "metric": "mean", "alternative": "two-sided",
            "system_a": names[i], "system_b": names[j], "family_a": family[i], "family_b": family[j],
            "relation": np.where(codes[i] == codes[j], "same family", "different families"), "gain": gain,
            "gain_se": se, "p_value": 2 * stats.norm.sf(gain / se),
        }
    )  # fmt: skip


def population_numbers(means: np.ndarray, covariance: np.ndarray, codes: np.ndarray, relation: str) -> dict[str, float]:
    """The numbers of `thresholds` and `significant_gains` for very many systems, made without them."""
    i, j = np.triu_indices(len(means), 1)
    chosen = (codes[i] == codes[j]) == (relation == "same family")
    i, j = i[chosen], j[chosen]
    gain, variance = np.abs(means[i] - means[j]), np.diag(covariance)
    se = np.sqrt(variance[i] + variance[j] - 2 * covariance[i, j])
    z = gain / se
    found = {"threshold": float(np.percentile(gain[(z >= 1.880794) & (z <= 2.053749)], 95))}
    for of, about in (("all pairs", se), ("close pairs", se[z < 2 * CRITICAL])):
        for share in (50, 80, 95):
            found[f"{of}, observed_{share}"] = CRITICAL * float(np.percentile(about, share))
            found[f"{of}, true_{share}"] = _with_power(about, share / 100)
    return found


def _with_power(se: np.ndarray, power: float) -> float:
    few = np.quantile(se, (np.arange(500) + 0.5) / 500)
    low, high = 0.0, 10 * float(se.max())
    for _ in range(50):
        middle = (low + high) / 2
        low, high = (middle, high) if ndtr(middle / few - CRITICAL).mean() < power else (low, middle)
    return low


def sizes(n_systems: int, n_families: int) -> Sequence[int]:
    """Equal families, as far as that goes."""
    return [n_systems // n_families + (k < n_systems % n_families) for k in range(n_families)]
