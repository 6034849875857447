"""Correlated right-or-wrong outputs with known truth: a Gaussian copula over Bernoulli margins."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats

from simstudy.outputs import Outputs
from simstudy.validation import brief, check_list, check_number, check_seed, check_text, check_whole, number_list


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
    true = check_accuracies(accuracies)
    check_whole("n_items", n_items, 1)
    check_seed(seed)
    check_text("test_set", test_set)
    check_correlations(between, within)
    names = [f"system-{k + 1}" for k in range(true.size)]
    if families is not None:
        check_list("families", families, "names")
    family = list(families) if families is not None else names
    if len(family) != true.size:
        raise ValueError(f"families must have {true.size} names, as accuracies has, not {len(family)}")
    for name in family:
        if not isinstance(name, Hashable) or pd.isna(name):
            raise ValueError(f"families must name a family for each system, not {brief(name)}")
    codes, distinct = pd.factorize(np.array(family, dtype=object))
    # One row of normals an item, so that items do not depend on how many there are.
    normals = np.random.default_rng(seed).standard_normal((n_items, 1 + len(distinct) + true.size))
    difficulty, shared, own = np.split(normals, [1, 1 + len(distinct)], axis=1)
    latent = np.sqrt(between) * difficulty + np.sqrt(within - between) * shared[:, codes] + np.sqrt(1 - within) * own
    correct = (latent < stats.norm.ppf(true)).T.astype(np.int8)
    systems = pd.DataFrame({"name": names, "family": family, "source": "synthetic", "true_score": 100 * true})
    return right_or_wrong(correct, systems, None, test_set)


def right_or_wrong(
    correct: NDArray[np.int8], systems: pd.DataFrame, items: pd.DataFrame | None, test_set: str
) -> Outputs:
    """Outputs of synthetic systems that are right (1) or wrong (0) on each item, (K, n)."""
    statistics = np.stack([correct, np.ones_like(correct)], axis=-1)
    return Outputs.from_statistics(statistics, "accuracy", systems, items, task="synthetic", test_set=test_set)


def check_correlations(between: float, within: float) -> None:
    """Raise a ValueError where these are no latent correlations of two groups and within one."""
    check_number("between", between)
    check_number("within", within)
    if not 0 <= between <= within <= 1:
        raise ValueError(f"between and within must satisfy 0 <= between <= within <= 1, not {between} and {within}")


def check_accuracies(accuracies: Sequence[float]) -> NDArray[np.float64]:
    """True accuracies as an array (K,); ValueError where they are not fractions above 0 and below 1."""
    true = number_list("accuracies", accuracies)
    if true.size == 0 or not ((true > 0) & (true < 1)).all():
        raise ValueError(f"accuracies must be one or more fractions above 0 and below 1, not {brief(accuracies)}")
    return true


def outcome_correlation(accuracy_1: float, accuracy_2: float, latent: float) -> float:
    """The correlation (phi) of right and wrong of two systems whose latent scores correlate by `latent`.

    Examples
    --------
    >>> round(outcome_correlation(0.5, 0.5, 0.5), 4)   # (2 / pi) arcsin(1 / 2)
    0.3333
    """
    bounds = stats.norm.ppf([accuracy_1, accuracy_2])
    both = stats.multivariate_normal([0, 0], [[1, latent], [latent, 1]], allow_singular=True).cdf(bounds)
    spread = np.sqrt(accuracy_1 * (1 - accuracy_1) * accuracy_2 * (1 - accuracy_2))
    return float((both - accuracy_1 * accuracy_2) / spread)
