"""What the study.toml of a study of error rates may say: conditions, sizes, how many test sets, what is aimed at."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from simstudy.engines.registry import TESTS
from simstudy.studies.definition import EACH_ONCE, Keys, Positive, Resamples, Size, Study, one_of
from simstudy.studies.error_rates.conditions import CONDITIONS

Share = Annotated[float, Field(ge=0, le=1)]


def _ascending(bounds: tuple[float, float]) -> tuple[float, float]:
    if bounds[0] >= bounds[1]:
        raise ValueError(f"it must be a lower and an upper bound, not {bounds}")
    return bounds


Range = Annotated[tuple[Share, Share], Field(strict=False), AfterValidator(_ascending)]


class Aims(Keys):
    """Where rates should lie, as ranges of shares."""

    liberal: Range = (0.025, 0.075)
    """Error rates: half to one and a half times the level (Bradley 1978, his liberal criterion)."""
    target: Range = (0.035, 0.065)
    """Error rates: what is aimed at here."""
    coverage: Range = (0.93, 0.97)
    """Of 95 % intervals."""
    from_units: Size = 100
    """From how many units on the target is to be met."""


class ErrorRates(Study):
    """The keys of a study of error rates."""

    kind: Literal["error_rates"] = "error_rates"
    conditions: Annotated[list[Annotated[str, one_of(CONDITIONS)]], EACH_ONCE] = Field(
        default=list(CONDITIONS), min_length=1
    )
    tests: Annotated[list[Annotated[str, one_of(TESTS)]], EACH_ONCE] = Field(default=list(TESTS), min_length=1)
    """Which of them apply to a condition's metric, the registry says."""
    n_units: Annotated[list[Size], EACH_ONCE] = Field(default=[5, 10, 15, 20, 30, 50, 100, 500, 2000], min_length=1)
    shown: Annotated[list[Size], EACH_ONCE] = Field(default=[100, 500], min_length=1)
    """Those that the page's main table shows."""
    batches: Positive = 16
    """Batches of test sets, each with resamples of its own that its test sets share."""
    sets: Positive = 250
    """Test sets of a batch."""
    n_resamples: Resamples = 999
    """Of each test set, where a test draws any: they are random, but error rates are not less right for few."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05
    aims: Aims = Aims()

    @model_validator(mode="after")
    def _shown(self) -> Self:
        if not set(self.shown) <= set(self.n_units):
            raise ValueError(f"shown must be some of n_units, not {self.shown} of {self.n_units}")
        return self

    @property
    def n_sets(self) -> int:
        """Test sets of each condition and size."""
        return self.batches * self.sets
