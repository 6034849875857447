"""The model of item scores: margins, dependence and clusters, with a true gain that is set exactly."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Self

import numpy as np

from simstudy.metrics.base import Array, FloatArray
from simstudy.truth.scores.base import KnownTruth, TruePair, check_model, check_two, metric_of_scores
from simstudy.truth.scores.clusters import ItemClusters
from simstudy.truth.scores.dependence import Dependence, Independent
from simstudy.truth.scores.margins import Bernoulli, Margin
from simstudy.validation import brief, check_choice, check_number

#: What two systems of gain 0 have alike: their margins (the shape too), or their means only.
Null = Literal["equal margins", "equal means"]
NULLS: tuple[Null, ...] = ("equal margins", "equal means")


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
            raise ValueError(
                "margins must be a list of margins, one of each system, such as [Bernoulli(0.8), Bernoulli(0.75)], not "
                f"{brief(margins)}"
            )
        dependence = Independent() if dependence is None else dependence
        if not isinstance(dependence, Dependence):
            raise ValueError(f"dependence must be a Dependence, such as GaussianCopula(0.5), not {brief(dependence)}")
        if clusters is not None and not isinstance(clusters, ItemClusters):
            raise ValueError(f"clusters must be ItemClusters, or None, not {brief(clusters)}")
        dependence.check_systems(len(given))
        scored = metric_of_scores(metric)  # type: ignore[arg-type]
        low, high = scored.item_range or (-np.inf, np.inf)
        named, of = check_model(names, families, len(given))
        for margin, name in zip(given, named, strict=True):
            if margin.support[0] < low or margin.support[1] > high:
                raise ValueError(
                    f"margins must have scores from {low:g} to {high:g}, as metric '{scored.name}' does, unlike "
                    f"{margin!r} of system '{name}'"
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
            "equal margins": the first system gets the second one's margin, with its mean moved by the gain.
            "equal means": it keeps its own margin, with the mean that makes this gain (see the margin's `with_mean`).
        systems
            Positions of the first and the second, from 0.

        Raises
        ------
        ValueError
            For a gain that the metric and the margin do not allow: the message has the range.

        Examples
        --------
        >>> from simstudy.truth.scores import Bernoulli, ScoreModel
        >>> ScoreModel([Bernoulli(0.5), Bernoulli(0.75)], metric="accuracy").with_gain(30)
        Traceback (most recent call last):
        ValueError: gain must be from -75 to 25, as the true score of 'system-2' is 75, not 30
        """
        check_choice("null", null, NULLS)
        check_number("gain", gain)
        one, other = check_two(self.n_systems, systems)
        second = self.margins[other]
        changed = second if null == "equal margins" else self.margins[one]
        raised = gain / self.metric.scale * (1 if self.metric.higher_is_better else -1)
        try:
            moved = second if null == "equal margins" and gain == 0 else changed.with_mean(second.mean + raised)
        except ValueError:
            ends = [self.metric.scale * (end - second.mean) for end in changed.support]
            low, high = ends if self.metric.higher_is_better else (-ends[1], -ends[0])
            true = self.metric.scale * second.mean
            raise ValueError(
                f"gain must be from {low:.6g} to {high:.6g}, as the true score of '{self.names[other]}' is {true:.6g}, "
                f"not {gain:.6g}"
            ) from None
        margins = list(self.margins)
        margins[one] = moved
        return self.with_margins(margins)

    def with_margins(self, margins: Sequence[Margin]) -> Self:
        """The same model with other margins (K)."""
        return type(self)(
            margins,
            self.dependence,
            self.clusters,
            metric=self.metric,
            names=self.names,
            families=self.families,
        )

    def pair(self, first: int = 0, second: int = 1) -> TruePair:
        """Two of the systems, for many test sets at once; their dependence is the one that they have here."""
        one, other = check_two(self.n_systems, (first, second))
        dependence = self.dependence.of_two(self.n_systems, one, other)
        parts = [self.margins[one], self.margins[other]]
        names = [self.names[one], self.names[other]]
        families = [self.families[one], self.families[other]]
        model = ScoreModel(parts, dependence, self.clusters, metric=self.metric, names=names, families=families)
        return TruePair(model)
