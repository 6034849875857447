"""Groups of neighbours, decisions that are not transitive, and ranges of gains: the paper warns of all three."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.studies import Decision


def adjacent_groups(pairs: pd.DataFrame, *, alpha: float, certainty: float) -> pd.DataFrame:
    """Runs of systems in which no system differs significantly from the next, as a table of `ss.comparisons.groups`.

    The first and the last system of a run often differ.
    """
    board = ss.comparisons.groups(pairs, alpha=alpha, certainty=certainty, rule="greedy", p="p_value")
    differ = by_place(pairs, board["system"], Decision(alpha, certainty).significant(pairs))
    group = np.concatenate([[1], 1 + np.cumsum(np.diag(differ, k=1))])
    return board.assign(rule="adjacent", group=group, n_members=np.bincount(group)[group])


def intransitive(pairs: pd.DataFrame, *, alpha: float, certainty: float) -> pd.DataFrame:
    """Triples of systems whose decisions are inconsistent with one another (the discussion of TST3).

    Parameters
    ----------
    pairs
        Comparisons of all pairs of systems: one test set, metric and test.
    alpha, certainty
        The rule by which a gain is significant.

    Returns
    -------
    triples
        One row each, by their places: the columns that name the table, alpha, certainty, kind, best, middle, worst, and
        of the pairs best_middle, middle_worst and best_worst the gain and the p-value (gain_best_middle, …,
        p_best_worst). Kinds: "not transitive" (best and middle do not differ significantly, nor do middle and worst,
        but best and worst do) and "wider gain, not significant" (best and worst do not differ, though a smaller gain
        between them is significant).
    """
    board = ss.comparisons.groups(pairs, alpha=alpha, certainty=certainty, rule="greedy", p="p_value")
    names = board["system"].to_numpy()
    significant = Decision(alpha, certainty).significant(pairs)
    differ, gain, p_value = (by_place(pairs, names, of) for of in (significant, pairs["gain"], pairs["p_value"]))
    triples = np.array(list(combinations(range(len(names)), 3)), dtype=np.int64).reshape(-1, 3)
    best, middle, worst = triples.T
    above, below, across = differ[best, middle], differ[middle, worst], differ[best, worst]
    not_transitive = ~above & ~below & across
    # Between systems of equal score there is no smaller gain.
    wider = ~across & ((above & (gain[middle, worst] > 0)) | (below & (gain[best, middle] > 0)))
    kept = not_transitive | wider
    best, middle, worst = best[kept], middle[kept], worst[kept]
    sides = {"best_middle": (best, middle), "middle_worst": (middle, worst), "best_worst": (best, worst)}
    return pd.DataFrame(
        {
            **question_of(pairs, alpha, certainty),
            "kind": np.where(not_transitive, "not transitive", "wider gain, not significant")[kept],
            "best": names[best],
            "middle": names[middle],
            "worst": names[worst],
            **{f"gain_{side}": gain[places] for side, places in sides.items()},
            **{f"p_{side}": p_value[places] for side, places in sides.items()},
        }
    )


def gain_ranges(pairs: pd.DataFrame, *, alpha: float, certainty: float) -> pd.DataFrame:
    """The smallest significant gain and the largest one that is not significant: a range of gains is no test.

    Returns
    -------
    ranges
        One row: the columns that name the table, alpha, certainty, n_pairs, n_significant, smallest_significant,
        largest_not_significant (gains on the metric's scale; NaN where there is none), n_between (pairs whose gain
        lies between the two, both included: there the gain alone does not decide).
    """
    gain, significant = pairs["gain"].to_numpy(), Decision(alpha, certainty).significant(pairs)
    smallest = gain[significant].min() if significant.any() else np.nan
    largest = gain[~significant].max() if not significant.all() else np.nan
    return pd.DataFrame(
        {
            **question_of(pairs, alpha, certainty),
            "n_pairs": len(gain),
            "n_significant": int(significant.sum()),
            "smallest_significant": smallest,
            "largest_not_significant": largest,
            "n_between": int(((gain >= smallest) & (gain <= largest)).sum()),
        },
        index=[0],
    )


def question_of(pairs: pd.DataFrame, alpha: float, certainty: float) -> dict[str, object]:
    """The columns that name a table of pairs, and the rule of its decisions."""
    columns = ["task", "test_set", "n_items", "metric", "test", "alternative"]
    return {**{name: pairs[name].iloc[0] for name in columns}, "alpha": alpha, "certainty": certainty}


def by_place(pairs: pd.DataFrame, names: pd.Series | np.ndarray, values: pd.Series | np.ndarray) -> np.ndarray:
    """A value of each pair as a symmetric matrix of the systems, the best first."""
    values = np.asarray(values)
    index = pd.Index(names)
    first, second = index.get_indexer(pairs["system_a"]), index.get_indexer(pairs["system_b"])
    matrix = np.zeros((len(index), len(index)), dtype=values.dtype)
    matrix[first, second] = matrix[second, first] = values
    return matrix
