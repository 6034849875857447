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
    "Powers are of two-sided tests at level 0.05, without correction for several comparisons. Points are percent, or "
    "AP and nDCG times 100. Intervals of minimum detectable gains hold for other systems on the same items. Test "
    "sets are not independent of each other: language models are on several of them, and rounds of TREC-COVID share "
    "topics."
)


def sections(tables: Mapping[str, pd.DataFrame], study: Settings) -> list[Section]:
    """What benchmarks can tell, and what a planner may assume."""
    benchmarks, titles = tables["benchmarks"], titles_of(study)
    clusters = benchmarks["n_units"].where(benchmarks["unit"] != "item")
    rows = in_points(benchmarks).assign(title=benchmarks["test_set"].map(titles), n_clusters=clusters)
    return [
        Section(
            "Minimum detectable gains of known benchmarks",
            f"{told(benchmarks)} The minimum detectable gain is the true gain that a test set detects with power 0.8, "
            "on average over its close pairs. Close pairs have a gain below twice the just significant one. A dot of "
            "the figure is a test set with its number of items in brackets, and bars are 95 % intervals. For a test "
            "set with several metrics, the figure has the first one. In the table, score is the median of the "
            "systems, on the metric's own scale. r12 is the correlation of two systems' scores on a unit, and sd is "
            "the standard deviation of their difference. Both are medians over close pairs, with the range of 80 % "
            "of these pairs. A unit is an item, or a cluster if the table has clusters.",
            figure=Figure("gallery", lambda: gallery(benchmarks, titles)),
            table=Table(
                rows,
                {
                    "test set": "{title:name}",
                    "metric": "{metric:metric}",
                    "items": "{n_items:,}",
                    "clusters": "[{n_clusters:,.0f} {unit}s]",
                    "relation of a pair": "{relation}",
                    "close pairs": "{n_pairs:,}",
                    "score": "{score:.3g}",
                    "r12": "{r12:.2f} ({r12_10:.2f} – {r12_90:.2f})",
                    "sd, points": "{sd:.3g} ({sd_10:.3g} – {sd_90:.3g})",
                    "minimum detectable gain, points (95 % interval)": "{minimum_detectable_gain:.2f}"
                    "[ ({minimum_detectable_gain_low:.2f} – {minimum_detectable_gain_high:.2f})]",
                },
            ),
        ),
        Section(
            "The law of the square root",
            "A minimum detectable gain is near c / √n points, with n items. The table has c by metric and relation: "
            "the median over test sets, and in brackets the range of 80 % of them. A mark of the figure is a test "
            "set, for pairs across families, and lines have the median c. Slope is that of the logarithm of the gain "
            "on the logarithm of n. By the law it is -0.5, but test sets of different difficulty have different c. "
            "WMT22 and WMT24 were resampled by documents, and n counts their sentences. For accuracy, only test sets "
            "with one right or wrong answer to an item count.",
            figure=Figure("by_size", lambda: by_size(benchmarks)),
            table=Table(
                tables["law"],
                {
                    "metric": "{metric:metric}",
                    "relation of a pair": "{relation}",
                    "test sets": "{n_test_sets}",
                    "c": "{c:.0f} ({c_10:.0f} – {c_90:.0f})",
                    "slope": "[{slope:.2f}]",
                },
            ),
        ),
        Section(
            "Correlation and standard deviation, for plans",
            "The correlation r12 of two systems, and the standard deviation (sd) of their difference on one item, on "
            "the metric's own scale. The range holds 80 % of the close pairs, if a test set and then a pair of it "
            "are taken at random. Each test set in turn was left out and compared with the range of the others. The "
            "last column has the share of its pairs inside this range: the mean over test sets, and the least. For "
            "accuracy, only test sets with one right or wrong answer to an item count. If units are clusters, sd is "
            "the value for independent items that gives the same standard error.",
            table=Table(
                tables["ranges"],
                {
                    "metric": "{metric:metric}",
                    "relation of a pair": "{relation}",
                    "quantity": "{quantity}",
                    "test sets": "{n_test_sets}",
                    "median": "{middle:.3g}",
                    "range": "{low:.3g} – {high:.3g}",
                    "share inside, left-out test sets": "{inside:.2f} (least {inside_least:.2f})",
                },
            ),
        ),
    ]


def titles_of(study: Settings) -> dict[str, str]:
    """What a figure calls each test set."""
    return {name: part.title.replace("{}", name) for part in study.benchmarks for name in part.test_sets}


def told(benchmarks: pd.DataFrame) -> str:
    """How many test sets, and how much smaller the gains are that they detect within a family."""
    paired = both(benchmarks)
    lower, n = int((paired["ratio"] < 1).sum()), len(paired)
    text = f"The table has {benchmarks['test_set'].nunique()} test sets."
    if n:
        # A test set with two metrics counts twice.
        text += (
            f" Within a family the minimum detectable gain is lower than across families on {lower} of the {n} test "
            f"sets (with metric) that have both. The median ratio is {paired['ratio'].median():.2f} "
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
