"""What a metric is: names for its statistics, and a score of their sums. Most metrics are a `Ratio` of two sums."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import KW_ONLY, dataclass, field, fields
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError

Array = NDArray[Any]
FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]

#: Reference texts, or the label, of n items: one or several each.
References = Sequence[Sequence[str]]

#: The unit of scores. A gain of scores in percent is in points; "" is a scale of the metric's own.
Unit = Literal["percent", "points", "probability", ""]

#: What a metric of texts takes for words: runs of a-z and 0-9, or what stands between spaces.
Words = Literal["a-z0-9", "spaced", ""]

#: Scores that are not ratios of whole numbers tie when they differ by less than this part of their size.
TIE_TOLERANCE = 1e-9

# numpy adds rows of so few numbers several times more slowly than their columns.
_FEW_COLUMNS = 4


def widened(statistics: Array) -> Array:
    """Statistics as int64, or as float64 if they are decimals: numbers that add up without overflow."""
    return statistics.astype(_sum_type(statistics), copy=False)


def summed(statistics: Array) -> Array:
    """Sums (..., S) of statistics (..., n units, S) over the units, as int64 or float64."""
    kind = _sum_type(statistics)
    if kind is np.float64 or statistics.shape[-1] > _FEW_COLUMNS:
        # Decimals add up to other bits in another order.
        return np.asarray(statistics.sum(axis=-2, dtype=kind))
    return np.stack([column.sum(axis=-1, dtype=kind) for column in np.moveaxis(statistics, -1, 0)], axis=-1)


def _sum_type(statistics: Array) -> type[np.int64 | np.float64]:
    return np.int64 if statistics.dtype.kind in "iu" else np.float64


@dataclass(frozen=True)
class TextCounter(FieldsMixin):
    """Counts a metric's statistics of texts, against references of n items that are prepared once."""

    n_items: int
    count: Callable[[Sequence[str]], Array]
    #: How texts are counted (tokens, case, version), as ``key:value`` pairs between bars.
    signature: str = ""

    def statistics(self, hypotheses: Sequence[str]) -> Array:
        """Statistics (n, S) of one system's n texts; an InputError if there are not as many texts as items."""
        if len(hypotheses) != self.n_items:
            rule = f"must be {self.n_items} texts, one for each item with references"
            raise InputError("hypotheses", rule, len(hypotheses))
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
    #: Statistics of the item, not of a system's output (the gold count): an item without output has them too.
    of_item: tuple[str, ...] = ()
    #: Statistics that all systems share. Not the closest of several references, or the candidates that it accepts.
    shared: tuple[str, ...] = ()
    #: Rules of an item's statistics: ("correct", "guessed") stands for 0 <= correct <= guessed.
    ascending: tuple[tuple[str, ...], ...] = field(default=(), compare=False, repr=False)
    #: Its name in reports and figures; `name` if there is nothing better.
    label: str = field(default="", compare=False)
    unit: Unit = field(default="", compare=False)
    #: The least and the largest score of an item with a single score, over `scale`; None for other statistics.
    item_range: tuple[float, float] | None = None
    #: Whether statistics of 0 are the best that an item may have: a missing item cannot have them then.
    zero_is_best: bool = field(default=False, compare=False, repr=False)
    #: Whether the denominator counts what a system chose: precision.
    of_chosen: bool = field(default=False, compare=False)
    #: Whether `text_counter` compares texts: then case and blanks are the metric's own matter.
    of_texts: bool = False
    #: Whether `text_counter` has a choice of tokenizers.
    tokenizers: bool = False
    #: The words that `text_counter` counts; "" if the tokenizer decides, or words do not count.
    words: Words = field(default="", compare=False, repr=False)
    #: How the statistics were counted of texts (`TextCounter.signature`); empty for others.
    signature: str = field(default="", compare=False, repr=False)
    #: The factor of a ratio of sums: 100 for percent.
    scale: float = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.name)
        for argument, names in (("of_item", self.of_item), ("shared", self.shared)):
            if unknown := [name for name in names if name not in self.statistics]:
                listed = ", ".join(self.statistics)
                raise InputError(argument, f"of metric '{self.name}' must be among {listed}, unlike '{unknown[0]}'")

    @property
    def definition(self) -> str:
        """The fields in which metrics differ, as text: saved outputs know their metric by it."""
        values = ", ".join(f"{entry.name}={getattr(self, entry.name)!r}" for entry in fields(self) if entry.repr)
        return f"{type(self).__qualname__}({values})"

    @abstractmethod
    def score(self, sums: Array) -> FloatArray:
        """Turn summed statistics of shape (..., S) into scores of shape (...).

        Must be elementwise (no score may depend on its neighbours) and defined for every sum that can occur,
        an empty one included.
        """

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        """Whether summed statistics (..., S) have a score, rather than a 0 that stands for 0 / 0; shape (...)."""
        return np.ones(np.shape(sums)[:-1], dtype=np.bool_)

    @property
    def of_sums(self) -> bool:
        """Whether scores are of summed statistics; else `test_set_scores` alone scores."""
        return True

    def test_set_scores(self, statistics: Array) -> FloatArray:
        """Scores (K,) of statistics (K, n items, S)."""
        return self.score(summed(statistics))

    def with_statistics(self, names: Sequence[str]) -> Self:
        """The metric of this family with these statistics; itself if it is no family, or has no such member."""
        return self

    def ratio(self, statistics: Array) -> tuple[Array, Array] | None:
        """Numerators and denominators (...) of statistics (..., S); None if the score is no ratio of sums."""
        return None

    def tie_tolerance(self, statistics: Array) -> FloatArray:
        """Largest rounding error of each system's score, shape (K,), given statistics (K systems, n items, S)."""
        return TIE_TOLERANCE * np.abs(self.test_set_scores(statistics))

    def signed(self, signature: str) -> Self:
        """The same metric, with the signature of the statistics that were counted."""
        other = copy(self)
        object.__setattr__(other, "signature", signature)
        return other

    @property
    def sign(self) -> int:
        """1 if higher scores are better, else -1."""
        return 1 if self.higher_is_better else -1

    @property
    def is_proportion(self) -> bool:
        """Whether the score is a ratio of two plain sums of statistics, a share of a number."""
        return False

    @property
    def counts_texts(self) -> bool:
        """Whether items may be texts or labels, which `text_counter` counts."""
        return type(self).text_counter is not Metric.text_counter

    def text_counter(
        self, references: References, *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter | None:
        """A counter of texts or labels, given one or several references of each item; None if items are no texts."""
        return None

    def rules(self, statistics: Array) -> Iterator[tuple[Array, str]]:
        """Rules of statistics (K systems, n items, S): whether each item keeps it, shape (K, n), and its formula."""
        columns = dict(zip(self.statistics, np.moveaxis(statistics, -1, 0), strict=True))
        for chain in self.ascending:
            holds = columns[chain[0]] >= 0
            for low, high in pairwise(chain):
                holds &= columns[low] <= columns[high]
            yield holds, " <= ".join(["0", *chain])

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
        """Raise an InputError that names a system whose statistics (K, n, S) have no score to compare."""
        if self.zero_is_best:
            # The 0 of 0 / 0 would win.
            self.check_finite(statistics, np.where(self.defined(summed(statistics)), 0.0, np.nan), systems)

    def check_finite(self, statistics: Array, scores: FloatArray, systems: Sequence[str]) -> None:
        """Raise an InputError that names a system whose score (K,) is no finite number, and its constant statistics."""
        for system, rows, score in zip(systems, statistics, scores, strict=True):
            if not np.isfinite(score):
                columns = zip(self.statistics, rows.T, strict=True)
                constant = [
                    f"'{name}' is {values[0]:g} for every item" for name, values in columns if not np.ptp(values)
                ]
                why = f": {' and '.join(constant)}" if constant else ""
                rule = f"of metric '{self.name}' must be a finite number for the whole test set, not {score} as for"
                raise InputError("score", f"{rule} system '{system}'{why}")

    def check_shared(self, statistics: Array, systems: Sequence[str], items: Sequence[str]) -> None:
        """Raise an InputError that names the first item in whose `shared` statistics (K, n, S) systems differ."""
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


@dataclass(frozen=True, repr=False)
class Ratio(Metric):
    """A metric that is a ratio of two integer combinations of the summed statistics.

    Accuracy, precision, recall, F-measures and attachment scores are of this form. The engines use it
    twice: they resample two columns a system instead of S, and they judge ties exactly, by integer arithmetic.
    """

    #: S integer weights each. The score is ``scale * (numerator . sums) / (denominator . sums)``, and 0 if the
    #: denominator is 0.
    numerator: tuple[int, ...] = ()
    denominator: tuple[int, ...] = ()
    scale: float = field(default=100.0, kw_only=True)

    def score(self, sums: Array) -> FloatArray:
        above, below = (np.asarray(side, dtype=np.float64) for side in self.ratio(np.asarray(sums)))
        # One rounding in the quotient and one in the scale: equal fractions give equal scores.
        return self.scale * np.divide(above, below, out=np.zeros_like(below), where=below != 0)

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        return np.asarray(self.ratio(np.asarray(sums))[1] != 0)

    @property
    def is_proportion(self) -> bool:
        return {*self.numerator, *self.denominator} <= {0, 1}

    def ratio(self, statistics: Array) -> tuple[Array, Array]:
        return combine(statistics, self.numerator), combine(statistics, self.denominator)

    def tie_tolerance(self, statistics: Array) -> FloatArray:
        """0 for ratios of whole numbers.

        Decimals have no exact binary form, so equal means of decimals may differ in their last bits. The error is
        a part of the sizes that were added, not of the sum, which may be near 0.
        """
        if whole(statistics):
            return np.zeros(len(statistics))
        above, below = self.ratio(statistics)
        of = np.abs(below.sum(axis=1))
        return np.asarray(TIE_TOLERANCE * self.scale * np.abs(above).sum(axis=1) / np.where(of > 0, of, 1))


def combine(statistics: Array, weights: tuple[int, ...]) -> Array:
    """Weighted sum over the last axis, (..., S) -> (...), as int64 or float64."""
    total: Array = np.zeros(statistics.shape[:-1], dtype=_sum_type(statistics))
    for s, weight in enumerate(weights):
        if weight:
            total += weight * widened(statistics[..., s])
    return total


def item_deviations(above: Array, below: Array) -> FloatArray:
    """Numerators (K, n) less their expectations from each system's ratio and the shared denominators (n,).

    Long sentences have many right words and many wrong ones: what varies is the number above or below the system's
    share. With equal denominators this is a numerator less the mean.
    """
    total = below.sum()
    share = above.sum(axis=1, keepdims=True) / (total or 1)
    return np.asarray(above - share * below, dtype=np.float64)


def whole(statistics: Array) -> bool:
    """Whether statistics (K, n, S) are whole numbers that add up exactly, in whatever type they come."""
    if statistics.dtype.kind in "iu":
        return True
    return bool(np.abs(statistics).max() < 2**53 / statistics.shape[1] and (statistics == np.rint(statistics)).all())
