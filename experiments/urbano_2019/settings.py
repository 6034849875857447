"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from simstudy.studies import EACH_ONCE, Keys, Positive, Resamples, Size, Study

Share = Annotated[float, Field(gt=0, lt=1)]


class Measure(Keys):
    """A measure of effectiveness, and where its scores are."""

    title: str
    collections: Annotated[list[str], EACH_ONCE] = Field(min_length=1)
    """Files of trec_urbano, without their ending."""
    lattice: Literal["tenths", "reciprocals"] | None = None
    """The scores that it can have; none: any from 0 to 1."""


class Null(Keys):
    """Test sets of two equally good systems."""

    pairs: Annotated[int, Field(ge=2)]
    """Pairs of runs of a batch."""
    sets: Positive
    """Test sets of each pair, for each number of topics."""


class Gains(Keys):
    """Test sets on which one system is better."""

    values: Annotated[list[Share], EACH_ONCE] = Field(min_length=1)
    n_topics: Size
    pairs: Positive
    """Pairs of runs of a batch, for each gain."""
    sets: Positive


class Settings(Study):
    """The keys of study.toml."""

    measures: dict[str, Measure] = Field(min_length=1)
    n_topics: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)
    batches: Positive
    n_resamples: Resamples = 999
    alphas: Annotated[list[Share], EACH_ONCE] = Field(min_length=1)
    level: Share = 0.05
    """The one of these that tables and figures show."""
    tie: Annotated[float, Field(ge=0, lt=1)] = 0.01
    """Differences up to this are ties in the paper's sign test."""
    dropped: Annotated[float, Field(ge=0, lt=1)] = 0.1
    """The share of the worst runs of a collection that is left out."""
    neighbours: Positive = 10
    """A pair of like runs: the second is among so many whose mean is nearest."""
    profile: Size = 5000
    """Topics that are drawn from each pair to see how its differences are distributed."""
    null: Null
    gains: Gains

    @model_validator(mode="after")
    def _level(self) -> Self:
        if self.level not in self.alphas:
            raise ValueError(f"level must be one of alphas, not {self.level:g}")
        return self
