"""Two rankings of one candidate set: Fisher's exact test where they differ, for every n (Evert 2004, section 3.3)."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pandas as pd

from simstudy.metrics.base import IntArray
from simstudy.rankings.candidates import Candidates, require_candidates
from simstudy.rankings.hypergeometric import fisher_exact
from simstudy.rankings.precision_curves import count_up_to, list_lengths
from simstudy.statistics.multiplicity import corrected
from simstudy.validation import check_flag


def ranking_differences(
    candidates: Candidates, n: int | Iterable[int] | None = None, *, multiplicity: bool = False
) -> pd.DataFrame:
    """Test every pair of rankings on their n-best lists, for all n at once.

    Two rankings can only differ in what one accepts and the other does not. If the candidates that only ranking 1
    accepts (D1) are true as often as those that only ranking 2 accepts (D2), neither is better: Fisher's exact test of
    the 2 x 2 table of true and false candidates in D1 and D2, two-sided. It takes candidates to be true independently
    of each other. `compare(candidates.outputs(n), test="fisher")` is the same test for one n, beside all the others.

    Parameters
    ----------
    candidates
        At least two scoring functions.
    n
        Lengths of n-best lists, or one; by default all, 1 … the number of candidates.
    multiplicity
        Whether to correct for the number of lengths: p_holm and p_bh (see `corrected`), the family being the rows of
        one pair. Lists of neighbouring lengths are nearly the same list, so Holm demands too much of many; ask for as
        few lengths as the question needs.

    Returns
    -------
    differences
        A row for each pair, in the order of the scoring functions, and n: test_set, ranking_1, ranking_2, n,
        precision_1, precision_2 (fractions), better (a name; empty where they tie), gain (of the better, >= 0), only_1,
        true_only_1, only_2, true_only_2 (candidates that only one of the two accepts, and how many are true), p_value
        (1 where there are no such candidates of one of them), preferred: the name of the ranking for which the p-value
        speaks, since more of what only it accepts is true; empty where that is equal or there is nothing to compare.
        It is the better one unless ties are kept, which gives lists of different lengths (footnote 13).

    Raises
    ------
    ValueError
        For fewer than two scoring functions, and for n as `precision_curve`.

    Examples
    --------
    Ranking 1 has 9 true ones in its list of 10, ranking 2 has 2 in its own, and no candidate is in both:

    >>> frame = pd.DataFrame({"g1": range(20), "g2": range(20, 0, -1)})
    >>> true = [True] * 2 + [False] * 9 + [True] * 9
    >>> row = ranking_differences(Candidates.from_scores(frame, true), [10]).iloc[0]
    >>> row.better, int(row.true_only_1), int(row.true_only_2), round(float(row.p_value), 6)
    ('g1', 9, 2, 0.005477)
    >>> from scipy.stats import fisher_exact
    >>> round(float(fisher_exact([[9, 2], [1, 8]]).pvalue), 6)
    0.005477
    """
    require_candidates(candidates)
    check_flag("multiplicity", multiplicity)
    if len(candidates.names) < 2:
        raise ValueError(f"at least two scoring functions are needed to compare, but there is only {candidates.names}")
    lengths = list_lengths(candidates, n)
    tables = []
    for a, b in combinations(range(len(candidates.names)), 2):
        first, second = candidates.ranks[a], candidates.ranks[b]
        true_first, true_second = first[candidates.true], second[candidates.true]
        only_1, only_2 = _only_first(first, second, lengths), _only_first(second, first, lengths)
        true_1 = _only_first(true_first, true_second, lengths)
        true_2 = _only_first(true_second, true_first, lengths)
        precision_1 = count_up_to(true_first, lengths) / count_up_to(first, lengths)
        precision_2 = count_up_to(true_second, lengths) / count_up_to(second, lengths)
        gain = precision_1 - precision_2
        # The shares of true ones, by their common denominator; 0 where a region is empty.
        favour = true_1 * only_2 - true_2 * only_1
        names = candidates.names[a], candidates.names[b]
        table = pd.DataFrame(
            {
                "test_set": candidates.test_set,
                "ranking_1": names[0],
                "ranking_2": names[1],
                "n": lengths,
                "precision_1": precision_1,
                "precision_2": precision_2,
                "better": np.where(gain > 0, names[0], np.where(gain < 0, names[1], "")),
                "gain": np.abs(gain),
                "only_1": only_1,
                "true_only_1": true_1,
                "only_2": only_2,
                "true_only_2": true_2,
                "p_value": fisher_exact(true_1, only_1, true_2, only_2),
                "preferred": np.where(favour > 0, names[0], np.where(favour < 0, names[1], "")),
            }
        )
        tables.append(corrected(table) if multiplicity else table)
    return pd.concat(tables, ignore_index=True)


def _only_first(first: IntArray, second: IntArray, lengths: IntArray) -> IntArray:
    """How many candidates, by their ranks in two lists, only the first n-best list has, for each n."""
    # A candidate is in the first list alone from its rank there on, until the second list has it too.
    alone = first < second
    return count_up_to(first[alone], lengths) - count_up_to(second[alone], lengths)
