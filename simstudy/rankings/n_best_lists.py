"""N-best lists of all lengths: their precision with binomial intervals, and Fisher's exact test of two rankings.

After Evert 2004, sections 3.2 and 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations

import numpy as np
import pandas as pd

from simstudy.metrics.base import IntArray
from simstudy.rankings.candidates import Candidates, require_candidates
from simstudy.rankings.hypergeometric import fisher_exact
from simstudy.statistics.multiplicity import corrected
from simstudy.statistics.pvalues import clopper_pearson
from simstudy.validation import InputError, check_flag, check_fraction


def precision_curve(
    candidates: Candidates, n: int | Iterable[int] | None = None, *, level: float = 0.95
) -> pd.DataFrame:
    """Precision and recall of each ranking's n-best lists, with the binomial interval of the average precision.

    The interval answers: if the evaluation were repeated under the same conditions, how much would precision vary? It
    is that of the acceptance *region* which has n candidates here; in a repetition it may have more or fewer. It is a
    lower bound on what must be expected (section 4). Two rankings of the same candidates must not be compared by
    whether their intervals overlap: see `ranking_differences`.

    Parameters
    ----------
    candidates
        As many scoring functions as there are to be curves.
    n
        Lengths of n-best lists, or one; by default all, 1 … the number of candidates.
    level
        Coverage of the intervals, a fraction. They are Clopper-Pearson's, one for each n: not a band for all n at once.

    Returns
    -------
    curves
        A row for each ranking and n: test_set, ranking, n, n_accepted (more than n where ties are kept), n_true,
        precision, low, high, recall (NaN where no candidate is true), baseline (the precision of a random selection).
        All are fractions.

    Raises
    ------
    ValueError
        For n that is not between 1 and the number of candidates, occurs twice or is not there at all, and a level
        that is no fraction.

    Examples
    --------
    >>> frame = pd.DataFrame({"g1": [4, 3, 2, 1], "g2": [1, 2, 3, 4]})
    >>> curves = precision_curve(Candidates.from_scores(frame, [True, False, True, False]), [2, 4])
    >>> curves[["ranking", "n", "precision", "recall"]].values.tolist()
    [['g1', 2, 0.5, 0.5], ['g1', 4, 0.5, 1.0], ['g2', 2, 0.5, 0.5], ['g2', 4, 0.5, 1.0]]
    """
    require_candidates(candidates)
    check_fraction("level", level)
    lengths = _lengths(candidates, n)
    tables = []
    n_all = int(candidates.true.sum())
    for name, ranks in zip(candidates.names, candidates.ranks, strict=True):
        accepted = count_up_to(ranks, lengths)
        hits = count_up_to(ranks[candidates.true], lengths)
        low, high = clopper_pearson(hits, accepted, level)
        curve = {
            "n": lengths,
            "n_accepted": accepted,
            "n_true": hits,
            "precision": hits / accepted,
            "low": low,
            "high": high,
            "recall": hits / n_all if n_all else np.nan,
        }
        tables.append(pd.DataFrame({"test_set": candidates.test_set, "ranking": name, **curve}))
    return pd.concat(tables, ignore_index=True).assign(baseline=candidates.baseline)


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
        raise InputError(f"at least two scoring functions are needed to compare, but there is only {candidates.names}")
    lengths = _lengths(candidates, n)
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


def _lengths(candidates: Candidates, n: int | Iterable[int] | None) -> IntArray:
    """Lengths of n-best lists in ascending order; all that there are where n is None."""
    if n is None:
        return np.arange(1, candidates.n_candidates + 1)
    lengths = sorted(candidates.check_n(length) for length in (n if isinstance(n, Iterable) else [n]))
    if not lengths or len(set(lengths)) < len(lengths):
        raise InputError("n", "must name at least one length, each once", lengths)
    return np.array(lengths)


def count_up_to(ranks: IntArray, lengths: IntArray) -> IntArray:
    """How many candidates of these ranks are in the n-best list, for each length n."""
    most = int(max(lengths.max(), ranks.max(initial=0)))
    return np.bincount(ranks, minlength=most + 1).cumsum()[lengths]
