"""A plan as a paper shows it: the table of sizes, and how the size was planned, for the section of methods."""

from __future__ import annotations

import re
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

from simstudy.engines.descriptions import SIDES
from simstudy.metrics import label
from simstudy.papers.document import Cite, Paper, Table, Text, joined
from simstudy.papers.references import SIMSTUDY, TYPE_M
from simstudy.planning.cases import coverage_of
from simstudy.planning.printed import size_rows

if TYPE_CHECKING:
    from simstudy.planning.results import Plan


def paper(plan: Plan) -> Paper:
    """A plan for a paper. The sentences are about the test set."""
    said = [_in_a_paper(sentence).replace(", you show ", ", tests show ") for sentence in plan.sentences]
    told = " ".join(sentence for sentence in said if not re.search(r"\b[Yy]ou\b|^They cost", sentence))
    errors: Text = ["Type S and type M errors are those of Gelman and Carlin", Cite((TYPE_M,)), "."]
    methods = joined(
        [told],
        errors if "type M" in told else [],
        [plan.simulated.methods()] if plan.simulated else [],
        ["Assumptions: ", _in_a_paper(" ".join(plan.assumptions))],
        [f"The plan is by simstudy {version('simstudy')}", Cite((SIMSTUDY,)), "."],
    )
    remarks = plan.simulated.remarks if plan.simulated else []
    return Paper(tables=[_sizes(plan)], results=[], methods=methods, notes=[*plan.notes, *remarks])


def _in_a_paper(text: str) -> str:
    return text.replace("<=", "≤")


def _sizes(plan: Plan) -> Table:
    rows = size_rows(plan).text()
    head: list[tuple[str, Any]] = [(f"{name[0].upper()}{name[1:]}", "right") for name in map(str, rows)]
    if "relation" in rows:
        head[0] = (head[0][0], "left")
    level = plan.target.level
    sides = SIDES[level.alternative]
    shared = f", shared by {level.comparisons} comparisons (Bonferroni)" if level.comparisons > 1 else ""
    covered = coverage_of(plan.cases)
    ranges = f" Brackets: {covered}." if covered else ""
    caption = (
        f"What test sets of these sizes detect: gains of {label(plan.target.metric.name)} on the metric's scale, with "
        f"power {plan.target.power:g} ({sides} test, p ≤ {level.alpha:g}{shared}).{ranges}"
    )
    return Table("sizes", head, rows.to_numpy().tolist(), [caption])
