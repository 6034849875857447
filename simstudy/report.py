"""A study's folder for people: tables as CSV, figures drawn from them, and a page that shows both."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy import figures
from simstudy.files import atomic_path

Tables = Mapping[str, pd.DataFrame]

_POINTS = 400

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
        "95th percentile of the gains of pairs with 0.04 <= p <= 0.06, 95 % intervals from resampling systems, and "
        "the fit c / sqrt(n) (their sections 3.1.1 and 4.1).",
    ),
    "calibration_identical": (
        "Calibration under identical distribution",
        "Test sets redrawn from a population: share of pairs whose winner is the population's winner, by p-value "
        "(their section 4.2). The dashed line is what the p-values promise.",
    ),
    "calibration_domains": (
        "Calibration across domains",
        "Share of pairs whose winner on the home test set also wins elsewhere, by p-value at home (their Table 1).",
    ),
}


def thinned(pairs: pd.DataFrame) -> pd.DataFrame:
    """The pairs that a figure shows: at most 400 of a test set's relation class, spread evenly over the gains.

    Curves, thresholds and calibration always use all pairs.
    """
    shown = []
    for _, members in pairs.groupby(["test_set", "n_items", "relation"], sort=False):
        ordered = members.sort_values(["gain", "p_value", "system_a", "system_b"])
        positions = np.unique(np.linspace(0, len(ordered) - 1, min(_POINTS, len(ordered))).round().astype(int))
        shown.append(ordered.iloc[positions])
    return pd.concat(shown)[["test_set", "n_items", "metric", "relation", "gain", "p_value"]].reset_index(drop=True)


def write_tables(tables: Tables, folder: Path) -> None:
    """Each table as <name>.csv, six significant digits."""
    for name, table in tables.items():
        with atomic_path(folder / f"{name}.csv") as temporary:
            table.to_csv(temporary, index=False, float_format="%.6g", lineterminator="\n")


def write_figures(tables: Tables, folder: Path, *, home: str, home_size: int, domain_size: int | None) -> list[str]:
    """The study's figures as PNG and SVG; their names, in the order of the page."""
    points, curves = tables["points"], tables["curves"]
    drawn = []
    at_home = points["test_set"] == home
    curves_at_home = curves["test_set"] == home

    figure, (ax,) = figures.panels([f"{home}, {home_size:,} items"], width=5.6, height=3.9)
    whole = points[at_home & (points["n_items"] == home_size)]
    figures.curve(whole, curves[curves_at_home & (curves["n_items"] == home_size)], ax=ax)
    drawn.append(_saved(figure, folder, "gain_confidence"))

    sizes = tables["thresholds"].loc[tables["thresholds"]["test_set"] == home, "n_items"].unique()
    if len(sizes) > 1:
        shown = at_home & points["n_items"].isin(sizes)
        drawn.append(_saved(_by_relation(points[shown], curves[curves_at_home], "n_items"), folder, "sizes"))
    if domain_size is not None:
        shown, lines = points["n_items"] == domain_size, curves["n_items"] == domain_size
        drawn.append(_saved(_by_relation(points[shown], curves[lines], "test_set"), folder, "domains"))
    at_sizes = tables["thresholds"][tables["thresholds"]["test_set"] == home]
    if at_sizes["threshold"].notna().any():
        figure, (ax,) = figures.panels([f"{home}: 95 % of just significant gains are below"], width=5.6, height=3.9)
        figures.thresholds(at_sizes, ax=ax)
        drawn.append(_saved(figure, folder, "thresholds"))
    if "calibration_identical" in tables:
        table = tables["calibration_identical"]
        if table["share"].notna().any():
            figure, (ax,) = figures.panels(
                ["Redrawn test sets: does the winner win in the population?"], width=5.8, height=3.9
            )
            figures.calibration(table[table["relation"] != "all pairs"], by="relation", ax=ax)
            drawn.append(_saved(figure, folder, "calibration_identical"))
    if "calibration_domains" in tables:
        table = tables["calibration_domains"]
        pooled = table[table["relation"] == table["relation"].iloc[-1]]
        if pooled["share"].notna().any():
            figure, (ax,) = figures.panels([f"Does the winner on {home} win elsewhere?"], width=7.6, height=4.2)
            figures.calibration(pooled, ax=ax)
            drawn.append(_saved(figure, folder, "calibration_domains"))
    return drawn


def write_page(
    folder: Path, *, title: str, question: str, command: str, facts: Mapping[str, Any], tables: Tables, drawn: list[str]
) -> None:
    """README.md: the question, what was run, figures and main tables."""
    parts = [f"# {title}", question.strip(), f"Made by `{command}`; `manifest.json` has every setting and version."]
    parts.append("\n".join(f"- **{name}**: {value}" for name, value in facts.items()))
    for name in drawn:
        heading, caption = _CAPTIONS[name]
        parts += [f"## {heading}", f"![{heading}](figures/{name}.png)", caption]
        if name == "thresholds":
            parts.append(_markdown(_threshold_rows(tables["thresholds"])))
        elif name.startswith("calibration"):
            parts.append(_markdown(_calibration_rows(tables[name])))
    parts += [
        "## Tables",
        "\n".join(f"- [{name}.csv]({name}.csv): {len(table):,} rows" for name, table in tables.items()),
    ]
    parts.append(
        "No p-value here is corrected for the number of pairs. Gains and thresholds are on the metric's scale; "
        "confidences and shares are fractions."
    )
    with atomic_path(folder / "README.md") as temporary:
        temporary.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def summary(tables: Tables) -> pd.DataFrame:
    """The thresholds in few columns, as text, for a terminal."""
    return _threshold_rows(tables["thresholds"])


def _threshold_rows(table: pd.DataFrame) -> pd.DataFrame:
    known = table["threshold"].notna()
    interval = table["low"].map("{:.2f}".format) + " – " + table["high"].map("{:.2f}".format)
    return pd.DataFrame(
        {
            "test set": table["test_set"],
            "items": table["n_items"].map("{:,}".format),
            "relation": table["relation"],
            "pairs": table["n_pairs"].map("{:,}".format),
            "in window": table["n_window"],
            "threshold": table["threshold"].map("{:.2f}".format).where(known, table["note"]),
            "95 % interval": interval.where(known, ""),
            "c / √n": table["fit"].map("{:.2f}".format).where(table["fit"].notna(), ""),
        }
    )


def _calibration_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Bins by columns: test sets elsewhere (all pairs), or relation classes where there is one test set only."""
    if table["elsewhere"].nunique() > 1:
        rows, columns = table[table["relation"] == table["relation"].iloc[-1]], "elsewhere"
    else:
        rows, columns = table, "relation"
    share = rows["share"].map("{:.0%}".format).where(rows["share"].notna(), "too few pairs")
    bins = rows["p_from"].map("{:g}".format) + " – " + rows["p_to"].map("{:g}".format)
    wide = pd.DataFrame({"p at home": bins, "pairs": rows["n_pairs"], "column": rows[columns], "share": share})
    if columns == "relation":
        wide["share"] = wide["share"] + " of " + wide["pairs"].map("{:,}".format)
        by_relation = wide.pivot(index="p at home", columns="column", values="share")
        return pd.DataFrame(by_relation.loc[bins.unique()].reset_index())
    pivoted = wide.pivot(index=["p at home", "pairs"], columns="column", values="share").reset_index()
    order = {name: k for k, name in enumerate(bins.unique())}
    return pivoted.sort_values("p at home", key=lambda names: names.map(order))[
        ["p at home", "pairs", *rows[columns].unique()]
    ]


def _by_relation(points: pd.DataFrame, curves: pd.DataFrame, by: str) -> Any:
    relations = sorted(points["relation"].unique(), reverse=True)
    figure, axes = figures.panels(relations, width=4.9, height=3.7)
    for relation, ax in zip(relations, axes, strict=True):
        figures.curve(points[points["relation"] == relation], curves[curves["relation"] == relation], by=by, ax=ax)
    return figure


def _saved(figure: Any, folder: Path, name: str) -> str:
    figures.save(figure, folder / "figures" / name)
    return name


def _markdown(table: pd.DataFrame) -> str:
    lines = [list(table.columns), ["---"] * len(table.columns), *table.astype(str).to_numpy().tolist()]
    return "\n".join("| " + " | ".join(map(str, line)) + " |" for line in lines)
