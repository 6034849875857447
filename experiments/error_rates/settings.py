"""The keys of study.toml: the conditions, which are two systems of known scores, and what is asked of them."""

from __future__ import annotations

from typing import Annotated, Any, Self

import numpy as np
from pydantic import AfterValidator, Field, model_validator

import simstudy as ss
from simstudy.studies import EACH_ONCE, PAIR_MODELS, Keys, Positive, Resamples, Size, Study, one_of, pair_model

# How rejections are counted: two-sided; one-sided for the system that the data say is the better; and one-sided for a
# system that was named before.
TWO_SIDED, ONE_SIDED, NAMED = "two-sided", "greater", "greater, named beforehand"

# What a condition may break, as the column ``breaks`` says it.
NULL, DEPENDENT_UNITS, DEPENDENT_SYSTEMS = "null hypothesis", "independent units", "independent systems"

# Their null hypotheses ask for more than equal scores: that results could be exchanged, or what follows from it.
OF_EXCHANGEABLE = ("randomization", "sign", "wilcoxon")

# The test that is run where none is asked for, and those that the figure draws.
DEFAULT_TEST, DRAWN = "sign_flips", ("randomization", "t_paired", "bootstrap", "skew_corrected", "sign_flips")

# Those whose p-values and power are drawn.
EVEN = ("sign_flips", "randomization", "bootstrap", "t_paired", "wilcoxon", "sign")

# A true gain is 0 where it is below this on the metric's scale; what has been solved for is known to some 10^-13.
NO_GAIN = 1e-9

# Where the distribution of p-values is looked at, beside the alphas.
QUANTILES = tuple(float(f"{level:.3g}") for level in np.geomspace(0.002, 0.9, 20))


def ascending(bounds: tuple[Any, Any]) -> tuple[Any, Any]:
    """The rule that a range has its lower bound first."""
    if bounds[0] >= bounds[1]:
        raise ValueError(f"it must be a lower and an upper bound, not {bounds}")
    return bounds


Share = Annotated[float, Field(ge=0, le=1)]
Range = Annotated[tuple[Share, Share], Field(strict=False), AfterValidator(ascending)]


Alpha = Annotated[float, Field(gt=0, lt=1)]


class Condition(Keys):
    """Two systems of known scores."""

    title: str
    """For a figure."""
    situation: str
    """What kind of scores these are: tests are recommended by situation."""
    systems: str
    """What they are, and what they have in common."""
    model: Annotated[str, one_of(PAIR_MODELS)]
    parameters: dict[str, Any]
    """Of the model."""
    batches: Positive | None = None
    """Fewer, where test sets are slow to draw."""

    @model_validator(mode="after")
    def _model(self) -> Self:
        try:
            known = np.isfinite(self.pair.true_gain)
        except (TypeError, ValueError, IndexError, ArithmeticError) as error:
            raise ValueError(f"parameters are not those of {self.model}: {error}") from None
        if not known:
            raise ValueError(f"parameters must give two scores, unlike {self.parameters}")
        return self

    @property
    def pair(self) -> Any:
        """What draws the two systems."""
        return pair_model(self.model, self.parameters)

    @property
    def null(self) -> bool:
        """Whether the two systems' true scores are equal."""
        return bool(abs(self.pair.true_gain) < NO_GAIN)

    def breaks(self, test: str, unit: str) -> str:
        """The assumption of a test of such units that the condition breaks; empty if it breaks none."""
        if unit != self.pair.units[0]:
            return DEPENDENT_UNITS
        if test in OF_EXCHANGEABLE and not self.pair.exchangeable:
            return NULL
        return DEPENDENT_SYSTEMS if assumes_independence(test) and not self.pair.independent else ""


def assumes_independence(test: str) -> bool:
    """Whether a test takes the two systems' results to be independent of each other."""
    return "independent of each other" in ss.TESTS[test].assumes


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


class Settings(Study):
    """The keys of study.toml."""

    conditions: dict[str, Condition] = Field(min_length=1)
    tests: Annotated[list[Annotated[str, one_of(ss.TESTS)]], EACH_ONCE] = Field(default=list(ss.TESTS), min_length=1)
    """Which of them apply to a condition's metric, the registry says."""
    n_units: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)
    shown: Annotated[list[Size], EACH_ONCE] = Field(min_length=1)
    """Those that the page's main tables show, and for which tests are one-sided as well; p-values are looked at on the
    first of them."""
    batches: Positive
    """Batches of test sets, each with resamples of its own that its test sets share."""
    many_units: Size
    """From how many units on test sets take long."""
    batches_of_many: Positive
    """Batches from there on."""
    sets: Positive
    """Test sets of a batch."""
    n_resamples: Resamples = 999
    """Resamples of each test set, if a test draws any. Rates of tests with few resamples are no less correct."""
    alpha: Alpha = 0.05
    """The level that the page speaks of."""
    alphas: Annotated[list[Alpha], EACH_ONCE] = [0.05]
    """All levels of the tables."""
    bands: list[Annotated[tuple[Size, Size], Field(strict=False), AfterValidator(ascending)]] = Field(min_length=1)
    """From and to how many units tests are recommended."""
    aims: Aims = Aims()

    def batches_of(self, condition: str, n_units: int) -> int:
        """How many batches a cell of the tables has."""
        many = self.batches_of_many if n_units >= self.many_units else self.batches
        return min(many, self.conditions[condition].batches or many)

    @model_validator(mode="after")
    def _alphas(self) -> Self:
        if self.alpha not in self.alphas:
            raise ValueError(f"alpha must be one of alphas, not {self.alpha:g} of {self.alphas}")
        return self

    @model_validator(mode="after")
    def _shown(self) -> Self:
        if not set(self.shown) <= set(self.n_units):
            raise ValueError(f"shown must be some of n_units, not {self.shown} of {self.n_units}")
        return self
