"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simstudy.studies import EACH_ONCE, Keys, Positive, Resamples, Study

from .margins import Margin

Names = Annotated[list[str], EACH_ONCE]


class Sets(Keys):
    """Real test sets of a study of natural comparisons."""

    study: str
    kind: str
    """Of its systems and task, in a few words."""
    metrics: Names = Field(min_length=1)
    test_sets: Names = Field(min_length=1)


class Transfers(Keys):
    """Test sets that are planned from others, each target from each source."""

    study: str
    metric: str
    sources: Names = Field(min_length=1)
    targets: Names = Field(min_length=1)


class Settings(Study):
    """The keys of study.toml."""

    sets: list[Sets] = Field(min_length=1)
    transfers: list[Transfers] = []
    margins: dict[str, Margin] = {}
    """Equal systems that are to be shown to be equivalent."""
    margin_sets: Positive = 10_000
    """Test sets that are drawn of each of them and each goal."""
    splits: Annotated[int, Field(ge=2)]
    """Ways in which each set is halved."""
    at_once: Positive = 5
    """Splits of a cell."""
    n_draws: Annotated[int, Field(ge=100)] = 500
    """Test sets that a prediction draws."""
    n_resamples: Resamples = 2000
    """Of each comparison, where its test draws any."""
    least_items: Positive = 240
    """Smaller sets are left out."""
    pilots: Annotated[list[Positive], EACH_ONCE] = [50, 100]
    """Units of small parts of a half, from which the other half is predicted too."""
