"""What the study.toml of a simulation may say, and the conditions that its factors span."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import Field, create_model, model_validator

from simstudy.engines.registry import ALTERNATIVES, TESTS
from simstudy.running.fingerprints import describe
from simstudy.running.keys import code_of
from simstudy.running.program_files import SHOWING, SOURCES
from simstudy.studies.definition import EACH_ONCE, Alpha, Keys, Name, Positive, Resamples, Size, Study, checked, one_of
from simstudy.validation import InputError, check_choice

Level = str | int | float | bool

#: Columns of the tables, which no factor may be called.
COLUMNS = frozenset({
    "method", "quantity", "alpha", "n_sets", "n_missing", "count", "share", "low", "high", "verdict", "n_first",
    "n_wrong", "type_s", "type_s_low", "type_s_high", "type_m", "type_m_low", "type_m_high", "mean", "mean_low",
    "mean_high", "bias", "bias_low", "bias_high", "mean_width", "truth", "replicates", "analysis", "n_failed",
    "replicate", "failure", "unit",
})  # fmt: skip

# Files of the folder that only work on finished tables; a program may compute cells in its tables.py.
_AFTERWARDS = (*SHOWING, "tables.py")

# What a named level says about itself, which changes no number.
_TITLE = "title"

#: The value of a condition that names files of data.
FILES = "files"


def _check_factor(levels: Any) -> None:
    """Raise a ValueError where these are not the levels of a factor."""
    named = isinstance(levels, dict) and all(isinstance(settings, dict) for settings in levels.values())
    listed = isinstance(levels, list) and all(isinstance(level, Level) for level in levels)
    if not levels or not (named or listed):
        raise InputError("it must be a list of numbers and texts, or tables of values with a name each")
    if len(set(map(str, levels))) < len(levels):
        raise InputError(f"it must have each level once, not {levels}")


Factor = Annotated[Any, checked(_check_factor)]


class Replicates(Keys):
    """How many replicates (test sets) each condition has."""

    most: Positive
    """Replicates of each condition, a multiple of `block`. With `error` it is the largest number."""
    block: Positive = 500
    """Replicates of one piece of work, which are drawn with one seed. Another number draws other replicates."""
    within: Size | None = None
    """Replicates of a group, which have something in common: `model` or `generate` is called once for each group."""
    error: Annotated[float, Field(gt=0, lt=0.5)] | None = None
    """A condition stops when all standard errors of its rates are at most this; by default the number is fixed."""
    of: dict[str, Positive] = {}
    """A smaller number of replicates for slow functions of study.py, by name."""


class Rule(Keys):
    """An exception for the conditions at some levels."""

    where: dict[str, list[Level]] = Field(min_length=1)
    """Factor -> levels."""
    skip: bool = False
    """Whether these conditions are left out."""
    replicates: Positive | None = None
    """A smaller number of replicates for them, a multiple of `replicates.block`."""


@dataclass(frozen=True, eq=False)
class Condition(Mapping[str, Any]):
    """One combination of levels: a mapping from names to values, those of `fixed` and those of its levels."""

    #: Factor -> level, in the study's order.
    levels: Mapping[str, Level]
    settings: Mapping[str, Any]
    #: What tests take as units of the replicates, "item" or "cluster"; empty: what the model has first.
    unit: str = ""
    #: The true gain of the first system over the second, or what `truth(condition)` returned; NaN if neither is there.
    truth: float = math.nan

    def __getitem__(self, name: str) -> Any:
        return self.settings[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.settings)

    def __len__(self) -> int:
        return len(self.settings)

    def __str__(self) -> str:
        return ", ".join(f"{factor} {level}" for factor, level in self.columns.items())

    @property
    def columns(self) -> dict[str, Level]:
        """Its columns of all tables: factor -> level, and the unit if the study names units."""
        return {**self.levels, **({"unit": self.unit} if self.unit else {})}

    def fingerprint(self) -> str:
        """A hash of all that it says, whatever the order of factors; files count by their content."""
        values = dict(self)
        if FILES in values:
            values[FILES] = [file.fingerprint() for file in values[FILES]]
        return describe([dict(self.levels), values, self.unit, self.truth])


class Simulation(Study):
    """Tests on simulated data, in all conditions that factors span: error rates, power, coverage, means and bias."""

    kind: Literal["simulation"] = "simulation"
    factors: dict[str, Factor] = Field(min_length=1)
    """Name -> levels. Factors are crossed. A level with a name is a table of several values."""
    fixed: dict[str, Any] = {}
    """Values of all conditions; a level may have another one."""
    rules: list[Rule] = []
    """Exceptions."""
    replicates: Replicates
    tests: Annotated[list[Name], EACH_ONCE] = Field(min_length=1)
    """Names of simstudy's tests, and of functions of study.py."""
    alternatives: list[Annotated[str, one_of(ALTERNATIVES)]] = Field(default=["two-sided"], min_length=1)
    """Alternatives of simstudy's tests."""
    named: bool = True
    """Whether one-sided tests ask if the first system is better; else they ask it of the one with the better score."""
    alphas: Annotated[list[Alpha], EACH_ONCE] = Field(default=[0.05], min_length=1)
    """Levels of significance; the page shows the first."""
    units: Annotated[list[Annotated[str, one_of(("item", "cluster"))]], EACH_ONCE] = []
    """What the tests take as units of the same replicates, if the model has it; by default what it has first."""
    quantiles: Annotated[list[Annotated[float, Field(gt=0, lt=1)]], EACH_ONCE] = []
    """Quantiles in the table of means, such as 0.5 for the median."""
    n_resamples: Resamples = 999
    """Resamples of simstudy's tests that draw them."""
    common: list[str] = []
    """Factors whose levels share their random numbers."""
    stream: Name = "test sets"
    """Another text draws other replicates with the same seed."""
    x: str | None = None
    """The factor along the figure of rates; without it there is no figure."""
    panels: str | None = None
    """The factor whose levels are the panels of that figure."""
    page: dict[str, Any] = {}
    """Texts and values for the functions `summarise` and `show` of study.py; no cell depends on them."""
    texts: dict[str, str] = {}
    """Texts for the function `show` of study.py; no table depends on them."""

    functions: ClassVar[Mapping[str, Callable[..., Any]]] = {}
    """Name -> function of study.py."""

    @model_validator(mode="after")
    def _possible(self) -> Self:
        self._check_names()
        sizes = {"most": self.replicates.most, **self.replicates.of}
        sizes |= {f"of rule {k}": rule.replicates for k, rule in enumerate(self.rules, 1) if rule.replicates}
        for name, size in sizes.items():
            if size % self.replicates.block:
                at = f"replicates, {name}"
                raise InputError(at, f"must be a multiple of block, which is {self.replicates.block}", size)
        if within := self.replicates.within:
            if self.replicates.block % within:
                raise InputError("replicates, block", f"must be a multiple of within, which is {within}")
            if not self.functions.keys() & {"model", "generate"}:
                raise InputError("replicates, within", "needs a function model or generate in study.py")
            if self.quantiles:
                raise InputError("quantiles", "must be empty with replicates.within: they have no intervals by group")
        if self.units and "generate" in self.functions:
            raise InputError("units", "must be empty if study.py has a function generate")
        if not self.conditions():
            raise InputError("rules", "must leave a condition")
        return self

    def _check_names(self) -> None:
        """Raise a ValueError for a factor or a test that is not there, or a name that cannot be one."""
        setters: dict[str, str] = {}
        for factor, table in self._values().items():
            if not factor.isidentifier():
                raise InputError("factors", "must have names of letters, digits and _", factor)
            if factor in COLUMNS or factor.startswith("quantile_"):
                raise InputError("factors", "must not be called as a column of the tables is", factor)
            for value in {name: None for values in table.values() for name in values}:
                if setters.setdefault(value, factor) != factor:
                    raise InputError("factors", f"must not set {value} twice, as {setters[value]} and {factor} do")
        chosen = [("x", self.x), ("panels", self.panels), *(("common", factor) for factor in self.common)]
        for key, name in chosen:
            if name is not None:
                check_choice(key, name, self.factors)
        for rule in self.rules:
            for factor, levels in rule.where.items():
                check_choice("rules.where", factor, self.factors)
                if unknown := [level for level in levels if level not in self.factors[factor]]:
                    raise InputError(f"rules.where.{factor}", f"must be levels of {factor}", unknown[0])
        for test in self.tests:
            if test not in TESTS and not self.functions:
                raise InputError("tests", "must be tests of simstudy, or functions of a study.py beside it", test)
            check_choice("tests", test, [*TESTS, *self.functions])
        for name in self.replicates.of:
            check_choice("replicates.of", name, [test for test in self.tests if test not in TESTS])

    def _values(self) -> dict[str, dict[Level, dict[str, Any]]]:
        """Factor -> level -> the values that it sets."""
        return {
            factor: {level: {k: v for k, v in values.items() if k != _TITLE} for level, values in levels.items()}
            if isinstance(levels, dict)
            else {level: {factor: level} for level in levels}
            for factor, levels in self.factors.items()
        }

    def conditions(self) -> list[Condition]:
        """All combinations of levels but those that a rule skips."""
        conditions = []
        for combination in product(*(levels.items() for levels in self._values().values())):
            levels = {factor: level for factor, (level, _) in zip(self.factors, combination, strict=True)}
            if not any(rule.skip for rule in self._rules_of(levels)):
                values = {name: value for _, values in combination for name, value in values.items()}
                conditions.append(Condition(levels, self.fixed | values))
        return conditions

    def most_replicates(self, condition: Condition, analysis: str) -> int:
        """The largest number of replicates that an analysis has in a condition."""
        numbers = [rule.replicates for rule in self._rules_of(condition.levels) if rule.replicates]
        return min(self.replicates.most, self.replicates.of.get(analysis, self.replicates.most), *numbers)

    def _rules_of(self, levels: Mapping[str, Level]) -> list[Rule]:
        return [rule for rule in self.rules if all(levels[name] in among for name, among in rule.where.items())]

    def title_of(self, factor: str, level: Any) -> str:
        """The title of a factor's level; of other columns, and by default, the value."""
        levels = self.factors.get(factor)
        return str(levels.get(level, {}).get(_TITLE, level) if isinstance(levels, dict) else level)

    def mentions(self, name: str) -> bool:
        """Whether a Python file of the study's folder has this name in it, as a whole word."""
        word = re.compile(rb"\b" + re.escape(name.encode()) + rb"\b")
        return any(word.search(source) for source in SOURCES.get(type(self).__module__, {}).values())

    def code(self) -> str:
        """A hash of the Python files of the study's folder, but for those that only work on finished tables."""
        files = code_of(self.folder, loaded=SOURCES.get(type(self).__module__))
        return describe({name: digest for name, digest in files.items() if name not in _AFTERWARDS})


def with_functions(module: ModuleType, folder: Path) -> type[Simulation]:
    """The model of a simulation whose functions are in the study.py of its folder."""
    model = create_model("WithFunctions", __base__=Simulation, __module__=module.__name__)
    model.folder = folder
    model.functions = {name: value for name, value in vars(module).items() if callable(value)}
    return model
