"""Models of metrics that are no means of scores: counts of answers, and whole vectors of real statistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Self

import numpy as np
import scipy
from scipy import stats

from simstudy.metrics import METRICS
from simstudy.metrics.base import Array, FloatArray, IntArray, Metric, Ratio
from simstudy.metrics.influence import contributions
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.dependence import Dependence, Independent
from simstudy.truth.margins import check_one
from simstudy.truth.models import ItemClusters, KnownTruth, Null
from simstudy.validation import InputError, number_list

# Items that are alike where a metric does not ask for more: so many of neighbouring size.
_ALIKE = 25


@dataclass(frozen=True, eq=False)
class Responses(KnownTruth):
    """Correct, guessed and gold responses (F1) in documents; the systems share what is to be found, and how hard it is.

    A document has Poisson(gold) responses to find. In half of the documents each is found with probability
    recall + swing, in the others with recall - swing; for each there are Poisson(recall (1 / precision - 1)) spurious
    guesses. How many are found has the dependence beside that.

    Attributes
    ----------
    recall, precision
        True ones of the K systems, fractions.
    gold
        Mean number of responses to find in a document.
    swing
        At most each recall, and at most 1 - recall.

    Examples
    --------
    >>> Responses(recall=(0.6, 0.9), precision=(0.9, 0.6)).scores().round(9).tolist()
    [72.0, 72.0]
    """

    recall: Sequence[float]
    precision: Sequence[float]
    gold: float = 3.0
    swing: float = 0.1
    dependence: Dependence = Independent()
    clusters: ItemClusters | None = None
    metric: Metric = field(default=METRICS["f1"], init=False, repr=False)

    def __post_init__(self) -> None:
        for name in ("recall", "precision"):
            shares = number_list(name, getattr(self, name))
            if not ((shares >= 0) & (shares <= 1)).all() or shares.size != len(self.recall) or shares.size == 0:
                raise InputError(name, "must be fractions from 0 to 1, one of each system", getattr(self, name))
            object.__setattr__(self, name, tuple(shares.tolist()))
        if min(self.precision) == 0:
            raise InputError("precision", "must be above 0", self.precision)
        check_one("gold", self.gold, 0)
        check_one("swing", self.swing, 0, 1)
        # The chance to be found must be one in both kinds of documents.
        most = min(*self.recall, *(1 - share for share in self.recall))
        if self.swing > most + 1e-12:
            raise InputError("swing", f"must be at most {most:g} for recall {self.recall}", self.swing)
        self.dependence.check_systems(self.n_systems)

    @property
    def n_systems(self) -> int:
        return len(self.recall)

    def scores(self) -> FloatArray:
        recall, precision = np.array(self.recall), np.array(self.precision)
        return np.asarray(200 * precision * recall / (precision + recall))

    def statistics(self, uniforms: FloatArray, rng: np.random.Generator) -> Array:
        gold = rng.poisson(self.gold, len(uniforms))
        easy = rng.integers(2, size=gold.size)
        drawn = np.zeros((self.n_systems, gold.size, 3), dtype=np.int64)
        most = int(gold.max(initial=0))
        for k, (recall, precision) in enumerate(zip(self.recall, self.precision, strict=True)):
            chances = np.clip([recall - self.swing, recall + self.swing], 0, 1)
            for fewer in range(most):
                # P(at most so many of the gold responses): the quantile is how many of these are below the number.
                at_most = np.asarray(stats.binom.cdf(fewer, np.arange(most + 1)[:, None], chances))
                drawn[k, :, 0] += uniforms[:, k] > at_most[gold, easy]
            drawn[k, :, 1] = drawn[k, :, 0] + rng.poisson(gold * recall * (1 / precision - 1))
        drawn[..., 2] = gold
        return drawn

    def _moved(self, one: int, other: int, gain: float, null: Null) -> Self:
        precision = list(self.precision)
        if null == "equal margins":
            precision[one] = precision[other]
        ends = 200 * precision[one] * np.array([self.swing, 1 - self.swing])
        low, high = ends / (precision[one] + np.array([self.swing, 1 - self.swing])) - self.scores()[other]
        if not low - 1e-9 <= gain <= high + 1e-9:
            raise self._refusal(other, gain, float(low), float(high))
        score = (self.scores()[other] + gain) / 100
        recall = list(self.recall)
        same = gain == 0 and precision[one] == precision[other]
        recall[one] = recall[other] if same else float(precision[one] * score / (2 * precision[one] - score))
        return replace(self, recall=recall, precision=precision)


@dataclass(frozen=True, eq=False)
class Pool(FieldsMixin):
    """What J real systems did on N items: statistics (J, N, S).

    `alike` are numbers (N,) from 0, the same for items that are alike (see `like_items`). `order` are positions (J, N)
    of items: group by group, in each from the system's worst item to its best.
    """

    statistics: Array
    alike: IntArray
    order: IntArray

    @classmethod
    def of(cls, statistics: Array, metric: Metric) -> Self:
        """Of real statistics (J, N, S)."""
        alike = like_items(statistics, metric)
        # Ties are broken at random, by another permutation for each system: what ties is no more alike than that.
        rng = np.random.default_rng(0)
        order = [np.lexsort((rng.permutation(own.size), own, alike)) for own in item_scores(statistics, metric)]
        return cls(statistics, alike, np.array(order))


def item_scores(statistics: Array, metric: Metric) -> FloatArray:
    """What ranks a system's items (J, N): how much each adds to its score; more is better or worse, as of the metric.

    Of a ratio of sums, how far the numerator is from what the score makes expect of the denominator; of any other
    metric the item's part by the jackknife.
    """
    if isinstance(metric, Ratio):
        above, below = metric.ratio(statistics)
        totals = below.sum(axis=1, keepdims=True, dtype=np.float64)
        scores = above - above.sum(axis=1, keepdims=True) / np.where(totals != 0, totals, 1.0) * below
    else:
        scores = contributions(statistics, metric)
    # Equal items are to be equal whatever their sums' last bits are.
    return np.asarray(np.round(scores / (np.abs(scores).max() or 1.0), 12))


def like_items(statistics: Array, metric: Metric) -> IntArray:
    """Numbers (N,) from 0, the same for items that may stand for each other.

    Where a metric has statistics that all systems share on an item (the gold count, the words of a sentence), items
    are alike that have the same of them. Else those are that have neighbouring sums of what belongs to the item (the
    reference's length): 25 or more, ties together. A metric without any such statistic has one kind of items.
    """
    names = list(metric.statistics)
    if metric.shared:
        shared = statistics[0][:, [names.index(name) for name in metric.shared]]
        return np.asarray(np.unique(shared, axis=0, return_inverse=True)[1].reshape(-1), dtype=np.int64)
    n = statistics.shape[1]
    if not metric.of_item:
        return np.zeros(n, dtype=np.int64)
    size = statistics[..., [names.index(name) for name in metric.of_item]].mean(axis=0).sum(axis=-1)
    _, inverse, counts = np.unique(np.round(size, 9), return_inverse=True, return_counts=True)
    kinds, held, kind = np.zeros(counts.size, dtype=np.int64), 0, 0
    for value, count in enumerate(counts):
        kinds[value] = kind
        held += int(count)
        if held >= _ALIKE:
            held, kind = 0, kind + 1
    if held and kind:
        # What is left at the end belongs to the kind before.
        kinds[kinds == kind] = kind - 1
    return kinds[inverse.reshape(-1)]


@dataclass(frozen=True, eq=False, kw_only=True)
class CorpusModel(KnownTruth):
    """K systems whose items have vectors of statistics of real systems; `fit` makes them.

    An item is of the kind of a real one, drawn at random. A system's latent uniform number u then takes, of the m items
    of that kind, the one of rank m u (from the worst) by the source system, with all its statistics: so whatever rule
    statistics obey holds, and the item's shared statistics are those of all systems. Each system's source is a real
    one, or a mixture: drawn anew for each item. The population is the real test set, and the true score of a system
    that of sums of its source's statistics, weighted; exactly.

    Attributes
    ----------
    pool
        Of J real systems.
    weights
        (K, J), 1 in sum in each row.
    """

    pool: Pool
    weights: FloatArray
    metric: Metric
    names: Sequence[str]
    families: Sequence[str]
    dependence: Dependence = Independent()
    clusters: ItemClusters | None = None

    @property
    def _sums(self) -> FloatArray:
        return np.asarray(self.pool.statistics.sum(axis=1, dtype=np.float64))

    @property
    def n_systems(self) -> int:
        return len(self.weights)

    @property
    def alike(self) -> bool:
        return bool((self.weights == self.weights[0]).all())

    def scores(self) -> FloatArray:
        return self.metric.score(self.weights @ self._sums)

    def statistics(self, uniforms: FloatArray, rng: np.random.Generator) -> Array:
        pool, n = self.pool, len(uniforms)
        counts = np.bincount(pool.alike)
        starts = np.cumsum(counts) - counts
        kinds = pool.alike[rng.integers(pool.alike.size, size=n)]
        chosen = rng.random((n, self.n_systems))
        drawn = np.empty((self.n_systems, n, pool.statistics.shape[2]), dtype=pool.statistics.dtype)
        for k, u in enumerate(uniforms.T):
            rank = starts[kinds] + np.minimum((u * counts[kinds]).astype(np.int64), counts[kinds] - 1)
            sources = np.flatnonzero(self.weights[k])
            ends = np.cumsum(self.weights[k, sources])[:-1]
            source = sources[np.searchsorted(ends, chosen[:, k], side="right")]
            drawn[k] = pool.statistics[source, pool.order[source, rank]]
        return drawn

    def _moved(self, one: int, other: int, gain: float, null: Null) -> Self:
        true, of_sources = float(self.scores()[other]), self.metric.score(self._sums)
        low, high = float(of_sources.min() - true), float(of_sources.max() - true)
        if not low <= gain <= high:
            sources = f" and sources' are from {of_sources.min():.6g} to {of_sources.max():.6g}"
            raise self._refusal(other, gain, low, high, sources)
        target = true + gain
        start = self.weights[other if null == "equal margins" else one]
        begins = float(self.metric.score(start @ self._sums))
        end = np.zeros(start.size)
        end[int(of_sources.argmax() if begins < target else of_sources.argmin())] = 1.0

        def off(share: float) -> float:
            return float(self.metric.score(((1 - share) * start + share * end) @ self._sums)) - target

        share = 0.0 if begins == target else float(scipy.optimize.brentq(off, 0.0, 1.0, xtol=1e-15, rtol=8.9e-16))
        weights = self.weights.copy()
        weights[one] = (1 - share) * start + share * end
        return replace(self, weights=weights)
