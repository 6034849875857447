"""The model of item scores: margins, dependence and clusters, with a true gain that is set exactly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import pandas as pd

from simstudy.metrics import get_metric
from simstudy.metrics.base import Array, FloatArray
from simstudy.truth.scores.base import KnownTruth, Null
from simstudy.truth.scores.clusters import ItemClusters
from simstudy.truth.scores.dependence import Dependence, Independent
from simstudy.truth.scores.margins import Bernoulli, Margin
from simstudy.validation import InputError, check_texts, check_unique


@dataclass(frozen=True, eq=False, init=False)
class ScoreModel(KnownTruth):
    """K systems with one score an item, of any margins and any dependence.

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
    >>> from simstudy.truth.scores import Beta, Clayton, ScoreModel
    >>> model = ScoreModel([Beta(0.3, 2), Beta(0.3, 8)], Clayton(2), metric="ap").with_gain(0.02, null="equal means")
    >>> model.scores().tolist(), model.outputs(50).n_items
    ([0.32, 0.3], 50)
    """

    margins: tuple[Margin, ...]

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
        scored = get_metric(metric)  # type: ignore[arg-type]
        if scored.item_range is None or len(scored.statistics) != 2:
            raise InputError(
                "metric", f"must take one score of an item, as 'mean' and 'accuracy' do, unlike '{scored.name}'"
            )
        low, high = scored.item_range
        named = [f"system-{k + 1}" for k in range(len(given))] if names is None else _names("names", names, len(given))
        of = named if families is None else _names("families", families, len(given))
        check_unique(pd.Series(named, dtype=object), "names")
        for margin, name in zip(given, named, strict=True):
            if margin.support[0] < low or margin.support[1] > high:
                raise InputError(
                    "margins",
                    f"must have scores from {low:g} to {high:g}, as metric '{scored.name}' does, unlike {margin!r} "
                    f"of system '{name}'",
                )
        for field, value in (
            ("names", named), ("families", of), ("metric", scored), ("dependence", dependence),
            ("clusters", clusters), ("margins", given),
        ):  # fmt: skip
            object.__setattr__(self, field, value)

    @property
    def alike(self) -> bool:
        return all(margin == self.margins[0] for margin in self.margins)

    def scores(self) -> FloatArray:
        return self.metric.scale * np.array([margin.mean for margin in self.margins])

    def statistics(self, uniforms: FloatArray, rng: np.random.Generator) -> Array:
        scores = np.stack([margin.quantile(u) for margin, u in zip(self.margins, uniforms.T, strict=True)])
        if all(isinstance(margin, Bernoulli) for margin in self.margins):
            scores = scores.astype(np.int8)
        return np.stack([scores, np.ones_like(scores)], axis=-1)

    def with_margins(self, margins: Sequence[Margin]) -> Self:
        """The same model with other margins (K)."""
        return replace(self, margins=margins)  # type: ignore[arg-type]

    def _own(self, chosen: list[int]) -> Mapping[str, Any]:
        return {"margins": [self.margins[k] for k in chosen]}

    def _moved(self, one: int, other: int, gain: float, null: Null) -> Self:
        second = self.margins[other]
        changed = second if null == "equal margins" else self.margins[one]
        try:
            same = null == "equal margins" and gain == 0
            moved = second if same else changed.with_mean(second.mean + gain / self.metric.scale)
        except InputError:
            low, high = (self.metric.scale * (end - second.mean) for end in changed.support)
            raise self._refuse(other, gain, low, high) from None
        return self.with_margins([moved if k == one else margin for k, margin in enumerate(self.margins)])


def _names(argument: str, given: Sequence[str], n: int) -> list[str]:
    check_texts(argument, given, "names")
    if len(given) != n:
        raise InputError(argument, f"must have {n} names, one of each system", len(given))
    return list(given)
