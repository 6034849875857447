"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .drawing import draw
from .settings import Settings

CLOSING = (
    "A share is the fraction of data sets with p at or below the level, or with 0 outside the interval of that level. "
    "Intervals are 95 % (Clopper-Pearson) and account for the number of data sets. A p-value that is no number (nan) "
    "rejects nothing. Each tool gets the first data sets of a condition, as many as its speed allows. Seconds are of "
    "one processor and differ from run to run; no other column does. Our tests take many data sets at once."
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
        return "no p; significant" if rejects else "no p; not significant"
    return f"{float(p):.2g}"


def short(bench: pd.DataFrame) -> Table:
    """What a terminal shows."""
    return Table(
        bench,
        {"tool": "{tool}", "test": "{test}", "condition": "{condition}", "type I error rate": rate("type_1_1", True)},
    )


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """The bench first, then what each test is, and what its tool says of it."""
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
            "Type I error rates",
            f"The share of rejections at {one:g} of each test, for two systems with equal scores in the population. "
            "The dashed line is the level. Horizontal bars are 95 % intervals. They are wide for slow tools, which "
            "got fewer data sets.",
            figure=Figure("type_1_errors", lambda: draw(drawn, one)),
        )
    ]
    return [
        *(parts if len(drawn) else []),
        Section(
            "The bench",
            "All tests in all conditions, without correction. Tests are two-sided unless the next table says "
            f"otherwise. Type I error rate: the share of rejections at level {one:g} and {other:g} for equal systems. "
            f"Power: the share of rejections at {one:g} for the smaller and for the larger gain of the condition. The "
            "next two columns have p for a system against itself, and against a copy that has exactly one item of "
            f"another system. A rule without p has its decision at {one:g} instead. Seconds are processor time for "
            "one pair. The last column has the exact call.",
            table=Table(
                rows,
                {
                    **ASKED,
                    f"type I error rate at {one:g}": rate("type_1_1", True),
                    f"type I error rate at {other:g}": rate("type_1_2"),
                    "power, smaller gain": rate("power_1", places=3),
                    "power, larger gain": rate("power_2", places=3),
                    "p, identical systems": "{identical_said}",
                    "p, one item differs": "{one_item_said}",
                    "seconds a pair": "{seconds:.2g}",
                    "data sets, equal systems": "{n_sets:,.0f}",
                    "data sets, each gain": "{n_sets_with_gain:,.0f}",
                    "call": "{call}",
                },
            ),
        ),
        Section(
            "Null hypotheses and deviations",
            "The null hypothesis of each test in our words, and the cases in which its rates or p-values deviate from "
            "those of a valid test, with the reason. Phi is the standard normal distribution function, and r the "
            "correlation of the two systems' scores on an item. The counts b and c are items that only one system "
            "gets right. The observed gain is d, and the gain of a resample is d*. The standard deviation of d* is s. "
            "B and T are numbers of resamples.",
            table=Table(
                tests, {"tool": "{tool}", "test": "{test}", "null hypothesis": "{null}", "deviations": "{note}"}
            ),
        ),  # fmt: skip
        Section(
            "The tools' own words",
            "Quotations from the documentation of each tool about its test.",
            table=Table(tests, {"tool": "{tool}", "test": "{test}", "quotation": "{claim}", "source": "{source}"}),
        ),
        Section(
            "Conditions",
            "The two systems of each condition, and the true gains of the first one on the metric's scale. Gain 0 is "
            "for equal systems, gain 1 is the smaller and gain 2 the larger gain.",
            table=Table(
                tables["conditions"].assign(gain="gain " + tables["conditions"]["gain"].astype(str)),
                {"condition": "{title}", "metric": "{metric}", "items": "{n_items}", "systems": "{systems}"},
                across="gain",
                cell="{true_gain:.3g}",
            ),
        ),
    ]
