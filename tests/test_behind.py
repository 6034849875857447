"""Shipped results are what a run today would make, or `results/BEHIND.md` names them."""

from __future__ import annotations

import re
from pathlib import Path

from simstudy.studies.written import why_not_fresh

RESULTS = Path(__file__).parents[1] / "results"


def test_each_study_that_is_behind_is_named_and_no_other() -> None:
    rows = (RESULTS / "BEHIND.md").read_text(encoding="utf-8").splitlines()
    named = [match[1] for row in rows if (match := re.match(r"\| (\w+) \|", row)) and match[1] != "study"]
    reasons = {path.parent.name: why_not_fresh(path.parent)[0] for path in sorted(RESULTS.glob("*/manifest.json"))}
    assert sorted(named) == [name for name, lines in reasons.items() if lines], reasons
    assert len(reasons) > 30
