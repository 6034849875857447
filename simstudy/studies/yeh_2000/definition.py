"""What the study.toml of the study of Yeh 2000 may say: the paper's example, what it prints, simulations."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from simstudy.engines.registry import ALTERNATIVES
from simstudy.studies.definition import EACH_ONCE, Keys, Positive, SideBySide, Size, Study, Training, one_of
from simstudy.tasks import TASKS

#: The metrics of the example.
METRICS = ("recall", "precision", "f1")

# What the paper's counts are of (section 3.3), however many shuffles we draw.
PRINTED_SHUFFLES = 2**20

Count = Annotated[int, Field(ge=0)]


class Example(Keys):
    """Two methods' responses, by who found them (sections 2.2 and 3.3)."""

    relations: Annotated[list[Positive], EACH_ONCE] = Field(min_length=1)
    """How many there are to find; all readings of a printed number that is not clear, the likeliest first."""
    found_by_both: Count
    found_by_1: Count
    found_by_2: Count
    spurious_in_both: Count
    spurious_in_1: Count
    spurious_in_2: Count


class Systems(Keys):
    """Real systems: variants of base models, trained on resampled training sets."""

    task: Annotated[str, one_of(TASKS)]
    test_set: str
    training: Training = Training()


class Dependence(Keys):
    """Equally good systems on items that come in clusters (section 4)."""

    accuracy: Annotated[float, Field(gt=0, lt=1)]
    n_clusters: Size
    cluster_size: Size
    within: Annotated[list[Annotated[float, Field(ge=0, lt=1)]], EACH_ONCE] = Field(min_length=1)
    """Latent correlations of a system's results on the items of one cluster."""
    between: Annotated[float, Field(ge=0, lt=1)]
    """Latent correlation of two systems on one item."""
    n_data: Positive
    """Test sets that are drawn for each correlation."""
    alpha: Annotated[float, Field(gt=0, lt=1)] = 0.05

    @model_validator(mode="after")
    def _shares(self) -> Self:
        if max(self.within) + self.between > 1:
            raise ValueError(
                f"within and between must not exceed 1 together, unlike {max(self.within)} + {self.between}"
            )
        return self


class Yeh2000(Study):
    """The keys of the study of Yeh 2000."""

    kind: Literal["yeh_2000"] = "yeh_2000"
    n_shuffles: Positive = 2**20
    example: Example
    printed: dict[str, str]
    """What the paper prints, by the names of `quantities`."""
    printed_levels: dict[Annotated[str, one_of([f"{m}, {a}" for m in METRICS for a in ALTERNATIVES])], str]
    """The significance levels that it prints of randomization, by "<metric>, <alternative>"."""
    printed_counts: dict[Annotated[str, one_of(METRICS)], Count]
    """Of the paper's shuffles, how many were as extreme, one-sided, by metric."""
    printed_ratios: list[Annotated[tuple[Annotated[float, Field(ge=-1, lt=1)], float], Field(strict=False)]] = Field(
        min_length=1
    )
    """Rows of the table of section 2.1: r12, and how much larger independence makes the standard deviation."""
    flips: Annotated[list[Annotated[float, Field(ge=0, lt=1)]], EACH_ONCE] = Field(min_length=1)
    """Correlations of five coins."""
    systems: Systems
    tests: SideBySide = SideBySide()
    dependence: Dependence
