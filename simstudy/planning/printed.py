"""What the command prints of a plan: the answer, the table of sizes, and the assumptions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from simstudy.pages.sections import Column, Table
from simstudy.text.plain_text import in_words
from simstudy.text.printing import Printer

if TYPE_CHECKING:
    from simstudy.planning.results import Plan

#: Lines of a screen; more are printed if they are asked for.
MOST_LINES = 25

# Sizes, predicted sizes and notes that are printed without being asked for, without and with predictions.
_ALONE, _WITH_PREDICTIONS = (5, 0, 2), (3, 2, 1)

_DESIGNS = "Fewer or more items a cluster"
_SPLITS = "Fewer or more samples of an item"
_PREDICTIONS = "What test sets of these sizes will show of these systems (80 % prediction intervals)"


def show(plan: Plan, printer: Printer, *, verbose: bool = False) -> None:
    """Print the answers and their simulation, tables of other sizes, and the assumptions; a screen unless `verbose`."""
    said = [*plan.sentences, *([plan.simulated.text()] if plan.simulated else [])]
    for sentence in said:
        printer.line(sentence)
    at = plan.answers["at_items"].tolist()
    n_sizes, n_predicted, n_notes = _WITH_PREDICTIONS if len(plan.predicted) else _ALONE
    sizes = plan.sizes if verbose else _nearest(plan.sizes, at, n_sizes)
    printer.table(f"Test sets of other sizes (power {plan.target.power:g})", size_rows(plan, sizes).text())
    predicted = plan.predicted if verbose else _nearest(plan.predicted, at, n_predicted)
    if len(predicted):
        printer.table(_PREDICTIONS, predicted_rows(plan, predicted).text())
    designs = plan.designs if verbose or not len(plan.designs) else plan.designs[plan.designs["which"] != ""]
    if len(designs):
        printer.table(_SPLITS if "samples" in designs else _DESIGNS, design_rows(plan, designs).text())
    notes = plan.notes if verbose else plan.notes[:n_notes]
    tables = sum(3 + len(table) for table in (sizes, predicted, designs) if len(table))
    # Two lines of headings, and one on what is left out.
    room = MOST_LINES - len(said) - tables - len(notes) - 3
    assumptions = plan.assumptions if verbose else plan.assumptions[: max(room, 1)]
    printer.line("")
    printer.line("Assumptions of the plan", "bold")
    for assumption in assumptions:
        printer.line(f"- {assumption}")
    for note in notes:
        printer.line(f"Note: {note}")
    left_out = {
        "sizes": len(plan.sizes) + len(plan.predicted) - len(sizes) - len(predicted),
        "designs": len(plan.designs) - len(designs),
        "assumptions": len(plan.assumptions) - len(assumptions),
        "notes": len(plan.notes) - len(notes),
    }
    if any(left_out.values()):
        parts = ", ".join(f"{n} {what if n > 1 else what[:-1]}" for what, n in left_out.items() if n)
        printer.line(f"Not shown: {parts}. --verbose prints them, --out DIR writes them.")


def _nearest(table: pd.DataFrame, items: list[float], n: int) -> pd.DataFrame:
    """The rows whose sizes are nearest to the planned ones, n for each relation, in their order."""
    if len(table) == 0:
        return table
    planned = np.log(np.asarray(items, dtype=np.float64).mean())
    far = (np.log(table["n_items"].astype(float)) - planned).abs()
    near = far.groupby(table["relation"]).rank(method="first") <= max(1, n // table["relation"].nunique())
    found: pd.DataFrame = table.loc[near]
    return found


def size_rows(plan: Plan, sizes: pd.DataFrame | None = None) -> Table:
    """These sizes, or all, with what they detect."""
    sizes = plan.sizes if sizes is None else sizes
    ranged = any(case.range for case in plan.cases)
    columns: dict[str, str | Column] = {"relation": "{relation:name}"} if len(plan.cases) > 1 else {}
    if any(case.unit != "item" for case in plan.cases):
        columns["clusters"] = "{n_units:,}"
    columns["items"] = "{n_items:,}"
    columns["minimum detectable gain"] = _ranged("minimum_detectable_gain", "gain", ranged)
    if "power" in plan.sizes:
        columns[f"power for {plan.target.gain:g}"] = _ranged("power", ".2f", ranged)
        columns["wrong winner"] = "{wrong_winner:.1%}"
        columns["type S error"] = "[{wrong_sign:.2%}]"
        columns["type M error"] = "[{exaggeration:.2f}]"
    for goal in ("not_worse", "equivalent"):
        if f"shown_{goal}" in plan.sizes:
            columns[f"{in_words(goal)} by {plan.target.margin:g}"] = f"{{shown_{goal}:.2f}}"
    return Table(sizes, columns)


def _ranged(name: str, form: str, ranged: bool) -> str:
    ends = f"[ ({{{name}_low:{form}}}–{{{name}_high:{form}}})]" if ranged else ""
    return f"[{{{name}:{form}}}]{ends}"


def design_rows(plan: Plan, designs: pd.DataFrame | None = None) -> Table:
    """These designs, or all, with what they detect and cost."""
    columns: dict[str, str | Column] = {"relation": "{relation:name}"} if len(plan.cases) > 1 else {}
    if "samples" in plan.designs:
        return Table(plan.designs if designs is None else designs, columns | _split_columns(plan))
    columns |= {"items a cluster": "{items_per_unit:.3g}", "": "{which}", "design effect": "{design_effect:.2f}"}
    if plan.designs["n_units"].notna().any():
        columns |= {"clusters for the gain": "[{n_units:,.0f}]", "items": "[{n_items:,.0f}]"}
    if plan.designs["cost"].notna().any():
        columns["cost"] = "[{cost:,.4g}]"
    columns |= {"or with clusters": "{at_units:,}", "minimum detectable gain": "[{minimum_detectable_gain:gain}]"}
    return Table(plan.designs if designs is None else designs, columns)


def _split_columns(plan: Plan) -> dict[str, str | Column]:
    """Columns of plans with other numbers of samples of each item."""
    clusters = plan.cases[0].unit != "item"
    columns: dict[str, str | Column] = {"samples of an item": "{samples:,}", "": "{which}"}
    if plan.designs["n_units"].notna().any():
        columns |= {"clusters for the gain": "[{n_units:,.0f}]"} if clusters else {}
        columns |= {"items" if clusters else "items for the gain": "[{n_items:,.0f}]"}
    columns["samples of both"] = "{n_samples:,.0f}"
    if plan.designs["cost"].notna().any():
        columns["cost"] = "[{cost:,.4g}]"
    columns["or with clusters" if clusters else "or with items"] = "{at_units:,}"
    return columns | {"minimum detectable gain": "[{minimum_detectable_gain:gain}]"}


def predicted_rows(plan: Plan, predicted: pd.DataFrame | None = None) -> Table:
    """What test sets of these sizes, or of all, will show of these systems."""
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
        (f"significant of {neighbours} neighbours", "separated", ".0f"),
        ("after Holm", "separated_corrected", ".0f"),
        ("ranks", "ranks", ".0f"),
    ):
        if name in plan.predicted:
            columns[heading] = f"[{{{name}:{form}}}][ ({{{name}_low80:{form}}}–{{{name}_high80:{form}}})]"
    return Table(plan.predicted if predicted is None else predicted, columns)
