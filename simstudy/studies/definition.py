"""A study's definition: what study.toml may say, checked before anything runs."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, model_validator

from simstudy.choices import check_choice, nearest
from simstudy.engines.registry import ALTERNATIVES, TESTS
from simstudy.pvalues import CONVENTIONS
from simstudy.tasks import TASKS

Seed = Annotated[int, Field(ge=0, lt=2**64)]
Positive = Annotated[int, Field(ge=1)]
Resamples = Annotated[int, Field(ge=1, lt=2**53)]
Size = Annotated[int, Field(ge=2)]


def _one_of(known: Iterable[str]) -> AfterValidator:
    def check(value: str) -> str:
        check_choice("it", value, known)
        return value

    return AfterValidator(check)


class StudyError(ValueError):
    """A study is unknown, or its definition breaks a rule."""


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Training(_Section):
    """Training-set resampling (Berg-Kirkpatrick et al. 2012, section 3.2)."""

    fractions: list[Annotated[float, Field(gt=0, le=1)]] = Field(default=[1.0, 0.5, 0.25], min_length=1)
    """Sizes of the resampled training sets, as shares of the original."""
    replicates: list[Positive] = Field(default=[5, 10, 10], min_length=1)
    """How many training sets of each size."""

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if len(self.fractions) != len(self.replicates):
            lengths = f"{len(self.fractions)} and {len(self.replicates)}"
            raise ValueError(f"fractions and replicates must have the same length, not {lengths}")
        return self


class Comparison(_Section):
    """How pairs are tested; see `simstudy.compare`."""

    test: Annotated[str, _one_of(TESTS)] = "bootstrap"
    n_resamples: Resamples = 1_000_000
    alternative: Annotated[str, _one_of(ALTERNATIVES)] = "greater"
    convention: Annotated[str, _one_of(CONVENTIONS)] = "default"
    unit: str = "item"
    strata: str | None = None


class Home(_Section):
    """The home test set and its nested sizes (section 4.1)."""

    test_set: str
    sizes: list[Size] = Field(min_length=1)
    """Numbers of items of its initial segments, ascending; the last one is the home test set of all else."""

    @model_validator(mode="after")
    def _ascending(self) -> Self:
        if self.sizes != sorted(set(self.sizes)):
            raise ValueError(f"sizes must ascend, not {self.sizes}")
        return self


class Domains(_Section):
    """Other test sets: where home winners are followed, and the curves at one fixed size (section 4.2, figure 11)."""

    test_sets: list[str] = Field(min_length=1)
    """Names of the task's test sets, or "<test set> / <domain>" for one domain of one."""
    size: Size
    """Items of the initial segments that the curves of figure 11 compare."""
    curves: list[str] | None = Field(default=None, min_length=1)
    """The test sets of that figure beside the home test set; all of them by default."""


class Calibration(_Section):
    """Calibration under identical distribution (section 4.2)."""

    population: list[str] = Field(min_length=1)
    """Test sets that together are treated as the population."""
    size: Size
    """Units (items, or the clusters of comparison.unit) of a redrawn test set."""
    n_draws: Positive = 20
    n_resamples: Resamples = 100_000


class Study(_Section):
    """Everything a study is. The fields are the keys of study.toml."""

    name: str
    title: str
    question: str
    task: Annotated[str, _one_of(TASKS)]
    seed: Seed = 0
    training: Training = Training()
    comparison: Comparison = Comparison()
    home: Home
    domains: Domains | None = None
    calibration: Calibration | None = None


def shipped_studies() -> dict[str, Path]:
    """The studies that travel with the package: name -> study.toml.

    Examples
    --------
    >>> "quickstart" in shipped_studies()
    True
    """
    package = Path(str(files("simstudy")))
    # Installed from a wheel they lie inside the package, in a checkout beside it.
    for folder in (package / "experiments", package.parent / "experiments"):
        if folder.is_dir():
            return {path.parent.name: path for path in sorted(folder.glob("*/study.toml"))}
    return {}


def load_study(study: str | Path) -> Study:
    """A study by its shipped name, or from a study.toml or the folder that holds one.

    Raises
    ------
    StudyError
        For an unknown study and for every wrong key or value; all of them are named in one line.

    Examples
    --------
    >>> load_study("quickstart").task
    'digits'
    """
    known = shipped_studies()
    path = known.get(str(study)) or Path(study)
    if path.is_dir():
        path = path / "study.toml"
    if not path.is_file():
        hint = nearest(study, known)
        raise StudyError(f"no study and no file is called '{study}'{hint}; the studies are {', '.join(known)}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise StudyError(f"{path} is not TOML: {error}") from None
    if "name" in content:
        raise StudyError(f"{path}: unknown key 'name': a study is called after its folder")
    return make_study({"name": path.resolve().parent.name, **content}, str(path))


def make_study(content: Mapping[str, Any], source: str) -> Study:
    """A study from the keys and values of a study.toml and its name; `source` says in messages where they are from.

    Raises
    ------
    StudyError
        For every wrong key or value; all of them are named in one line.

    Examples
    --------
    >>> make_study({"name": "mine", "task": "digits", "title": "T", "question": "Q?"}, "here")
    Traceback (most recent call last):
    simstudy.studies.definition.StudyError: here: key 'home' is missing
    """
    try:
        return Study.model_validate(content)
    except ValidationError as error:
        problems = "; ".join(_problem(details) for details in error.errors())
        raise StudyError(f"{source}: {problems}") from None


def _problem(details: Mapping[str, Any]) -> str:
    """One wrong key or value, in words."""
    where = ".".join(str(part) for part in details["loc"])
    if details["type"] == "extra_forbidden":
        section: Any = Study
        for part in details["loc"][:-1]:
            section = _SECTIONS.get(str(part), section)
        keys = [key for key in section.model_fields if key != "name"]
        return f"unknown key '{where}'" + (nearest(details["loc"][-1], keys) or f" (the keys are {', '.join(keys)})")
    if details["type"] == "missing":
        return f"key '{where}' is missing"
    message = details["msg"].removeprefix("Value error, ")
    value = "" if details["type"] == "value_error" else f", not {details['input']!r}"
    return f"{where}: {message[0].lower()}{message[1:]}{value}"


_SECTIONS = {
    "training": Training,
    "comparison": Comparison,
    "home": Home,
    "domains": Domains,
    "calibration": Calibration,
}
