"""N-best lists of many lengths: precision with binomial intervals, and Fisher's exact test of two rankings.

After Evert 2004, sections 3.2 and 3.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.studies import benjamini_hochberg, clopper_pearson, fisher_exact, holm


def precision_curve(candidates: ss.rankings.Candidates, lengths: Iterable[int]) -> pd.DataFrame:
    """Precision and recall of the n-best lists of each ranking, fractions.

    low and high are the 95 % Clopper-Pearson interval of the average precision of the acceptance *region*, which may
    accept more or fewer candidates in a repetition of the evaluation. baseline is the precision of a random selection.
    """
    lengths = np.array(lengths)
    tables = []
    for name, ranks in zip(candidates.names, candidates.ranks, strict=True):
        accepted, hits = _count(ranks, lengths), _count(ranks[candidates.true], lengths)
        low, high = clopper_pearson(hits, accepted)
        curve = {
            "n": lengths,
            "n_accepted": accepted,
            "n_true": hits,
            "precision": hits / accepted,
            "low": low,
            "high": high,
            "recall": hits / candidates.true.sum(),
        }
        tables.append(pd.DataFrame({"test_set": candidates.test_set, "ranking": name, **curve}))
    return pd.concat(tables, ignore_index=True).assign(baseline=candidates.baseline)


def ranking_differences(candidates: ss.rankings.Candidates, lengths: Iterable[int]) -> pd.DataFrame:
    """Fisher's exact test of every pair of rankings on their n-best lists of each length.

    The 2 x 2 table has the true and false candidates that only ranking 1 accepts, and that only ranking 2 accepts.
    better is the ranking with the higher precision and preferred the ranking for which the p-value speaks, because
    more of the candidates that only it accepts are true. Both are empty for equal shares. p_holm and p_bh are corrected
    for the number of lengths of a pair.
    """
    lengths = np.array(lengths)
    tables = []
    for (name_1, ranks_1), (name_2, ranks_2) in combinations(zip(candidates.names, candidates.ranks, strict=True), 2):
        true_1, true_2 = ranks_1[candidates.true], ranks_2[candidates.true]
        only_1, only_2 = _count_only(ranks_1, ranks_2, lengths), _count_only(ranks_2, ranks_1, lengths)
        true_only_1, true_only_2 = _count_only(true_1, true_2, lengths), _count_only(true_2, true_1, lengths)
        precision_1 = _count(true_1, lengths) / _count(ranks_1, lengths)
        precision_2 = _count(true_2, lengths) / _count(ranks_2, lengths)
        gain = precision_1 - precision_2
        # The shares of true candidates by their common denominator.
        preference = true_only_1 * only_2 - true_only_2 * only_1
        counts = zip(true_only_1, only_1, true_only_2, only_2, strict=True)
        p_value = np.array([fisher_exact(*table) for table in counts])
        table = {
            "test_set": candidates.test_set,
            "ranking_1": name_1,
            "ranking_2": name_2,
            "n": lengths,
            "precision_1": precision_1,
            "precision_2": precision_2,
            "better": np.where(gain > 0, name_1, np.where(gain < 0, name_2, "")),
            "gain": np.abs(gain),
            "only_1": only_1,
            "true_only_1": true_only_1,
            "only_2": only_2,
            "true_only_2": true_only_2,
            "p_value": p_value,
            "preferred": np.where(preference > 0, name_1, np.where(preference < 0, name_2, "")),
            "p_holm": holm(p_value),
            "p_bh": benjamini_hochberg(p_value),
        }
        tables.append(pd.DataFrame(table))
    return pd.concat(tables, ignore_index=True)


def _count_only(first: Any, second: Any, lengths: Any) -> Any:
    """How many candidates, by their ranks in two lists, are in the first n-best list only, for each length n."""
    # A candidate is in the first list alone from its rank there on, until the second list has it too.
    alone = first < second
    return _count(first[alone], lengths) - _count(second[alone], lengths)


def _count(ranks: Any, lengths: Any) -> Any:
    """How many candidates of these ranks are in the n-best list, for each length n."""
    return np.searchsorted(np.sort(ranks), lengths, side="right")
