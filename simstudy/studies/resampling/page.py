"""The page of a study of training-set resampling: which figures are drawn from its tables, and the rows it prints."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy import figures
from simstudy.analyses.calibration import WINDOW
from simstudy.analyses.classes import ALL_PAIRS
from simstudy.report import Section, Tables, save_figure
from simstudy.studies.points import even_choice

CLOSING = (
    "No p-value here is corrected for the number of pairs; column alternative says whether it is one-sided (greater: "
    "right for those who said beforehand which system is the better) or two-sided. Gains and thresholds are on the "
    "metric's scale; confidences and shares are fractions."
)

# Points drawn of a relation class: on the home test set, and in figures of many test sets.
_POINTS_AT_HOME, _POINTS = 1000, 150

_CAPTIONS = {
    "gain_confidence": (
        "Gain against confidence",
        "Each point is a pair of systems on the whole home test set; lines are running medians, bands hold 5-95 % "
        "of the pairs (the manner of figure 5 of Berg-Kirkpatrick et al. 2012).",
    ),
    "sizes": ("Test sizes", "The same for initial segments of the home test set (their figure 10)."),
    "domains": ("Domains", "The same for initial segments of equal size of other test sets (their figure 11)."),
    "thresholds": (
        "Gain threshold against test size",
        "95th percentile of the gains of pairs with 0.04 <= p <= 0.06, with 95 % intervals where these are known to "
        "cover (note and interval_for in thresholds.csv), and the fit c / sqrt(n) (their sections 3.1.1 and 4.1). The "
        "paper's thresholds are one-sided; where nobody said beforehand which system is the better, the two-sided ones "
        "hold. Where the natural unit is a document, items taken one by one give smaller, too hopeful thresholds.",
    ),
    "calibration_identical": (
        "Calibration under identical distribution",
        "Test sets redrawn from a population: share of pairs whose winner is the population's winner, by p-value "
        "(their section 4.2). 1 - p is not the share to expect: in brackets, and as a broken line, what valid tests "
        "give where true gains are normal with the spread that the observed ones have beyond their errors.",
    ),
    "calibration_domains": (
        "Calibration across domains",
        "Share of pairs whose winner on the home test set also wins elsewhere, by p-value at home (their Table 1). "
        "Other items of the same domain have sampling error too: in brackets, and as a grey line, the share on as many "
        "items of the home test set's own population (halves of it: winners of one half followed on half as many items "
        "of the other). What is lost to the domain is the difference. The broken line is the model of the section "
        "above.",
    ),
}


def thinned(pairs: pd.DataFrame, home: str, home_size: int) -> pd.DataFrame:
    """The pairs that figures show: not those with p < 0.001, and of the others an even choice over the gains.

    At most 1,000 of a relation class on the whole home test set and 150 elsewhere; curves, thresholds and calibration
    always use all pairs.
    """
    shown = []
    for (test_set, n_items, _), members in pairs.groupby(["test_set", "n_items", "relation"], sort=False):
        most = _POINTS_AT_HOME if (test_set, n_items) == (home, home_size) else _POINTS
        shown.append(even_choice(members, most))
    return pd.concat(shown)[["test_set", "n_items", "metric", "relation", "gain", "p_value"]].reset_index(drop=True)


def sections(tables: Tables, folder: Path, *, home: str, home_size: int, domain_size: int | None) -> list[Section]:
    """Draw the study's figures as PNG and SVG; the parts of the page that show them."""
    points, curves = tables["points"], tables["curves"]
    drawn = []
    at_home = points["test_set"] == home
    curves_at_home = curves["test_set"] == home

    whole = points[at_home & (points["n_items"] == home_size)]
    if len(whole):
        figure, (ax,) = figures.panels([f"{home}, {home_size:,} items"], width=5.6, height=3.9)
        figures.curve(whole, curves[curves_at_home & (curves["n_items"] == home_size)], ax=ax)
        drawn.append(save_figure(figure, folder, "gain_confidence"))
    if points.loc[at_home, "n_items"].nunique() > 1:
        drawn.append(save_figure(_by_relation(points[at_home], curves[curves_at_home], "n_items"), folder, "sizes"))
    shown, lines = points["n_items"] == domain_size, curves["n_items"] == domain_size
    if shown.any():
        drawn.append(save_figure(_by_relation(points[shown], curves[lines], "test_set"), folder, "domains"))
    at_sizes = _as_studied(tables["thresholds"])
    at_sizes = at_sizes[at_sizes["test_set"] == home]
    if at_sizes["threshold"].notna().any():
        figure, (ax,) = figures.panels([f"{home}: 95 % of just significant gains are below"], width=5.6, height=3.9)
        figures.thresholds(at_sizes, ax=ax)
        drawn.append(save_figure(figure, folder, "thresholds"))
    if "calibration_identical" in tables:
        table = tables["calibration_identical"]
        classes = table[table["relation"] != ALL_PAIRS]
        if classes["share"].notna().any():
            figure, (ax,) = figures.panels(
                ["Redrawn test sets: does the winner win in the population?"], width=5.8, height=3.9
            )
            figures.calibration(classes, by="relation", ax=ax)
            drawn.append(save_figure(figure, folder, "calibration_identical"))
    if "calibration_domains" in tables:
        table = tables["calibration_domains"]
        if table["share"].notna().any():
            drawn.append(save_figure(_by_test_set(table), folder, "calibration_domains"))
    rows = {"thresholds": _threshold_rows}
    rows |= dict.fromkeys(("calibration_identical", "calibration_domains"), _calibration_rows)
    return [Section(*_CAPTIONS[name], name, rows[name](tables[name]) if name in rows else None) for name in drawn]


def summary(tables: Tables) -> dict[str, pd.DataFrame]:
    """What a terminal shows at the end: title -> a few rows of text."""
    thresholds = _threshold_rows(tables["thresholds"])
    home = thresholds[thresholds["test set"] == thresholds["test set"].iloc[0]].drop(columns="test set")
    shown = {f"Gain from which on a difference on {thresholds['test set'].iloc[0]} is usually significant": home}
    calibrated = [tables[name] for name in ("calibration_identical", "calibration_domains") if name in tables]
    calibrated = [table for table in calibrated if len(table)]
    if calibrated:
        window = pd.concat([_pooled(table) for table in calibrated])
        window = window[(window["p_from"] == WINDOW[0]) & (window["p_to"] == WINDOW[1])]
        known = window["share"].notna()
        shares = pd.DataFrame(
            {
                "winner on": window["test_set"],
                "wins on": window["elsewhere"],
                "pairs": window["n_pairs"].map("{:,}".format),
                "share": window["share"].map("{:.0%}".format).where(known, "too few pairs"),
                "95 %": (window["low"].map("{:.0%}".format) + "–" + window["high"].map("{:.0%}".format)).where(
                    known & window["low"].notna(), ""
                ),
                "same domain": _beside(window).map("{:.0%}".format).where(_beside(window).notna(), ""),
            }
        )
        shown["Of the gains with p near 0.05, how many are gains elsewhere?"] = shares
    return shown


def _beside(table: pd.DataFrame) -> pd.Series[float]:
    """What there would be without another domain: as measured, else as expected."""
    measured = table["baseline"] if "baseline" in table else pd.Series(np.nan, index=table.index)
    return measured.where(measured.notna(), table["expected"])


def _as_studied(table: pd.DataFrame) -> pd.DataFrame:
    """The rows of the study's own alternative and unit, which come first."""
    first = table.iloc[0]
    rows: pd.DataFrame = table[(table["alternative"] == first["alternative"]) & (table["unit"] == first["unit"])]
    return rows


def _threshold_rows(table: pd.DataFrame) -> pd.DataFrame:
    # Of other test sets a page shows the study's own kind; the CSV has all.
    home, own = table["test_set"].iloc[0], _as_studied(table)
    table = pd.concat([table[table["test_set"] == home], own[own["test_set"] != home]])
    known = table["threshold"].notna()
    interval = table["low"].map("{:.2f}".format) + "–" + table["high"].map("{:.2f}".format)
    return pd.DataFrame(
        {
            "test set": table["test_set"],
            "items": table["n_items"].map("{:,}".format),
            "unit": table["unit"],
            "sides": table["alternative"].map({"greater": "one", "two-sided": "two"}),
            "relation": table["relation"],
            "pairs": table["n_pairs"].map("{:,}".format),
            "p ≈ 0.05": table["n_window"],
            "threshold": table["threshold"].map("{:.2f}".format).where(known, "too few pairs"),
            "95 %": interval.where(table["low"].notna(), "none" if known.any() else ""),
            "c / √n": table["fit"].map("{:.2f}".format).where(table["fit"].notna(), ""),
        }
    )


def _calibration_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Bins by columns: test sets elsewhere (all pairs), or relation classes where there is one test set only."""
    if table["elsewhere"].nunique() > 1:
        rows, columns = _pooled(table), "elsewhere"
    else:
        rows, columns = table, "relation"
    beside = "baseline" if "baseline" in rows else "expected"
    share = rows["share"].map("{:.0%}".format) + rows[beside].map(" ({:.0%})".format).where(rows[beside].notna(), "")
    share = share.where(rows["share"].notna(), "too few pairs")
    bins = rows["p_from"].map("{:g}".format) + " – " + rows["p_to"].map("{:g}".format)
    wide = pd.DataFrame({"p at home": bins, "pairs": rows["n_pairs"], "column": rows[columns], "share": share})
    if columns == "relation":
        wide["share"] = wide["share"] + ", " + wide["pairs"].map("{:,}".format) + " pairs"
        by_relation = wide.pivot(index="p at home", columns="column", values="share")
        return pd.DataFrame(by_relation.loc[bins.unique()].reset_index())
    pivoted = wide.pivot(index=["p at home", "pairs"], columns="column", values="share").reset_index()
    order = {name: k for k, name in enumerate(bins.unique())}
    return pivoted.sort_values("p at home", key=lambda names: names.map(order))[
        ["p at home", "pairs", *rows[columns].unique()]
    ]


def _pooled(table: pd.DataFrame) -> pd.DataFrame:
    """All pairs together, which come last; where there is one relation class, that one."""
    pooled: pd.DataFrame = table[table["relation"] == table["relation"].iloc[-1]]
    return pooled


def _by_test_set(table: pd.DataFrame) -> Any:
    """A panel for each test set elsewhere in which any bin has enough pairs."""
    shown = table.groupby("elsewhere")["share"].count()
    names = [name for name in table["elsewhere"].unique() if shown[name]]
    columns = 4 if len(names) > 6 else 3
    figure, axes = figures.panels(names, columns=columns, width=2.9, height=2.5)
    for k, (name, ax) in enumerate(zip(names, axes, strict=True)):
        rows = table[table["elsewhere"] == name]
        classes = rows[rows["relation"] != ALL_PAIRS]
        figures.calibration(classes if classes["share"].notna().any() else rows, by="relation", ax=ax)
        lowest = k // columns == (len(names) - 1) // columns
        ax.tick_params(labelbottom=lowest)
        ax.set(xlabel=ax.get_xlabel() if lowest else "", ylabel="" if k % columns else ax.get_ylabel())
    axes[0].set_ylim(bottom=max(0.0, table["low"].min() - 0.02))
    figures.share_legend(figure, axes)
    return figure


def _by_relation(points: pd.DataFrame, curves: pd.DataFrame, by: str) -> Any:
    relations = sorted(points["relation"].unique(), reverse=True)
    figure, axes = figures.panels(relations, width=4.9, height=3.7)
    for relation, ax in zip(relations, axes, strict=True):
        figures.curve(points[points["relation"] == relation], curves[curves["relation"] == relation], by=by, ax=ax)
    return figure
