"""Submissions that are the same, or nearly: they say little about how two systems differ."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.choices import check_fraction
from simstudy.outputs import Outputs

#: Two systems are near-duplicates where more than this share of their answers is identical.
SHARE = 0.9

# Kappa that is the share is not more than it, whatever the last bits say.
_ROUNDING = 1e-12

_COLUMNS = [
    *("task", "test_set", "n_items", "system_a", "system_b"),
    *("n_identical", "share", "kappa", "compared", "identical"),
]


def near_duplicates(
    outputs: Outputs, answers: NDArray[np.int64] | None = None, *, share: float = SHARE
) -> pd.DataFrame:
    """Pairs of systems that are identical, or nearly.

    Parameters
    ----------
    outputs
        K systems on n items.
    answers
        (K, n) numbers, equal in a column where two systems' outputs for the item are equal
        (`simstudy.loaders.base.Loaded.answers`). Without them the items' statistics are compared, and that they are
        equal says less: two systems of 95 % accuracy, and two of 1 %, have most scores in common without any likeness.
        Only items are looked at then on which some two systems differ, and what is equal there by chance is taken off
        (Cohen's kappa). Of two systems alone only identical ones are found.
    share
        Near-duplicates have more than this in common, of scores also beyond chance.

    Returns
    -------
    duplicates
        One row a pair, most alike first: task, test_set, n_items, system_a, system_b (by name), n_identical, share
        (a fraction; both of the items that were looked at), kappa (of scores; NaN of answers, and where both systems
        have one score throughout), compared ("answers" or "scores"), identical (whether the two are so on every item).

    Raises
    ------
    ValueError
        For a share that is no fraction and answers of another shape.

    Examples
    --------
    >>> outputs = Outputs.from_scores(pd.DataFrame({"a": [1, 0, 1], "b": [1, 0, 1], "c": [0, 0, 1]}), "accuracy")
    >>> near_duplicates(outputs)[["system_a", "system_b", "identical"]].to_numpy().tolist()
    [['a', 'b', True]]
    """
    check_fraction("share", share)
    if answers is not None and np.shape(answers) != (outputs.n_systems, outputs.n_items):
        raise ValueError(
            f"answers must have shape ({outputs.n_systems}, {outputs.n_items}), as the outputs have, not "
            f"{np.shape(answers)}"
        )
    compared = "scores" if answers is None else "answers"
    table: NDArray[Any] = _scores(outputs) if answers is None else np.asarray(answers)
    if answers is None:
        table = table[:, (table != table[:1]).any(axis=0)]
    names, n = outputs.names, table.shape[1]
    expected = _equal_by_chance(table) if answers is None and n else np.full((len(names), len(names)), np.nan)
    order = sorted(range(len(names)), key=names.__getitem__)
    rows = []
    for place, k in enumerate(order):
        others = order[place + 1 :]
        if not others:
            continue
        equal = (table[others] == table[k]).sum(axis=1)
        for other, count in zip(others, equal.tolist(), strict=True):
            by_chance = expected[k, other]
            kappa = (count / n - by_chance) / (1 - by_chance) if by_chance < 1 else np.nan
            if count == n or (count > share * n and not kappa <= share + _ROUNDING):
                known = [outputs.task, outputs.test_set, outputs.n_items, names[k], names[other]]
                rows.append([*known, count, count / n if n else 1.0, kappa, compared, count == n])
    found = pd.DataFrame(rows, columns=_COLUMNS)
    return found.sort_values(["share", "system_a", "system_b"], ascending=[False, True, True], ignore_index=True)


def without_duplicates(names: list[str], duplicates: pd.DataFrame) -> list[str]:
    """The systems that are left, in their order, when of near-duplicates only the first by name is kept.

    A system goes where it is a near-duplicate of one that stays, so that two systems that are both like a third, but
    not like each other, may both stay.

    Examples
    --------
    >>> found = pd.DataFrame({"system_a": ["a", "b"], "system_b": ["b", "c"]})
    >>> without_duplicates(["c", "b", "a"], found)
    ['c', 'a']
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


def _equal_by_chance(table: NDArray[np.int64]) -> NDArray[np.float64]:
    """(K, K): the share of items on which two systems agree that have their values in any order."""
    shares = np.stack([np.bincount(row, minlength=table.max() + 1) for row in table]) / table.shape[1]
    return np.asarray(shares @ shares.T)


def _scores(outputs: Outputs) -> NDArray[np.int64]:
    """(K, n) numbers, equal in a column where the systems' statistics for the item are equal."""
    k, n, width = outputs.statistics.shape
    codes = np.zeros((k, n), dtype=np.int64)
    for s in range(width):
        values, inverse = np.unique(outputs.statistics[..., s], return_inverse=True)
        # Numbered anew for each statistic, so that the product of their sizes can not overflow.
        codes = np.unique(codes * len(values) + inverse.reshape(k, n), return_inverse=True)[1].reshape(k, n)
    return codes
