"""The figures: what benchmarks can tell, and how that goes with the number of items."""

from __future__ import annotations

from typing import Any

import pandas as pd

import simstudy as ss
from simstudy.studies import label

from .benchmarks import UNLIKE, VARIANTS
from .tables import in_points

COLOURS = {UNLIKE: "#0072B2", VARIANTS: "#D55E00"}

# Kinds of the left panel; all others are in the right one.
_LEFT = "Agents, language models, images"
_RIGHT = "Retrieval, parsing, other texts"
_LANGUAGE_MODELS = ("agents", "language models", "image")

TICKS = (0.2, 0.5, 1, 2, 5, 10, 20)
_GAIN = "minimum detectable gain (power 0.8), points"
# Of metrics (Okabe and Ito 2008).
_METRICS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#222222")


def gallery(benchmarks: pd.DataFrame, titles: dict[str, str]) -> Any:
    """A row for each test set: the true gain that it finds, between variants and between different families.

    Of test sets with several metrics the first is drawn.
    """
    first = benchmarks.groupby("test_set", sort=False)["metric"].transform("first")
    rows = in_points(benchmarks[benchmarks["metric"] == first])
    left = rows["kind"].str.startswith(_LANGUAGE_MODELS)
    parts = {_LEFT: rows[left], _RIGHT: rows[~left]}
    parts = {title: own for title, own in parts.items() if len(own)}
    most = max(own["test_set"].nunique() for own in parts.values())
    figure, axes = ss.plot.panels(list(parts), width=5.0, height=1.0 + 0.165 * most, shared=False)
    for ax, own in zip(axes, parts.values(), strict=True):
        _rows(ax, own, titles, most)
    ss.plot.share_legend(figure, axes)
    return figure


def _rows(ax: Any, rows: pd.DataFrame, titles: dict[str, str], most: int) -> None:
    order = rows.groupby("test_set", sort=False)["minimum_detectable_gain"].max().sort_values(kind="stable")
    places = {name: k for k, name in enumerate(order.index)}
    for relation, colour in COLOURS.items():
        own = rows[rows["relation"] == relation]
        if own.empty:
            continue
        at = own["test_set"].map(places)
        known = own["minimum_detectable_gain_low"].notna()
        ax.hlines(
            at[known],
            own["minimum_detectable_gain_low"][known],
            own["minimum_detectable_gain_high"][known],
            color=colour,
            linewidth=1.1,
        )
        ax.plot(own["minimum_detectable_gain"], at, "o", color=colour, markersize=3.6, label=relation)
    items = rows.groupby("test_set")["n_items"].first()
    ax.set_yticks(range(len(places)), [f"{titles[name]}  ({items[name]:,})" for name in places], fontsize=7)
    ax.set(ylim=(-0.8, most - 0.2), xlim=(0.3, 25), xscale="log", xlabel=_GAIN)
    ax.set_xticks(TICKS[1:], [f"{tick:g}" for tick in TICKS[1:]])
    ax.set_xticks([], minor=True)
    ax.tick_params(axis="y", length=0)


def by_size(benchmarks: pd.DataFrame) -> Any:
    """Gains between different families against the number of items, by metric."""
    rows = in_points(benchmarks[benchmarks["relation"] == UNLIKE])
    rows = rows[(rows["metric"] != "accuracy") | rows["right_or_wrong"]]
    names = list(rows["metric"].value_counts()[lambda n: n >= 3].index)
    figure, axes = ss.plot.panels(["Pairs across families"], width=7.6, height=4.4)
    (ax,) = axes
    markers = "osD^v<>Phx"
    for k, name in enumerate(sorted(names, key=list(rows["metric"]).index)):
        own = rows[rows["metric"] == name]
        c = (own["minimum_detectable_gain"] * own["n_items"] ** 0.5).median()
        ends = own["n_items"].agg(["min", "max"]).to_numpy(dtype=float)
        (line,) = ax.plot(ends, c / ends**0.5, linewidth=1.2, color=_METRICS[k % len(_METRICS)])
        said = f"{label(name)}: {c:.0f} / √n"
        ax.plot(
            own["n_items"],
            own["minimum_detectable_gain"],
            markers[k % len(markers)],
            color=line.get_color(),
            markersize=4,
            label=said,
        )
    ax.set(xscale="log", yscale="log", xlabel="items (topics, sentences)", ylabel=_GAIN)
    ax.set_yticks(TICKS, [f"{tick:g}" for tick in TICKS])
    sizes = [30, 100, 300, 1000, 3000, 10000, 50000]
    ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
    ax.set_xticks([], minor=True)
    ax.set_yticks([], minor=True)
    ss.plot.share_legend(figure, axes, side=True)
    return figure
