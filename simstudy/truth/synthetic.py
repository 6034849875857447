"""Right-or-wrong outputs with known truth: Bernoulli margins, normal latent scores, items alone or in clusters."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
import scipy

from simstudy.metrics.base import Array, FloatArray
from simstudy.outputs import Outputs
from simstudy.validation import (
    InputError,
    check_list,
    check_number,
    check_seed,
    check_text,
    check_whole,
    number_list,
)


def correlated_accuracies(
    accuracies: Sequence[float],
    n_items: int,
    *,
    families: Sequence[str] | None = None,
    between: float = 0.5,
    within: float = 0.8,
    seed: int = 0,
    test_set: str = "synthetic",
) -> Outputs:
    """Outputs of K systems with these true accuracies on n items.

    System k is right on item i where sqrt(between) d_i + sqrt(within - between) f_{family(k), i} +
    sqrt(1 - within) e_{k, i} is below the accuracy's normal quantile; d (the item's difficulty, shared by all), f and
    e are independent standard normal. So the latent scores of two systems of one family correlate by `within`, of
    two families by `between`, while each margin is exactly Bernoulli(accuracy).

    Parameters
    ----------
    accuracies
        K true accuracies, fractions above 0 and below 1; the systems table has them as ``true_score``, in percent.
    n_items
        At least 1. The items are independent; a longer test set with the same seed begins with a shorter one.
    families
        K names; by default each system is its own family.
    between, within
        Latent correlations, 0 <= between <= within <= 1. See `outcome_correlation` for the correlation of
        right and wrong that they give.
    seed
        0 … 2^64 - 1.

    Raises
    ------
    ValueError
        For an argument outside its rule.

    Examples
    --------
    >>> outputs = correlated_accuracies([0.7, 0.75], 10_000, seed=0)
    >>> outputs.scores().round(0).tolist(), outputs.systems["true_score"].tolist()
    ([70.0, 75.0], [70.0, 75.0])
    """
    true = _checked_accuracies(accuracies)
    check_whole("n_items", n_items, 1)
    check_seed(seed)
    check_text("test_set", test_set)
    check_correlations(between, within)
    names = [f"system-{k + 1}" for k in range(true.size)]
    if families is not None:
        check_list("families", families, "names")
    family = list(families) if families is not None else names
    if len(family) != true.size:
        raise InputError("families", f"must have {true.size} names, as accuracies has", len(family))
    for name in family:
        if not isinstance(name, Hashable) or pd.isna(name):
            raise InputError("families", "must name a family for each system", name)
    codes, distinct = pd.factorize(np.array(family, dtype=object))
    # One row of normals an item, so that items do not depend on how many there are.
    normals = np.random.default_rng(seed).standard_normal((n_items, 1 + len(distinct) + true.size))
    difficulty, shared, own = np.split(normals, [1, 1 + len(distinct)], axis=1)
    latent = np.sqrt(between) * difficulty + np.sqrt(within - between) * shared[:, codes] + np.sqrt(1 - within) * own
    systems = pd.DataFrame({"name": names, "family": family, "source": "synthetic", "true_score": 100 * true})
    return _outputs(right_or_wrong(latent.T, true), systems, None, test_set)


def clustered_accuracies(
    accuracies: Sequence[float],
    n_clusters: int,
    cluster_size: int,
    *,
    within: float = 0.2,
    between: float = 0.5,
    seed: int = 0,
    test_set: str = "clustered",
) -> Outputs:
    """Outputs of K systems with these true accuracies on clusters of items: documents, users.

    System k is right on item i of cluster j where sqrt(between) d_i + sqrt(within) c_{k, j} +
    sqrt(1 - between - within) e_{k, i} is below the accuracy's normal quantile; d (the item's difficulty, shared by all
    systems), c (how the cluster suits one system) and e are independent standard normal. So the latent scores of two
    systems on one item correlate by `between`, those of one system on two items of a cluster by `within`, all others
    not at all, while each margin is exactly Bernoulli(accuracy).

    Two systems of equal accuracy may swap all their outputs on a cluster and nothing changes in law: the null
    hypothesis holds exactly, and a test that swaps clusters is exact. One that swaps items is not, unless `within` is
    0: it takes the part of c that a cluster's items share for as many independent parts (Yeh 2000, section 4).

    Parameters
    ----------
    accuracies
        K true accuracies, fractions above 0 and below 1; the systems table has them as ``true_score``, in percent.
    n_clusters
        At least 1. The clusters are independent; a longer test set with the same seed begins with a shorter one.
    cluster_size
        Items of each cluster, at least 1.
    within, between
        Latent correlations, each at least 0, within + between <= 1. `between` is that of `correlated_accuracies`;
        `simstudy.truth.synthetic.outcome_correlation` has the correlations of right and wrong that they give.
    seed
        0 … 2^64 - 1.

    Returns
    -------
    outputs
        Metric "accuracy"; items have ``cluster``.

    Raises
    ------
    ValueError
        For an argument outside its rule.

    Examples
    --------
    >>> outputs = clustered_accuracies([0.7, 0.7], n_clusters=40, cluster_size=5)
    >>> outputs.n_items, outputs.items["cluster"].nunique()
    (200, 40)
    """
    true = _checked_accuracies(accuracies)
    check_whole("n_clusters", n_clusters, 1)
    check_whole("cluster_size", cluster_size, 1)
    check_seed(seed)
    check_text("test_set", test_set)
    check_number("within", within)
    check_number("between", between)
    # As 0.7 + 0.2 + 0.1 is not 1 in binary, what is left for the rest may be as little below 0.
    rest = 1 - within - between
    if not (within >= 0 and between >= 0 and rest >= -1e-12):
        raise InputError("within and between", f"must be at least 0 and at most 1 in sum, not {within} and {between}")
    n_systems, size = true.size, cluster_size
    # One row of normals a cluster, so that clusters do not depend on how many there are.
    normals = np.random.default_rng(seed).standard_normal((n_clusters, size + n_systems + n_systems * size))
    difficulty, suits, own = np.split(normals, [size, size + n_systems], axis=1)
    latent = (
        np.sqrt(between) * difficulty[:, None, :]
        + np.sqrt(within) * suits[:, :, None]
        + np.sqrt(max(rest, 0)) * own.reshape(n_clusters, n_systems, size)
    )  # (clusters, systems, items of the cluster)
    clusters = np.repeat([f"cluster-{j + 1}" for j in range(n_clusters)], size)
    items = pd.DataFrame({"id": [str(i) for i in range(clusters.size)], "cluster": clusters})
    systems = pd.DataFrame(
        {"name": [f"system-{k + 1}" for k in range(n_systems)], "source": "synthetic", "true_score": 100 * true}
    )
    return _outputs(right_or_wrong(latent.swapaxes(0, 1).reshape(n_systems, -1), true), systems, items, test_set)


def right_or_wrong(latent: Array, accuracies: Sequence[float] | FloatArray) -> Array:
    """Statistics (…, K, n, 2) of accuracy: systems are right where latent scores (…, K, n) are below the quantile."""
    right = latent < scipy.stats.norm.ppf(np.asarray(accuracies)[:, None])
    return np.stack([right, np.ones_like(right)], axis=-1).astype(np.int8)


def _outputs(statistics: Array, systems: pd.DataFrame, items: pd.DataFrame | None, test_set: str) -> Outputs:
    return Outputs.from_statistics(statistics, "accuracy", systems, items, task="synthetic", test_set=test_set)


def check_correlations(between: float, within: float) -> None:
    """Raise a ValueError where these are no latent correlations of two groups and within one."""
    check_number("between", between)
    check_number("within", within)
    if not 0 <= between <= within <= 1:
        raise InputError("between and within", f"must satisfy 0 <= between <= within <= 1, not {between} and {within}")


def _checked_accuracies(accuracies: Sequence[float]) -> FloatArray:
    true = number_list("accuracies", accuracies)
    if true.size == 0 or not ((true > 0) & (true < 1)).all():
        raise InputError("accuracies", "must be one or more fractions above 0 and below 1", accuracies)
    return true


def outcome_correlation(accuracy_1: float, accuracy_2: float, latent: float) -> float:
    """The correlation (phi) of right and wrong of two systems whose latent scores correlate by `latent`.

    Examples
    --------
    >>> round(outcome_correlation(0.5, 0.5, 0.5), 4)   # (2 / pi) arcsin(1 / 2)
    0.3333
    """
    bounds = scipy.stats.norm.ppf([accuracy_1, accuracy_2])
    both = scipy.stats.multivariate_normal([0, 0], [[1, latent], [latent, 1]], allow_singular=True).cdf(bounds)
    spread = np.sqrt(accuracy_1 * (1 - accuracy_1) * accuracy_2 * (1 - accuracy_2))
    return float((both - accuracy_1 * accuracy_2) / spread)
