"""The folder of one plan for people: tables, the figure, and a page that begins with the answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simstudy.metrics import label
from simstudy.pages.report import Page, write_results
from simstudy.pages.sections import Figure, Section
from simstudy.planning.text import design_rows, predicted_rows, size_rows
from simstudy.running.results_folder import manifest_of, results_folder

if TYPE_CHECKING:
    from simstudy.planning.results import Plan

#: What a plan's folder of results is of.
RESULTS_OF = "a plan"

_CLOSING = (
    "A detectable gain is the true gain that is found with the power. The wrong winner is how often the truly worse "
    "system has the better score; exaggeration is the mean significant gain over the true one. Gains are on the "
    "metric's scale. What is in brackets is the range that follows from what was guessed or estimated."
)


def write(plan: Plan, out: Path, *, command: str, settings: Mapping[str, Any], files: Mapping[str, str]) -> None:
    """Write tables, figure, page and manifest of one plan to a folder of its own."""
    with results_folder(out, RESULTS_OF) as results:
        tables = {name: getattr(plan, name) for name in ("answers", "sizes", "designs", "predicted")}
        facts = {"Assumed": list(plan.assumptions)} | ({"Note": list(plan.notes)} if plan.notes else {})
        page = Page(
            title=f"Plan of a test set: {label(plan.target.metric.name)}",
            question="How large must the test set be, and what does one of a given size tell?",
            command=command,
            facts=facts,
            sections=_sections(plan),
            tables={name: table for name, table in tables.items() if len(table)},
            closing=_CLOSING,
        )
        write_results(results, page, manifest_of({"plan": dict(settings)}, {"files": dict(files)}, {}))


def _sections(plan: Plan) -> list[Section]:
    said = " ".join(plan.sentences) + (f" {plan.simulated.text()}" if plan.simulated else "")
    sections = [Section("Answers", said, figure=Figure("plan", plan.figure))]
    sections.append(
        Section(
            "Other sizes", f"What test sets of other sizes tell (power {plan.target.power:g}).", table=size_rows(plan)
        )
    )
    if len(plan.predicted):
        text = "What test sets of so many items will show of these systems: medians, and 80 % prediction intervals."
        sections.append(Section("These systems", text, table=predicted_rows(plan)))
    if len(plan.designs):
        sections.append(
            Section("Fewer or more items a cluster", "More clusters, or larger ones.", table=design_rows(plan))
        )
    return sections
