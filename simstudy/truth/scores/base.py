"""What models of K systems of known truth share: items in blocks, Outputs, and pairs of systems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count

import numpy as np
import pandas as pd

from simstudy.metrics import get_metric
from simstudy.metrics.base import Array, FloatArray, Metric
from simstudy.outputs import Outputs
from simstudy.truth.pair_base import Drawn, PairModel, Two
from simstudy.truth.scores.clusters import ItemClusters
from simstudy.truth.scores.dependence import Dependence, Independent
from simstudy.validation import check_seed, check_text, check_texts, check_unique, check_whole

# Items that are drawn at once. It is part of what a seed means.
_BLOCK = 4096


@dataclass(frozen=True)
class Block:
    """Items of a test set, one after the other.

    Attributes
    ----------
    statistics
        (K systems, items, S).
    clusters
        (items,) numbers of the items' clusters from 0, or None.
    """

    statistics: Array
    clusters: Array | None


@dataclass(frozen=True, eq=False)
class KnownTruth(ABC):
    """K systems whose true scores are known exactly, on as many items as one likes.

    Attributes
    ----------
    names, families
        K each.
    metric
        A metric, or its name in `simstudy.metrics.METRICS`.
    dependence
        What systems have in common on an item.
    clusters
        How items come in clusters; None: they are independent.
    """

    names: Sequence[str]
    families: Sequence[str]
    metric: Metric
    dependence: Dependence
    clusters: ItemClusters | None

    @property
    def n_systems(self) -> int:
        """K."""
        return len(self.names)

    @property
    @abstractmethod
    def alike(self) -> bool:
        """Whether all systems have one margin."""

    @abstractmethod
    def scores(self) -> FloatArray:
        """The systems' true scores (K,), on the metric's scale: those of the whole population."""

    @abstractmethod
    def statistics(self, uniforms: FloatArray, rng: np.random.Generator) -> Array:
        """Statistics (K, n, S) of items with these uniform numbers (n, K)."""

    def draw(self, sizes: Array | int, rng: np.random.Generator) -> Array:
        """Statistics (K, n, S) of n items, or of clusters of these sizes."""
        if isinstance(sizes, int):
            uniforms = self.dependence.uniforms(sizes, self.n_systems, rng)
        else:
            assert self.clusters is not None
            uniforms = self.clusters.uniforms(self.dependence, sizes, self.n_systems, rng)
        return self.statistics(uniforms, rng)

    def blocks(self, n_items: int, *, seed: int = 0) -> Iterator[Block]:
        """The test set of `outputs` in parts of some thousand items, of which one is in memory at a time.

        Examples
        --------
        >>> from simstudy.truth.scores import Bernoulli, ScoreModel
        >>> model = ScoreModel([Bernoulli(0.7), Bernoulli(0.6)], metric="accuracy")
        >>> sum(block.statistics.shape[1] for block in model.blocks(10_000))
        10000
        """
        check_whole("n_items", n_items, 1)
        check_seed(seed)
        if self.clusters is not None:
            self.clusters.check_items(n_items)
        done = n_clusters = 0
        for number in count():
            rng = np.random.default_rng([seed, number])
            labels = None
            if self.clusters is None:
                statistics = self.draw(_BLOCK, rng)
            else:
                sizes = self.clusters.sizes(max(1, int(_BLOCK / self.clusters.mean_size)), n_clusters, rng)
                statistics = self.draw(sizes, rng)
                labels = np.repeat(n_clusters + np.arange(sizes.size), sizes)[: n_items - done]
                n_clusters += sizes.size
            statistics = statistics[:, : n_items - done]
            done += statistics.shape[1]
            yield Block(statistics, labels)
            if done == n_items:
                return

    def outputs(self, n_items: int, *, seed: int = 0, test_set: str = "synthetic") -> Outputs:
        """A test set of n items.

        Parameters
        ----------
        n_items
            At least 1, and at least the largest cluster. A longer test set with the same seed begins with a shorter
            one, whose last cluster may be cut short.
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
        check_text("test_set", test_set)
        blocks = list(self.blocks(n_items, seed=seed))
        items = pd.DataFrame({"id": [str(i) for i in range(n_items)]})
        if self.clusters is not None:
            items["cluster"] = [f"cluster-{c + 1}" for block in blocks for c in block.clusters]  # type: ignore[union-attr]
        columns = {"name": list(self.names), "family": list(self.families), "source": "synthetic"}
        systems = pd.DataFrame(columns).assign(true_score=self.scores())
        statistics = np.concatenate([block.statistics for block in blocks], axis=1)
        return Outputs.from_statistics(statistics, self.metric, systems, items, task="synthetic", test_set=test_set)


@dataclass(frozen=True, eq=False)
class TruePair(PairModel):
    """The two systems of a model, for many test sets at once.

    Parameters
    ----------
    model
        Of two systems, with a metric of which more is better, by its name.

    Examples
    --------
    >>> from simstudy.truth.scores import Bernoulli, ScoreModel
    >>> pair = TruePair(ScoreModel([Bernoulli(0.75), Bernoulli(0.5)], metric="accuracy"))
    >>> pair.true_gain, pair.draw(3, 8, np.random.default_rng(0)).statistics.shape
    (25.0, (3, 2, 8, 2))
    """

    model: KnownTruth

    def __post_init__(self) -> None:
        if not isinstance(self.model, KnownTruth) or self.model.n_systems != 2:
            raise ValueError(f"model must be of two systems of known truth, not {self.model!r}")
        if not self.model.metric.higher_is_better:
            raise ValueError(f"model must have a metric of which more is better, not '{self.metric}'")

    @property
    def metric(self) -> str:
        return self.model.metric.name

    @property
    def units(self) -> tuple[str, ...]:
        return ("item",) if self.model.clusters is None else ("cluster", "item")

    @property
    def exchangeable(self) -> bool:
        return self.model.alike and self.model.dependence.exchangeable

    @property
    def independent(self) -> bool:
        clusters = self.model.clusters
        shared = clusters is not None and clusters.common * clusters.correlation > 0
        return isinstance(self.model.dependence, Independent) and not shared

    def scores(self) -> Two:
        first, second = self.model.scores().tolist()
        return first, second

    def draw(self, n_sets: int, n_units: int, rng: np.random.Generator) -> Drawn:
        if self.model.clusters is None:
            statistics, starts = self.model.draw(n_sets * n_units, rng), None
        else:
            sizes = self.model.clusters.sizes(n_units, 0, rng)
            statistics = self.model.draw(np.tile(sizes, n_sets), rng)
            starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
        by_set = statistics.reshape(2, n_sets, -1, statistics.shape[-1])
        return Drawn(by_set.swapaxes(0, 1), starts)


def check_model(names: Sequence[str] | None, families: Sequence[str] | None, n: int) -> tuple[list[str], list[str]]:
    """Names and families of n systems; by default system-1 … system-n, each its own family.

    Raises
    ------
    ValueError
        Where they are no lists of n names, or a system's occurs twice.
    """
    for argument, given in (("names", names), ("families", families)):
        if given is None:
            continue
        check_texts(argument, given, "names")
        if len(given) != n:
            raise ValueError(f"{argument} must have {n} names, one of each system, not {len(given)}")
    named = [f"system-{k + 1}" for k in range(n)] if names is None else list(names)
    check_unique(pd.Series(named, dtype=object), "names")
    return named, named if families is None else list(families)


def check_two(n_systems: int, systems: tuple[int, int]) -> tuple[int, int]:
    """The positions of two of so many systems; a ValueError where they are not."""
    one, other = systems
    for k in (one, other):
        check_whole("systems", k, 0)
        if k >= n_systems:
            raise ValueError(f"systems must be below {n_systems}, as there are so many, not {k}")
    if one == other:
        raise ValueError(f"systems must be two, not {one} twice")
    return one, other


def metric_of_scores(metric: str | Metric) -> Metric:
    """The metric; ValueError where items have more than one score by it.

    Examples
    --------
    >>> metric_of_scores("bleu")
    Traceback (most recent call last):
    ValueError: metric must take one score of an item, as 'mean' and 'accuracy' do, unlike 'bleu'
    """
    found = get_metric(metric)
    if found.item_range is None or len(found.statistics) != 2:
        raise ValueError(f"metric must take one score of an item, as 'mean' and 'accuracy' do, unlike '{found.name}'")
    return found
