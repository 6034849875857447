"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

import simstudy as ss
from simstudy.studies import EACH_ONCE, Keys, Positive, Resamples, Size, Study, one_of

from .association import MEASURES
from .claims import FIRST_AHEAD_FROM, T_AHEAD_NEAR
from .particles import ARRANGEMENTS

Measure = Annotated[str, one_of(MEASURES)]
Share = Annotated[float, Field(gt=0, lt=1)]
Clusters = Annotated[tuple[Positive, Annotated[float, Field(ge=0, lt=1)]], Field(strict=False)]


class Figures(Keys):
    """Figures 1 - 3: over which lengths of n-best lists."""

    n_from: Positive
    n_to: Positive
    n_seeds: Positive = 100
    """Ways to break ties that are tried."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        first, last = T_AHEAD_NEAR, FIRST_AHEAD_FROM
        if not self.n_from <= first < last <= self.n_to:
            raise ValueError(
                f"n_from and n_to must hold {first} to {last} between them, not {self.n_from} to {self.n_to}"
            )
        return self


class Beside(Keys):
    """All tests on the same precision at n."""

    tests: Annotated[list[Annotated[str, one_of(ss.TESTS)]], EACH_ONCE] = Field(min_length=1)
    lengths: Annotated[list[Positive], EACH_ONCE] = Field(min_length=1)
    n_resamples: Resamples


class Parts(Keys):
    """Disjoint parts of the Brown corpus."""

    n_parts: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)
    arrangements: Annotated[list[Annotated[str, one_of(ARRANGEMENTS)]], EACH_ONCE] = Field(min_length=1)
    floor: Positive
    """The least frequency of a candidate in a part."""
    rankings: Annotated[list[Measure], EACH_ONCE] = Field(min_length=1)
    share_accepted: Share
    """How many candidates are accepted on average, as a share of those there are."""


class Simulated(Keys):
    """Repeated evaluations of simulated candidates."""

    n_experiments: Positive
    n_sets: Size
    n_candidates: Size
    share_true: Share
    separation: float
    """Of two scoring functions that are equally good."""
    correlation: Annotated[float, Field(ge=0, le=1)]
    clusters: Annotated[list[Clusters], EACH_ONCE] = Field(min_length=1)
    """Candidates of a cluster, and their latent correlation; one candidate each, or 0: the binomial is true."""
    n_accepted: Positive


class Settings(Study):
    """The keys of study.toml."""

    alpha: Share = 0.05
    figures: Figures
    tests: Beside
    parts: Parts
    simulated: Simulated
