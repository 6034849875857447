"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simstudy.studies import EACH_ONCE, Keys, Positive, Resamples, Study


class RealSet(Keys):
    """A real test set, and how it is read."""

    title: str
    kind: str
    """Of its systems and task, in a few words."""
    metric: str
    paths: Annotated[list[str], EACH_ONCE] = Field(min_length=1)
    """Files or folders below the data folder."""
    references: Annotated[list[str], EACH_ONCE] = []
    items: str | None = None
    columns: dict[str, str] = {}
    """Our name -> the name in the file."""
    where: dict[str, str] = {}
    """Rows of a table of scores: column -> value."""
    missing: str = "error"
    leave_out: Annotated[list[str], EACH_ONCE] = []
    """Systems."""


class Settings(Study):
    """The keys of study.toml."""

    sets: dict[str, RealSet] = Field(min_length=1)
    splits: Annotated[int, Field(ge=2)]
    """Ways in which each set is halved."""
    replicates: Positive
    """Test sets drawn from the model that is fitted to a whole set; each is halved as often."""
    at_once: Positive = 4
    """Replicates of a cell."""
    n_resamples: Resamples = 500
    level: Annotated[float, Field(gt=0, lt=1)] = 0.05
    """Of the test of a set's ratio."""
