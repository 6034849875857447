"""Submissions that are the same, or nearly: they say little about how two systems differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from simstudy.outputs import Outputs, check_outputs
from simstudy.outputs.statistics import Answers
from simstudy.running.progress import doing
from simstudy.validation import check_fraction

#: Two systems are near-duplicates where more than this share of their answers is identical.
SHARE = 0.9

# Kappa that is the share is not more than it, whatever the last bits say.
_ROUNDING = 1e-12

# Systems whose chances of being equal to others are worked out together.
_TILE = 64

_COLUMNS = [
    *("task", "test_set", "n_items", "system_a", "system_b"),
    *("n_identical", "share", "kappa", "compared", "identical"),
]

#: How near-duplicates are treated: no search; name them; or keep only the first by name.
DUPLICATES = ("keep", "note", "drop")


def near_duplicates(outputs: Outputs, *, share: float = SHARE) -> pd.DataFrame:
    """Pairs of systems with nearly identical answers.

    Where the outputs have answers (`Outputs.answers`), these are compared. Good systems agree on right answers where
    there is one of them only (a label, a number): an item is not looked at for two systems that both have it right, if
    all systems that have it right gave one answer. Right is what scores as well as the best answer to any item.

    Without answers the items' statistics are compared, and that they are equal says less: two systems of 95 %
    accuracy, and two of 1 %, have most scores in common without any likeness. Only items are looked at then on which
    some two systems differ, and what is equal there by chance is taken off (Cohen's kappa). Of two systems alone only
    identical ones are found.

    Parameters
    ----------
    outputs
        K systems on n items.
    share
        Near-duplicates have more than this in common, of scores also beyond chance.

    Returns
    -------
    duplicates
        One row a pair, most alike first: task, test_set, n_items, system_a, system_b (by name), n_identical, share
        (a fraction; both of the items that were looked at for the two), kappa (of scores; NaN of answers, and where
        both systems have one score throughout), compared ("answers" or "scores"), identical (whether the two are so on
        every item).

    Raises
    ------
    ValueError
        For a share that is no fraction.

    Examples
    --------
    >>> outputs = Outputs.from_scores(pd.DataFrame({"a": [1, 0, 1], "b": [1, 0, 1], "c": [0, 0, 1]}), "accuracy")
    >>> near_duplicates(outputs)[["system_a", "system_b", "identical"]].to_numpy().tolist()
    [['a', 'b', True]]
    """
    check_fraction("share", share)
    check_outputs("outputs", outputs)
    answers = outputs.answers
    compared = "scores" if answers is None else "answers"
    table: NDArray[Any] = _scores(outputs) if answers is None else answers
    if answers is None:
        table = table[:, (table != table[:1]).any(axis=0)]
    names, n = outputs.names, table.shape[1]
    order = np.array(sorted(range(len(names)), key=names.__getitem__))
    table = table[order]
    # What two systems have in common is not looked at where the answer could be no other.
    given = np.zeros((len(names), 0), dtype=np.float32) if answers is None else _given(outputs, answers)[order]
    counts = _value_counts(table) if answers is None and n else None
    transposed = counts.T.tocsr() if counts is not None else None
    # Of all places: the pairs found there, as arrays (a small test set has millions of identical pairs).
    parts = []
    for place in range(len(names) - 1):
        equal = (table[place + 1 :] == table[place]).sum(axis=1)
        # Whole numbers, exact in single precision.
        passed = (given[place + 1 :] @ given[place]).astype(np.int64)
        looked = n - passed
        kappa = np.full(len(equal), np.nan)
        if counts is not None:
            if place % _TILE == 0:
                expected = (counts[place : place + _TILE] @ transposed).toarray() / n**2
            by_chance = expected[place % _TILE, place + 1 :]
            np.divide(equal / n - by_chance, 1 - by_chance, out=kappa, where=by_chance < 1)
        alike = (equal == n) | ((equal - passed > share * looked) & ~(kappa <= share + _ROUNDING))
        at = np.flatnonzero(alike)
        if len(at):
            parts.append(
                (np.full(len(at), place), place + 1 + at, (equal - passed)[at], looked[at], kappa[at], equal[at] == n)
            )
    if not parts:
        return no_duplicates()
    first, second, count, of, beyond_chance, whole = (np.concatenate(part) for part in zip(*parts, strict=True))
    by_name = np.array(names, dtype=object)[order]
    found = pd.DataFrame(
        {
            "task": outputs.task,
            "test_set": outputs.test_set,
            "n_items": outputs.n_items,
            "system_a": by_name[first],
            "system_b": by_name[second],
            "n_identical": count,
            "share": np.where(of > 0, count / np.maximum(of, 1), 1.0),
            "kappa": beyond_chance,
            "compared": compared,
            "identical": whole,
        }
    )
    return found.sort_values(["share", "system_a", "system_b"], ascending=[False, True, True], ignore_index=True)


def no_duplicates() -> pd.DataFrame:
    """A table of near-duplicates without a row."""
    return pd.DataFrame([], columns=_COLUMNS)


def without_duplicates(names: list[str], duplicates: pd.DataFrame) -> list[str]:
    """The systems that are left, in their order, when of near-duplicates only the first by name is kept.

    A system goes where it is a near-duplicate of one that stays, so that two systems that are both like a third, but
    not like each other, may both stay.
    """
    alike: dict[str, set[str]] = {name: set() for name in names}
    for a, b in zip(duplicates["system_a"], duplicates["system_b"], strict=True):
        alike[a].add(b)
        alike[b].add(a)
    kept: set[str] = set()
    for name in sorted(names):
        if not alike[name] & kept:
            kept.add(name)
    return [name for name in names if name in kept]


def distinct(outputs: Outputs, duplicates: str) -> tuple[Outputs, pd.DataFrame]:
    """The systems that are to be compared, and the near-duplicates among all (`simstudy.comparisons.near_duplicates`).

    With "drop" the first by name is kept of systems that are near-duplicates of one another. Studies list them in any
    case.
    """
    with doing(f"near-duplicates among {outputs.n_systems} systems"):
        alike = near_duplicates(outputs)
    if duplicates == "drop" and len(alike):
        outputs = outputs.select(without_duplicates(outputs.names, alike))
    return outputs, alike


def _value_counts(table: NDArray[Any]) -> Any:
    """How often each system has each value, (K, V) and sparse: a system has at most n of the values."""
    # A system at a time: what is held beside the table are the values that are there.
    values, counts = zip(*(np.unique(row, return_counts=True) for row in table), strict=True)
    ends = np.cumsum([0, *map(len, values)])
    return scipy.sparse.csr_array(
        (np.concatenate(counts), np.concatenate(values), ends), shape=(len(table), int(table.max()) + 1)
    )


def _given(outputs: Outputs, answers: Answers) -> NDArray[np.float32]:
    """1 where a system has an item right and all that have it right gave one answer, else 0; (K, n)."""
    if not outputs.metric.of_sums:
        # An item has no score.
        return np.zeros(answers.shape, dtype=np.float32)
    metric, sign = outputs.metric, outputs.metric.sign
    scores = np.empty(answers.shape)
    for k, of_system in enumerate(outputs.statistics):
        scores[k] = np.where(metric.defined(of_system), sign * metric.score(of_system), np.nan)
    known = ~np.isnan(scores)
    if not known.any() or scores[known].min() == scores[known].max():
        # Scores that are all the same do not tell right from wrong.
        return np.zeros(answers.shape, dtype=np.float32)
    # Nothing to find and nothing found (0 / 0) is right.
    right = ~known | (scores == scores[known].max())
    least = np.where(right, answers, np.iinfo(np.int64).max).min(axis=0)
    most = np.where(right, answers, np.iinfo(np.int64).min).max(axis=0)
    return np.asarray(right & (least == most), dtype=np.float32)


def _scores(outputs: Outputs) -> NDArray[np.int64]:
    """(K, n) numbers, equal in a column where the systems' statistics for the item are equal."""
    k, n, width = outputs.statistics.shape
    codes = np.zeros((k, n), dtype=np.int64)
    for s in range(width):
        values = np.unique(outputs.statistics[..., s])
        for own, numbers in zip(codes, outputs.statistics[..., s], strict=True):
            own *= len(values)
            own += np.searchsorted(values, numbers)
        # Numbered anew for each statistic, so that the product of their sizes can not overflow.
        there = np.unique(codes)
        for own in codes:
            own[:] = np.searchsorted(there, own)
    return codes
