"""A plan in sentences and tables, for people."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simstudy.pages.sections import Column, Table
from simstudy.text.plain_text import in_words
from simstudy.text.printing import Printer

if TYPE_CHECKING:
    from simstudy.planning.results import Plan


def show(plan: Plan, printer: Printer) -> None:
    """Print the answers and their simulation, tables of other sizes, and what was assumed."""
    for said in plan.sentences:
        printer.line(said)
    if plan.simulated is not None:
        printer.line(plan.simulated.text())
    printer.table(f"Test sets of other sizes (power {plan.target.power:g})", size_rows(plan).text())
    if len(plan.predicted):
        printer.table(
            "What test sets of so many items will show of these systems (80 % prediction intervals)",
            predicted_rows(plan).text(),
        )
    if len(plan.designs):
        printer.table("Fewer or more items a cluster", design_rows(plan).text())
    printer.line("")
    for said in plan.assumptions:
        printer.line(f"Assumed: {said}")
    for said in plan.notes:
        printer.line(f"Note: {said}")


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
    if any(case.unit != "item" for case in plan.cases):
        columns["clusters"] = "{n_units:,}"
    columns["items"] = "{n_items:,}"
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
