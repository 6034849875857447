"""What tasks are made of: examples and their order, base systems that learn from them, and how answers are counted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.text.reprs import ReprMixin, listed
from simstudy.validation import InputError

# A test set's order is fixed data: it has a seed of its own, which no study changes.
_ORDER_SEED = 20120712


@dataclass(frozen=True, repr=False)
class Examples(ReprMixin):
    """n items to train on or to answer.

    Attributes
    ----------
    inputs
        What base systems read: a list with an entry an item (a sentence's words), or any object whose ``len`` is n:
        `Rows`, or arrays that a task has computed once for all its base systems.
    gold
        The right answers, in whatever form the task's statistics are counted from: a list with an entry an item, or the
        labels of all rows.
    items
        The item table, a row an item: ``id``, and where known ``domain`` and ``cluster``; numbered by default.

    Raises
    ------
    ValueError
        Where there is no item, or not one entry for each.

    Examples
    --------
    >>> sentences = Examples([["a", "b"], ["c"]], [["X", "Y"], ["X"]])
    >>> sentences.items["id"].tolist()
    ['0', '1']
    """

    inputs: Any
    gold: Any
    items: pd.DataFrame = field(default_factory=pd.DataFrame)

    def __post_init__(self) -> None:
        try:
            n_items = len(self.inputs)
        except TypeError:
            raise InputError("inputs", "must have an entry for each item", self.inputs) from None
        if n_items == 0:
            raise InputError("inputs", "must have at least one item")
        if isinstance(self.gold, list | tuple) and len(self.gold) != n_items:
            raise InputError("gold", f"must have an answer for each of the {n_items} items", len(self.gold))
        if not isinstance(self.items, pd.DataFrame):
            raise InputError("items", "must be a table", self.items)
        if self.items.empty:
            object.__setattr__(self, "items", pd.DataFrame({"id": [str(k) for k in range(n_items)]}))
        if "id" not in self.items:
            raise InputError("items", f"must have a column 'id', not only {', '.join(map(str, self.items))}")
        if len(self.items) != n_items:
            raise InputError("items", f"must have a row for each of the {n_items} items", len(self.items))

    @property
    def n_items(self) -> int:
        """Number of items."""
        return len(self.items)

    def _summary(self) -> tuple[str, str]:
        columns = listed([str(name) for name in self.items])
        return f"Examples: {self.n_items:,} items", f"columns of the items: {columns}"

    def _table(self) -> pd.DataFrame:
        return self.items

    def content(self) -> list[Any]:
        """What the examples are made of, for a hash that is the same in every process."""
        inputs, gold = (each.content() if hasattr(each, "content") else each for each in (self.inputs, self.gold))
        return [inputs, gold, self.items.to_json(orient="split", index=False)]


class BaseSystem(Protocol):
    """A model that can be trained on resampled training sets: any object with this method.

    What its results depend on must be its attributes (those of a frozen dataclass are): finished systems are known by
    them.

    Examples
    --------
    >>> class Majority:
    ...     def train(self, examples, weights, seed):
    ...         gold = np.repeat(examples.gold, weights).tolist()
    ...         return lambda other: [max(set(gold), key=gold.count)] * len(other.gold)
    >>> examples = Examples([[1], [2], [3]], ["a", "b", "b"])
    >>> Majority().train(examples, np.array([3, 0, 0]), seed=0)(examples)
    ['a', 'a', 'a']
    """

    def train(self, examples: Examples, weights: NDArray[np.int64], seed: int) -> Callable[[Examples], Any]:
        """Learn from items that are repeated as weights (n,) say; a weight may be 0.

        Returns a function that answers the items of other Examples, in the form of their gold answers. `seed` is for
        what is random in the model itself.
        """


#: Examples and a base system's answers -> a metric's statistics (n items, S).
Count = Callable[[Examples, Any], Any]


def mixed_order(domains: Sequence[str]) -> NDArray[np.int64]:
    """An order of items in which every initial segment is a random sample of each domain, in the whole's proportions.

    Examples
    --------
    >>> order = mixed_order(["news"] * 4 + ["fiction"] * 2)
    >>> sorted(order[:3]) != [0, 1, 2], sum(order[:3] < 4)
    (True, np.int64(2))
    """
    shuffled = np.random.default_rng(_ORDER_SEED).permutation(len(domains))
    named = pd.Series(np.asarray(domains)[shuffled])
    grouped = named.groupby(named)
    place = (grouped.cumcount() + 0.5) / grouped.transform("size")
    order: NDArray[np.int64] = shuffled[place.sort_values(kind="stable").index.to_numpy()]
    return order
