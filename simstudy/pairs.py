"""What tables of pairs say of their systems: in which order they are, and how the two of a pair are related."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from simstudy.validation import InputError

#: The relation under which a table lists all relation classes together.
ALL_PAIRS = "all pairs"


@dataclass(frozen=True)
class Order:
    """The systems of a table of all pairs by place."""

    #: (K,) of the systems, the best first.
    names: NDArray[np.object_]
    #: (P,) places of each pair's two systems, 0 for the best.
    better: NDArray[np.int64]
    worse: NDArray[np.int64]

    @property
    def neighbours(self) -> NDArray[np.bool_]:
        """(P,) whether the two follow one another."""
        return np.asarray(self.worse == self.better + 1)

    def by_place(self, of_better: ArrayLike, of_worse: ArrayLike) -> NDArray[np.float64]:
        """(K,) what the columns of a pair's two systems say of each system."""
        values = np.empty(len(self.names))
        values[self.better], values[self.worse] = of_better, of_worse
        return values

    def matrix(self, of_pairs: ArrayLike) -> NDArray[Any]:
        """(K, K) what is said of each pair, the same on both sides of the diagonal, and 0 on it."""
        values = np.asarray(of_pairs)
        filled = np.zeros((len(self.names), len(self.names)), dtype=values.dtype)
        filled[self.better, self.worse] = filled[self.worse, self.better] = values
        return filled


def order_of(pairs: pd.DataFrame) -> Order:
    """The order of the systems of a table that has every two of them once, the better system first.

    No score is looked at: for an error rate the best is the lowest, and which scores tie is for `compare` to say. A
    ValueError says where two systems are not there once, or the order of some contradicts that of others.
    """
    codes, known = pd.factorize(pd.concat([pairs["system_a"], pairs["system_b"]], ignore_index=True))
    names, start = np.unique(np.asarray(known, dtype=object), return_inverse=True)
    first, second = start[codes[: len(pairs)]], start[codes[len(pairs) :]]
    k = len(names)
    ahead = np.bincount(first * k + second, minlength=k * k).reshape(k, k)
    for i, j in np.argwhere(ahead + ahead.T != 1 - np.eye(k, dtype=np.int64)):
        raise InputError(
            "pairs",
            f"must have every two systems once; '{names[i]}' and '{names[j]}' are there "
            f"{ahead[i, j] + ahead[j, i] if i != j else ahead[i, i]} times",
        )
    # The best is ahead of all others, the next of all but one, and so on.
    place = k - 1 - ahead.sum(axis=1)
    if len(set(place)) < k:
        raise InputError("pairs", "must have the better system as system_a in every row, ties always in one order")
    return Order(names[np.argsort(place)], place[first], place[second])


def pairs_with(names: Sequence[str], against: Collection[str]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Places of the pairs that have at least one of these systems, in the order of all pairs; names come best first."""
    chosen = np.flatnonzero(pd.Index(names).isin(list(against)))
    one, other = np.repeat(chosen, len(names)), np.tile(np.arange(len(names)), len(chosen))
    keys = np.unique((np.minimum(one, other) * len(names) + np.maximum(one, other))[one != other])
    better, worse = np.divmod(keys, len(names))
    return better, worse


def relations(first: NDArray[Any], second: NDArray[Any], what: str = "family") -> NDArray[np.object_]:
    """How the two systems of each pair are related: "same family" where they have one value, "different families"."""
    labels = np.array([f"different {_plural(what)}", f"same {what}"], dtype=object)
    return np.asarray(labels[(first == second).astype(np.intp)])


def _plural(noun: str) -> str:
    if noun.endswith("y") and noun[-2:-1] not in "aeiou":
        return noun[:-1] + "ies"
    return noun + ("es" if noun.endswith("s") else "s")
