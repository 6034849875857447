"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simstudy.studies import EACH_ONCE, Keys, Positive, Size, Study

Share = Annotated[float, Field(gt=0, lt=1)]
Points = Annotated[float, Field(gt=0)]
Sizes = Annotated[list[Size], EACH_ONCE, Field(min_length=1)]


class Board(Keys):
    """A leaderboard of right and wrong answers, and what was published about it."""

    title: str
    file: str
    systems: Positive
    not_significant: int
    significant: float
    undecided: float
    first: Positive
    first_p: float | None = None


class Equal(Keys):
    """Two systems that resolve the same number of issues, and the p-value that was published."""

    differ: Positive
    """Issues that one of the two resolves."""
    p: Share


class Resolution(Keys):
    """Neighbours at the top of a leaderboard, whose gains have too few items for power 0.8."""

    study: str
    test_set: str
    top: Size
    unresolved: int
    clustered: int


class Replicability(Keys):
    """On how many data sets a system is better: p-values, and how the counts err on dependent data sets."""

    p_values: list[Share] = Field(min_length=2)
    bonferroni: int
    fisher: int
    correlations: list[Annotated[float, Field(ge=0, lt=1)]]
    effects: list[Annotated[int, Field(ge=0)]]
    """Numbers of data sets with an effect."""
    shift: Points
    sets: Positive


class Coverage(Keys):
    """Published coverage of 95 % intervals of one accuracy, by the number of items."""

    n_items: Sizes
    normal: list[float]
    wilson: list[float]
    exact: list[float]
    bayes: list[float]
    bootstrap: list[float]


class Subsets(Keys):
    """Small subsets of a test set, which rank pairs of systems."""

    study: str
    test_sets: Annotated[list[str], EACH_ONCE] = Field(min_length=1)
    sizes: Sizes
    most: Share
    trials: Positive
    block: Positive
    gain: Points
    within: Points
    agreement: Share
    published_gain: Points
    published_items: Positive


class LeftOut(Keys):
    """A published number that has no row, and why."""

    source: str
    claim: str
    reason: str


class Settings(Study):
    """The keys of study.toml."""

    simulated: Positive = 40_000
    """Test sets that each published case is drawn on."""
    few: Sizes
    """Numbers of items, for intervals of few."""
    agreement: Share = 0.8
    """Of the two systems there."""
    few_gain: Points = 5.0
    """The true gain there, in points."""
    boards: list[Board] = Field(min_length=1)
    equal: Equal
    resolution: Resolution
    replicability: Replicability
    coverage: Coverage
    subsets: Subsets
    left_out: list[LeftOut] = []
