"""Systems whose true scores are known: what every such model says and draws, and the model of item scores."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, Self

import numpy as np
import pandas as pd
from scipy import special

from simstudy.metrics import get_metric
from simstudy.metrics.base import Array, FloatArray, IntArray, Metric
from simstudy.outputs import Outputs
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.dependence import Dependence, GaussianCopula, Independent, inside
from simstudy.truth.margins import Bernoulli, Margin, check_one
from simstudy.validation import (
    InputError,
    check_choice,
    check_flag,
    check_number,
    check_seed,
    check_text,
    check_texts,
    check_unique,
    check_whole,
)

#: What two systems of gain 0 have alike: their margins (the shape too), or their means only.
Null = Literal["equal margins", "equal means"]
NULLS: tuple[Null, ...] = ("equal margins", "equal means")

# Items that are drawn at once. It is part of what a seed means.
_BLOCK = 4096


@dataclass(frozen=True)
class ItemClusters(FieldsMixin):
    """How items come in clusters whose results resemble each other.

    A system's latent score of an item is sqrt(correlation) c + sqrt(crossed) f + sqrt(1 - correlation - crossed) e: c
    is the cluster's, f that of the item's place in its cluster, and e the item's. All are normal. So margins stay
    exactly what they are, and the latent scores of a system on two items of a cluster correlate by `correlation`.

    Parameters
    ----------
    correlation
        The latent intra-cluster correlation, from 0 to 1.
    size
        Items of a cluster, or their mean where they vary, or the sizes of clusters one after the other, from the first
        again when all have been taken.
    varying
        Whether sizes are geometric.
    effects
        What systems have in common in c and in f; by default what they have in common on an item. `Independent()`:
        clusters suit single systems; a `GaussianCopula` of large correlation: they are hard for all alike.
    crossed
        The latent correlation of a system's results on two items at the same place of their clusters, from 0 to
        1 - correlation: clusters are questions, and places are the prompts, raters or samples that are the same for
        all questions. Clusters are then all of one size.

    Examples
    --------
    >>> ItemClusters(0.2, (3, 1, 2)).sizes(5, 2, np.random.default_rng(0)).tolist()
    [2, 3, 1, 2, 3]
    """

    correlation: float
    size: int | tuple[int, ...]
    varying: bool = False
    effects: Dependence | None = None
    crossed: float = 0.0

    def __post_init__(self) -> None:
        check_one("correlation", self.correlation, 0, 1)
        check_flag("varying", self.varying)
        if isinstance(self.size, tuple | list):
            object.__setattr__(self, "size", tuple(self.size))
            if not self.size or self.varying:
                rule = "must be one whole number if varying is True, else a number or a list that is not empty"
                raise InputError("size", rule)
        for size in self._sizes:
            check_whole("size", size, 1)
        if self.effects is not None and not isinstance(self.effects, Dependence):
            raise InputError("effects", "must be a Dependence, such as Independent(), or None", self.effects)
        check_one("crossed", self.crossed, 0, 1)
        if self.crossed > 1 - self.correlation + 1e-12:
            raise InputError("crossed", f"must be at most 1 - correlation, {1 - self.correlation:g}", self.crossed)
        if self.crossed and (self.varying or len(set(self._sizes)) > 1):
            raise InputError("size", "must be one number where places in clusters are crossed with them", self.size)

    @property
    def _sizes(self) -> tuple[int, ...]:
        return self.size if isinstance(self.size, tuple) else (self.size,)

    @property
    def mean_size(self) -> float:
        """Items of a cluster, on average."""
        return float(np.mean(self._sizes))

    def sizes(self, n_clusters: int, first: int, rng: np.random.Generator) -> IntArray:
        """The sizes of so many clusters, the first of which has this number."""
        if self.varying:
            return rng.geometric(1 / self._sizes[0], n_clusters)
        return np.array(self._sizes)[(first + np.arange(n_clusters)) % len(self._sizes)]

    def places(self, dependence: Dependence, n_sets: int, n_systems: int, rng: np.random.Generator) -> FloatArray:
        """The effects of places in clusters (test sets, places, K); no places where they have none."""
        n_places = self._sizes[0] if self.crossed else 0
        return (self.effects or dependence).normals(n_sets * n_places, n_systems, rng).reshape(n_sets, -1, n_systems)

    def uniforms(
        self, dependence: Dependence, sizes: IntArray, places: FloatArray, n_systems: int, rng: np.random.Generator
    ) -> FloatArray:
        """Uniform numbers (items, K) of clusters of these sizes, those of each test set of `places` after the other."""
        clusters = (self.effects or dependence).normals(sizes.size, n_systems, rng)
        items = dependence.normals(int(sizes.sum()), n_systems, rng)
        rest = max(1 - self.correlation - self.crossed, 0)
        latent = np.sqrt(self.correlation) * np.repeat(clusters, sizes, axis=0) + np.sqrt(rest) * items
        if self.crossed:
            n_sets, n_places, _ = places.shape
            by_cluster = latent.reshape(n_sets, -1, n_places, n_systems)
            latent = (by_cluster + np.sqrt(self.crossed) * places[:, None]).reshape(items.shape)
        return inside(special.ndtr(latent))


@dataclass(frozen=True)
class Drawn(FieldsMixin):
    """M test sets: statistics (M, K systems, items, S).

    `starts` are the positions (n,) of the first item of each cluster, the same in all test sets; None where items are
    independent.
    """

    statistics: Array
    starts: IntArray | None = None

    def by(self, unit: str) -> Array:
        """Statistics (M, K, units, S), by "item" or by "cluster"."""
        if unit == "item" or self.starts is None:
            return self.statistics
        # Sums of small whole numbers may be beyond their kind.
        wide = self.statistics.astype(np.int64 if self.statistics.dtype.kind in "iu" else np.float64)
        return np.asarray(np.add.reduceat(wide, self.starts, axis=2))


class KnownTruth(FieldsMixin, ABC):
    """K systems whose true scores are known exactly, on as many items as one likes.

    A model of one's own has a `metric` and `n_systems`, `scores` and `statistics`.

    Attributes
    ----------
    metric
        What the systems are scored by.
    names, families
        K each.
    dependence
        What systems have in common on an item.
    clusters
        How items come in clusters; None: they are independent.

    Examples
    --------
    >>> class Coins(KnownTruth):
    ...     metric, n_systems = get_metric("accuracy"), 2
    ...     def scores(self):
    ...         return np.array([50.0, 50.0])
    ...     def statistics(self, uniforms, rng):
    ...         right = (uniforms.T < 0.5).astype(int)
    ...         return np.stack([right, np.ones_like(right)], axis=-1)
    >>> Coins().draw(3, 8, np.random.default_rng(0)).statistics.shape, Coins().outputs(20).n_items
    ((3, 2, 8, 2), 20)
    """

    metric: Metric
    names: Sequence[str]
    families: Sequence[str]
    dependence: Dependence = Independent()
    clusters: ItemClusters | None = None

    @property
    @abstractmethod
    def n_systems(self) -> int:
        """K."""

    @abstractmethod
    def scores(self) -> FloatArray:
        """The systems' true scores (K,), on the metric's scale: those of the whole population."""

    @abstractmethod
    def statistics(self, uniforms: FloatArray, rng: np.random.Generator) -> Array:
        """Statistics (K, n, S) of items with these uniform numbers (n, K)."""

    @property
    def alike(self) -> bool:
        """Whether all systems have one margin: parameters that each has one of are the same for all."""
        of_each = [value for value in vars(self).values() if np.ndim(value) == 1 and len(value) == self.n_systems]
        return all(one == value[0] for value in of_each for one in value)

    @property
    def units(self) -> tuple[str, ...]:
        """What tests may take as units, the independent ones first."""
        return ("item",) if self.clusters is None else ("cluster", "item")

    @property
    def exchangeable(self) -> bool:
        """Whether systems' results on an independent unit may be swapped and nothing changes in law.

        That is the null hypothesis of randomization.
        """
        return self.alike and self.dependence.exchangeable and self._effects.exchangeable

    @property
    def independent(self) -> bool:
        """Whether the systems' results are known to be independent of each other."""
        return False

    @property
    def _named(self) -> list[str]:
        return list(getattr(self, "names", _numbered(self.n_systems)))

    @property
    def _effects(self) -> Dependence:
        """What systems have in common in a cluster."""
        clusters = self.clusters
        if clusters is None or clusters.effects is None or clusters.correlation + clusters.crossed == 0:
            return self.dependence
        return clusters.effects

    @property
    def true_gain(self) -> float:
        """By how much the first system is better than the second, on the metric's scale."""
        first, second = self.scores()[:2]
        return float(self.metric.sign * (first - second))

    def rank_correlation(self) -> FloatArray:
        """Kendall's tau (K, K) of the systems' latent scores on an item.

        With clusters it is NaN unless what systems have in common is Gaussian: sums of other copulas have no formula.
        """
        k, clusters = self.n_systems, self.clusters
        if clusters is None:
            return self.dependence.rank_correlation(k)
        both = (self.dependence, self._effects)
        if not all(type(part) in (Independent, GaussianCopula) for part in both):
            return np.full((k, k), np.nan)
        of_items, of_clusters = (part.matrix(k) if isinstance(part, GaussianCopula) else np.eye(k) for part in both)
        weight = clusters.correlation + clusters.crossed
        return GaussianCopula(weight * of_clusters + (1 - weight) * of_items).rank_correlation(k)

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        """Test sets of n independent units each: items or, where items have clusters, clusters."""
        if self.clusters is None:
            sizes, starts = np.ones(n_units, dtype=np.int64), None
        else:
            sizes = self.clusters.sizes(n_units, 0, rng)
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        statistics = self._items(np.tile(sizes, n_sets), self._places(n_sets, rng), rng)
        by_set = statistics.reshape(self.n_systems, n_sets, -1, statistics.shape[-1])
        return Drawn(by_set.swapaxes(0, 1), starts)

    def _places(self, n_sets: int, rng: np.random.Generator) -> FloatArray:
        """The effects of places in clusters (test sets, places, K)."""
        if self.clusters is None:
            return np.empty((n_sets, 0, self.n_systems))
        return self.clusters.places(self.dependence, n_sets, self.n_systems, rng)

    def _items(self, sizes: IntArray, places: FloatArray, rng: np.random.Generator) -> Array:
        """Statistics (K, items, S) of units of these sizes."""
        if self.clusters is None:
            uniforms = self.dependence.uniforms(sizes.size, self.n_systems, rng)
        else:
            uniforms = self.clusters.uniforms(self.dependence, sizes, places, self.n_systems, rng)
        return self.statistics(uniforms, rng)

    def outputs(self, n_items: int, *, seed: int = 0, test_set: str = "synthetic") -> Outputs:
        """A test set of n items.

        Parameters
        ----------
        n_items
            At least 1. A longer test set with the same seed begins with a shorter one, whose last cluster may be cut
            short.
        seed
            0 … 2^64 - 1.
        test_set
            Its name.

        Returns
        -------
        outputs
            Systems have ``source`` "synthetic" and ``true_score``; items have ``cluster`` where there are clusters.

        Raises
        ------
        ValueError
            For an argument outside its rule.
        """
        check_whole("n_items", n_items, 1)
        check_seed(seed)
        check_text("test_set", test_set)
        clusters = self.clusters
        at_once = max(1, int(_BLOCK / (1 if clusters is None else clusters.mean_size)))
        places = self._places(1, generator(seed, 0, purpose=2))
        parts: list[Array] = []
        sizes: list[IntArray] = []
        while sum(part.shape[1] for part in parts) < n_items:
            rng, first = generator(seed, len(parts)), at_once * len(parts)
            units = np.ones(at_once, dtype=np.int64)
            sizes.append(units if clusters is None else clusters.sizes(at_once, first, rng))
            parts.append(self._items(sizes[-1], places, rng))
        items = pd.DataFrame({"id": [str(i) for i in range(n_items)]})
        if clusters is not None:
            labels = np.repeat(np.arange(at_once * len(parts)), np.concatenate(sizes))[:n_items]
            items["cluster"] = [f"cluster-{label + 1}" for label in labels]
        columns = {"name": self._named, "family": list(getattr(self, "families", self._named)), "source": "synthetic"}
        systems = pd.DataFrame(columns).assign(true_score=self.scores())
        statistics = np.concatenate(parts, axis=1)[:, :n_items]
        return Outputs.from_statistics(statistics, self.metric, systems, items, task="synthetic", test_set=test_set)

    def with_gain(self, gain: float, *, null: Null = "equal margins", systems: tuple[int, int] = (0, 1)) -> Self:
        """The same model, in which the first of two systems is better than the second by exactly this much.

        The second system stays as it is. Where gain is 0 this is one of two null hypotheses. With "equal margins" a
        system's results may be swapped for the other's and nothing changes in law, if their dependence is
        `exchangeable`: what a randomization test asks for. With "equal means" the expected gain is 0 and that is all.

        Parameters
        ----------
        gain
            On the metric's scale: in points for what is told in percent (4 of "accuracy" is 0.04 of the items), in the
            scores' own units for "mean", "ap" and the like. Where less is better, how much lower the first one's score
            is.
        null
            "equal margins": the first system gets the second one's margin, moved to the mean that makes this gain (see
            the margin's `with_mean`). "equal means": it keeps its own margin, moved likewise. A `CorpusModel` moves a
            law by mixing it with that of its best or its worst source, `Responses` moves recall.
        systems
            Positions of the first and the second, from 0.

        Raises
        ------
        ValueError
            For a gain that the metric, the margin or the sources do not allow: the message has the range.

        Examples
        --------
        >>> ScoreModel([Bernoulli(0.5), Bernoulli(0.75)], metric="accuracy").with_gain(30)
        Traceback (most recent call last):
        simstudy.validation.InputError: gain must be from -75 to 25, as the true score of 'system-2' is 75, not 30
        """
        check_choice("null", null, NULLS)
        check_number("gain", gain)
        one, other = self._two(systems)
        return self._moved(one, other, self.metric.sign * gain, null)

    def _moved(self, one: int, other: int, gain: float, null: Null) -> Self:
        """The model of `with_gain`: the first system's score is the second's plus `gain`."""
        raise InputError(f"{type(self).__name__} has the gain that its parameters make")

    def _two(self, systems: tuple[int, int]) -> list[int]:
        """Positions of two systems, checked."""
        for k in systems:
            check_whole("systems", k, 0)
            if k >= self.n_systems:
                raise InputError("systems", f"must be below {self.n_systems}, as there are so many", k)
        one, other = systems
        if one == other:
            raise InputError("systems", f"must be two, not {one} twice")
        return [one, other]

    def _refusal(self, other: int, gain: float, low: float, high: float, sources: str = "") -> InputError:
        """The error of a gain (first system's score less the second's) that does not lie from low to high."""
        if not self.metric.higher_is_better:
            gain, low, high = -gain, -high, -low
        because = f"the true score of '{self._named[other]}' is {self.scores()[other]:.6g}{sources}"
        return InputError("gain", f"must be from {low:.6g} to {high:.6g}, as {because}", gain)


def generator(seed: int, number: int, *, purpose: int = 0) -> np.random.Generator:
    """The random numbers of block `number`: no two seeds up to 2^64 share those of any block below 2^32."""
    return np.random.default_rng([seed % 2**32, number, purpose, seed >> 32])


@dataclass(frozen=True, eq=False, init=False)
class ScoreModel(KnownTruth):
    """K systems with one score an item, of any margins, any dependence and any clusters.

    Parameters
    ----------
    margins
        K.
    dependence
        What systems have in common on an item: none, where it is not said.
    clusters
        How items come in clusters; None: they are independent.
    metric
        "accuracy" (scores from 0 to 1, told in percent), "mean", "ap" or another of one score an item, by name or
        itself.
    names, families
        K each; by default system-1 … system-K, each its own family.

    Raises
    ------
    ValueError
        For no margins, or with scores that the metric does not allow, a dependence of another number of systems, and
        names that are not K or occur twice.

    Examples
    --------
    >>> from simstudy.truth import Beta, Clayton
    >>> model = ScoreModel([Beta(0.3, 2), Beta(0.3, 8)], Clayton(2), metric="ap").with_gain(0.02, null="equal means")
    >>> model.scores().tolist(), model.outputs(50).n_items, model.draw(3, 50, np.random.default_rng(0)).statistics.shape
    ([0.32, 0.3], 50, (3, 2, 50, 2))
    """

    margins: tuple[Margin, ...]
    dependence: Dependence
    clusters: ItemClusters | None
    metric: Metric
    names: Sequence[str]
    families: Sequence[str]

    def __init__(
        self,
        margins: Sequence[Margin],
        dependence: Dependence | None = None,
        clusters: ItemClusters | None = None,
        *,
        metric: object = "mean",
        names: Sequence[str] | None = None,
        families: Sequence[str] | None = None,
    ) -> None:
        given = tuple(margins) if isinstance(margins, Sequence) else ()
        if not given or not all(isinstance(margin, Margin) for margin in given):
            rule = "must be a list of margins, one of each system, such as [Bernoulli(0.8), Bernoulli(0.75)]"
            raise InputError("margins", rule, margins)
        dependence = Independent() if dependence is None else dependence
        if not isinstance(dependence, Dependence):
            raise InputError("dependence", "must be a Dependence, such as GaussianCopula(0.5)", dependence)
        if clusters is not None and not isinstance(clusters, ItemClusters):
            raise InputError("clusters", "must be ItemClusters, or None", clusters)
        dependence.check_systems(len(given))
        if clusters is not None and clusters.effects is not None:
            clusters.effects.check_systems(len(given))
        scored = get_metric(metric)  # type: ignore[arg-type]
        if scored.item_range is None or len(scored.statistics) != 2:
            rule = f"must take one score of an item, as 'mean' and 'accuracy' do, unlike '{scored.name}'"
            raise InputError("metric", rule)
        low, high = scored.item_range
        named = _numbered(len(given)) if names is None else _names("names", names, len(given))
        check_unique(pd.Series(named, dtype=object), "names")
        for margin, name in zip(given, named, strict=True):
            if margin.support[0] < low or margin.support[1] > high:
                like = f"as metric '{scored.name}' does, unlike {margin!r} of system '{name}'"
                raise InputError("margins", f"must have scores from {low:g} to {high:g}, {like}")
        fields = {
            "margins": given, "dependence": dependence, "clusters": clusters, "metric": scored, "names": named,
            "families": named if families is None else _names("families", families, len(given)),
        }  # fmt: skip
        for field, value in fields.items():
            object.__setattr__(self, field, value)

    @property
    def n_systems(self) -> int:
        return len(self.margins)

    @property
    def alike(self) -> bool:
        return all(margin == self.margins[0] for margin in self.margins)

    @property
    def independent(self) -> bool:
        return isinstance(self.dependence, Independent) and isinstance(self._effects, Independent)

    def scores(self) -> FloatArray:
        return self.metric.scale * np.array([margin.mean for margin in self.margins])

    def statistics(self, uniforms: FloatArray, rng: np.random.Generator) -> Array:
        scores = np.stack([margin.quantile(u) for margin, u in zip(self.margins, uniforms.T, strict=True)])
        if all(isinstance(margin, Bernoulli) for margin in self.margins):
            scores = scores.astype(np.int8)
        return np.stack([scores, np.ones_like(scores)], axis=-1)

    def _moved(self, one: int, other: int, gain: float, null: Null) -> Self:
        second = self.margins[other]
        changed = second if null == "equal margins" else self.margins[one]
        try:
            same = null == "equal margins" and gain == 0
            moved = second if same else changed.with_mean(second.mean + gain / self.metric.scale)
        except InputError:
            low, high = (self.metric.scale * (end - second.mean) for end in changed.support)
            raise self._refusal(other, gain, low, high) from None
        return replace(self, margins=tuple(moved if k == one else margin for k, margin in enumerate(self.margins)))


def _numbered(n: int) -> list[str]:
    return [f"system-{k + 1}" for k in range(n)]


def _names(argument: str, given: Sequence[str], n: int) -> list[str]:
    check_texts(argument, given, "names")
    if len(given) != n:
        raise InputError(argument, f"must have {n} names, one of each system", len(given))
    return list(given)
