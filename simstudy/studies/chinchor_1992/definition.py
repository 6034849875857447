"""What the study.toml of the study of Chinchor 1992 may say: her examples, constructed cases, the MUC-like set."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from simstudy.metrics import METRICS
from simstudy.studies.definition import Keys, Positive, Size, Study, one_of

#: The name of the synthetic test set.
MUC_LIKE = "MUC-like"

# The metrics of four-tuples.
_MUC = [name for name, metric in METRICS.items() if metric.statistics == METRICS["muc_f"].statistics]

Fraction = Annotated[float, Field(gt=0, lt=1)]
Runs = list[Annotated[tuple[Positive, int], Field(strict=False)]]


class Worked(Keys):
    """Systems with the same score on each message but for some (section "Examples"), in precision."""

    n_messages: Size
    relevant: Size
    """Messages with slots to fill; the others have none and get no response."""
    fills: Positive
    """Slots of a relevant message; a system fills them all."""
    correct: dict[str, Runs] = Field(min_length=2)
    """System -> runs of [messages, correct fills in each], over the relevant messages."""


class Constructed(Keys):
    """Systems built so that the pattern of a published case appears."""

    name: str
    metric: Annotated[str, one_of(_MUC)] = "muc_f"
    n_messages: Size
    relevant: Size
    fills: Positive
    correct: dict[str, Runs] = Field(min_length=2)
    published: dict[str, float]
    """"A / B" -> the significance level that the paper prints, where it does."""


class Reading(Keys):
    """A significance level with the confidence level that the paper prints for it."""

    pair: str
    level: Fraction
    n_shuffles: Positive
    cutoff: Fraction
    confidence: Fraction

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.level * (self.n_shuffles + 1) < 1:
            raise ValueError(f"level must be at least 1 / (n_shuffles + 1), not {self.level}")
        return self


class MucLike(Keys):
    """The synthetic test set; see `simstudy.messages`."""

    n_systems: Annotated[int, Field(ge=2, le=100)]
    n_messages: Annotated[int, Field(ge=2, le=500)]
    """Exact p-values of F take time that grows with the third power of this."""
    metrics: list[Annotated[str, one_of(_MUC)]] = Field(min_length=1)


class Chinchor1992(Study):
    """The keys of the study of Chinchor 1992."""

    kind: Literal["chinchor_1992"] = "chinchor_1992"
    cutoff: Fraction = 0.1
    certainty: Fraction = 0.99
    worked: Worked
    constructed: list[Constructed] = Field(min_length=1)
    readings: list[Reading] = Field(min_length=1)
    muc: MucLike

    @model_validator(mode="after")
    def _distinct(self) -> Self:
        names = [MUC_LIKE, *(case.name for case in self.constructed)]
        for key, values in (("constructed.name", names), ("muc.metrics", self.muc.metrics)):
            if len(set(values)) < len(values):
                raise ValueError(f"{key} must be different ones (and none is '{MUC_LIKE}'), not {values}")
        return self
