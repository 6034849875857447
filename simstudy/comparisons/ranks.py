"""A leaderboard's ranks: which neighbours differ significantly, and how many places it takes to be sure."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from simstudy.pairs import order_of
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import corrected
from simstudy.tables import QUESTION, TEST_SET, check_table, require_columns, require_one_question, takes_family
from simstudy.validation import InputError


@takes_family
def ranks(pairs: pd.DataFrame, *, alpha: float = 0.05, leaderboards: pd.DataFrame | None = None) -> pd.DataFrame:
    """How many neighbours on each test set's leaderboard differ significantly.

    Parameters
    ----------
    pairs
        Comparisons of every pair of one or more test sets, best systems first, as `simstudy.compare` returns them.
        Who leads is seen in the data, so two-sided p-values are the honest ones; where they are one-sided, the column
        alternative says so.
    alpha
        The level at which gains are significant (`simstudy.statistics.decisions.Decision`).
    leaderboards
        What `simstudy.leaderboard` returned for each of these test sets, one below the other.

    Returns
    -------
    ranks
        One row a test set: task, test_set, n_items, metric, alternative, n_systems, n_adjacent (pairs of neighbours),
        n_significant (significant), n_significant_holm (and still after Holm's correction for all neighbours), best,
        ranks_apart (the median number of places that a system must be ahead of another until they differ significantly;
        of the systems that differ from any below them; pairs by themselves, not corrected), gain_adjacent (the median
        gain of neighbours, on the metric's scale). With leaderboards also n_may_be_best (systems in the confidence set
        for the best) and rank_width (the median of rank_high - rank_low, sets that hold all ranks at once).

    Raises
    ------
    ValueError
        Where alpha is no fraction, the rows are not every pair of systems once, or leaderboards lack a test set or
        have other systems.

    Examples
    --------
    >>> from simstudy.truth.synthetic import correlated_accuracies
    >>> from simstudy.comparisons.comparing import compare
    >>> from simstudy.comparisons.leaderboard import leaderboard
    >>> outputs = correlated_accuracies([0.5, 0.7, 0.9], 400)
    >>> table = ranks(compare(outputs, alternative="two-sided"), leaderboards=leaderboard(outputs))
    >>> table[["n_adjacent", "n_significant", "n_may_be_best", "rank_width"]].iloc[0].tolist()
    [2.0, 2.0, 1.0, 0.0]
    """
    require_columns(pairs, [*TEST_SET, "alternative", "system_a", "system_b", "gain", "p_value"])
    # Sides are rows of their own.
    require_one_question(pairs, [column for column in QUESTION if column != "alternative"])
    decision = Decision(alpha)
    if leaderboards is not None:
        wanted = [*TEST_SET, "system", "rank_low", "rank_high", "may_be_best"]
        check_table("leaderboards", leaderboards, wanted, "what `leaderboard` returns")
    rows = []
    for key, members in pairs.groupby([*TEST_SET, "alternative"], sort=False, observed=True):
        named = dict(zip([*TEST_SET, "alternative"], key, strict=True))
        selected = {} if leaderboards is None else _selected(leaderboards, key[:-1], members)
        rows.append({**named, **_ranks(members, decision), **selected})
    return pd.DataFrame(rows)


def _selected(leaderboards: pd.DataFrame, key: tuple[object, ...], pairs: pd.DataFrame) -> dict[str, object]:
    """What the test set's own leaderboard says of its places."""
    board = leaderboards[(leaderboards[TEST_SET] == list(key)).all(axis=1)]
    if sorted(board["system"]) != sorted({*pairs["system_a"], *pairs["system_b"]}):
        raise InputError(
            "leaderboards",
            f"must have the systems of every test set once each, unlike those of '{key[1]}' ({key[2]} items, {key[3]})",
        )
    return {
        "n_may_be_best": int(board["may_be_best"].sum()),
        "rank_width": float((board["rank_high"] - board["rank_low"]).median()),
    }


def _ranks(pairs: pd.DataFrame, decision: Decision) -> dict[str, object]:
    found = order_of(pairs)
    k, ahead, behind = len(found.names), found.better, found.worse
    significant = decision.significant(pairs)
    neighbours = pairs[found.neighbours]
    holm = replace(decision, p="p_holm").significant(corrected(neighbours))
    # The nearest system below from which each differs; nearer ones may differ and farther ones not (intransitive).
    distance = pd.Series((behind - ahead)[significant]).groupby(ahead[significant]).min()
    return {
        "n_systems": k,
        "n_adjacent": k - 1,
        "n_significant": int(significant[found.neighbours].sum()),
        "n_significant_holm": int(holm.sum()),
        "best": found.names[0],
        "ranks_apart": float(distance.median()) if len(distance) else np.nan,
        "gain_adjacent": float(neighbours["gain"].median()),
    }
