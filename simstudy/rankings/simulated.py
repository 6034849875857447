"""Repeated evaluations of ranking methods with known truth: sets of candidates as in the model of Evert 2004."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
import pandas as pd
import scipy

from simstudy.rankings.candidates import Candidates
from simstudy.validation import (
    InputError,
    check_fraction,
    check_mapping,
    check_seed,
    check_share,
    check_whole,
    number_list,
)

#: Two scoring functions, the first the better one.
SEPARATIONS: Mapping[str, float] = MappingProxyType({"g1": 1.5, "g2": 1.0})


def simulated_candidates(
    n_sets: int,
    *,
    n_candidates: int = 1000,
    share_true: float = 0.1,
    separations: Mapping[str, float] = SEPARATIONS,
    correlation: float = 0.5,
    cluster_size: int = 1,
    within: float = 0.0,
    seed: int = 0,
) -> list[Candidates]:
    """Repetitions of one evaluation: sets of candidates whose true and false ones are scored by K functions.

    A candidate is true where a standard normal t is below the quantile of share_true. Scoring function k gives it
    separations[k] (0 if it is false) + sqrt(correlation) a + sqrt(1 - correlation) b_k; a (what misleads all functions
    alike) and b are standard normal. Candidates come in clusters (of one verb, say); each of t, a and b is
    sqrt(within) times the cluster's own + sqrt(1 - within) times the candidate's own, all independent. So t and the
    noise of two candidates of a cluster correlate by `within`, while every single candidate is as without clusters.

    Clusters of a set are Poisson. With clusters of one candidate the model of section 3.1 holds: the numbers of true
    and of false candidates in any region, and in regions that do not overlap, are independent Poisson variables (a
    Poisson process thinned), and given how many candidates a region has, the number of true ones is binomial
    (equation 2). The last is so in larger clusters too if `within` is 0. Otherwise it is not: candidates of a cluster
    tend to be true together and accepted together, and precision varies more.

    Parameters
    ----------
    n_sets
        At least 1. More sets with the same seed begin with the fewer ones.
    n_candidates
        Candidates of a set on average, at least 1.
    share_true
        A fraction.
    separations
        Scoring function -> how much higher it scores true candidates than false ones, in standard deviations.
    correlation
        Of two functions' noise, 0 … 1.
    cluster_size
        Candidates of a cluster, at least 1. Clusters are runs of so many candidates.
    within
        Latent correlation of the candidates of a cluster, 0 … 1.
    seed
        0 … 2^64 - 1.

    Returns
    -------
    sets
        test_set is "set-1", "set-2", …; ids are "1", "2", … in each. No set is empty: where the Poisson draw is 0,
        which has probability exp(-n_candidates / cluster_size), there is one cluster.

    Raises
    ------
    ValueError
        For an argument outside its rule.

    Examples
    --------
    >>> sets = simulated_candidates(3, n_candidates=500)
    >>> [each.test_set for each in sets], sets[0].names
    (['set-1', 'set-2', 'set-3'], ['g1', 'g2'])
    """
    for argument, value in (("n_sets", n_sets), ("n_candidates", n_candidates), ("cluster_size", cluster_size)):
        check_whole(argument, value, 1)
    check_fraction("share_true", share_true)
    check_seed(seed)
    for argument, share in (("correlation", correlation), ("within", within)):
        check_share(argument, share)
    check_mapping("separations", separations, "scoring functions to numbers")
    gaps = number_list("separations", list(separations.values()))
    if not np.isfinite(gaps).all():
        raise InputError("separations", f"must have a finite number for at least one function, not {dict(separations)}")
    below = scipy.stats.norm.ppf(share_true)
    sets = []
    for number in range(n_sets):
        # A generator for each set, so that sets do not depend on how many there are.
        rng = np.random.default_rng([seed, number])
        n_clusters = max(1, rng.poisson(n_candidates / cluster_size))
        of_cluster = rng.standard_normal((n_clusters, 1, 2 + gaps.size))
        own = rng.standard_normal((n_clusters, cluster_size, 2 + gaps.size))
        normals = (np.sqrt(within) * of_cluster + np.sqrt(1 - within) * own).reshape(-1, 2 + gaps.size)
        true = normals[:, 0] < below
        noise = np.sqrt(correlation) * normals[:, [1]] + np.sqrt(1 - correlation) * normals[:, 2:]
        ids = [str(i + 1) for i in range(true.size)]
        scores = pd.DataFrame(noise + true[:, None] * gaps, index=ids, columns=list(separations))
        sets.append(Candidates.from_scores(scores, true, test_set=f"set-{number + 1}"))
    return sets
