"""Right and wrong answers by a formula of their own: recorded values rest on data that no other change moves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy import stats

from simstudy.outputs import Outputs


def correlated(
    accuracies: Sequence[float], n_items: int, *, families: Sequence[str] | None = None, seed: int = 0
) -> Outputs:
    """Answers whose latent scores correlate by 0.8 in a family and by 0.5 else: a row of normals an item."""
    k = len(accuracies)
    names = [f"system-{j + 1}" for j in range(k)]
    codes, distinct = pd.factorize(np.array(families or names, dtype=object))
    normals = np.random.default_rng(seed).standard_normal((n_items, 1 + len(distinct) + k))
    difficulty, shared, rest = np.split(normals, [1, 1 + len(distinct)], axis=1)
    latent = np.sqrt(0.5) * difficulty + np.sqrt(0.8 - 0.5) * shared[:, codes] + np.sqrt(1 - 0.8) * rest
    systems = pd.DataFrame({"name": names, "family": list(families or names)})
    return _outputs(latent.T, accuracies, systems, None, "synthetic")


def clustered(accuracies: Sequence[float], n_clusters: int, size: int, *, seed: int = 0) -> Outputs:
    """Answers in clusters that suit a system or not (0.2), on items that are hard for all (0.5): a row a cluster."""
    k = len(accuracies)
    normals = np.random.default_rng(seed).standard_normal((n_clusters, size + k + k * size))
    difficulty, suits, rest = np.split(normals, [size, size + k], axis=1)
    latent = np.sqrt(0.5) * difficulty[:, None, :] + np.sqrt(0.2) * suits[:, :, None]
    latent = latent + np.sqrt(1 - 0.5 - 0.2) * rest.reshape(n_clusters, k, size)
    clusters = np.repeat([f"cluster-{j + 1}" for j in range(n_clusters)], size)
    items = pd.DataFrame({"id": [str(i) for i in range(clusters.size)], "cluster": clusters})
    systems = pd.DataFrame({"name": [f"system-{j + 1}" for j in range(k)]})
    return _outputs(latent.swapaxes(0, 1).reshape(k, -1), accuracies, systems, items, "clustered")


def _outputs(
    latent: np.ndarray, accuracies: Sequence[float], systems: pd.DataFrame, items: pd.DataFrame | None, test_set: str
) -> Outputs:
    right = latent < stats.norm.ppf(np.array(accuracies))[:, None]
    statistics = np.stack([right, np.ones_like(right)], axis=-1).astype(np.int8)
    about = systems.assign(source="synthetic", true_score=100 * np.array(accuracies))
    return Outputs.from_statistics(statistics, "accuracy", about, items, task="synthetic", test_set=test_set)
