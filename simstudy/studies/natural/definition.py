"""What the study.toml of a study of natural comparisons may say."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from simstudy.metrics import get_metric
from simstudy.metrics.mean import LOWER_MEAN
from simstudy.metrics.registry import directed
from simstudy.readers.formats import formats
from simstudy.readers.request import MISSING
from simstudy.studies.definition import (
    ASCENDING,
    EACH_ONCE,
    Alpha,
    Comparison,
    Keys,
    Positive,
    Resamples,
    Size,
    Study,
    check_resamples,
    checked,
    one_of,
)  # fmt: skip
from simstudy.validation import InputError, check_choice

# A study lists near-duplicates in any case.
_DUPLICATES = ("keep", "drop")


def _check_metrics(metric: str | list[str]) -> None:
    if not metric:
        raise InputError("it must name at least one metric")
    for name in [metric] if isinstance(metric, str) else metric:
        get_metric(name)


class SystemsTable(Keys):
    """A table that describes the systems."""

    file: str
    """A data file, <folder>/<file>: CSV with a row for each system."""
    columns: dict[str, str] = {}
    """Our name -> its column, where they differ: system, group, family …"""
    where: dict[str, str] = {}
    """Only the rows with these values."""


class NaturalTestSet(Keys):
    """One test set and the outputs of its systems; or several alike, where `each` lists what differs.

    In every text "{}" stands for one value of `each`, and "{metric}" for the metric.
    """

    name: str
    each: list[str] = Field(default=[""], min_length=1)
    metric: Annotated[str | list[str], checked(_check_metrics)]
    paths: list[str] = Field(min_length=1)
    """Data files, <folder>/<file>, or folders of them."""
    references: list[str] = []
    items: str | None = None
    """A table of the items."""
    systems: SystemsTable | None = None
    groups: dict[str, list[str]] = {}
    """Value of the column `by` -> its systems, where there is no table; all others are groups of their own."""
    by: Annotated[list[str], EACH_ONCE] = ["group"]
    """Columns of the systems table that relation classes come from; [] for no classes."""
    format: Annotated[str, checked(lambda value: check_choice("it", value, formats()))] | None = None
    columns: dict[str, str] = {}
    where: dict[str, str] = {}
    """Only the rows of a table of scores with these values."""
    lower_is_better: bool | None = None
    """true for scores that are errors (metric "mean"), false where higher is better whatever they are called."""
    missing: Annotated[str, one_of(MISSING)] = "error"
    leave_out: list[str] = []
    """Systems that are not compared: broken ones, the baseline that a preference is held against."""
    lowercase: bool = False
    mark: str = ""
    """What stands between the sentences of a text and is not part of it."""
    mixed: bool = False
    """Whether items are put into a mixed order first, where the files have one domain after the other."""
    sizes: Annotated[list[Size], ASCENDING] = []
    """Nested initial segments to compare on, beside the whole; of test sets of one entry, each on those that it has."""
    n_resamples: Resamples | None = None
    """Instead of the study's."""
    duplicates: Annotated[str, one_of(_DUPLICATES)] | None = None
    """Instead of the study's."""

    @model_validator(mode="after")
    def _one_group_each(self) -> Self:
        members = [system for group in self.groups.values() for system in group]
        if twice := [system for system in members if members.count(system) > 1]:
            raise InputError("groups", f"must have each system once; '{twice[0]}' is there twice")
        if self.groups and self.systems:
            raise InputError("groups are for test sets without a table of systems; leave out groups or systems")
        if self.groups and len(self.by) != 1:
            raise InputError(f"groups are the values of one column, so that by must name one, not {self.by}")
        return self

    @model_validator(mode="after")
    def _one_direction(self) -> Self:
        if LOWER_MEAN in self.metrics and self.missing == "zero":
            raise InputError("missing", f"must be 'error' or 'drop' for '{LOWER_MEAN}': 0 would be the best score")
        return self

    @property
    def written(self) -> list[str]:
        """The metrics as they are written, which is what "{metric}" stands for."""
        return [self.metric] if isinstance(self.metric, str) else self.metric

    @property
    def metrics(self) -> list[str]:
        """The metrics by their names in tables, which say where lower is better."""
        return [directed(get_metric(name), self.lower_is_better).name for name in self.written]

    @property
    def names(self) -> list[str]:
        """The names of the test sets."""
        return [self.name.replace("{}", value) for value in self.each]


class CrossDomain(Keys):
    """Does the winner here win elsewhere? (Berg-Kirkpatrick et al. 2012, section 4.2 and Table 1)."""

    among: list[str] = []
    """Test sets of the same systems: each is home in turn, and the others are elsewhere."""
    domains_of: str | None = None
    """A test set whose items have domains: each is home in turn, and all items of the others are elsewhere."""
    metric: str | None = None
    """Of the test sets' metrics; by default the first."""
    least_items: Size = 30
    """Domains of fewer items are no homes."""
    n_draws: int = Field(default=0, ge=0)
    """Test sets redrawn from all items, of the homes' median size, for the same under identical distribution."""
    n_splits: Positive = 10
    """Random halves of each home, for the share that there would be without another domain."""
    min_pairs: Positive = 20
    """Pairs that a bin of p-values needs."""
    bins: list[float] = [0.0, 0.001, 0.01, 0.05, 0.2, 1.0]

    @model_validator(mode="after")
    def _one_kind(self) -> Self:
        if bool(self.among) == bool(self.domains_of):
            raise InputError("calibration needs either among or domains_of")
        if self.among and self.n_draws:
            raise InputError("calibration.n_draws is for domains_of")
        if self.among and (len(self.among) < 2 or len(set(self.among)) < len(self.among)):
            raise InputError("calibration.among", "must name at least two test sets, each once")
        if len(self.bins) < 2 or self.bins != sorted(set(self.bins)) or self.bins[0] < 0 or self.bins[-1] > 1:
            raise InputError("calibration.bins", "must ascend within 0 and 1", self.bins)
        return self


class NaturalStudy(Study):
    """A study of kind "natural": systems that exist, compared on the test sets that they were run on."""

    kind: Literal["natural"]
    test_sets: list[NaturalTestSet] = Field(min_length=1)
    comparison: Comparison = Comparison()
    duplicates: Annotated[str, one_of(_DUPLICATES)] = "drop"
    alpha: Alpha = 0.05
    shown: list[str] = []
    """Test sets whose curves the page draws; by default the first six."""
    calibration: list[CrossDomain] = []

    @model_validator(mode="after")
    def _one_whole(self) -> Self:
        for test_set in self.test_sets:
            check_resamples(self.comparison.test, test_set.n_resamples)
        names = [(name, m) for part in self.test_sets for name in part.names for m in part.metrics]
        for key in names:
            if not key[0].strip():
                raise InputError("test_sets", "must have names; one is empty")
            if names.count(key) > 1:
                raise InputError("test_sets", f"must differ in name or metric; '{key[0]}' by {key[1]} is there twice")
        wanted = [*self.shown, *(name for part in self.calibration for name in part.among)]
        wanted += [part.domains_of for part in self.calibration if part.domains_of]
        for name in wanted:
            check_choice("shown, among and domains_of", name, dict(names))
        asked: set[tuple[str, str]] = set()
        for part in self.calibration:
            homes = part.among or [str(part.domains_of)]
            of_each = [[m for own, m in names if own == home] for home in homes]
            shared = [m for m in of_each[0] if all(m in others for others in of_each)]
            if not shared:
                raise InputError("calibration.among", "must name test sets with a metric in common", part.among)
            if part.metric is not None:
                check_choice("calibration.metric", part.metric, shared)
            key = (", ".join(homes), part.metric or shared[0])
            if key in asked:
                raise InputError(f"calibration of {key[0]} by {key[1]} is there twice")
            asked.add(key)
        return self
