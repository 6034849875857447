"""The gain that is significant, on the page of a study of natural comparisons: by test set, by size, on segments."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

import numpy as np
import pandas as pd

from simstudy import plot
from simstudy.engines.descriptions import SIDES
from simstudy.examination.rows import gain_columns, gain_rows, gains_text, intervals_for
from simstudy.metrics import find_metric, label
from simstudy.pages.sections import Column, Figure, Section, Table
from simstudy.pairs import ALL_PAIRS
from simstudy.studies.figures import panel

# With fewer test sets there is nothing to see against test size, or in a chart of test sets.
_LEAST_SETS = 6
# Rows of a table of test sets that a page, or a terminal, has room for.
_MOST_ROWS = 60
# The first columns of a table of test sets.
_TEST_SET = {"test set": "{test_set:name}", "metric": "{metric:metric}", "items": "{n_items:,}"}


def sections(tables: Mapping[str, pd.DataFrame], shown: Sequence[str]) -> list[Section]:
    """The parts of the page on gains; its table has the test sets of `shown`, or all where that is empty."""
    every = tables["significant_gains"]
    gains = _as_studied(every)
    whole = _whole(gains)
    known = _all_pairs(whole).dropna(subset="true_80")
    rows = _of(every if len(every) <= 2 * _MOST_ROWS else _whole(every), shown)
    chart = _charted(whole)
    parts = [
        Section(
            "The gain that is significant",
            gains_text(SIDES[every["alternative"].iloc[0]], every["alpha"].iloc[0], intervals_for(rows)),
            figure=Figure("significant_gains", partial(plot.gains_by_test_set, chart)) if len(chart) else None,
            table=_table(tables["thresholds"], rows),
        )
    ]
    if len(known) >= _LEAST_SETS and known["n_items"].nunique() >= _LEAST_SETS:
        text = (
            "Each point is a test set with all its pairs: the minimum detectable gain with power 0.8 "
            f"({_asked(every)}). {_lines('test sets of a metric')}"
        )
        figure = Figure("test_sizes", partial(plot.gains_by_size, known))
        parts.append(Section("Test size", text + _rule(known), figure=figure))
    segments = _all_pairs(gains).groupby(["test_set", "metric"], sort=False).filter(lambda rows: len(rows) > 1)
    if segments["true_80"].notna().any():
        text = (
            "Each point is an initial segment of a test set, with all pairs: the minimum detectable gain with power "
            f"0.8 ({_asked(segments)}). Points of one size are drawn a little apart. "
            f"{_lines('segments of a test set')}"
        )
        parts.append(Section("Initial segments", text, figure=_segments(segments)))
    return parts


def summary(gains: pd.DataFrame, shown: Sequence[str]) -> dict[str, Table]:
    """What a terminal shows at the end: title -> a few rows."""
    rows = _of(_all_pairs(_whole(_as_studied(gains))), shown).head(_MOST_ROWS)
    columns: dict[str, str | Column] = {**_TEST_SET, "pairs": "{n_pairs:,}"}
    numbers = gain_columns("gain", intervals=False)
    columns |= {
        heading: numbers[heading]
        for heading in ("observed, half of the pairs", "observed, 95 % of the pairs", "minimum detectable gain")
    }
    return {f"Gain that is significant ({_asked(gains)})": Table(rows, columns)}


def _lines(those: str) -> str:
    """What a figure of gains by size has beside its points."""
    return (
        "Bars, if there are any, are 95 % intervals. Lines are c / sqrt(n), with the median c of the "
        f"{those}. If there are at least five, a band (and the brackets in the legend) holds the c of 80 % of them. "
        "The free slope is that of a straight line through the logarithms: -0.5 for c / sqrt(n)."
    )


def _charted(whole: pd.DataFrame) -> pd.DataFrame:
    """What a chart of test sets shows: gains in percent; nothing where there are too few test sets, or too many."""
    chart = whole[whole["metric"].map(_of_a_hundred)]
    known = chart.loc[chart["true_80"].notna(), "test_set"].nunique()
    if known < _LEAST_SETS or whole["test_set"].nunique() > _MOST_ROWS:
        return chart.head(0)
    classes = chart[(chart["relation"] != ALL_PAIRS) & chart["by"].isin(["group", "family", ""])]
    single = chart[~chart["test_set"].isin(classes.loc[classes["true_80"].notna(), "test_set"])]
    return pd.concat([classes, single[single["relation"] == ALL_PAIRS]])


def _of_a_hundred(metric: str) -> bool:
    known = find_metric(metric)
    return known is not None and known.unit in ("percent", "points")


def _rule(known: pd.DataFrame) -> str:
    """The rule of thumb for accuracies, where there are enough test sets of them."""
    accuracies = known[known["metric"] == "accuracy"]
    if len(accuracies) < _LEAST_SETS:
        return ""
    rules = rule_of_thumb(accuracies).set_index("number")
    observed, true = (
        f"{c:.0f} / sqrt(n) points ({c_10:.0f} to {c_90:.0f} for 80 % of the test sets)"
        for c, c_10, c_90 in rules.loc[["observed_50", "true_80"], ["c", "c_10", "c_90"]].to_numpy(dtype=float)
    )
    return (
        f" For the {len(accuracies)} test sets with accuracies: an observed gain of {observed} is significant for half "
        f"of the pairs. A true gain of {true} is detected with power 0.8."
    )


def rule_of_thumb(gains: pd.DataFrame, numbers: Sequence[str] = ("observed_50", "true_80")) -> pd.DataFrame:
    """The constant c of c / sqrt(n) over test sets, for each kind of pairs, alternative, alpha and number.

    Rows of `significant_gains`, one for each test set of a kind. c is the median over the test sets of the number times
    sqrt(n_items), c_10 and c_90 are the percentiles. exponent is the slope of a free power law through at least three
    sizes, -0.5 if the square root holds.
    """
    rows = []
    kind = ["pairs", "alternative", "alpha"]
    for key, members in gains.groupby(kind, sort=False):
        for number in numbers:
            known = members[members[number].notna()]
            n, gain = known["n_items"].to_numpy(dtype=np.float64), known[number].to_numpy(dtype=np.float64)
            c_10, c, c_90 = np.percentile(gain * np.sqrt(n), [10, 50, 90])
            exponent = np.polyfit(np.log(n), np.log(gain), 1)[0] if len(np.unique(n)) > 2 else np.nan
            row = {"number": number, "n_test_sets": len(known), "c": c, "c_10": c_10, "c_90": c_90}
            rows.append({**dict(zip(kind, key, strict=True)), **row, "exponent": exponent})
    return pd.DataFrame(rows)


def _asked(gains: pd.DataFrame) -> str:
    """Sides and level of a table of significant gains."""
    return f"{SIDES[gains['alternative'].iloc[0]]}, alpha = {gains['alpha'].iloc[0]:g}"


def _as_studied(gains: pd.DataFrame) -> pd.DataFrame:
    """The rows of all pairs by each test set's own unit, which comes first; others are there for comparison."""
    every = gains[gains["pairs"] == ALL_PAIRS]
    return every[every["unit"] == every.groupby(["test_set", "metric"])["unit"].transform("first")]


def _of(rows: pd.DataFrame, shown: Sequence[str]) -> pd.DataFrame:
    """The rows of the test sets that are shown: all, where none is named."""
    return rows[rows["test_set"].isin(shown)] if shown else rows


def _whole(gains: pd.DataFrame) -> pd.DataFrame:
    """The rows of whole test sets."""
    largest = gains.groupby(["test_set", "metric"])["n_items"].transform("max")
    return gains[gains["n_items"] == largest]


def _all_pairs(gains: pd.DataFrame) -> pd.DataFrame:
    """All pairs together; where there is one relation class, that one."""
    keys = ["test_set", "metric", "n_items"]
    together = gains[gains["relation"] == ALL_PAIRS]
    others = gains.merge(together[keys], on=keys, how="left", indicator=True)
    single = others[others["_merge"] == "left_only"].drop(columns="_merge").drop_duplicates(keys)
    joined = pd.concat([together, single]) if len(single) else together
    return joined.sort_values(keys[2], kind="stable")


def _segments(gains: pd.DataFrame) -> Figure:
    several = gains["metric"].nunique() > 1
    named = gains.assign(test_set=gains["test_set"] + (", " + gains["metric"].map(label) if several else ""))
    # A longer legend would lie on the lines. Beside them it has room of its own.
    aside = named["test_set"].nunique() > 4
    width = 9.6 if aside else 6.4
    return panel("segments", plot.gains_by_size, named, by="test_set", width=width, height=4.0, legend_aside=aside)


def _table(thresholds: pd.DataFrame, gains: pd.DataFrame) -> Table:
    return Table(
        gain_rows(thresholds, gains, ["test_set", "metric", "n_items", "relation", "by", "unit"]),
        {
            **_TEST_SET,
            "unit": "{unit}",
            "relation": "{relation:name}",
            "systems": "{n_systems}",
            "pairs": "{n_pairs:,}",
            **gain_columns("gain"),
        },
    )
