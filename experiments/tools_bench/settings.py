"""The keys of study.toml: the tools, the conditions, and how many data sets each tool gets."""

from __future__ import annotations

from importlib import metadata
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

import simstudy as ss
from simstudy.studies import EACH_ONCE, Keys, Positive, Resamples, Study, one_of

from .adapters import ADAPTERS
from .data_sets import Condition, Kind

Level = Annotated[float, Field(gt=0, lt=1)]


class Tool(Keys):
    """One test of one tool."""

    tool: str
    """As a page calls it."""
    test: str
    package: str | None = None
    """The distribution that it is in, where that is not called as the tool; empty for a rule."""
    ours: Annotated[str, one_of(ss.TESTS)] | None = None
    """Which of `simstudy.compare`'s tests it is."""
    call: str
    """Exactly what is called."""
    null: str
    """The null hypothesis, in our words."""
    claim: str
    """What its own documentation says that it tests, quoted."""
    source: str
    """Where: section, address."""
    note: str = ""
    """Where it is off: why, in a sentence of algebra."""
    kinds: Annotated[list[Kind], EACH_ONCE] = Field(default=["answers", "rankings", "scores"], min_length=1)
    """Of the conditions that it applies to."""
    pace: Literal["quick", "moderate", "slow"] = "quick"
    """Which number of data sets it gets."""

    @property
    def distribution(self) -> str:
        """The package that it is in; empty for a rule."""
        return self.tool if self.package is None else self.package

    @property
    def version(self) -> str:
        """Of the package; empty where that is not installed."""
        if not self.distribution:
            return "-"
        try:
            return metadata.version(self.distribution)
        except metadata.PackageNotFoundError:
            return ""


class Sets(Keys):
    """Numbers of data sets, by a tool's pace."""

    quick: Positive
    moderate: Positive
    slow: Positive


class Settings(Study):
    """The keys of study.toml."""

    tools: dict[str, Tool] = Field(min_length=1)
    conditions: dict[str, Condition] = Field(min_length=1)
    levels: Annotated[list[Level], EACH_ONCE] = Field(min_length=2, max_length=2)
    sets: Sets
    """Of each condition without a gain: what error rates are known by."""
    sets_with_gain: Sets
    """Of each condition and gain."""
    block: Positive
    """Data sets that are drawn together; our tests share the resamples of a block."""
    blocks: Positive
    """The most blocks of a cell."""
    n_resamples: Resamples
    """Of our own tests, of each data set, where p-values are not computed."""

    @model_validator(mode="after")
    def _known(self) -> Self:
        for name, tool in self.tools.items():
            if not tool.ours and name not in ADAPTERS:
                raise ValueError(f"tools.{name} must be one of {', '.join(ADAPTERS)}, or say which test is ours")
        for sets in ("sets", "sets_with_gain"):
            for pace, n in getattr(self, sets).model_dump().items():
                if n % self.block:
                    raise ValueError(f"{sets}.{pace} must be a multiple of block, {self.block}, not {n}")
        return self

    def applies(self, tool: str, condition: str) -> bool:
        """Whether a tool is asked in a condition."""
        return self.conditions[condition].kind in self.tools[tool].kinds

    def n_sets(self, tool: str, gain: int) -> int:
        """How many data sets a tool gets, by the place of the gain."""
        return int(getattr(self.sets_with_gain if gain else self.sets, self.tools[tool].pace))

    def missing(self) -> list[str]:
        """Packages of tools that are not installed."""
        return list(dict.fromkeys(tool.distribution for tool in self.tools.values() if not tool.version))
