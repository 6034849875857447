"""What the study.toml of the study of Evert 2004 may say: figures, printed numbers, repeated evaluations."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from simstudy.engines.registry import TESTS
from simstudy.rankings.association import MEASURES
from simstudy.studies.definition import EACH_ONCE, Keys, Positive, Resamples, Size, Study, one_of
from simstudy.studies.evert_2004.particles import ARRANGEMENTS

#: The rankings of figure 1: G2, t, X2 and f.
RANKINGS = ("log_likelihood", "t_score", "chi_squared", "frequency")

#: Those of figures 2 and 3.
PAIR = ("log_likelihood", "chi_squared")

Measure = Annotated[str, one_of(MEASURES)]
Level = Annotated[float, Field(gt=0, lt=1)]
Clusters = Annotated[tuple[Positive, Annotated[float, Field(ge=0, lt=1)]], Field(strict=False)]


class Figures(Keys):
    """Figures 1 - 3: over which lengths of n-best lists."""

    n_from: Positive
    n_to: Positive
    n_seeds: Positive = 100
    """Ways to break ties that are tried."""

    @model_validator(mode="after")
    def _rules(self) -> Self:
        if self.n_from >= self.n_to:
            raise ValueError(f"n_from must be below n_to, not {self.n_from} and {self.n_to}")
        return self


class Beside(Keys):
    """All tests on the same precision at n."""

    tests: Annotated[list[Annotated[str, one_of(TESTS)]], EACH_ONCE] = Field(min_length=1)
    lengths: Annotated[list[Positive], EACH_ONCE] = Field(min_length=1)
    n_resamples: Resamples


class Printed(Keys):
    """What the paper prints, by where it is used."""

    baseline: str
    interval: str
    interval_true: Positive
    interval_of: Positive
    t_ahead_near: Positive
    """t is marginally better near this n."""
    first_ahead_from: Positive
    """The first of the pair is better from this n on."""
    significant_up_to: Positive
    n_sets: Size
    sd_observed: dict[Measure, float]
    sd_expected: dict[Measure, float]
    missed: dict[Measure, Positive]


class Parts(Keys):
    """Disjoint parts of the Brown corpus."""

    n_parts: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)
    arrangements: Annotated[list[Annotated[str, one_of(ARRANGEMENTS)]], EACH_ONCE] = Field(min_length=1)
    floor: Positive
    """The least frequency of a candidate in a part."""
    rankings: Annotated[list[Measure], EACH_ONCE] = Field(min_length=1)
    share_accepted: Level
    """How many candidates are accepted on average, as a share of those there are."""


class Simulated(Keys):
    """Repeated evaluations of simulated candidates."""

    n_experiments: Positive
    n_sets: Size
    n_candidates: Size
    share_true: Level
    separation: float
    """Of two scoring functions that are equally good."""
    correlation: Annotated[float, Field(ge=0, le=1)]
    clusters: Annotated[list[Clusters], EACH_ONCE] = Field(min_length=1)
    """Candidates of a cluster, and their latent correlation; one candidate each, or 0: the binomial is true."""
    n_accepted: Positive


class Evert2004(Study):
    """The keys of the study of Evert 2004."""

    kind: Literal["evert_2004"] = "evert_2004"
    alpha: Level = 0.05
    figures: Figures
    printed: Printed
    tests: Beside
    parts: Parts
    simulated: Simulated

    @model_validator(mode="after")
    def _inside(self) -> Self:
        inside = range(self.figures.n_from, self.figures.n_to + 1)
        for name in ("t_ahead_near", "first_ahead_from", "significant_up_to"):
            if getattr(self.printed, name) not in inside:
                raise ValueError(f"printed.{name} must lie between figures.n_from and figures.n_to")
        return self
