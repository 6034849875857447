"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simstudy.studies import EACH_ONCE, Keys, Positive, Study

Above0 = Annotated[float, Field(gt=0)]


class Published(Keys):
    """Mean standard errors of close pairs with one sample of each question, in points."""

    title: str
    se: Above0
    between: Above0
    within: Above0


class Settings(Study):
    """The keys of study.toml."""

    published: dict[str, Published] = Field(min_length=1)
    """By the name of the set in the folder `highk`."""
    sets: dict[str, Annotated[list[str], EACH_ONCE]] = Field(min_length=1)
    """Folder -> the sets whose plans are held out."""
    folders: dict[str, str]
    """Below the data folder."""
    plans: list[Annotated[list[Positive], Field(min_length=2, max_length=2)]] = Field(min_length=1)
    """Samples of the pilot, at least two, and of the test set that is planned."""
    splits: Positive = 10
    within: Annotated[float, Field(gt=0, lt=1)] = 0.1
    most_gain: Above0 = 20.0
    least_score: float = 10.0
