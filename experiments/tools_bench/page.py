"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .drawing import draw
from .settings import Settings

CLOSING = (
    "Shares are of data sets with p at or below the level, or outside the interval of that level; intervals are 95 % "
    "(Clopper-Pearson) for the number of data sets. A p-value that is no number (nan) rejects nothing. Every tool is "
    "asked of the first data sets of a condition, as many as its speed allows. Seconds are of one processor and differ "
    "from run to run, no other column does; our tests take many data sets at once."
)
ASKED = {"tool": "{tool}", "version": "{version}", "test": "{test}", "condition": "{title}"}


def rate(name: str, status: bool = False, places: int = 4) -> Column:
    """A share with its interval."""
    share, low, high = (f"{{{name}{end}:.{places}f}}" for end in ("", "_low", "_high"))
    return Column(f"{share} ({low} – {high})", missing="{status}" if status else "")


def said(p: str | None, rejects: bool | None) -> str:
    """A p-value as text, and for a rule without one what it says; empty where a tool was not asked."""
    if p is None:
        return ""
    if p == "none":
        return "no p; they differ" if rejects else "no p; no difference"
    return f"{float(p):.2g}"


def short(bench: pd.DataFrame) -> Table:
    """What a terminal shows."""
    return Table(
        bench, {"tool": "{tool}", "test": "{test}", "condition": "{condition}", "type I": rate("type_1_1", True)}
    )


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """The bench first, then what each tool says of itself."""
    titles = {name: condition.title for name, condition in study.conditions.items()}
    rows = tables["bench"].assign(title=tables["bench"]["condition"].map(titles))
    rows = rows.assign(label=rows["tool"] + ": " + rows["test"])
    drawn = rows[rows["type_1_1"].notna()].rename(
        columns={"type_1_1": "share", "type_1_1_low": "low", "type_1_1_high": "high"}
    )
    one, other = study.levels
    for edge in ("identical", "one_item"):
        rows[f"{edge}_said"] = [
            said(p, rejects) for p, rejects in zip(rows[f"{edge}_p"], rows[f"{edge}_rejected"], strict=True)
        ]
    tests = rows.drop_duplicates("name")
    parts = [
        Section(
            "Type I errors",
            f"How often each tool says that two systems differ whose scores are equal in the population, at {one:g} "
            "(the line), with 95 % intervals: wide ones are of slow tools, which got fewer data sets.",
            figure=Figure("type_1_errors", lambda: draw(drawn, one)),
        )
    ]
    return [
        *(parts if len(drawn) else []),
        Section(
            "The bench",
            f"Type I errors at {one:g} and {other:g}; the share of rejections at {one:g} for the smaller and the "
            "larger gain of the condition; p for a system against itself, and where exactly one item is another "
            f"system's (for a rule without p whether it says at {one:g} that they differ); processor seconds a pair; "
            "what exactly is called.",
            table=Table(
                rows,
                {
                    **ASKED,
                    f"type I at {one:g}": rate("type_1_1", True),
                    f"at {other:g}": rate("type_1_2"),
                    "power": rate("power_1", places=3),
                    "power, larger gain": rate("power_2", places=3),
                    "p, identical": "{identical_said}",
                    "p, one item differs": "{one_item_said}",
                    "seconds": "{seconds:.2g}",
                    "data sets": "{n_sets:,.0f}",
                    "of each gain": "{n_sets_with_gain:,.0f}",
                    "call": "{call}",
                },
            ),
        ),
        Section(
            "What each tests, and where it is off",
            "The null hypothesis is in our words.",
            table=Table(
                tests,
                {
                    "tool": "{tool}",
                    "test": "{test}",
                    "null hypothesis": "{null}",
                    "where it is off": "{note}",
                },
            ),
        ),  # fmt: skip
        Section(
            "What the tools say that they test",
            "From their own documentation.",
            table=Table(tests, {"tool": "{tool}", "test": "{test}", "quoted": "{claim}", "where": "{source}"}),
        ),
        Section(
            "Conditions",
            "The two systems and the gains of the first, on the metric's scale.",
            table=Table(
                tables["conditions"].assign(gain="gain " + tables["conditions"]["gain"].astype(str)),
                {"condition": "{title}", "metric": "{metric}", "items": "{n_items}", "systems": "{systems}"},
                across="gain",
                cell="{true_gain:.3g}",
            ),
        ),
    ]
