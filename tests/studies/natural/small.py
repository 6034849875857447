"""The test sets of a small study, as a study.toml has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from simstudy.studies.definition import Study

Make = Callable[..., Study]

EXAMS: dict[str, Any] = {
    "name": "exam {}",
    "each": ["a", "b"],
    "metric": "accuracy",
    "paths": ["made/exam_{}.csv"],
    "columns": {"domain": "topic"},
    "systems": {"file": "made/systems.csv", "columns": {"group": "team"}, "where": {"exam": "{}"}},
    "by": ["group", "base_model"],
    "leave_out": ["broken"],
    "mixed": True,
    "sizes": [40],
}
MEASURES: dict[str, Any] = {
    "name": "runs",
    "metric": ["ap", "rr"],
    "paths": ["made/measures.csv"],
    "columns": {"system": "run", "item": "topic", "domain": "half"},
    "where": {"measure": "{metric}"},
    "by": [],
}
ANSWERS: dict[str, Any] = {
    "name": "answers",
    "metric": "accuracy",
    "paths": ["made/answers", "made/answers/late"],
    "references": ["made/gold.txt"],
    "groups": {"numbers": ["one", "two"]},
}
