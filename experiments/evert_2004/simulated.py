"""Repeated evaluations of ranking methods with known truth: sets of candidates as in the model of Evert 2004."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd
from scipy import stats

import simstudy as ss


def simulated_candidates(
    n_sets: int,
    *,
    n_candidates: int,
    share_true: float,
    separations: Mapping[str, float],
    correlation: float,
    cluster_size: int,
    within: float,
    seed: int,
) -> list[ss.rankings.Candidates]:
    """Repetitions of one evaluation: sets of about n_candidates candidates that are scored by K functions.

    A candidate is true if a standard normal t is below the quantile of share_true. Scoring function k gives it
    separations[k] (0 if it is false) + sqrt(correlation) a + sqrt(1 - correlation) b_k. a misleads all functions
    alike; a and b are standard normal. Candidates come in clusters of cluster_size (of one verb, say). Each of t, a
    and b is sqrt(within) times a normal of the cluster + sqrt(1 - within) times a normal of the candidate, all
    independent. So t and the noise of two candidates of a cluster correlate by `within`.

    The number of clusters is Poisson, but at least 1. With clusters of one candidate the model of section 3.1 holds:
    the numbers of true and of false candidates in any region, and in disjoint regions, are independent Poisson
    variables, and given the number of candidates in a region, the number of true ones is binomial (equation 2).
    Equation 2 holds in larger clusters too if `within` is 0. Otherwise precision varies more.
    """
    threshold, gaps = stats.norm.ppf(share_true), np.array(list(separations.values()))
    sets = []
    for number in range(n_sets):
        # A generator for each set, so that sets do not depend on how many there are.
        rng = np.random.default_rng([seed, number])
        n_clusters = max(1, rng.poisson(n_candidates / cluster_size))
        of_clusters = rng.standard_normal((n_clusters, 1, 2 + gaps.size))
        of_candidates = rng.standard_normal((n_clusters, cluster_size, 2 + gaps.size))
        normals = (np.sqrt(within) * of_clusters + np.sqrt(1 - within) * of_candidates).reshape(-1, 2 + gaps.size)
        true = normals[:, 0] < threshold
        noise = np.sqrt(correlation) * normals[:, [1]] + np.sqrt(1 - correlation) * normals[:, 2:]
        ids = [str(i + 1) for i in range(true.size)]
        scores = pd.DataFrame(noise + true[:, None] * gaps, index=ids, columns=list(separations))
        sets.append(ss.rankings.Candidates.from_scores(scores, true, test_set=f"set-{number + 1}"))
    return sets
