"""The keys of study.toml, and the differences that they describe."""

from __future__ import annotations

from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from simstudy.studies import EACH_ONCE, Keys, Positive, Study

Share = Annotated[float, Field(gt=0, lt=1)]


class Condition(Keys):
    """Two systems: how their scores differ from item to item."""

    title: str
    kind: Literal["answers", "graded", "rare"]
    differ: Share = 0.5
    """The share of items that differ (answers), or that have a large gain (rare)."""
    width: Annotated[float, Field(gt=0, le=1)] = 1.0
    """The largest difference, over the width of the range of scores."""
    by_topic: Annotated[float, Field(ge=0, lt=1)] = 0.0
    """The gain on the first half of the items, and the loss on the second."""
    gains: list[Share] = []
    """True gains for which the cost is measured."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        most = {"answers": self.differ, "graded": self.width, "rare": self.width * (1 - self.differ)}[self.kind]
        if max([self.by_topic, *self.gains]) >= most or (self.by_topic and self.kind != "answers"):
            raise ValueError(f"gains must be below {most:g}, and topics are of answers")
        return self

    def variance(self, gain: float) -> float:
        """The variance of an item's difference."""
        if self.kind == "answers":
            return self.differ - gain**2
        if self.kind == "graded":
            # A Beta variable on (-width, width) whose two parameters add up to 4.
            return (self.width**2 - gain**2) / 5
        high, low, share = self.rare(gain)
        return share * (1 - share) * (high - low) ** 2

    def rare(self, gain: float) -> tuple[float, float, float]:
        """The large gain, the usual loss, and the share of large gains that makes the mean."""
        low = -self.width * self.differ / (1 - self.differ)
        return self.width, low, (gain - low) / (self.width - low)

    def draw(self, shape: tuple[int, int], gain: float, rng: np.random.Generator) -> np.ndarray:
        """Differences (sets, items)."""
        if self.kind == "graded":
            share = (1 + gain / self.width) / 2
            return np.asarray(self.width * (2 * rng.beta(4 * share, 4 * (1 - share), shape) - 1))
        if self.kind == "rare":
            high, low, share = self.rare(gain)
            return np.where(rng.random(shape) < share, high, low)
        topic = np.where(np.arange(shape[1]) < shape[1] // 2, self.by_topic, -self.by_topic)
        wins = (self.differ + gain + topic) / 2
        drawn = rng.random(shape)
        return np.asarray((drawn < wins).astype(float) - (drawn >= 1 - (self.differ - wins)))


class Growing(Keys):
    """Looks while items arrive."""

    step: Positive
    n_looks: Annotated[list[Positive], EACH_ONCE] = Field(min_length=1)
    sets: Positive
    most: Positive
    block: Positive


class Commits(Keys):
    """A new system at each look."""

    n_items: Positive
    n_commits: Positive
    score: Share
    differ: Share
    changed: Share
    better_every: Positive
    n_looks: Annotated[list[Positive], EACH_ONCE] = Field(min_length=1)
    sets: Positive
    block: Positive


class Settings(Study):
    """The keys of study.toml."""

    alpha: Annotated[float, Field(gt=0, lt=0.5)] = 0.05
    power: Annotated[float, Field(gt=0.5, lt=1)] = 0.8
    growing: Growing
    conditions: dict[str, Condition] = Field(min_length=1)
    commits: Commits
