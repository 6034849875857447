"""The figures: coverage of intervals of few items, and pairs that subsets rank right."""

from __future__ import annotations

from typing import Any

import pandas as pd

import simstudy as ss

from .subsets import ANCHORS, METHODS, RANDOM, TELLING

INTERVALS = {
    "normal": "normal (CLT)", "bootstrap": "bootstrap", "wilson": "Wilson", "exact": "Clopper-Pearson",
    "bayes": "uniform prior",
}  # fmt: skip
# How pages call the ways to choose items.
CHOICES = {RANDOM: "random", ANCHORS: "anchors", TELLING: "most correlated"}
_COLOURS = ("#D55E00", "#CC79A7", "#0072B2", "#009E73", "#000000")
_MARKS = ("o", "s", "^", "v", "D")


def draw_coverage(table: pd.DataFrame) -> Any:
    """Our coverage as lines, the published one as marks."""
    figure, axes = ss.plot.panels(["95 % intervals of one accuracy"], width=6.4, height=3.4)
    (ax,) = axes
    ax.axhline(0.95, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)))
    for k, (name, title) in enumerate(INTERVALS.items()):
        own = table[table["interval"] == name]
        ax.plot(own["n_items"], own["coverage"], color=_COLOURS[k], linewidth=1.3, label=title)
        ax.plot(own["n_items"], own["published"], _MARKS[k], color=_COLOURS[k], markersize=4.5, fillstyle="none")
    ax.plot([], [], _MARKS[0], color="0.35", markersize=4.5, fillstyle="none", label="marks: published")
    ax.set(xscale="log", ylim=(0.45, 1.01), xlabel="items", ylabel="coverage")
    sizes = sorted(table["n_items"].unique())
    ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
    ax.set_xticks([], minor=True)
    ss.plot.share_legend(figure, axes, side=True)
    return figure


def draw_subsets(table: pd.DataFrame, agreement: float) -> Any:
    """A panel for each test set, a line for each way to choose items, and the prediction for random ones."""
    views = {str(name): own for name, own in table.groupby("test_set", sort=False)}
    figure, axes = ss.plot.panels(list(views), per_row=2, width=3.6, height=2.6, shared=True)
    for ax, own in zip(axes, views.values(), strict=True):
        ax.axhline(agreement, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)))
        for k, method in enumerate(METHODS):
            of = own[own["method"] == method]
            ax.plot(of["n_items"], of["right"], f"{_MARKS[k]}-", color=_COLOURS[2 - k], markersize=4,
                    label=CHOICES[method])  # fmt: skip
        of = own[own["method"] == RANDOM]
        ax.plot(of["n_items"], of["predicted"], ":", color="0.2", linewidth=1.2, label="random, predicted")
        ax.set(xscale="log", ylim=(0.3, 1), xlabel="items", ylabel="pairs ranked right")
        sizes = sorted(table["n_items"].unique())
        ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
        ax.set_xticks([], minor=True)
        ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    ss.plot.share_legend(figure, axes, side=False)
    return figure
