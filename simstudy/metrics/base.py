"""What a metric is: names for its statistics, and a score of their sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: What scores are told in. A gain of what is in percent is in points; "" is a scale of the metric's own.
Unit = Literal["percent", "points", "probability", ""]

#: What a metric of texts takes for words: runs of a-z and 0-9, or what stands between spaces.
Words = Literal["a-z0-9", "spaced", ""]

#: Scores that are not ratios of whole numbers tie when they differ by less than this part of their size.
TIE_TOLERANCE = 1e-12


class BrokenRule(ValueError):
    """Statistics break a metric's own rule, first those at the positions `system` and `item`."""

    def __init__(self, metric: str, rule: str, system: int, item: int) -> None:
        self.problem = f"statistics for metric '{metric}' must have {rule}"
        self.rule, self.system, self.item = rule, system, item
        super().__init__(f"{self.problem}, unlike those of system number {system}, item number {item}")


class TextCounter(Protocol):
    """Counts a metric's statistics of texts, against references that are prepared once."""

    signature: str
    """How texts are counted (tokens, case, version), as ``key:value`` pairs between bars."""

    def statistics(self, hypotheses: Sequence[str]) -> Array:
        """Statistics (n, S) of one system's n texts; ValueError where there are not as many as items."""


@dataclass(frozen=True)
class Metric(ABC):
    """A score that can be computed from the *sum* of per-item statistics.

    Attributes
    ----------
    name
        The name in the registry (`simstudy.metrics.METRICS`) and in every table.
    statistics
        Names of the S sufficient statistics of an item, in the order of the array's last axis.
    higher_is_better
        False for error rates: gains are then differences of the other sign.
    of_item
        Those of the statistics that belong to the item, not to what a system said about it (the gold count, the
        reference's length): they stay where a system says nothing.
    shared
        Those of them that every system has alike. Not so where what is wanted depends on the answer: the closest of
        several references, the optional fills of a template, the candidates that a system accepts.
    label
        What reports and figures call it; its name where there is nothing better.
    unit
        What its scores are told in.
    item_range
        The least and the largest score of an item where an item may have one score; None where it takes more numbers.
    of_chosen
        Whether the denominator counts what a system chose: precision.
    of_texts
        Whether `text_counter` compares texts: then case and blanks are the metric's own matter.
    tokenizers
        Whether `text_counter` can be told which tokenizer to take.
    signature
        How the statistics were counted of texts (`TextCounter.signature`); empty for others.
    scale
        What the quotient is multiplied by where the score is a ratio of sums: 100 for percent.
    """

    name: str
    statistics: tuple[str, ...]
    higher_is_better: bool = True
    of_item: tuple[str, ...] = field(default=(), kw_only=True)
    shared: tuple[str, ...] = field(default=(), kw_only=True)
    label: str = field(default="", kw_only=True, compare=False)
    unit: Unit = field(default="", kw_only=True, compare=False)
    item_range: tuple[float, float] | None = field(default=None, kw_only=True)
    of_chosen: bool = field(default=False, kw_only=True, compare=False)
    of_texts: bool = field(default=False, kw_only=True)
    tokenizers: bool = field(default=False, kw_only=True)
    signature: str = field(default="", kw_only=True, compare=False, repr=False)
    scale: float = field(default=1.0, kw_only=True)

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name)
        for argument, names in (("of_item", self.of_item), ("shared", self.shared)):
            if unknown := [name for name in names if name not in self.statistics]:
                known = ", ".join(self.statistics)
                raise ValueError(f"{argument} of metric '{self.name}' must be among {known}, unlike '{unknown[0]}'")

    @abstractmethod
    def score(self, sums: Array) -> FloatArray:
        """Turn summed statistics of shape (..., S) into scores of shape (...).

        Must be elementwise (no score may depend on its neighbours) and defined for every sum that can occur,
        an empty one included.
        """

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        """Where summed statistics (..., S) have a score, rather than a 0 that stands for 0 / 0; shape (...)."""
        return np.ones(np.shape(sums)[:-1], dtype=np.bool_)

    def ratio(self, statistics: Array) -> tuple[Array, Array] | None:
        """Numerators and denominators (...) of statistics (..., S); None where the score is no ratio of sums."""
        return None

    def tie_tolerance(self, statistics: Array) -> FloatArray:
        """How much of each system's score may be rounding, shape (K,), given statistics (K systems, n items, S)."""
        return TIE_TOLERANCE * np.abs(self.score(statistics.sum(axis=1, dtype=np.float64)))

    def signed(self, signature: str) -> Self:
        """The same metric, of statistics that were counted as the signature says."""
        other = copy(self)
        object.__setattr__(other, "signature", signature)
        return other

    @property
    def is_proportion(self) -> bool:
        """Whether the score is a ratio of two plain sums of statistics: so many of so many."""
        return False

    @property
    def counts_texts(self) -> bool:
        """Whether items may be texts or labels, which `text_counter` counts."""
        return type(self).text_counter is not Metric.text_counter

    @property
    def words(self) -> Words:
        """What `text_counter` always takes for words; "" where a tokenizer tells, or words do not count."""
        return ""

    def text_counter(
        self, references: Sequence[Sequence[str]], *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter | None:
        """What counts statistics of texts, or labels, against one or several references of each item.

        None where the metric is not of texts.
        """
        return None

    def check(self, statistics: Array) -> None:
        """Raise a BrokenRule where statistics of shape (K systems, n items, S) break the metric's own rules."""

    def check_named(self, statistics: Array, systems: Sequence[str], items: Sequence[str]) -> None:
        """Raise a ValueError that names the first system and item whose statistics break the metric's own rules.

        Examples
        --------
        >>> from simstudy.metrics import METRICS
        >>> METRICS["mean"].check_named(np.array([[[1, 1]], [[3, 0]]]), ["old", "new"], ["q"])
        Traceback (most recent call last):
        ValueError: statistics for metric 'mean' must have sum = 0 where count is 0, unlike sum = 3, count = 0 of \
system 'new', item 'q'
        """
        try:
            self.check(statistics)
        except BrokenRule as broken:
            at = statistics[broken.system, broken.item]
            found = ", ".join(f"{name} = {value:g}" for name, value in zip(self.statistics, at, strict=True))
            place = f"system '{systems[broken.system]}', item '{items[broken.item]}'"
            raise ValueError(f"{broken.problem}, unlike {found} of {place}") from None

    def check_scores(self, sums: Array, systems: Sequence[str]) -> None:
        """Raise a ValueError that names a system whose sums (K systems, S) have no score that could be compared."""

    def check_shared(self, statistics: Array, systems: Sequence[str], items: Sequence[str]) -> None:
        """Raise a ValueError that names the first item of which systems have unlike `shared` statistics (K, n, S).

        Examples
        --------
        >>> from simstudy.metrics import METRICS
        >>> METRICS["f1"].check_shared(np.array([[[1, 1, 2]], [[1, 2, 3]]]), ["a", "b"], ["q"])
        Traceback (most recent call last):
        ValueError: statistics for metric 'f1' must have one 'gold' of each item, but item 'q' has 2 by 'a' and 3 by 'b'
        """
        for name in self.shared:
            values = statistics[..., self.statistics.index(name)]
            unlike = values != values[:1]
            if unlike.any():
                item = int(np.argmax(unlike.any(axis=0)))
                system = int(np.argmax(unlike[:, item]))
                first, other = values[0, item], values[system, item]
                raise ValueError(
                    f"statistics for metric '{self.name}' must have one '{name}' of each item, but item "
                    f"'{items[item]}' has {first:g} by '{systems[0]}' and {other:g} by '{systems[system]}'"
                )

    def _require(self, holds: Array, rule: str) -> None:
        """Raise a BrokenRule for the first (system, item) at which a rule, of shape (K, n), does not hold."""
        if not holds.all():
            system, item = np.argwhere(~holds)[0].tolist()
            raise BrokenRule(self.name, rule, system, item)


@dataclass(frozen=True)
class Ratio(Metric):
    """A metric that is a ratio of two integer combinations of the summed statistics.

    Accuracy, precision, recall, F-measures and attachment scores are of this form. The engines use it
    twice: they resample two columns a system instead of S, and they judge ties exactly, by integer arithmetic.

    Attributes
    ----------
    numerator, denominator
        S integer weights each. The score is ``scale * (numerator . sums) / (denominator . sums)``, and 0
        where the denominator is 0.
    """

    numerator: tuple[int, ...] = ()
    denominator: tuple[int, ...] = ()
    scale: float = field(default=100.0, kw_only=True)

    def score(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums)
        below = np.asarray(combine(sums, self.denominator), dtype=np.float64)
        above = np.asarray(combine(sums, self.numerator), dtype=np.float64)
        # One rounding in the quotient and one in the scale: equal fractions give equal scores.
        return self.scale * np.divide(above, below, out=np.zeros_like(below), where=below != 0)

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        return np.asarray(combine(np.asarray(sums), self.denominator) != 0)

    @property
    def is_proportion(self) -> bool:
        return {*self.numerator, *self.denominator} <= {0, 1}

    def ratio(self, statistics: Array) -> tuple[Array, Array]:
        return combine(statistics, self.numerator), combine(statistics, self.denominator)

    def tie_tolerance(self, statistics: Array) -> FloatArray:
        """0 for ratios of whole numbers.

        Decimals have no exact binary form, so equal means of decimals may differ in their last bits. What is lost is
        a part of the sizes that were added, not of the sum, which may be near 0.

        Examples
        --------
        >>> from simstudy.metrics import METRICS
        >>> METRICS["mean"].tie_tolerance(np.array([[[0.1, 1], [-0.3, 1]], [[0.5, 1], [0.5, 1]]])).tolist()
        [2e-13, 5e-13]
        """
        if whole(statistics):
            return np.zeros(len(statistics))
        above, below = self.ratio(statistics)
        of = np.abs(below.sum(axis=1))
        return np.asarray(TIE_TOLERANCE * self.scale * np.abs(above).sum(axis=1) / np.where(of > 0, of, 1))


def combine(statistics: Array, weights: tuple[int, ...]) -> Array:
    """Weighted sum over the last axis, (..., S) -> (...), in the statistics' own kind of number."""
    kind = np.int64 if statistics.dtype.kind in "iu" else np.float64
    total: Array = np.zeros(statistics.shape[:-1], dtype=kind)
    for s, weight in enumerate(weights):
        if weight:
            total += weight * statistics[..., s].astype(kind, copy=False)
    return total


def item_deviations(above: Array, below: Array) -> FloatArray:
    """How far numerators (K, n) are from what each system's ratio makes expect of denominators (n,) that all share.

    Long sentences have many right words and many wrong ones: it is what is more or less than the share that varies,
    and that systems have in common or not. With equal denominators this is a numerator less the mean.

    Examples
    --------
    >>> item_deviations(np.array([[1, 4]]), np.array([2, 8])).tolist()
    [[0.0, 0.0]]
    """
    total = below.sum()
    share = above.sum(axis=1, keepdims=True) / (total or 1)
    return np.asarray(above - share * below, dtype=np.float64)


def whole(statistics: Array) -> bool:
    """Whether statistics (K, n, S) are whole numbers that add up exactly, in whatever type they come."""
    if statistics.dtype.kind in "iu":
        return True
    return bool(np.abs(statistics).max() < 2**53 / statistics.shape[1] and (statistics == np.rint(statistics)).all())
