"""The gain that is significant, on the page of a study of natural comparisons: by test set, by size, on segments."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from simstudy import figures, plain_text
from simstudy.analyses.classes import ALL_PAIRS
from simstudy.analyses.rules import rule_of_thumb
from simstudy.analyses.significant_gains import EVERY_PAIR, IN_DOUBT
from simstudy.metrics import label
from simstudy.natural.page import with_interval
from simstudy.report import Section, Tables, save_figure

# With fewer test sets there is nothing to see against test size, or in a chart of test sets.
_LEAST_SETS = 6
# Rows of a table of test sets that a page, or a terminal, has room for.
_MOST_ROWS = 60
# In percent: their gains may stand in one chart.
_POINTS = ("accuracy", "win_rate", "f1", "span_f1", "las", "uas", "aer", "bleu", "rouge1", "rouge2", "rougeL")
_SIDES = {"greater": "one-sided", "two-sided": "two-sided"}


def sections(tables: Tables, folder: Path, shown: tuple[str, ...] | list[str]) -> list[Section]:
    """Draw the figures of gains as PNG and SVG; the parts of the page that show them.

    Parameters
    ----------
    tables
        The study's, with thresholds and significant_gains.
    folder
        Of the study's results.
    shown
        The test sets that the page's table has; none: all.
    """
    every = tables["significant_gains"]
    gains = _as_studied(every[every["of"] == EVERY_PAIR])
    whole = _whole(gains)
    known = _all_pairs(whole)
    known = known[known["true_80"].notna()]
    rows = every if len(every) <= 2 * _MOST_ROWS else _whole(every)
    rows = rows[rows["test_set"].isin(shown)] if shown else rows
    figure = _chart(whole, folder)
    text = _text(every, tables["thresholds"])
    parts = [Section("The gain that is significant", text, figure, _rows(tables["thresholds"], rows))]
    if len(known) >= _LEAST_SETS and known["n_items"].nunique() >= _LEAST_SETS:
        figure = save_figure(figures.gains_by_size(known).figure, folder, "test_sizes")
        text = (
            "A point for each test set, all pairs together: the true gain that is found with power 0.8 "
            f"({_asked(every)}), and c / sqrt(n) with the median c of the test sets; the band holds c of 80 % of them."
        )
        parts.append(Section("Test size", text + _rule(known), figure))
    segments = _all_pairs(gains).groupby(["test_set", "metric"], sort=False).filter(lambda rows: len(rows) > 1)
    if segments["true_80"].notna().any():
        parts.append(_segments(segments, folder))
    return parts


def summary(gains: pd.DataFrame, shown: tuple[str, ...] | list[str]) -> dict[str, pd.DataFrame]:
    """What a terminal shows at the end: title -> a few rows of text."""
    whole = _all_pairs(_whole(_as_studied(gains[gains["of"] == EVERY_PAIR])))
    rows = whole[whole["test_set"].isin(shown)] if shown else whole
    table = pd.DataFrame(
        {
            "test set": rows["test_set"].map(plain_text.shown),
            "metric": rows["metric"].map(label),
            "items": rows["n_items"].map("{:,}".format),
            "pairs": rows["n_pairs"].map("{:,}".format),
            "observed, half of the pairs": _numbers(rows, "observed_50"),
            "observed, 95 % of the pairs": _numbers(rows, "observed_95"),
            "true, power 0.8": _numbers(rows, "true_80"),
        }
    )
    return {f"Gain that is significant ({_asked(gains)})": table.head(_MOST_ROWS)}


def written(value: float) -> str:
    """A gain with two or three digits."""
    return f"{value:.2f}" if value >= 0.5 else f"{value:.3g}"


def _chart(whole: pd.DataFrame, folder: Path) -> str | None:
    """The chart of test sets, where there are some, but not too many, whose gains are in percent."""
    chart = whole[whole["metric"].isin(_POINTS)]
    known = chart.loc[chart["true_80"].notna(), "test_set"].nunique()
    if known < _LEAST_SETS or whole["test_set"].nunique() > _MOST_ROWS:
        return None
    classes = chart[(chart["relation"] != ALL_PAIRS) & chart["by"].isin(["group", "family", ""])]
    single = chart[~chart["test_set"].isin(classes.loc[classes["true_80"].notna(), "test_set"])]
    drawn = pd.concat([classes, single[single["relation"] == ALL_PAIRS]])
    return save_figure(figures.gains_by_test_set(drawn).figure, folder, "significant_gains")


def _text(gains: pd.DataFrame, thresholds: pd.DataFrame) -> str:
    """What the columns of the table of gains are."""
    sides = _SIDES[thresholds["alternative"].iloc[0]]
    return (
        f"Threshold: 95th percentile of the gains of pairs with 0.04 <= p <= 0.06 ({sides}; section 3.1.1), where "
        "there are at least 20 such pairs. The other columns are from the standard errors of all pairs of a class, "
        f"{_asked(gains)}, by the normal approximation. Observed: a gain on this test set that is significant for "
        "half, and for 95 %, of the pairs. True: a system that is better by so much is found to be so on a test set "
        "like this with power 0.8, on average over the pairs; in doubt are pairs whose gain is below twice the one "
        "that would be just significant for them. Intervals (95 %) speak for other systems on these items, or, where "
        "column interval_for of the CSV says so, only for other variants of these families; where none is given, none "
        "is known to cover."
    )


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
        f" Of the {len(accuracies)} test sets with accuracies: an observed gain is significant for half of the pairs "
        f"from {observed} on, and a true gain is found with power 0.8 from {true} on."
    )


def _asked(gains: pd.DataFrame) -> str:
    """Sides and level of a table of significant gains."""
    return f"{_SIDES[gains['alternative'].iloc[0]]}, alpha = {gains['alpha'].iloc[0]:g}"


def _as_studied(gains: pd.DataFrame) -> pd.DataFrame:
    """The rows of each test set's own unit, which come first; others are there for comparison."""
    own: pd.DataFrame = gains[gains["unit"] == gains.groupby(["test_set", "metric"])["unit"].transform("first")]
    return own


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


def _segments(gains: pd.DataFrame, folder: Path) -> Section:
    figure, (ax,) = figures.panels([""], width=6.4, height=4.0)
    named = gains.assign(
        test_set=gains["test_set"] + (", " + gains["metric"].map(label) if gains["metric"].nunique() > 1 else "")
    )
    figures.gains_by_size(named, by="test_set", ax=ax)
    # A longer legend would lie on the lines.
    if named["test_set"].nunique() > 4:
        figures.share_legend(figure, [ax], side=True)
    save_figure(figure, folder, "segments")
    text = (
        "Nested initial segments of a test set, all pairs together: the true gain that is found with power 0.8 "
        f"({_asked(gains)}), and c / sqrt(n)."
    )
    return Section("Initial segments", text, "segments")


def _rows(thresholds: pd.DataFrame, gains: pd.DataFrame) -> pd.DataFrame:
    keys = ["test_set", "metric", "n_items", "relation", "by", "unit"]
    doubtful = gains.loc[gains["of"] == IN_DOUBT, [*keys, "true_80"]].rename(columns={"true_80": "doubt_80"})
    rows = gains[gains["of"] == EVERY_PAIR].merge(doubtful, on=keys, how="left")
    rows = rows.merge(thresholds[[*keys, "threshold", "low", "high"]], on=keys, how="left")
    return pd.DataFrame(
        {
            "test set": rows["test_set"].map(plain_text.shown),
            "metric": rows["metric"].map(label),
            "items": rows["n_items"].map("{:,}".format),
            "unit": rows["unit"],
            "relation": rows["relation"].map(plain_text.shown),
            "systems": rows["n_systems"],
            "pairs": rows["n_pairs"].map("{:,}".format),
            "threshold": with_interval(rows, "threshold", "low", "high", written),
            "observed, half of the pairs": with_interval(
                rows, "observed_50", "observed_50_low", "observed_50_high", written
            ),
            "observed, 95 % of the pairs": _numbers(rows, "observed_95"),
            "true, power 0.8": with_interval(rows, "true_80", "true_80_low", "true_80_high", written),
            "true, power 0.8, in doubt": _numbers(rows, "doubt_80"),
        }
    )


def _numbers(rows: pd.DataFrame, column: str) -> pd.Series[str]:
    return rows[column].map(written).where(rows[column].notna(), "too few pairs")
