"""What the page shows: its sections, and the columns of its tables."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from simstudy.pages.sections import Figure, Section, Table

from .benchmarks import UNLIKE, VARIANTS
from .drawing import by_size, gallery
from .settings import Settings
from .tables import both, in_points

CLOSING = (
    "Powers are of two-sided tests at level 0.05. Points are hundredths of a metric's "
    "scale: percent, or AP and nDCG times 100. Intervals of minimum detectable gains hold for other systems on the "
    "same items; test sets share systems (the language models) or items (rounds of TREC-COVID), so that they are not "
    "independent of each other."
)


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """What benchmarks can tell, and what a planner may assume."""
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


def summary(tables: Mapping[str, pd.DataFrame]) -> dict[str, Table]:
    """What a terminal shows: c of each metric."""
    law = tables["law"]
    columns = {"metric": "{metric:metric}", "test sets": "{n_test_sets}", "c": "{c:.0f} ({c_10:.0f} – {c_90:.0f})"}
    return {
        f"Minimum detectable gain = c / √n points, {relation}": Table(law[law["relation"] == relation], columns)
        for relation in (VARIANTS, UNLIKE)
        if (law["relation"] == relation).any()
    }
