"""The keys of study.toml, and the systems of known scores that they describe."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

import simstudy as ss
from simstudy.studies import EACH_ONCE, Keys, Positive, Size, Study, one_of
from simstudy.truth import Bernoulli, GaussianCopula, ItemClusters, LogNormal, ScoreModel, of_families

ALL_EQUAL, HALF_EQUAL, ALL_DIFFERENT = TRUTHS = ("all equal", "half equal", "all different")

# Systems of a family, about.
_FAMILY = 5

Share = Annotated[float, Field(ge=0, le=1)]
Kind = Literal["answers", "skewed", "unequally skewed"]


class Drawn(Keys):
    """What items are like, and how they are tested."""

    title: str
    scores: Kind
    """Right or wrong; lognormal with standard deviation 1 of the logarithm; or with 0.2 to 1, from system to system."""
    n_units: Size
    """Items, or clusters."""
    least: float
    """The worst true score: a share of right answers, or a mean."""
    test: Annotated[str, one_of(ss.TESTS)]
    """Whose p-values are corrected: one that draws nothing."""

    def margins(self, means: np.ndarray) -> list[Bernoulli] | list[LogNormal]:
        """The systems' item scores, of these means."""
        if self.scores == "answers":
            return [Bernoulli(float(mean)) for mean in means]
        spreads = np.linspace(0.2, 1, len(means)) if self.scores == "unequally skewed" else np.ones(len(means))
        return [LogNormal(float(mean), float(spread)) for mean, spread in zip(means, spreads, strict=True)]

    @property
    def metric(self) -> str:
        """What they are scored by."""
        return "accuracy" if self.scores == "answers" else "mean"


class Condition(Drawn):
    """K systems in families."""

    between: Share
    within: Share
    cluster_size: Size | None = None
    cluster_correlation: Share = 0.0
    spread: Annotated[float, Field(gt=0)]
    """By how much the best is better than the worst, where they are not all equal."""
    truths: Annotated[list[Annotated[str, one_of(TRUTHS)]], EACH_ONCE] = Field(min_length=1)
    n_systems: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)

    @model_validator(mode="after")
    def _possible(self) -> Self:
        for truth in self.truths:
            self.model(truth, max(self.n_systems))
        return self

    def model(self, truth: str, n_systems: int) -> ScoreModel:
        """The systems, the best first."""
        n_families = max(2, n_systems // _FAMILY)
        families = [k % n_families for k in range(n_systems)]
        clusters = None if self.cluster_size is None else ItemClusters(self.cluster_correlation, self.cluster_size)
        return ScoreModel(
            self.margins(self.least + self.spread * steps(truth, n_systems)),
            GaussianCopula(of_families(families, between=self.between, within=self.within)),
            clusters,
            metric=self.metric,
        )

    def asks(self, truth: str, n_systems: int) -> bool:
        """Whether there are so many systems of this truth: the half of less than four is no pair."""
        return truth in self.truths and n_systems in self.n_systems and (truth != HALF_EQUAL or n_systems >= 4)


def steps(truth: str, n_systems: int) -> np.ndarray:
    """How far each system is above the worst (K,), from 0 to 1, the best first.

    Examples
    --------
    >>> steps("half equal", 4).tolist(), steps("all different", 3).tolist()
    ([1.0, 0.5, 0.0, 0.0], [1.0, 0.5, 0.0])
    """
    n_equal = {ALL_EQUAL: n_systems, HALF_EQUAL: n_systems // 2, ALL_DIFFERENT: 1}[truth]
    above = np.linspace(1, 0, n_systems - n_equal + 1)[:-1]
    return np.concatenate([above, np.zeros(n_equal)])


class Variants(Drawn):
    """A baseline and variants of it."""

    correlation: Share
    """Of latent scores, of a variant and the baseline."""
    among: Share | None = None
    """Of latent scores, of two variants; none: the same."""
    one_test_set: bool = True
    """Whether all are tried on one test set, or each on one of its own."""
    gain: Annotated[float, Field(ge=0)] = 0.0
    """The true gain of each over the baseline, on the scale of `least`."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self.model(1)
        return self

    def model(self, n_variants: int) -> ScoreModel:
        """The baseline first."""
        means = self.least + self.gain * (np.arange(n_variants + 1) > 0)
        copula = GaussianCopula(self.correlation)
        if self.among is not None:
            families = [min(k, 1) for k in range(n_variants + 1)]
            copula = GaussianCopula(of_families(families, between=self.correlation, within=self.among))
        return ScoreModel(self.margins(means), copula, metric=self.metric)


class Sets(Keys):
    """Test sets of each condition, truth and number of systems."""

    of_few: Positive
    of_many: Positive
    large: Size
    """From how many systems on there are `of_many`."""
    block: Positive
    """Test sets of a cell."""


class Groups(Keys):
    """Tables of pairs, one test set at a time."""

    condition: str
    n_systems: Annotated[list[Size], EACH_ONCE]
    sets: Positive
    block: Positive


class Looks(Keys):
    """How many variants are tried."""

    n_variants: Annotated[list[Positive], EACH_ONCE] = Field(min_length=1)
    sets: Positive
    corrected_sets: Positive
    block: Positive


class Stopping(Keys):
    """How often the test is asked while items come in."""

    conditions: list[str]
    step: Size
    n_looks: Annotated[list[Positive], EACH_ONCE] = Field(min_length=1)
    sets: Positive
    block: Positive


class Settings(Study):
    """The keys of study.toml."""

    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    n_draws: Positive
    sets: Sets
    conditions: dict[str, Condition] = Field(min_length=1)
    groups: Groups
    looks: Looks
    variants: dict[str, Variants] = Field(min_length=1)
    stopping: Stopping

    @model_validator(mode="after")
    def _together(self) -> Self:
        if self.alpha * (self.n_draws + 1) < 1 - 1e-9:
            raise ValueError(f"n_draws must be at least 1 / alpha - 1, not {self.n_draws} with alpha {self.alpha:g}")
        for name in (self.groups.condition, *self.stopping.conditions):
            if name not in self.conditions:
                raise ValueError(f"condition must be one of {', '.join(self.conditions)}, not {name}")
        return self

    def n_sets(self, n_systems: int) -> int:
        """Test sets of so many systems."""
        return self.sets.of_few if n_systems < self.sets.large else self.sets.of_many


def blocks(n_sets: int, block: int) -> list[tuple[int, int]]:
    """Number and size of the blocks that so many test sets are drawn in.

    Examples
    --------
    >>> blocks(5, 2)
    [(0, 2), (1, 2), (2, 1)]
    """
    return [(first // block, min(block, n_sets - first)) for first in range(0, n_sets, block)]
