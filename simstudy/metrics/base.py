"""What a metric is: names for its statistics, and a score of their sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Reference texts, or the label, of n items: one or several each.
References = Sequence[Sequence[str]]

#: What scores are told in. A gain of what is in percent is in points; "" is a scale of the metric's own.
Unit = Literal["percent", "points", "probability", ""]

#: What a metric of texts takes for words: runs of a-z and 0-9, or what stands between spaces.
Words = Literal["a-z0-9", "spaced", ""]

#: Scores that are not ratios of whole numbers tie when they differ by less than this part of their size.
TIE_TOLERANCE = 1e-9


# numpy adds rows of so few numbers several times more slowly than their columns.
_FEW_COLUMNS = 4


def summed(statistics: Array, kind: DTypeLike) -> Array:
    """Sums (..., S) of statistics (..., n units, S) over the units, as numbers of a kind."""
    if statistics.dtype.kind not in "iu" or statistics.shape[-1] > _FEW_COLUMNS:
        # Decimals add up to other bits in another order.
        return np.asarray(statistics.sum(axis=-2, dtype=kind))
    sums = np.empty((*statistics.shape[:-2], statistics.shape[-1]), dtype=kind)
    for s in range(statistics.shape[-1]):
        statistics[..., s].sum(axis=-1, dtype=kind, out=sums[..., s])
    return sums


@dataclass(frozen=True)
class TextCounter(FieldsMixin):
    """Counts a metric's statistics of texts, against references of n items that are prepared once."""

    n_items: int
    count: Callable[[Sequence[str]], Array]
    #: How texts are counted (tokens, case, version), as ``key:value`` pairs between bars.
    signature: str = ""

    def statistics(self, hypotheses: Sequence[str]) -> Array:
        """Statistics (n, S) of one system's n texts; ValueError where there are not as many as items."""
        if len(hypotheses) != self.n_items:
            raise InputError(
                "hypotheses", f"must be {self.n_items} texts, one for each item with references", len(hypotheses)
            )
        return self.count(hypotheses)


@dataclass(frozen=True, repr=False)
class Metric(FieldsMixin, ABC):
    """A score that can be computed from the *sum* of per-item statistics."""

    #: In the registry (`simstudy.metrics.METRICS`) and in every table.
    name: str
    #: Names of the S sufficient statistics of an item, in the order of the array's last axis.
    statistics: tuple[str, ...]
    #: False for error rates: gains are then differences of the other sign.
    higher_is_better: bool = True
    _: KW_ONLY
    #: Statistics of the item, not of what a system said about it (the gold count): they stay where it says nothing.
    of_item: tuple[str, ...] = ()
    #: Those that every system has alike. Not the closest of several references, or the candidates that it accepts.
    shared: tuple[str, ...] = ()
    #: What reports and figures call it; its name where there is nothing better.
    label: str = field(default="", compare=False)
    unit: Unit = field(default="", compare=False)
    #: The least and the largest score of an item that may have one score; None where it takes more numbers.
    item_range: tuple[float, float] | None = None
    #: Whether statistics of 0 are the best that an item may have: none may be made up then for a missing item.
    zero_is_best: bool = field(default=False, compare=False, repr=False)
    #: Whether the denominator counts what a system chose: precision.
    of_chosen: bool = field(default=False, compare=False)
    #: Whether `text_counter` compares texts: then case and blanks are the metric's own matter.
    of_texts: bool = False
    #: Whether `text_counter` can be told which tokenizer to take.
    tokenizers: bool = False
    #: What `text_counter` always takes for words; "" where a tokenizer tells, or words do not count.
    words: Words = field(default="", compare=False, repr=False)
    #: How the statistics were counted of texts (`TextCounter.signature`); empty for others.
    signature: str = field(default="", compare=False, repr=False)
    #: What the quotient is multiplied by where the score is a ratio of sums: 100 for percent.
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name)
        for argument, names in (("of_item", self.of_item), ("shared", self.shared)):
            if unknown := [name for name in names if name not in self.statistics]:
                listed = ", ".join(self.statistics)
                raise InputError(argument, f"of metric '{self.name}' must be among {listed}, unlike '{unknown[0]}'")

    @property
    def definition(self) -> str:
        """All that tells metrics apart, as text: what is kept of one is known by it."""
        values = ", ".join(f"{entry.name}={getattr(self, entry.name)!r}" for entry in fields(self) if entry.repr)
        return f"{type(self).__qualname__}({values})"

    @abstractmethod
    def score(self, sums: Array) -> FloatArray:
        """Turn summed statistics of shape (..., S) into scores of shape (...).

        Must be elementwise (no score may depend on its neighbours) and defined for every sum that can occur,
        an empty one included.
        """

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        """Where summed statistics (..., S) have a score, rather than a 0 that stands for 0 / 0; shape (...)."""
        return np.ones(np.shape(sums)[:-1], dtype=np.bool_)

    @property
    def of_sums(self) -> bool:
        """Whether scores are of summed statistics; else `test_set_scores` alone scores."""
        return True

    def test_set_scores(self, statistics: Array) -> FloatArray:
        """Scores (K,) of statistics (K, n items, S)."""
        return self.score(summed(statistics, np.int64 if statistics.dtype.kind in "iu" else np.float64))

    def with_statistics(self, names: Sequence[str]) -> Self:
        """The metric of this family that has these statistics; itself where it is no family, or has none such."""
        return self

    def ratio(self, statistics: Array) -> tuple[Array, Array] | None:
        """Numerators and denominators (...) of statistics (..., S); None where the score is no ratio of sums."""
        return None

    def tie_tolerance(self, statistics: Array) -> FloatArray:
        """How much of each system's score may be rounding, shape (K,), given statistics (K systems, n items, S)."""
        return TIE_TOLERANCE * np.abs(self.score(summed(statistics, np.float64)))

    def signed(self, signature: str) -> Self:
        """The same metric, of statistics that were counted as the signature says."""
        other = copy(self)
        object.__setattr__(other, "signature", signature)
        return other

    @property
    def sign(self) -> int:
        """1 where more is better, -1 where less is."""
        return 1 if self.higher_is_better else -1

    @property
    def is_proportion(self) -> bool:
        """Whether the score is a ratio of two plain sums of statistics: so many of so many."""
        return False

    @property
    def counts_texts(self) -> bool:
        """Whether items may be texts or labels, which `text_counter` counts."""
        return type(self).text_counter is not Metric.text_counter

    def text_counter(
        self, references: References, *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter | None:
        """What counts statistics of texts or labels, each item with one or several references; None of other items."""
        return None

    def rules(self, statistics: Array) -> list[tuple[Array, str]]:
        """Rules of statistics (K systems, n items, S): where each holds, shape (K, n), and what it says."""
        return []

    def check(self, statistics: Array, systems: Sequence[str] = (), items: Sequence[str] = ()) -> None:
        """Raise an InputError that names the first system and item whose statistics break a rule."""
        for holds, rule in self.rules(statistics):
            if not holds.all():
                k, i = np.argwhere(~holds)[0].tolist()
                pairs = zip(self.statistics, statistics[k, i], strict=True)
                values = ", ".join(f"{name} = {value:g}" for name, value in pairs)
                place = f"system '{systems[k]}', item '{items[i]}'" if len(systems) else f"system {k}, item {i}"
                raise InputError("statistics", f"for metric '{self.name}' must have {rule}, unlike {values} of {place}")

    def check_scores(self, statistics: Array, systems: Sequence[str]) -> None:
        """Raise a ValueError that names a system whose statistics (K, n, S) have no score that could be compared."""

    def check_shared(self, statistics: Array, systems: Sequence[str], items: Sequence[str]) -> None:
        """Raise a ValueError that names the first item of which systems have unlike `shared` statistics (K, n, S)."""
        for name in self.shared:
            values = statistics[..., self.statistics.index(name)]
            unlike = values != values[:1]
            if unlike.any():
                item = int(np.argmax(unlike.any(axis=0)))
                system = int(np.argmax(unlike[:, item]))
                first, other = values[0, item], values[system, item]
                raise InputError(
                    f"statistics for metric '{self.name}'",
                    f"must have one '{name}' of each item, but item '{items[item]}' has {first:g} by '{systems[0]}' "
                    f"and {other:g} by '{systems[system]}'",
                )
