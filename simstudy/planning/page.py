"""The folder of one plan for people: tables, the figure, and a page that begins with the answers."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from simstudy.manifest import manifest_of
from simstudy.metrics import label
from simstudy.plain_text import in_words
from simstudy.planning.results import Plan
from simstudy.report import Page, write_results
from simstudy.results_folder import results_folder
from simstudy.sections import Column, Figure, Section, Table

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
        text = "What test sets of so many units will show of these systems: medians, and 80 % prediction intervals."
        sections.append(Section("These systems", text, table=predicted_rows(plan)))
    if len(plan.designs):
        sections.append(
            Section("Fewer or more items a cluster", "More clusters, or larger ones.", table=design_rows(plan))
        )
    return sections


def size_rows(plan: Plan) -> Table:
    """Sizes, with what they tell."""
    ranged = any(case.range for case in plan.cases)
    columns: dict[str, str | Column] = {"relation": "{relation:name}"} if len(plan.cases) > 1 else {}
    if any(case.unit != "item" for case in plan.cases):
        columns["clusters"] = "{n_units:,}"
    columns["items"] = "{n_items:,}"
    columns["detectable gain"] = _ranged("detectable_gain", "gain", ranged)
    if "power" in plan.sizes:
        columns[f"power for {plan.target.gain:g}"] = _ranged("power", ".2f", ranged)
        columns["wrong winner"] = "{wrong_winner:.1%}"
        columns["wrong sign, if significant"] = "[{wrong_sign:.2%}]"
        columns["exaggeration"] = "[{exaggeration:.2f}]"
    for goal in ("not_worse", "equivalent"):
        if f"shown_{goal}" in plan.sizes:
            columns[f"{in_words(goal)} by {plan.target.margin:g}"] = f"{{shown_{goal}:.2f}}"
    return Table(plan.sizes, columns)


def _ranged(name: str, form: str, ranged: bool) -> str:
    ends = f"[ ({{{name}_low:{form}}}–{{{name}_high:{form}}})]" if ranged else ""
    return f"[{{{name}:{form}}}]{ends}"


def design_rows(plan: Plan) -> Table:
    """Designs, with what they tell and cost."""
    columns: dict[str, str | Column] = {"relation": "{relation:name}"} if len(plan.cases) > 1 else {}
    columns |= {"items a cluster": "{items_per_unit:.3g}", "": "{which}", "design effect": "{design_effect:.2f}"}
    if plan.designs["n_units"].notna().any():
        columns |= {"clusters for the gain": "[{n_units:,.0f}]", "items": "[{n_items:,.0f}]"}
    if plan.designs["cost"].notna().any():
        columns["cost"] = "[{cost:,.4g}]"
    columns |= {"or with clusters": "{at_units:,}", "detectable gain": "[{detectable_gain:gain}]"}
    return Table(plan.designs, columns)


def predicted_rows(plan: Plan) -> Table:
    """What test sets of several sizes will show of these systems."""
    columns: dict[str, str | Column] = (
        {"relation": "{relation:name}"} if plan.predicted["relation"].nunique() > 1 else {}
    )
    columns["units"] = "{n_units:,}"
    neighbours = int(plan.predicted["n_systems"].max()) - 1
    for heading, name, form in (
        ("significant pairs", "share_significant", ".0%"),
        ("wrong winners", "wrong_winner", ".1%"),
        (f"of {neighbours} neighbours told apart", "separated", ".0f"),
        ("after Holm", "separated_corrected", ".0f"),
        ("ranks", "ranks", ".0f"),
    ):
        if name in plan.predicted:
            columns[heading] = f"[{{{name}:{form}}}][ ({{{name}_low80:{form}}}–{{{name}_high80:{form}}})]"
    return Table(plan.predicted, columns)
