"""The page of a study of training-set resampling: which figures are drawn from its tables, and the rows it prints."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from simstudy import plot
from simstudy.comparisons.thresholds import LEAST_PAIRS, WINDOW
from simstudy.engines.descriptions import SIDES
from simstudy.pages.sections import Column, Figure, Section, Table
from simstudy.pairs import ALL_PAIRS
from simstudy.studies.baselines import beside
from simstudy.studies.figures import POINTS_AT_HOME, panel

CLOSING = (
    "No p-value here is corrected for the number of pairs. One-sided p-values (alternative greater in the CSV files) "
    "are valid only if the better system was predicted. Gains and thresholds are on the metric's scale. Confidences "
    "and shares are fractions."
)

_PAPER = "Berg-Kirkpatrick et al. 2012"

#: What a relation of two systems means.
_RELATIONS = {
    "same family": "Same family: the two systems are variants of one model, trained on different training sets.",
    "different families": "Different families: the two systems are variants of different models.",
}

# Every figure of calibration has this line.
_CHANCE = "The dotted line at 0.5 is chance."

#: Points, and the curves through them.
Pair = tuple[pd.DataFrame, pd.DataFrame]


def sections(
    tables: Mapping[str, pd.DataFrame], *, home: str, home_size: int, domain_size: int | None
) -> list[Section]:
    """The parts of the page for which there is something to show."""
    alternative = tables["thresholds"]["alternative"].iloc[0]
    drawn = (tables["points"].assign(alternative=alternative), tables["curves"])
    at_home, of_size = _rows(drawn, "test_set", home), _rows(drawn, "n_items", domain_size)
    whole = _rows(at_home, "n_items", home_size)
    parts = []
    if len(whole[0]):
        title = f"{home}, {home_size:,} items"
        text = (
            f"Each point is a pair of systems on the whole home test set ('{home}'), as in figure 5 of {_PAPER}. "
            f"{_relations(whole[0])}Confidence is 1 - p ({SIDES[alternative]}, not corrected). Lines are running "
            "medians. Bands hold 90 % of the pairs, from the 5th to the 95th percentile. Lines and bands use all "
            f"pairs. The points are pairs with p >= 0.001, at most {POINTS_AT_HOME:,} of each colour."
        )
        figure = panel("gain_confidence", plot.curve, *whole, title=title, width=5.6, height=3.9)
        parts.append(Section("Gain against confidence", text, figure=figure))
    if "overlay" in tables:
        parts.append(_overlay(tables["overlay"], tables["overlay_points"]))
    if at_home[0]["n_items"].nunique() > 1:
        text = (
            f"Gain against confidence on initial segments of the home test set (as in figure 10 of {_PAPER}). Lines "
            "and bands are as above. The points are some of the pairs."
        )
        parts.append(Section("Test sizes", text, figure=Figure("sizes", partial(_by_relation, *at_home, "n_items"))))
    if len(of_size[0]):
        text = (
            f"Gain against confidence on the first {domain_size:,} items of the home test set and of other test sets "
            f"(as in figure 11 of {_PAPER}). Lines are as above. Bands and points are left out if there are many test "
            "sets."
        )
        parts.append(Section("Domains", text, figure=Figure("domains", partial(_by_relation, *of_size, "test_set"))))
    thresholds = _first_metric(_as_studied(tables["thresholds"]))
    at_sizes = thresholds[thresholds["test_set"] == home]
    if at_sizes["threshold"].notna().any():
        parts.append(_against_size(tables["thresholds"], at_sizes, home))
    return [*parts, *_calibrations(tables)]


def _relations(points: pd.DataFrame) -> str:
    """What the colours mean; nothing where there is one relation."""
    known = [meaning for relation, meaning in _RELATIONS.items() if (points["relation"] == relation).any()]
    return "".join(f"{meaning} " for meaning in known) if len(known) > 1 else ""


def _rows(tables: Pair, column: str, value: object) -> Pair:
    points, curves = tables
    return points[points[column] == value], curves[curves[column] == value]


def _against_size(thresholds: pd.DataFrame, at_sizes: pd.DataFrame, home: str) -> Section:
    title = f"{home}: gain threshold by test size"
    return Section(
        "Gain threshold against test size",
        f"Threshold: the 95th percentile of the gains of pairs with 0.04 <= p <= 0.06 ({_PAPER}, section 3.1.1). "
        f"Column p ≈ 0.05 counts these pairs. Fewer than {LEAST_PAIRS} are too few for a threshold, and few more are "
        "too few for an interval. c / √n: a fit to the thresholds of all sizes n (section 4.1). Off by: threshold / "
        "fit - 1. Free slope (in the figure): the power of n that fits best; that of 1 / √n is -0.5. Columns "
        "interval_for and note of thresholds.csv say what a 95 % interval holds for, or why there is none. Unit: what "
        "the test resamples, which is an item or a cluster of items, such as a document. The paper's thresholds are "
        "one-sided. If nobody predicted the better system, use the two-sided ones. If items come in clusters, "
        "thresholds by item are too small.",
        figure=panel("thresholds", plot.thresholds, at_sizes, title=title, width=5.6, height=3.9),
        table=_thresholds(thresholds),
    )


def _calibrations(tables: Mapping[str, pd.DataFrame]) -> list[Section]:
    """The winners of redrawn test sets in the population, and of one domain in others."""
    none = pd.DataFrame(columns=["relation", "elsewhere", "expected", "share"])
    identical, domains = (tables.get(f"calibration_{name}", none) for name in ("identical", "domains"))
    classes = identical[identical["relation"] != ALL_PAIRS]
    parts = []
    if classes["share"].notna().any():
        title = "Redrawn test sets: does the winner win in the population?"
        size = {"width": 5.8, "height": 3.9}
        text = (
            f"Test sets are redrawn from a population ({_PAPER}, section 4.2). They are the home test sets here. A "
            "cell has the share of pairs whose winner on the redrawn test set also wins in the population, for a range "
            "of p-values on the redrawn test set. After it come its 95 % interval, which holds for other variants of "
            "these families, and in brackets the expected share. The expected share is the broken line of the figure. "
            "It assumes a valid test and normal true gains, whose spread is estimated: it is the variation of observed "
            "gains beyond their standard errors. It is not 1 - p. Pairs are counted on all redrawn test sets. The last "
            f"row has the paper's range of p-values. {_CHANCE}"
        )
        figure = panel("calibration_identical", plot.calibration, classes, by="relation", title=title, **size)
        parts.append(
            Section("Calibration under identical distribution", text, figure=figure, table=_calibration(identical))
        )
    if domains["share"].notna().any():
        text = (
            f"A cell has the share of pairs whose winner on the home test set ('{domains['test_set'].iloc[0]}') also "
            f"wins on another test set, for a range of p-values at home (as in Table 1 of {_PAPER}). In brackets, and "
            "as a grey line, is the baseline: the same share without a change of domain. For it, winners on one half "
            "of the home test set are looked up on items of its other half. There are half as many of these items as "
            "the other test set has. If the half has fewer items, all of them are used, and the baseline is too low. "
            "The baseline is below 100 % because other items have sampling error, too. The share minus the baseline "
            "estimates the effect of the domain. The broken line is the expected share on as many items of the home "
            "population, for valid tests and normal true gains. 95 % intervals hold for other variants of these "
            "families. If there are several other test sets, the table has intervals in the last row only, which has "
            f"the paper's range of p-values. The others are in calibration_domains.csv. {_CHANCE}"
        )
        figure = Figure("calibration_domains", partial(_by_test_set, domains))
        parts.append(Section("Calibration across domains", text, figure=figure, table=_calibration(domains)))
    return parts


def summary(tables: Mapping[str, pd.DataFrame]) -> dict[str, Table]:
    """What a terminal shows at the end: title -> a few rows."""
    table = _thresholds(_first_metric(tables["thresholds"]))
    home = table.rows["test_set"].iloc[0]
    columns = {heading: column for heading, column in table.columns.items() if heading != "test set"}
    at_home = table.rows[table.rows["test_set"] == home]
    shown = {f"The gain that is usually significant on {home}": Table(at_home, columns)}
    calibrated = [tables[name] for name in ("calibration_identical", "calibration_domains") if name in tables]
    calibrated = [_pooled(table) for table in calibrated if len(table)]
    if calibrated:
        window = pd.concat([table.assign(beside=beside(table)) for table in calibrated])
        window = window[_in_window(window)]
        shown["How many gains with p near 0.05 are gains elsewhere?"] = Table(
            window.assign(low=window["low"].where(window["share"].notna())),
            {
                "winner on": "{test_set}",
                "wins on": "{elsewhere}",
                "pairs": "{n_pairs:,}",
                "share": Column("{share:.0%}", missing="too few pairs"),
                "95 %": "{low:.0%}–{high:.0%}",
                "reference": "{beside:.0%}",
            },
        )
    return shown


def _in_window(table: pd.DataFrame) -> pd.Series[bool]:
    """The rows of the paper's own bin."""
    return (table["p_from"] == WINDOW[0]) & (table["p_to"] == WINDOW[1])


def _as_studied(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the study's own alternative and unit, which come first; another unit is the home test set's alone."""
    first = table.iloc[0]
    again = (table["test_set"] == first["test_set"]) & (table["unit"] != first["unit"])
    rows: pd.DataFrame = table[(table["alternative"] == first["alternative"]) & ~again]
    return rows


def _first_metric(table: pd.DataFrame) -> pd.DataFrame:
    rows: pd.DataFrame = table[table["metric"] == table["metric"].iloc[0]]
    return rows


def _overlay(table: pd.DataFrame, points: pd.DataFrame) -> Section:
    """The natural comparisons, each class of the resampled ones beside them."""
    first = table.iloc[0]
    natural, home = first["test_set"], first["others_test_set"]
    title = f"{natural}, and resampled systems on {home}"
    return Section(
        "Natural comparisons on the same curve",
        f"Pairs of systems that others made ({natural}, {first['n_items']:,} items) and pairs of resampled systems "
        f"({home}, {first['others_n_items']:,} items), as in figure 5 of {_PAPER}. All are tested by item. Difference "
        "in confidence: the confidence of a natural pair minus the running median of the resampled class at the same "
        "gain. It is the median over natural pairs, up to the gain at which the running median is 0.99. Ratio of "
        "gains: a natural gain divided by an equally significant gain of the resampled class (the median ratio of "
        "standard errors). Natural threshold: the 95th percentile of the natural gains with 0.04 <= p <= 0.06. The 95 "
        "% intervals hold for other such natural systems and other variants of the same base models.",
        figure=panel("overlay", plot.curve, points, over=natural, title=title, width=5.6, height=3.9),
        table=Table(
            table,
            {
                "resampled class": "{others_relation}",
                "natural pairs": "{n_pairs:,}",
                "resampled pairs": "{n_others:,}",
                "difference in confidence": Column("{difference:+.3f}[ ({low:+.3f} to {high:+.3f})]", missing="{note}"),
                "ratio of gains": "{gain_ratio:.2f}[ ({ratio_low:.2f} to {ratio_high:.2f})]",
                "natural threshold": Column("{threshold:.2f}", missing="too few pairs"),
            },
        ),
    )


def _thresholds(table: pd.DataFrame) -> Table:
    # Of other test sets a page shows the study's own kind; the CSV has all.
    home, own = table["test_set"].iloc[0], _as_studied(table)
    rows = pd.concat([table[table["test_set"] == home], own[own["test_set"] != home]])
    sides = rows["alternative"].map({"greater": "one", "two-sided": "two"})
    return Table(
        # What rounds to 0 has no sign of its own.
        rows.assign(sides=sides, residual=rows["residual"].round(2) + 0.0),
        {
            "test set": "{test_set}",
            **({"metric": "{metric:metric}"} if rows["metric"].nunique() > 1 else {}),
            "items": "{n_items:,}",
            "unit": "{unit}",
            "sides": "{sides}",
            "relation": "{relation}",
            "pairs": "{n_pairs:,}",
            "p ≈ 0.05": "{n_window}",
            "threshold": Column("{threshold:.2f}", missing="too few pairs"),
            "95 %": Column("{low:.2f}–{high:.2f}", missing="none" if rows["threshold"].notna().any() else ""),
            "c / √n": "{fit:.2f}",
            "off by": "{residual:+.0%}",
        },
    )


def _calibration(table: pd.DataFrame) -> Table:
    """Bins by columns: test sets elsewhere (all pairs), or relation classes where there is one test set only."""
    bins, share = {"p": "{p_from:g} – {p_to:g}"}, "{share:.0%}[, {low:.0%}–{high:.0%}][ ({beside:.0%})]"
    table = table.assign(beside=table["baseline" if "baseline" in table else "expected"])
    if table["elsewhere"].nunique() > 1:
        rows = _pooled(table).copy()
        # As many columns have no room for more intervals than that of the paper's own bin; the others are in the file.
        rows.loc[~_in_window(rows), ["low", "high"]] = None
        return Table(rows, bins | {"pairs": "{n_pairs:,}"}, "elsewhere", Column(share, missing="too few pairs"))
    pairs = ", {n_pairs:,} pairs"
    rows = table.sort_values("relation", kind="stable")
    return Table(rows, bins, "relation", Column(share + pairs, missing="too few pairs" + pairs))


def _pooled(table: pd.DataFrame) -> pd.DataFrame:
    """All pairs together, which come last; where there is one relation class, that one."""
    rows: pd.DataFrame = table[table["relation"] == table["relation"].iloc[-1]]
    return rows


def _by_test_set(table: pd.DataFrame) -> Any:
    """A panel for each test set elsewhere in which any bin has enough pairs."""
    shown = table.groupby("elsewhere")["share"].count()
    names = [name for name in table["elsewhere"].unique() if shown[name]]
    if len(names) == 1:
        size: dict[str, Any] = {"width": 7.6, "height": 3.9, "legend_aside": True}
        title = f"winners on {table['test_set'].iloc[0]}, looked up on {names[0]}"
        return plot.single(plot.calibration, _classes(table), title=title, by="relation", **size)
    columns = 4 if len(names) > 6 else 3
    # The bins' names below a single row take more of it.
    height = 3.4 if len(names) <= columns else 2.8
    figure, axes = plot.panels(names, per_row=columns, width=2.9, height=height, shared=True)
    for name, ax in zip(names, axes, strict=True):
        plot.calibration(_classes(table[table["elsewhere"] == name]), by="relation", ax=ax)
    axes[0].set_ylim(bottom=max(0.0, table["low"].min() - 0.02))
    plot.share_legend(figure, axes)
    return figure


def _classes(table: pd.DataFrame) -> pd.DataFrame:
    """The relation classes; all pairs together where no class has a share."""
    classes = table[table["relation"] != ALL_PAIRS]
    return classes if classes["share"].notna().any() else table


def _by_relation(points: pd.DataFrame, curves: pd.DataFrame, by: str) -> Any:
    relations = sorted(points["relation"].unique(), reverse=True)
    figure, axes = plot.panels(relations, width=4.9, height=3.7)
    for relation, ax in zip(relations, axes, strict=True):
        plot.curve(*_rows((points, curves), "relation", relation), by=by, ax=ax)
    return figure
