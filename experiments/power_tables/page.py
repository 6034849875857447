"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Column, Figure, Section, Table

from .benchmarks import UNLIKE, VARIANTS
from .drawing import by_size, gallery
from .published import GAIN, POWER, SIZE
from .settings import Settings
from .tables import both, in_points

CLOSING = (
    "Powers are of two-sided tests at level 0.05, unless a row says otherwise. Points are hundredths of a metric's "
    "scale: percent, or AP and nDCG times 100. Intervals of minimum detectable gains hold for other systems on the "
    "same items; test sets share systems (the language models) or items (rounds of TREC-COVID), so that they are not "
    "independent of each other."
)

# How a number is written, by what it is.
_FORMS = {GAIN: "{:.3f}", POWER: "{:.4f}", SIZE: "{:,.0f}"}


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """What benchmarks can tell, what a planner may assume, and published numbers beside ours."""
    benchmarks, titles = tables["benchmarks"], titles_of(study)
    clusters = benchmarks["n_units"].where(benchmarks["unit"] != "item")
    rows = in_points(benchmarks).assign(title=benchmarks["test_set"].map(titles), n_clusters=clusters)
    return [
        Section(
            "What known benchmarks can detect",
            f"{told(benchmarks)} A dot is the true gain that a test set detects with power 0.8, on average over its "
            "close pairs. Close pairs have a gain below twice the just significant one. Bars are 95 % intervals. "
            "Brackets hold the number of items. The figure has the first of several metrics. r12 is the correlation, "
            "and sd the standard deviation of a unit's difference in points: the median over pairs, and the range of "
            "80 % of them.",
            figure=Figure("gallery", lambda: gallery(benchmarks, titles)),
            table=Table(
                rows,
                {
                    "test set": "{title:name}",
                    "metric": "{metric:metric}",
                    "items": "{n_items:,}",
                    "units": "[{n_clusters:,.0f} {unit}s]",
                    "between": "{relation}",
                    "pairs": "{n_pairs:,}",
                    "score": "{score:.3g}",
                    "r12": "{r12:.2f} ({r12_10:.2f} – {r12_90:.2f})",
                    "sd": "{sd:.3g} ({sd_10:.3g} – {sd_90:.3g})",
                    "minimum detectable gain": "{minimum_detectable_gain:.2f}"
                    "[ ({minimum_detectable_gain_low:.2f} – {minimum_detectable_gain_high:.2f})]",
                },
            ),
        ),
        Section(
            "The law of the square root",
            "A minimum detectable gain is near c / √n, with n items: c by metric and relation, in points, median and "
            "range of 80 % of the test sets. Lines have the median c. By the law the slope of the logarithms is -0.5; "
            "test sets of different difficulty lie on different lines. WMT22 and WMT24 were resampled by documents, "
            "and n counts their sentences. For accuracy, the table has test sets with one answer to an item.",
            figure=Figure("by_size", lambda: by_size(benchmarks)),
            table=Table(
                tables["law"],
                {
                    "metric": "{metric:metric}",
                    "between": "{relation}",
                    "test sets": "{n_test_sets}",
                    "c": "{c:.0f} ({c_10:.0f} – {c_90:.0f})",
                    "slope": "[{slope:.2f}]",
                },
            ),
        ),
        Section(
            "What a planner may assume",
            "The correlation r12 of two systems, and the standard deviation of their difference on one item (on the "
            "metric's own scale). The range from low to high holds 80 % of pairs, if test set and pair are taken at "
            "random. Each test set was compared with the range of the others: the table gives the share of its pairs "
            "inside, on average and at the least. For accuracy, the table has test sets with one answer to an item. "
            "If units are documents, sd is the value for independent items with the same standard error.",
            table=Table(
                tables["ranges"],
                {
                    "metric": "{metric:metric}",
                    "between": "{relation}",
                    "quantity": "{quantity}",
                    "test sets": "{n_test_sets}",
                    "middle": "{middle:.3g}",
                    "range": "{low:.3g} – {high:.3g}",
                    "inside, of test sets left out": "{inside:.2f} (least {inside_least:.2f})",
                },
            ),
        ),
        published(tables["anchors"], study),
        *few(tables["few_items"], tables["few_gains"], study),
    ]


def titles_of(study: Settings) -> dict[str, str]:
    """What a figure calls each test set."""
    return {name: part.title.replace("{}", name) for part in study.benchmarks for name in part.test_sets}


def told(benchmarks: pd.DataFrame) -> str:
    """How many test sets, and what being variants is worth."""
    paired = both(benchmarks)
    lower, n = int((paired["ratio"] < 1).sum()), len(paired)
    text = f"{benchmarks['test_set'].nunique()} test sets."
    if n:
        # Of one test set under two metrics both are counted.
        text += (
            f" Within a family a smaller gain is detected than across families on {lower} of the "
            f"{n} test sets (with metric) that have both, by a factor of {paired['ratio'].median():.2f} in the median "
            f"({paired['ratio'].min():.2f} to {paired['ratio'].max():.2f}). If the relation did not matter, it would "
            "be lower on half of them."
        )
    return text


def published(anchors: pd.DataFrame, study: Settings) -> Section:
    """Their numbers beside ours."""
    columns = ["published", "recomputed", "ours"]
    rows = anchors.copy()
    for name in columns:
        rows[f"{name}_text"] = [
            _FORMS[quantity].format(value) if pd.notna(value) else ""
            for quantity, value in zip(rows["quantity"], rows[name], strict=True)
        ]
    text = (
        "The published number; the same computed again in the published way, if it is known; and ours: McNemar's exact "
        "test for right and wrong answers, the paired t test for other scores. Simulated: the share of "
        f"{study.simulated:,} simulated test sets on which scipy's test detects the better system with our number. The "
        "column before it has the planned power."
    )
    return Section(
        "Published numbers and ours",
        text,
        table=Table(
            rows,
            {
                "case": "{case}",
                "source": "{source}",
                "settings": "{settings}",
                "asked": "{quantity}",
                "published": "{published_text}",
                "done again": "{recomputed_text}",
                "ours": "{ours_text}",
                "power, simulated": "{power:.3f}, {simulated:.3f}",
                "difference": Column("{note}"),
            },
        ),
    )


def few(items: pd.DataFrame, gains: pd.DataFrame, study: Settings) -> list[Section]:
    """Intervals and plans of few items."""
    rows = items.assign(
        about=items["quantity"]
        + items["gain"].map(lambda gain: "" if pd.isna(gain) else f", truly {gain:g} points")
        + ", "
        + items["interval"]
    )
    return [
        Section(
            "Intervals of few items",
            "Coverage of 95 % intervals, by all outcomes (no simulation). One accuracy: the true one is even between "
            "0 and 1, as by Bowyer, Aitchison and Ivanova (2025), who warn of the normal interval; score: Wilson's. "
            f"Gain of two systems that agree on {100 * study.agreement:g} % of items: normal (paired), and Tango's "
            "score interval, which is ours.",
            table=Table(rows, {"items": "{n_items}"}, across="about", cell="{coverage:.3f}"),
        ),
        Section(
            "Plans of few items",
            f"The gain that is detected with power 0.8 where {100 * study.agreement:g} % of items agree, in points: "
            "2.8 standard errors, as in normal formulas, and by McNemar's exact test. A gain cannot exceed the share "
            "of discordant items. If that is too small, no gain has this power ('none').",
            table=Table(
                gains,
                {
                    "items": "{n_items}",
                    "normal formula": "{normal:.1f}",
                    "exact": Column("{exact:.1f}", missing="none"),
                    "largest possible": "{largest:.0f}",
                },
            ),
        ),
    ]


def summary(tables: Mapping[str, pd.DataFrame]) -> dict[str, Table]:
    """What a terminal shows: c of each metric."""
    law = tables["law"]
    columns = {"metric": "{metric:metric}", "test sets": "{n_test_sets}", "c": "{c:.0f} ({c_10:.0f} – {c_90:.0f})"}
    return {
        f"Minimum minimum detectable gain = c / √n points, {relation}": Table(law[law["relation"] == relation], columns)
        for relation in (VARIANTS, UNLIKE)
        if (law["relation"] == relation).any()
    }
