"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from simstudy.studies import EACH_ONCE, MODELS, Keys, Positive, Resamples, Study, one_of

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


class Margin(Keys):
    """Two systems of equal true scores, and the margin within which that is to be shown."""

    title: str
    """For the page."""
    model: Annotated[str, one_of(MODELS)]
    parameters: dict[str, Any]
    """Of the model."""
    margin: Annotated[float, Field(gt=0)]
    """On the metric's scale."""
    population: Annotated[int, Field(ge=1000)] = 200_000
    """Units from which the spread of differences is known."""

    @model_validator(mode="after")
    def _equal(self) -> Self:
        try:
            gain = self.pair.true_gain
        except (TypeError, ValueError, IndexError, ArithmeticError) as error:
            raise ValueError(f"parameters are not those of {self.model}: {error}") from None
        if not abs(gain) < 1e-9:
            raise ValueError(f"parameters must be those of equal systems, not of a gain of {gain:g}")
        return self

    @property
    def pair(self) -> Any:
        """What draws the two systems."""
        return MODELS[self.model](**self.parameters)


class Settings(Study):
    """The keys of study.toml."""

    sets: list[Sets] = Field(min_length=1)
    transfers: list[Transfers] = []
    margins: dict[str, Margin] = {}
    """Equal systems that are to be shown to be equivalent."""
    margin_sets: Positive = 10_000
    """Test sets that are drawn from each of them and each goal."""
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

    @model_validator(mode="after")
    def _one_study_of_each_name(self) -> Self:
        studies: dict[str, str] = {}
        for part in self.sets:
            for name in part.test_sets:
                if studies.setdefault(name, part.study) != part.study:
                    raise ValueError(
                        f"sets must have test sets of different names, because tables tell them apart by name; "
                        f"'{name}' is a test set of {studies[name]} and of {part.study}"
                    )
        return self
