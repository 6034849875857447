"""The page of a plan: its answers, what it assumes, what it does not say, figures and tables of other sizes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from simstudy.metrics import label
from simstudy.pages.report import Page
from simstudy.pages.sections import Chart, Figure, Section
from simstudy.planning.cases import coverage_of
from simstudy.planning.printed import DESIGNS, SPLITS, design_rows, predicted_rows, size_rows
from simstudy.text.numerals import gain_text
from simstudy.text.plain_text import shown

if TYPE_CHECKING:
    from simstudy.planning.results import Plan

_CLOSING = (
    "The minimum detectable gain is the true gain that the test detects with the power. Wrong winner: how often the "
    "truly worse system has the better score. Type S error: how often a significant gain is the worse system's. Type "
    "M error: the mean significant gain over the true gain. Gains are on the metric's scale."
)


def page_of(plan: Plan, command: str) -> Page:
    """What the page of a plan shows."""
    from simstudy.planning.results import TABLES

    return Page(
        title=f"Plan of a test set: {label(plan.target.metric.name)}",
        question="How large must the test set be, and what does one of a given size tell?",
        command=command,
        facts={"Assumptions": list(plan.assumptions)} | ({"Note": list(plan.notes)} if plan.notes else {}),
        sections=_sections(plan),
        tables={name: table for name in TABLES if len(table := getattr(plan, name))},
        closing=_CLOSING,
        headline=plan.sentences[0],
        limits=_limits(plan),
        notes=plan.notes,
    )


def _sections(plan: Plan) -> list[Section]:
    items = plan.cases[0].items
    first, *more = [*plan.sentences, *([plan.simulated.text()] if plan.simulated else [])]
    figure = Figure(
        "plan", plan.figure, chart=lambda: _chart(plan), alt=f"Power and detectable gain by number of {items}."
    )
    covered = coverage_of(plan.cases)
    brackets = f" Brackets: {covered}." if covered else ""
    sections = [
        Section("Answers", " ".join([first, *more]), figure=figure, on_screen=lambda: ("\n".join(more), None)),
        Section(
            "Other sizes",
            f"What test sets of other sizes tell (power {plan.target.power:g}).{brackets}",
            table=size_rows(plan),
        ),
    ]
    if len(plan.predicted):
        text = (
            f"What test sets of so many {items} will show of these systems: medians, and 80 % prediction intervals in "
            "brackets. The best system of a distinct group differs significantly from the best one of the group before."
        )
        sections.append(Section("These systems", text, table=predicted_rows(plan)))
    if len(plan.designs):
        title, text = DESIGNS, "More clusters, or larger ones."
        if "samples" in plan.designs:
            title, text = SPLITS, "More questions, or more samples of each."
        sections.append(Section(title, text, table=design_rows(plan)))
    return sections


def _chart(plan: Plan) -> Chart:
    """Power and the minimum detectable gain by the number of items, and the planned sizes."""
    gain, metric = plan.target.gain, label(plan.target.metric.name)
    points = ", points" if plan.target.metric.unit == "percent" else ""
    columns = ["relation", "n_items", "value", "low", "high", "title"]
    power = planned = pd.DataFrame(columns=columns)
    items = plan.cases[0].items
    if gain is not None and gain > 0:
        curve = plan.power_curve()
        power = _lines(curve, "power", items, [f"{value:.2f}" for value in curve["power"]])
        planned = plan.answers[(plan.answers["goal"] == "better") & plan.answers["n_items"].notna()]
        planned = planned[["relation", "n_items"]].assign(relation=planned["relation"].map(shown))
    sizes = plan.sizes[plan.sizes["minimum_detectable_gain"].notna()]
    detectable = [gain_text(value) for value in sizes["minimum_detectable_gain"]]
    gains = _lines(sizes, "minimum_detectable_gain", items, detectable)
    settings = {
        "items": items,
        "power": plan.target.power,
        "power_label": f"power to detect a gain of {gain:g}" if len(power) else "",
        "gain_label": f"minimum detectable gain ({metric}{points})",
    }
    return Chart("plan", {"power": power, "gains": gains, "planned": planned}, settings)


def _lines(table: pd.DataFrame, name: str, items: str, texts: list[str]) -> pd.DataFrame:
    """A number of each size with its range, as a chart has it."""
    what = name.replace("_", " ")
    titles = [f"{n:,.0f} {items}: {what} {text}" for n, text in zip(table["n_items"], texts, strict=True)]
    return pd.DataFrame(
        {
            "relation": table["relation"].map(shown),
            "n_items": table["n_items"],
            "value": table[name],
            "low": table[f"{name}_low"],
            "high": table[f"{name}_high"],
            "title": titles,
        }
    )


def _limits(plan: Plan) -> list[str]:
    """What a plan does not say, in sentences that hold for it."""
    items = plan.cases[0].items
    of_pilot = plan.settings.get("pilot") is not None
    said = ["The true gain is an assumption. The plan does not say that a system has it."]
    said.append(
        f"Only how much systems differ from {items.removesuffix('s')} to {items.removesuffix('s')} is taken from the "
        f"pilot. The plan holds for {items} like those of the pilot."
        if of_pilot
        else "The guesses were not checked against outputs of your systems. A pilot checks them."
    )
    if plan.cases[0].unit == "item":
        said.append(
            f"{items.capitalize()} are taken as independent. If {items} depend on each other, more of them are needed."
        )
    if plan.simulated is None:
        said.append("The power follows from formulas. It was not checked by simulated test sets.")
    said.append("A gain that is not significant on such a test set is not shown to be zero.")
    return said
