"""The precision of rankings over the length n of the n-best list, with binomial intervals (Evert 2004, section 3.2)."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from simstudy.metrics.base import IntArray
from simstudy.rankings.candidates import Candidates, require_candidates
from simstudy.statistics.pvalues import clopper_pearson
from simstudy.validation import check_fraction


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
    lengths = list_lengths(candidates, n)
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


def list_lengths(candidates: Candidates, n: int | Iterable[int] | None) -> IntArray:
    """Lengths of n-best lists in ascending order; all that there are where n is None."""
    if n is None:
        return np.arange(1, candidates.n_candidates + 1)
    lengths = sorted(candidates.check_n(length) for length in (n if isinstance(n, Iterable) else [n]))
    if not lengths or len(set(lengths)) < len(lengths):
        raise ValueError(f"n must name at least one length, each once, not {lengths}")
    return np.array(lengths)


def count_up_to(ranks: IntArray, lengths: IntArray) -> IntArray:
    """How many candidates of these ranks are in the n-best list, for each length n."""
    most = int(max(lengths.max(), ranks.max(initial=0)))
    return np.bincount(ranks, minlength=most + 1).cumsum()[lengths]
