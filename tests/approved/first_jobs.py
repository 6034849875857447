"""The fifteen first jobs of `tests/test_first_jobs.py`: the JSON of each command, and the tables of each call."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable
from contextlib import chdir
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

import pandas as pd

import simstudy as ss
from tests import test_first_jobs as jobs
from tests.approved.commands import numbers
from tests.approved.record import DOORS, Values, recording


def _spied(function: Callable[..., Any], seen: list[Any], kept: Callable[[Any], Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        answer = function(*args, **kwargs)
        seen.append(kept(answer))
        return answer

    return call


@recording(DOORS, quick=False)
def first_jobs() -> Values:
    """The answers to each job, and the leaderboard of the study."""
    values: Values = {}
    for name, job in inspect.getmembers(jobs, inspect.isfunction):
        if not (place := re.match(r"test_(\d+)_", name)):
            continue
        seen: list[Any] = []
        with (
            TemporaryDirectory() as folder,
            chdir(folder),
            patch.object(jobs, "run", _spied(jobs.run, seen, numbers)),
            patch.object(ss, "examine", _spied(ss.examine, seen, lambda report: numbers(json.loads(report.to_json())))),
            patch.object(ss, "plan", _spied(ss.plan, seen, lambda plan: plan.answers.dropna(axis=1))),
        ):
            job(**({"library": "pyarrow"} if inspect.signature(job).parameters else {}))
            if (board := Path("out", "leaderboard.csv")).exists():
                seen.append(pd.read_csv(board))
        assert seen, name
        values[f"job {int(place[1]):02d}"] = seen
    return dict(sorted(values.items()))
