"""Figures of precision by length (figures 1 - 3 of the paper), of repetitions (figure 4), and of all tests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss

from .claims import RANKINGS, up_to
from .settings import Parts

# Colours of rankings (Okabe and Ito 2008).
_RANKINGS = dict(zip(RANKINGS, ("#0072B2", "#D55E00", "#009E73", "#CC79A7"), strict=True))

# Marks of significance across a panel; more would be a bar.
_MARKS = 60

# Colours of tests (Okabe and Ito 2008), the same as in figures of other studies; then others.
_TESTS = {"randomization": "#009E73", "bootstrap": "#D55E00", "fisher": "#0072B2", "chi_square": "#CC79A7"}
_COLOURS = ("#E69F00", "#56B4E9", "#222222", "#999999")

# From so many evaluations on, bins of a histogram may be finer.
_MANY = 40


def by_ranking(curves: pd.DataFrame, differences: pd.DataFrame | None, *, intervals: bool, alpha: float) -> Any:
    """The precision of rankings by the length of their lists, and where the pair differs significantly."""
    draw = ss.plot.styled(precision_by_length)
    return ss.plot.single(draw, curves, differences, width=5.8, height=3.7, intervals=intervals, alpha=alpha)


def precision_by_length(
    curves: pd.DataFrame, differences: pd.DataFrame | None, *, intervals: bool, alpha: float, ax: Any
) -> Any:
    """Precision of n-best lists over n (figures 1 - 3 of the paper), with the baseline.

    Triangles mark the n at which `differences`, those of one pair, have p <= alpha (an even choice of them). A line
    marks the n up to which all have.
    """
    for name in curves["ranking"].unique():
        rows, colour = curves[curves["ranking"] == name], _RANKINGS[name]
        if intervals:
            ax.fill_between(rows["n"], rows["low"], rows["high"], color=colour, alpha=0.18, linewidth=0)
        ax.plot(rows["n"], rows["precision"], color=colour, linewidth=1.5, label=name.replace("_", " "))
    ax.axhline(curves["baseline"].iloc[0], color="0.35", linewidth=0.9, linestyle=(0, (4, 3)), label="baseline")
    if differences is not None:
        shown = differences.iloc[:: max(1, len(differences) // _MARKS)]
        shown = shown[shown["p_value"] <= alpha]
        middle = (shown["precision_1"] + shown["precision_2"]) / 2
        ax.plot(shown["n"], middle, "^", markersize=3.5, color="0.45", label=f"p ≤ {alpha:g}")
        if last := up_to(differences.set_index("n")["p_value"] <= alpha):
            ax.axvline(last, color="0.45", linewidth=0.8)
    ax.yaxis.set_major_formatter(lambda share, _: f"{100 * share:.4g}%")
    ax.set(xlabel="n, length of the n-best list", ylabel="precision", xlim=(0, curves["n"].max()), ylim=(0, None))
    ax.legend(loc="upper right")
    return ax


def by_length(table: pd.DataFrame, pair: str, alpha: float) -> Any:
    """The p-values of one pair of rankings by all tests."""
    return ss.plot.single(ss.plot.styled(p_values_by_length), table, title=pair, width=5.6, alpha=alpha)


def p_values_by_length(table: pd.DataFrame, *, alpha: float, ax: Any) -> Any:
    """p-values (columns test, n, p_value) over n, a line for each test, and one across at `alpha`."""
    tests = list(dict.fromkeys(table["test"]))
    others = iter(_COLOURS * len(tests))
    for test in tests:
        rows = table[table["test"] == test].sort_values("n")
        ax.plot(rows["n"], rows["p_value"], "o-", markersize=2.5, linewidth=1.2,
                color=_TESTS.get(test) or next(others), label=test.replace("_", " "))  # fmt: skip
    ax.axhline(alpha, color="0.35", linewidth=0.8, linestyle=(0, (4, 3)))
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(lambda p, _: f"{p:g}")
    ax.yaxis.set_minor_formatter("")
    ax.set(xlabel="n, length of the n-best list", ylabel="p-value", xlim=(0, table["n"].max()), ylim=(None, 1))
    ax.legend(loc="lower right")
    return ax


def spread(tables: Mapping[str, pd.DataFrame], parts: Parts) -> Any:
    """Histograms as in figure 4, for the coarsest cut: a row for each arrangement, a panel for each ranking."""
    panels = [(way, name) for way in parts.arrangements for name in parts.rankings]
    titles = [f"{name}, {way}".replace("_", " ") for way, name in panels]
    columns = len(parts.rankings)
    figure, axes = ss.plot.panels(titles, per_row=columns, width=3.4, height=2.7, shared=False)
    for (way, name), ax in zip(panels, axes, strict=True):
        repeated, check = (
            table[(table["arrangement"] == way) & (table["n_parts"] == min(parts.n_parts))]
            for table in (tables["repetitions"], tables["check"])
        )
        ss.plot.styled(precision_spread)(repeated, check, name, ax=ax)
    return figure


def precision_spread(repetitions: pd.DataFrame, check: pd.DataFrame, ranking: str, *, ax: Any) -> Any:
    """How much precision varies over repetitions of an evaluation, beside what the binomial lets expect (figure 4).

    The tables are those of `repetitions` and `binomial_check`.
    """
    own, expected = repetitions[repetitions["ranking"] == ranking], check[check["ranking"] == ranking]
    for name, rows in (("repetitions", own), ("check", expected)):
        if rows.empty:
            raise ValueError(f"{name} of '{ranking}' must have at least one row")
    row, observed = expected.iloc[0], own["precision"].dropna()
    mean, sd, s = row["average_precision"], row["sd_binomial"], row["sd_observed"]
    if not sd > 0:
        raise ValueError(
            f"repetitions of '{ranking}' must let expect a spread; their average precision is {mean:.3g}, of "
            f"{len(observed)} that accept anything"
        )
    reach = max(4 * sd, float((observed - mean).abs().max()) + sd)
    # Bins of an expected standard deviation, or half of it where there are many evaluations, one around the mean.
    width = sd / 2 if len(observed) >= _MANY else sd
    half = int(np.ceil(reach / width))
    bins = mean + width * (np.arange(-half, half + 2) - 0.5)
    ax.hist(observed, bins=list(bins), color="#56B4E9", alpha=0.75, linewidth=0.4, edgecolor="white")
    x = np.linspace(mean - reach, mean + reach, 300)
    curves = ((sd, "0.15", "-", "normal, expected"), (s, "#D55E00", (0, (4, 2)), "normal, observed"))
    for of, colour, style, words in curves:
        # Of one evaluation, or of equal ones, there is no curve.
        at = x if of > 0 else x[:0]
        density = np.exp(-(((at - mean) / of) ** 2) / 2) / (of * np.sqrt(2 * np.pi))
        ax.plot(at, len(observed) * width * density, color=colour, linewidth=1.4, linestyle=style,
                label=f"{words} sd {of:.3f}")  # fmt: skip
    ax.xaxis.set_major_formatter(lambda share, _: f"{100 * share:.0f}%")
    # Room for the legend above the bars.
    ax.set(xlim=(mean - reach, mean + reach), ylim=(0, 1.35 * ax.get_ylim()[1]))
    ax.set(xlabel="precision", ylabel="evaluations")
    ax.legend(loc="upper right", fontsize=7)
    return ax
