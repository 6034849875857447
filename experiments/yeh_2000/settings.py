"""The keys of study.toml."""

from __future__ import annotations

from typing import Annotated, Self

from pydantic import Field, model_validator

from simstudy.studies import EACH_ONCE, Keys, Positive, SideBySide, Size, Study, TaskName, Training

from .example import PRINTED_SHUFFLES

Correlation = Annotated[float, Field(ge=0, lt=1)]
Fraction = Annotated[float, Field(gt=0, lt=1)]


class Systems(Keys):
    """Real systems: variants of base models, trained on resampled training sets."""

    task: TaskName
    test_set: str
    training: Training = Training()


class Dependence(Keys):
    """Equally good systems on items that come in clusters (section 4)."""

    accuracy: Fraction
    n_clusters: Size
    cluster_size: Size
    within: Annotated[list[Correlation], EACH_ONCE] = Field(min_length=1)
    """Latent correlations of a system's results on the items of one cluster."""
    between: Correlation
    """Latent correlation of two systems on one item."""
    n_data: Positive
    """Test sets that are drawn for each correlation."""
    alpha: Fraction = 0.05

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if max(self.within) + self.between > 1:
            both = f"{max(self.within)} + {self.between}"
            raise ValueError(f"within and between must not exceed 1 together, unlike {both}")
        return self


class Settings(Study):
    """The keys of study.toml."""

    n_shuffles: Positive = PRINTED_SHUFFLES
    systems: Systems
    tests: SideBySide = SideBySide()
    dependence: Dependence
