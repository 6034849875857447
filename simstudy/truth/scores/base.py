"""What models of K systems of known truth share: items in blocks, Outputs, gains, and pairs of systems."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from simstudy.metrics.base import Array, FloatArray, Metric
from simstudy.outputs import Outputs
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.pair_base import Drawn, PairModel, Two, starts_of
from simstudy.truth.scores.clusters import ItemClusters
from simstudy.truth.scores.dependence import Dependence, Independent
from simstudy.validation import InputError, check_choice, check_number, check_seed, check_text, check_whole

#: What two systems of gain 0 have alike: their margins (the shape too), or their means only.
Null = Literal["equal margins", "equal means"]
NULLS: tuple[Null, ...] = ("equal margins", "equal means")

# Items that are drawn at once. It is part of what a seed means.
_BLOCK = 4096


@dataclass(frozen=True)
class Block(FieldsMixin):
    """Items of a test set, one after the other: statistics (K systems, items, S).

    `clusters` are the numbers (items,) of the items' clusters from 0, or None.
    """

    statistics: Array
    clusters: Array | None


@dataclass(frozen=True, eq=False)
class KnownTruth(FieldsMixin, ABC):
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

    @abstractmethod
    def _own(self, chosen: list[int]) -> Mapping[str, Any]:
        """The field of what each system has of its own, for these systems."""

    @abstractmethod
    def _moved(self, one: int, other: int, gain: float, null: Null) -> Self:
        """The model of `with_gain`: the first system's score is the second's plus `gain`."""

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
            law by mixing it with that of its best or its worst source; by root finding (Brent's method), so that the
            gain is right to 1e-9 of the metric's scale, and exactly 0 where margins are equal.
        systems
            Positions of the first and the second, from 0.

        Raises
        ------
        ValueError
            For a gain that the metric, the margin or the sources do not allow: the message has the range.

        Examples
        --------
        >>> from simstudy.truth.scores import Bernoulli, ScoreModel
        >>> ScoreModel([Bernoulli(0.5), Bernoulli(0.75)], metric="accuracy").with_gain(30)
        Traceback (most recent call last):
        simstudy.validation.InputError: gain must be from -75 to 25, as the true score of 'system-2' is 75, not 30
        """
        check_choice("null", null, NULLS)
        check_number("gain", gain)
        one, other = self._two(systems)
        return self._moved(one, other, self.metric.sign * gain, null)

    def pair(self, first: int = 0, second: int = 1) -> TruePair:
        """Two of the systems, for many test sets at once; their dependence is the one that they have here."""
        chosen = self._two((first, second))
        dependence = self.dependence.of_two(self.n_systems, first, second)
        names, families = ([of[k] for k in chosen] for of in (self.names, self.families))
        return TruePair(replace(self, names=names, families=families, dependence=dependence, **self._own(chosen)))

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

    def _refuse(self, other: int, gain: float, low: float, high: float, sources: str = "") -> InputError:
        """The error of a gain (first system's score less the second's) that does not lie from low to high."""
        if not self.metric.higher_is_better:
            gain, low, high = -gain, -high, -low
        because = f"the true score of '{self.names[other]}' is {self.scores()[other]:.6g}{sources}"
        return InputError("gain", f"must be from {low:.6g} to {high:.6g}, as {because}", gain)


@dataclass(frozen=True, eq=False)
class TruePair(PairModel):
    """The two systems of a model, for many test sets at once.

    Parameters
    ----------
    model
        Of two systems, with a metric for which higher is better, by its name.

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
            raise InputError("model", "must be of two systems of known truth", self.model)
        if not self.model.metric.higher_is_better:
            raise InputError("model", "must have a metric for which higher is better", self.metric)

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
            statistics, starts = self.model.draw(np.tile(sizes, n_sets), rng), starts_of(sizes)
        by_set = statistics.reshape(2, n_sets, -1, statistics.shape[-1])
        return Drawn(by_set.swapaxes(0, 1), starts)
