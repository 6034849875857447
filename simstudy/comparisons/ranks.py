"""A leaderboard's ranks: which neighbours differ significantly, and how many places it takes to be sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from simstudy.pairs import order_of
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import corrected
from simstudy.tables import QUESTION, TEST_SET, require_columns, require_one_question, takes_family


@takes_family
def ranks(pairs: pd.DataFrame, *, alpha: float = 0.05) -> pd.DataFrame:
    """How many neighbours on each test set's leaderboard differ significantly.

    Parameters
    ----------
    pairs
        Comparisons of every pair of one or more test sets, best systems first, as `simstudy.compare` returns them.
        Who leads is seen in the data, so two-sided p-values are the honest ones; where they are one-sided, the column
        alternative says so.
    alpha
        The level at which gains are significant (`simstudy.statistics.decisions.Decision`).

    Returns
    -------
    ranks
        One row a test set: task, test_set, n_items, metric, alternative, n_systems, n_adjacent (pairs of neighbours),
        n_significant (significant), n_significant_holm (and still after Holm's correction for all neighbours), best,
        ranks_apart (the median number of places that a system must be ahead of another until they differ significantly;
        of the systems that differ from any below them; pairs by themselves, not corrected), gain_adjacent (the median
        gain of neighbours, on the metric's scale).

    Raises
    ------
    ValueError
        Where alpha is no fraction, or the rows are not every pair of systems once.

    Examples
    --------
    >>> from simstudy.truth import correlated_accuracies
    >>> from simstudy.comparisons.comparing import compare
    >>> table = ranks(compare(correlated_accuracies([0.5, 0.7, 0.9], 400)))
    >>> table[["n_adjacent", "n_significant", "n_significant_holm", "ranks_apart"]].iloc[0].tolist()
    [2.0, 2.0, 2.0, 1.0]
    """
    require_columns(pairs, [*TEST_SET, "alternative", "system_a", "system_b", "gain", "p_value"])
    # Sides are rows of their own.
    require_one_question(pairs, [column for column in QUESTION if column != "alternative"])
    decision = Decision(alpha)
    rows = []
    for key, members in pairs.groupby([*TEST_SET, "alternative"], sort=False, observed=True):
        rows.append({**dict(zip([*TEST_SET, "alternative"], key, strict=True)), **_ranks(members, decision)})
    return pd.DataFrame(rows)


def _ranks(pairs: pd.DataFrame, decision: Decision) -> dict[str, object]:
    order = order_of(pairs)
    significant = decision.significant(pairs)
    neighbours = pairs[order.neighbours]
    holm = replace(decision, p="p_holm").significant(corrected(neighbours))
    # The nearest system below from which each differs; nearer ones may differ and farther ones not (intransitive).
    distance = pd.Series((order.worse - order.better)[significant]).groupby(order.better[significant]).min()
    return {
        "n_systems": len(order.names),
        "n_adjacent": len(order.names) - 1,
        "n_significant": int(significant[order.neighbours].sum()),
        "n_significant_holm": int(holm.sum()),
        "best": order.names[0],
        "ranks_apart": float(distance.median()) if len(distance) else np.nan,
        "gain_adjacent": float(neighbours["gain"].median()),
    }
