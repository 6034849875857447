"""What the study.toml of a study of training-set resampling may say."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, create_model, field_validator

from simstudy.studies.definition import (
    ASCENDING,
    EACH_ONCE,
    Comparison,
    Keys,
    Name,
    Positive,
    Resamples,
    SideBySide,
    Size,
    Study,
    Training,
)  # fmt: skip
from simstudy.studies.problems import Problems
from simstudy.training.named import check_task


class Home(Keys):
    """The home test set and its nested sizes (section 4.1)."""

    test_set: str
    sizes: Annotated[list[Size], ASCENDING] = Field(min_length=1)
    """Numbers of items of its initial segments, ascending; the last one is the home test set of all else."""


class Domains(Keys):
    """Other test sets: where home winners are followed, and the curves at one fixed size (section 4.2, figure 11)."""

    home: str | None = None
    """The test set whose winners are followed, all of it; by default the home test set at its largest size."""
    test_sets: list[str] = Field(min_length=1)
    """Names of the task's test sets, or "<test set> / <domain>" for one domain of one."""
    size: Size
    """Items of the initial segments that the curves of figure 11 compare."""
    curves: list[str] | None = Field(default=None, min_length=1)
    """The test sets of that figure beside the home test set; all of them by default."""
    n_splits: Positive = 20
    """Random halves of the home test set, for the share that there would be without another domain."""


class Calibration(Keys):
    """Calibration under identical distribution (section 4.2)."""

    population: list[str] = Field(min_length=1)
    """Test sets that together are treated as the population."""
    size: Size
    """Units of a redrawn test set."""
    unit: Name | None = None
    """What is drawn, and is a unit of these test sets: "item", or a column of the items; comparison.unit by default."""
    n_draws: Positive = 20
    n_resamples: Resamples = 100_000


class ResamplingStudy(Study):
    """Training-set resampling, its curves, thresholds and calibration (Berg-Kirkpatrick et al. 2012)."""

    kind: Literal["resampling"] = "resampling"
    task: str
    metrics: Annotated[list[str], EACH_ONCE] = []
    """Of the task's metrics; all of them by default. The first is that of all figures, the others have thresholds."""
    training: Training = Training()
    comparison: Comparison = Comparison()
    home: Home
    domains: Domains | None = None
    calibration: Calibration | None = None
    tests: SideBySide | None = None

    @field_validator("task")
    @classmethod
    def _known(cls, task: str) -> str:
        check_task("it", task, cls.folder)
        return task

    def check_first_metric(self, metric: str, problems: Problems) -> None:
        """What a study with more settings asks of the metric of all figures."""


def with_own_task(model: type[Study], folder: Path) -> type[Study]:
    """The model of a study whose task is made by the task.py in its folder."""
    made = create_model("WithOwnTask", __base__=model)
    made.folder = folder
    return made
