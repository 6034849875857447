"""What study.toml may say, checked before anything runs: the keys that studies of several kinds share."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from pathlib import Path, PurePath
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, PrivateAttr, model_validator

from simstudy.engines.arguments import check_options
from simstudy.engines.registry import ALTERNATIVES, DEFAULT_TEST, TESTS
from simstudy.outputs import Outputs, TestSet
from simstudy.running.fingerprints import fingerprint
from simstudy.statistics.pvalues import CONVENTIONS
from simstudy.training.named import check_task
from simstudy.validation import InputError, check_choice

Seed = Annotated[int, Field(ge=0, lt=2**64)]
Positive = Annotated[int, Field(ge=1)]
Resamples = Annotated[int, Field(ge=1, lt=2**53)]
Size = Annotated[int, Field(ge=2)]
Name = Annotated[str, Field(min_length=1)]


def checked(check: Callable[[Any], object]) -> AfterValidator:
    """The rule that a check of a key's value raises no ValueError."""

    def passed(value: Any) -> Any:
        check(value)
        return value

    return AfterValidator(passed)


def _rule(holds: Callable[[Any], bool], told: str) -> AfterValidator:
    """The rule that this holds of a key's value; else it is told, with the value where {} stands."""

    def check(value: Any) -> None:
        if not holds(value):
            raise InputError(told.format(value))

    return checked(check)


def one_of(known: Collection[str]) -> AfterValidator:
    """The rule that a key's value is one of these names."""
    return checked(lambda value: check_choice("it", value, known))


#: The rule that a list has no value twice: what is counted would be counted twice.
EACH_ONCE = _rule(lambda values: len(set(map(str, values))) == len(values), "it must have each value once, not {}")
#: The rule that a list goes up from value to value.
ASCENDING = _rule(lambda values: values == sorted(set(values)), "it must ascend, not {}")
#: The name of a task that comes with the package.
TaskName = Annotated[str, checked(lambda value: check_task("it", value, None))]
#: A level of significance.
Alpha = Annotated[float, Field(gt=0, lt=1)]
_FOLDER = _rule(lambda name: PurePath(name).name == name != "..", "it must be the name of one folder, not '{}'")


def check_resamples(test: str, n_resamples: int | None) -> None:
    """Raise a ValueError where a number of resamples is given to a test that draws none."""
    if n_resamples is not None and not TESTS[test].n_resamples:
        drawing = ", ".join(name for name, known in TESTS.items() if known.n_resamples)
        raise InputError(f"n_resamples is for tests that resample ({drawing}), not for '{test}'")


class StudyError(InputError):
    """A study is unknown, or its definition breaks a rule."""


class Keys(BaseModel):
    """Keys that belong together; an unknown one is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)

    def only(self, *names: str, **values: Any) -> Self:
        """A copy that has only some of the settings: the arguments of a cell hold what its result depends on.

        The copy has the methods and properties of its class. An AttributeError names any other setting that is read.

        Parameters
        ----------
        *names
            The settings that the copy has.
        **values
            Settings that it has too, with these values.

        Raises
        ------
        ValueError
            For a name that is no setting.

        Examples
        --------
        >>> training = Training(fractions=[1.0, 0.5], replicates=[5, 10])
        >>> training.only("fractions")
        Training(fractions=[1.0, 0.5])
        >>> training.only("fractions", replicates=[20, 20])
        Training(fractions=[1.0, 0.5], replicates=[20, 20])
        >>> training.only("fractions").replicates
        Traceback (most recent call last):
        AttributeError: 'replicates' is not among the cell's settings (fractions)
        """
        known = type(self).model_fields
        if unknown := [name for name in (*names, *values) if name not in known]:
            raise InputError("names", f"must be some of {', '.join(known)}", unknown[0])
        kept = {name: getattr(self, name) for name in names} | values
        copy = type(self).model_construct(_fields_set=set(kept), **kept)
        # Defaults are settings too, which are not among these.
        for name in copy.__dict__.keys() - kept.keys():
            del copy.__dict__[name]
        return copy

    def fingerprint(self) -> str:
        """A hash of the settings by their values, wherever the class was loaded from."""
        return fingerprint(_plain(self))

    if not TYPE_CHECKING:
        # Hidden from mypy, which would accept any attribute.
        def __getattr__(self, name: str) -> Any:
            """Called for an attribute that is not there."""
            if name in type(self).model_fields:
                settings = ", ".join(self.__dict__)
                raise AttributeError(f"'{name}' is not among the cell's settings ({settings})")
            return super().__getattr__(name)


def _plain(value: Any) -> Any:
    """Settings as dicts of their values, sections as well."""
    if isinstance(value, Keys):
        # In the order of the class, whichever order a copy was made in.
        return {name: _plain(value.__dict__[name]) for name in type(value).model_fields if name in value.__dict__}
    if isinstance(value, Mapping):
        return {name: _plain(own) for name, own in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(own) for own in value]
    return value


class Training(Keys):
    """Training-set resampling (Berg-Kirkpatrick et al. 2012, section 3.2)."""

    fractions: list[Annotated[float, Field(gt=0, le=1)]] = Field(default=[1.0, 0.5, 0.25], min_length=1)
    """Sizes of the resampled training sets, as shares of the original."""
    replicates: list[Positive] = Field(default=[5, 10, 10], min_length=1)
    """How many training sets of each size."""

    @model_validator(mode="after")
    def _same_length(self) -> Self:
        if len(self.fractions) != len(self.replicates):
            lengths = f"{len(self.fractions)} and {len(self.replicates)}"
            raise InputError("fractions and replicates", f"must have the same length, not {lengths}")
        return self


class Comparison(Keys):
    """How pairs are tested; see `simstudy.compare`."""

    test: Annotated[str, one_of(TESTS)] = DEFAULT_TEST
    n_resamples: Resamples | None = None
    alternative: Annotated[str, one_of(ALTERNATIVES)] | None = None
    convention: Annotated[str, one_of(CONVENTIONS)] = "default"
    monte_carlo: bool = False
    unit: Name | None = None
    strata: Name | None = None

    @model_validator(mode="after")
    def _possible(self) -> Self:
        check_options(
            self.test,
            alternative=self.alternative,
            convention=self.convention,
            monte_carlo=self.monte_carlo,
            strata=self.strata,
        )
        check_resamples(self.test, self.n_resamples)
        return self

    def on(self, outputs: Outputs, seed: int) -> TestSet:
        """The test set of these outputs, whose pairs are tested so."""
        return TestSet(outputs, unit=self.unit, settings=self.settings(seed))

    def settings(self, seed: int) -> dict[str, Any]:
        """What is said of a `TestSet`, but for its unit."""
        return {**self.model_dump(exclude={"unit"}), "seed": seed}


class SideBySide(Keys):
    """All tests on the same pairs, and how the systems are correlated (Yeh 2000, section 2)."""

    alpha: Alpha = 0.05
    """The level at which a test rejects."""
    n_shown: Positive = 30
    """How many of the pairs on which tests disagree the table keeps."""
    n_resamples: Resamples | None = None
    """Of tests that draw any; by default each test's own number."""


class Study(Keys):
    """What every study says. The fields are the keys of study.toml."""

    name: Annotated[str, _FOLDER]
    """Of its folder, and of that of its results."""
    title: str
    question: str
    kind: str
    seed: Seed = 0
    folder: ClassVar[Path | None] = None
    """The folder with its study.py or task.py, which may be executed; None for a study that is data alone."""
    # No name without underscore: it would be that of a key of a program.
    _place: Path | None = PrivateAttr(default=None)


def place_of(study: Study) -> Path | None:
    """The folder of a study.toml that a user named by its path; None for a shipped study and one made in Python."""
    return study._place


S = TypeVar("S", bound=Study)


def placed(study: S, folder: Path | None) -> S:
    """The same study, whose study.toml is in this folder."""
    copy = study.model_copy()
    copy._place = folder
    return copy
