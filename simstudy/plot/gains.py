"""Figures of gains in the manner of Berg-Kirkpatrick et al. 2012: against confidence, test size, and wins elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import NullLocator

from simstudy.plot.parts import (
    REFERENCE,
    colours_among,
    colours_of,
    dots,
    log_ticks,
    one_panel,
    relation_colour,
    sides,
    unit,
    with_room,
)
from simstudy.plot.style import styled
from simstudy.tables import check_table, require_one_question, takes_pairs
from simstudy.text import plain_text
from simstudy.validation import InputError, check_text

# So few points can be large, and so many are small.
_FEW, _MANY = 300, 1000

# The largest threshold over the smallest one.
_SHORT_RANGE = 6

# Points of more test sets would hide each other and the lines, which are told apart by their dashes too.
_MOST_CLOUDS = 4
_DASHES = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 1.5, 1, 1.5)), (0, (3, 1.5)), (0, (8, 2)), (0, (2, 1, 1, 1, 1, 1)))


@takes_pairs
@styled
def curve(
    points: pd.DataFrame,
    curves: pd.DataFrame | None = None,
    *,
    by: str = "relation",
    over: str = "",
    ax: Axes | None = None,
) -> Axes:
    """Gain against confidence, a point for each pair (figures 5, 10 and 11 of the paper).

    Of more than four test sets with curves only these lines are drawn: points would hide each other and the lines.

    Parameters
    ----------
    points
        Comparisons, or their columns `by`, gain, p_value and metric. The confidence of a pair is its column
        ``confidence`` where there is one; else 1 - p, and 0 where ``better`` names system_b.
    curves
        What `Comparisons.curve` returned, for the lines (median) and bands (5-95 % of the pairs). Only its rows with
        values of `by` that the points have are drawn.
    by
        The column that gives the colours: relation, n_items or test_set.
    over
        A value of `by` whose points lie over all others, large and dark: natural pairs over resampled ones.
    ax
        Where to draw; a new figure by default.

    Raises
    ------
    ValueError
        Where a column is missing.

    Examples
    --------
    >>> from simstudy.comparisons.comparing import compare
    >>> from simstudy.truth import correlated_accuracies
    >>> pairs = compare(correlated_accuracies([0.7, 0.75, 0.8], 200), n_resamples=500)
    >>> curve(pairs).get_ylabel()
    'confidence, 1 − p (two-sided)'
    """
    check_text("by", by, "the name of a column")
    check_text("over", over, "a value of this column")
    check_table("points", points, ["gain", "p_value", by])
    require_one_question(points, argument="points")
    if curves is not None:
        check_table("curves", curves, ["gain", "confidence", "confidence_05", "confidence_95", by], empty=True)
    ax = one_panel(ax)
    # Of a million pairs no more is copied than what is drawn.
    drawn = [by, *(name for name in ("gain", "metric", "alternative") if name in points and name != by)]
    points = points[drawn].assign(confidence=_confidence(points))
    # Related systems come first, in every panel beside this one too.
    values = sorted(dict.fromkeys(points[by]), key=lambda value: by == "relation" and not value.startswith("same "))
    colours = {**colours_of(by, values), over: "0.1"}
    # Beyond the gain from which on every pair is significant there is nothing to see.
    widest = points.loc[points["confidence"] < 0.995, "gain"].max()
    end = 1.05 * widest if widest > 0 else None
    size, alpha = (
        float(np.interp(len(points), (_FEW, _MANY), ends)) for ends in ((16, 6), (0.6, 0.5 if curves is None else 0.3))
    )
    none = pd.DataFrame()
    lines = {value: none if curves is None else curves[curves[by] == value] for value in values}
    dashed = by == "test_set" and sum(len(line) > 0 for line in lines.values()) > _MOST_CLOUDS
    for value in values:
        if dashed and len(lines[value]):
            continue
        members = points[(points[by] == value) & (points["gain"] <= (end or np.inf))]
        look: dict[str, Any] = {"s": 14, "alpha": 0.9, "zorder": 3} if value == over else {"s": size, "alpha": alpha}
        ax.scatter(members["gain"], members["confidence"], linewidths=0, color=colours[value], rasterized=True, **look)
    for k, value in enumerate(values):
        label = f"{value:,} items" if by == "n_items" else plain_text.label(value)
        line, shade = lines[value], colours[value]
        if len(line):
            # The bands of many test sets of one size would lie on top of one another.
            if by != "test_set" or len(values) < 3:
                low, high = line["confidence_05"], line["confidence_95"]
                ax.fill_between(line["gain"], low, high, color=shade, alpha=0.13, linewidth=0)
            dashes = _DASHES[k % len(_DASHES)] if dashed else "-"
            ax.plot(line["gain"], line["confidence"], color=shade, linewidth=1.8, linestyle=dashes, label=label)
        else:
            ax.plot([], [], "o", markersize=4, color=shade, label=label)
    ax.axhline(0.95, **REFERENCE)
    ax.annotate("p = 0.05", (1, 0.95), xycoords=("axes fraction", "data"), xytext=(-2, -2),
                textcoords="offset points", ha="right", va="top", fontsize=7.5, color="0.35")  # fmt: skip
    # One-sided confidences begin at a half, but for ties; two-sided ones at 0.
    one_sided = "alternative" in points and (points["alternative"] == "greater").all()
    lowest = 0.5 if one_sided or ("alternative" not in points and points["confidence"].quantile(0.05) > 0.4) else 0.0
    ax.set(ylim=(lowest, 1.005), xlim=(0, end))
    ax.set(xlabel=f"gain ({unit(points)})", ylabel=f"confidence, 1 − p{_sides(points)}")
    ax.legend(loc="lower right")
    return ax


def _sides(table: pd.DataFrame) -> str:
    return f" ({found})" if (found := sides(table)) else ""


def _confidence(points: pd.DataFrame) -> pd.Series[float]:
    if "confidence" in points:
        return points["confidence"]
    sure = 1 - points["p_value"]
    if not {"better", "system_b"} <= {*points.columns}:
        return sure
    # A test that prefers the system that is behind is no confidence in the gain.
    return sure.where(points["better"] != points["system_b"], 0.0)


@styled
def thresholds(table: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """Thresholds against test size on logarithmic axes, with their intervals and the fit c / sqrt(n).

    Parameters
    ----------
    table
        What `simstudy.comparisons.size_fit` returned for one test set.

    Raises
    ------
    ValueError
        Where a column is missing, or no size has a threshold.

    Examples
    --------
    >>> table = pd.DataFrame({"task": "t", "test_set": "s", "metric": "accuracy", "relation": "all pairs",
    ...                       "n_items": [100, 400], "threshold": [6.0, 3.0], "low": [5.0, 2.5], "high": [7.0, 3.5]})
    >>> from simstudy.comparisons.thresholds import size_fit
    >>> thresholds(size_fit(table)).get_xlabel()
    'test size, items'
    """
    check_table("table", table, ["n_items", "relation", "threshold", "low", "high", "fit", "c", "exponent"])
    known = table[table["threshold"].notna()]
    if known.empty:
        raise InputError("table", "must have at least one threshold; every window had too few pairs")
    # All pairs together are shown where no class has a threshold of its own.
    if (known["relation"] != "all pairs").any():
        known = known[known["relation"] != "all pairs"]
    ax = one_panel(ax)
    sizes = sorted(table["n_items"].unique())
    relations = list(dict.fromkeys(known["relation"]))
    for k, relation in enumerate(relations):
        rows = known[known["relation"] == relation].sort_values("n_items")
        colour = relation_colour(relation)
        # A little to the side of one another, so that intervals do not hide each other.
        x = rows["n_items"] * 1.03 ** (k - (len(relations) - 1) / 2)
        dots(ax, x, rows, "threshold", fmt="o", markersize=5, color=colour, capsize=2.5, linewidth=1.1,
             label=plain_text.label(relation))  # fmt: skip
        if rows["fit"].notna().any():
            c, exponent = rows["c"].iloc[0], rows["exponent"].iloc[0]
            label = f"{c:.3g} / √n   (free slope {exponent:.2f})"
            ax.plot(rows["n_items"], rows["fit"], color=colour, linewidth=1.2, alpha=0.8, linestyle=(0, (4, 2)),
                    label=label)  # fmt: skip
    ax.set(xscale="log", yscale="log", xlabel="test size, items")
    ax.set_ylabel("gain threshold (" + "; ".join(word for word in (unit(table), sides(table)) if word) + ")")
    named = with_room(sizes)
    ax.set_xticks(sizes, [f"{size:,}" if size in named else "" for size in sizes])
    # Over a short range the usual ticks would be two.
    drawn = known[["threshold", "low", "high"]].to_numpy(dtype=np.float64)
    few = np.nanmax(drawn) < _SHORT_RANGE * np.nanmin(drawn)
    log_ticks(ax.yaxis, (1, 2, 3, 4, 5, 7) if few else (1, 2, 3, 5))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.legend(loc="upper right")
    return ax


@styled
def calibration(
    table: pd.DataFrame, *, by: str = "elsewhere", among: Sequence[str] = (), ax: Axes | None = None
) -> Axes:
    """Share of home winners that win elsewhere, by bin of p-value on the home test set.

    The broken line is what a model expects without a change of domain; the grey one, where the table has it, is the
    baseline, which was measured on as many items of the home test set's population. The dotted line is chance.

    Parameters
    ----------
    table
        Rows of what `simstudy.calibration` returned, for one relation class or one test set elsewhere.
    by
        The column that gives the colours: elsewhere or relation.
    among
        All values that panels beside this one have, so that each has one colour in all of them.

    Raises
    ------
    ValueError
        Where a column is missing, or no bin has a share.

    Examples
    --------
    >>> table = pd.DataFrame({"p_from": [0.0, 0.01], "p_to": [0.01, 0.1], "expected": [0.999, 0.93],
    ...                       "share": [0.99, 0.9], "low": [0.95, 0.8], "high": [1.0, 0.95], "elsewhere": "news"})
    >>> [label.get_text() for label in calibration(table).get_xticklabels()]
    ['0.01 – 0.1', '< 0.01']
    """
    check_text("by", by, "the name of a column")
    check_table("table", table, ["p_from", "p_to", "share", "low", "high", "expected", by])
    bins = table[~((table["p_from"] == 0.04) & (table["p_to"] == 0.06))]
    if bins["share"].notna().sum() == 0:
        raise InputError("table", "must have at least one bin with a share; every bin had too few pairs")
    ax = one_panel(ax)
    bounds = sorted({*zip(bins["p_from"], bins["p_to"], strict=True)}, reverse=True)
    place = {bound: x for x, bound in enumerate(bounds)}
    values = list(dict.fromkeys(bins[by]))
    colours = colours_among(by, values, among)
    for k, value in enumerate(values):
        # Bins without a share stay in, as gaps in the line.
        rows = bins[bins[by] == value].sort_values("p_from", ascending=False)
        aside = (k - (len(values) - 1) / 2) * 0.5 / max(len(values), 2)
        x = [place[bound] + aside for bound in zip(rows["p_from"], rows["p_to"], strict=True)]
        dots(ax, x, rows, "share", fmt="o-", markersize=4, linewidth=1, elinewidth=0.8, capsize=0,
             color=colours[value], label=plain_text.label(value))  # fmt: skip
    lines = {
        "expected": ("0.35", (0, (4, 3)), "expected, same domain"),
        "baseline": ("0.6", "solid", "baseline, same domain"),
    }
    for column, (shade, style, label) in lines.items():
        if column in bins and bins[column].notna().any():
            line = bins.groupby(["p_from", "p_to"])[column].mean()
            x = [place[bound] for bound in line.index]
            ax.plot(x, line, color=shade, linewidth=1.2, linestyle=style, label=label, zorder=1)
    # Half of the winners win elsewhere by chance.
    ax.axhline(0.5, color="0.45", linewidth=1, linestyle=(0, (1, 2)), zorder=1)
    labels = [f"{low:g} – {high:g}" if low else f"< {high:g}" for low, high in bounds]
    ax.set_xticks(range(len(bounds)), labels, rotation=45, ha="right", fontsize=7)
    bottom = min(0.45, float(np.nanmin([bins["low"].min(), bins["share"].min()])) - 0.02)
    ax.set(ylim=(bottom, 1.01), xlabel="p on the home test set", ylabel="share that also win elsewhere")
    ax.legend(loc="lower right")
    return ax
