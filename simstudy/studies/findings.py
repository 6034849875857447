"""What a run of a study gets to work with, and what it hands back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.report import Section
from simstudy.studies.definition import StudyError


class Clock:
    """Wall time of each stage, in seconds."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        start = time.perf_counter()
        yield
        self.seconds[stage] = round(time.perf_counter() - start, 1)


@dataclass
class RunContext:
    """Where and with how many workers a study runs."""

    folder: Path
    n_jobs: int
    data_dir: str | Path | None = None
    clock: Clock = field(default_factory=Clock)

    @cached_property
    def cells(self) -> Path:
        """The folder of finished cells, made when it is first needed: a wrong definition leaves no folder behind."""
        cells = self.folder / "cells"
        try:
            cells.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StudyError(f"out: can not write to {self.folder} ({error.strerror})") from None
        return cells


@dataclass
class Findings:
    """What a study found.

    Attributes
    ----------
    tables
        Name -> table, unrounded, in the order of the page.
    sections
        The page's parts; their figures are drawn.
    facts
        What was run, for the head of the page.
    closing
        How the numbers are to be read, at the page's end: units, corrections.
    summary
        What a terminal shows at the end: title -> a few rows of text.
    data
        What the manifest says of the data.
    comparisons
        All pairs on all test sets, where the study has such a table.
    """

    tables: dict[str, pd.DataFrame]
    sections: list[Section]
    facts: dict[str, str]
    closing: str
    summary: dict[str, pd.DataFrame]
    data: dict[str, Any] = field(default_factory=dict)
    comparisons: pd.DataFrame = field(default_factory=pd.DataFrame)
