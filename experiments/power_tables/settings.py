"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from simstudy.studies import EACH_ONCE, Keys, Positive, Study

Share = Annotated[float, Field(gt=0, lt=1)]
Each = Annotated[list[str], EACH_ONCE, Field(min_length=1)]


class Benchmarks(Keys):
    """Test sets of one kind, which a shipped study reads."""

    study: str
    """The study of natural comparisons that has them."""
    kind: str
    """Of their task, in a word or two."""
    test_sets: Each
    """By their names there."""
    metrics: Each
    title: str = "{}"
    """What a figure calls them; "{}" is the name."""
    related: bool = True
    """Whether the columns by which that study relates systems make variants of one system."""


class Settings(Study):
    """The keys of study.toml."""

    benchmarks: list[Benchmarks] = Field(min_length=1)
    alpha: Share = 0.05
    """Two-sided."""
    min_pairs: Positive = 10
    """With fewer close pairs a relation has no row."""
