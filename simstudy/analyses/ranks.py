"""A leaderboard's ranks: which neighbours differ significantly, and how many places it takes to be sure."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.analyses.classes import TEST_SET, require_columns
from simstudy.analyses.multiplicity import corrected
from simstudy.choices import check_fraction


def ranks(pairs: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """How many ranks of each test set's leaderboard are told apart.

    Parameters
    ----------
    pairs
        Comparisons of every pair of one or more test sets, best systems first, as `simstudy.compare` returns them.
        Who leads is seen in the data, so two-sided p-values are the honest ones.
    alpha
        The level.

    Returns
    -------
    ranks
        One row a test set: task, test_set, n_items, metric, alternative, n_systems, n_adjacent (pairs of neighbours),
        n_separated (p <= alpha), n_separated_holm (p <= alpha after Holm's correction for all neighbours), best,
        n_not_below_best (systems that do not differ significantly from the best), places (the median number of places
        that a system must be ahead of another until they differ significantly; of the systems that differ from any
        below them), gain_adjacent (the median gain of neighbours, on the metric's scale).

    Raises
    ------
    ValueError
        Where alpha is no fraction, or the rows are not every pair of systems once.

    Examples
    --------
    >>> from simstudy.generators.synthetic import correlated_accuracies
    >>> from simstudy.engines.comparisons import compare
    >>> pairs = compare(correlated_accuracies([0.5, 0.7, 0.9], 400), alternative="two-sided")
    >>> ranks(pairs)[["n_adjacent", "n_separated", "n_not_below_best"]].iloc[0].tolist()
    [2, 2, 0]
    """
    require_columns(pairs, [*TEST_SET, "alternative", "system_a", "system_b", "gain", "p_value"])
    check_fraction("alpha", alpha)
    return pd.DataFrame(
        [
            {**dict(zip([*TEST_SET, "alternative"], key, strict=True)), **_ranks(members, alpha)}
            for key, members in pairs.groupby([*TEST_SET, "alternative"], sort=False, observed=True)
        ]
    )


def _ranks(pairs: pd.DataFrame, alpha: float) -> dict[str, object]:
    wins = pairs["system_a"].value_counts()
    k = len(wins) + 1
    place = {name: k - 1 - count for name, count in wins.items()}
    last = set(pairs["system_b"]) - place.keys()
    place |= dict.fromkeys(last, k - 1)
    ahead, behind = pairs["system_a"].map(place).to_numpy(), pairs["system_b"].map(place).to_numpy()
    once = len(last) == 1 and not pairs.duplicated(["system_a", "system_b"]).any()
    if not once or len(pairs) != k * (k - 1) // 2 or not (ahead < behind).all():
        raise ValueError("pairs must be every pair of systems of a test set once, the better system first")
    significant = pairs["p_value"].to_numpy() <= alpha
    neighbours = pairs[behind == ahead + 1]
    holm = corrected(neighbours)["p_holm"] <= alpha
    from_best = ahead == 0
    # The nearest system below from which each differs; nearer ones may differ and farther ones not (intransitive).
    distance = pd.Series((behind - ahead)[significant]).groupby(ahead[significant]).min()
    return {
        "n_systems": k,
        "n_adjacent": k - 1,
        "n_separated": int((neighbours["p_value"] <= alpha).sum()),
        "n_separated_holm": int(holm.sum()),
        "best": pairs.loc[from_best, "system_a"].iloc[0],
        "n_not_below_best": int((~significant[from_best]).sum()),
        "places": float(distance.median()) if len(distance) else np.nan,
        "gain_adjacent": float(neighbours["gain"].median()),
    }
