"""Figures of rankings in the manner of Evert 2004: precision over n, where two differ, and repeated evaluations."""

from __future__ import annotations

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FuncFormatter, NullFormatter

from simstudy.plot.colours import colours_among, colours_of
from simstudy.plot.style import REFERENCE, in_percents, one_panel, styled
from simstudy.tables import check_table
from simstudy.text.plain_text import in_words, label
from simstudy.validation import check_flag, check_fraction, check_text

# Marks of significance across a panel; more would be a bar.
_MARKS = 60

# From so many evaluations on, bins of a histogram may be finer.
_MANY = 40


@styled
def precision_curve(
    curves: pd.DataFrame,
    differences: pd.DataFrame | None = None,
    *,
    intervals: bool = True,
    alpha: float = 0.05,
    among: list[str] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """Precision of n-best lists over n (figures 1 - 3 of the paper), with the baseline.

    Parameters
    ----------
    curves
        What `simstudy.rankings.precision_curve` returned, or rows of it.
    differences
        What `simstudy.rankings.ranking_differences` returned for one pair of the rankings: triangles between the two
        curves mark the n at which they differ significantly (an even choice of them), a line the n up to which all do.
    intervals
        Whether the intervals are shaded.
    alpha
        From which p-value on differences are marked.
    among
        All rankings that panels beside this one have, so that each has one colour in all of them.

    Raises
    ------
    ValueError
        Where a column is missing, or differences are of more than one pair.

    Examples
    --------
    >>> curves = pd.DataFrame({"ranking": "t_score", "n": [1, 2], "precision": [1, 0.5], "low": [0.02, 0.01],
    ...                        "high": [1.0, 0.99], "baseline": 0.3})
    >>> precision_curve(curves).get_xlabel()
    'n-best list'
    """
    check_table("curves", curves, ["ranking", "n", "precision", "low", "high", "baseline"])
    check_flag("intervals", intervals)
    check_fraction("alpha", alpha)
    names = list(dict.fromkeys(curves["ranking"]))
    colours = colours_among("ranking", names, among)
    if differences is not None:
        _check_differences(differences)
    ax = one_panel(ax, width=5.4, height=3.6)
    for name in names:
        rows = curves[curves["ranking"] == name].sort_values("n")
        if intervals:
            ax.fill_between(rows["n"], rows["low"], rows["high"], color=colours[name], alpha=0.18, linewidth=0)
        ax.plot(rows["n"], rows["precision"], color=colours[name], linewidth=1.5, label=label(in_words(name)))
    ax.axhline(curves["baseline"].iloc[0], color="0.35", linewidth=0.9, linestyle=(0, (4, 3)), label="baseline")
    if differences is not None:
        _mark(ax, differences[differences["n"].isin(curves["n"])], alpha)
    in_percents(ax.yaxis)
    ax.set(xlabel="n-best list", ylabel="precision", xlim=(0, curves["n"].max()), ylim=(0, None))
    ax.legend(loc="upper right")
    return ax


def _check_differences(differences: pd.DataFrame) -> None:
    check_table("differences", differences, ["ranking_1", "ranking_2", "n", "precision_1", "precision_2", "p_value"])
    if len(differences[["ranking_1", "ranking_2"]].drop_duplicates()) > 1:
        raise ValueError("differences must be of one pair of rankings")


def _mark(ax: Axes, differences: pd.DataFrame, alpha: float) -> None:
    ordered = differences.sort_values("n")
    shown = ordered.iloc[:: max(1, len(ordered) // _MARKS)]
    shown = shown[shown["p_value"] <= alpha]
    middle = (shown["precision_1"] + shown["precision_2"]) / 2
    ax.plot(shown["n"], middle, "^", markersize=3.5, color="0.45", label=f"p ≤ {alpha:g}")
    run = (ordered["p_value"] <= alpha).cumprod().astype(bool)
    if run.any():
        ax.axvline(ordered["n"][run].max(), color="0.45", linewidth=0.8)


@styled
def precision_spread(repetitions: pd.DataFrame, check: pd.DataFrame, ranking: str, *, ax: Axes | None = None) -> Axes:
    """How much precision varies over repetitions of an evaluation, beside what the binomial lets expect (figure 4).

    Parameters
    ----------
    repetitions
        What `simstudy.rankings.repetitions.repetitions` returned.
    check
        What `simstudy.rankings.repetitions.binomial_check` made of it.
    ranking
        The scoring function to draw.

    Raises
    ------
    ValueError
        Where a column is missing, no row is of that ranking, or the binomial lets expect no spread at all (a precision
        of 0 or 1, or none).
    """
    check_text("ranking", ranking, "the name of a scoring function")
    check_table("repetitions", repetitions, ["ranking", "precision"])
    check_table("check", check, ["ranking", "average_precision", "sd_binomial", "sd_observed"])
    check_table(f"repetitions of '{ranking}'", repetitions[repetitions["ranking"] == ranking], ["ranking", "precision"])
    check_table(f"check of '{ranking}'", check[check["ranking"] == ranking], ["ranking"])
    row = check[check["ranking"] == ranking].iloc[0]
    observed = repetitions.loc[repetitions["ranking"] == ranking, "precision"].dropna()
    mean, sd, s = row["average_precision"], row["sd_binomial"], row["sd_observed"]
    if not sd > 0:
        raise ValueError(
            f"repetitions of '{ranking}' must let expect a spread; their average precision is {mean:.3g}, of "
            f"{len(observed)} that accept anything"
        )
    ax = one_panel(ax, in_words(ranking))
    reach = max(4 * sd, float((observed - mean).abs().max()) + sd)
    # Bins of an expected standard deviation, or half of it where there are many evaluations, one around the mean.
    width = sd / 2 if len(observed) >= _MANY else sd
    half = int(np.ceil(reach / width))
    bins = mean + width * (np.arange(-half, half + 2) - 0.5)
    ax.hist(observed, bins=list(bins), color="#56B4E9", alpha=0.75, linewidth=0.4, edgecolor="white")
    x = np.linspace(mean - reach, mean + reach, 300)
    curves = ((sd, "0.15", "-", "expected"), (s, "#D55E00", (0, (4, 2)), "normal, observed"))
    for spread, colour, style, words in curves:
        # Of one evaluation, or of equal ones, there is no curve.
        at = x if spread > 0 else x[:0]
        density = np.exp(-(((at - mean) / spread) ** 2) / 2) / (spread * np.sqrt(2 * np.pi))
        ax.plot(at, len(observed) * width * density, color=colour, linewidth=1.4, linestyle=style,
                label=f"{words} sd {spread:.3f}")  # fmt: skip
    in_percents(ax.xaxis)
    # Room for the legend above the bars.
    ax.set(xlim=(mean - reach, mean + reach), ylim=(0, 1.35 * ax.get_ylim()[1]))
    ax.set(xlabel="precision", ylabel="evaluations")
    ax.legend(loc="upper right", fontsize=7)
    return ax


@styled
def p_values_by_length(table: pd.DataFrame, *, alpha: float = 0.05, ax: Axes | None = None) -> Axes:
    """p-values of one pair of rankings over n, a line for each test.

    Parameters
    ----------
    table
        Columns test, n and p_value.
    alpha
        Where a line is drawn across.

    Raises
    ------
    ValueError
        Where a column is missing.

    Examples
    --------
    >>> p_values_by_length(pd.DataFrame({"test": "fisher", "n": [100, 200], "p_value": [0.2, 0.01]})).get_yscale()
    'log'
    """
    check_table("table", table, ["test", "n", "p_value"])
    check_fraction("alpha", alpha)
    ax = one_panel(ax, width=5.4, height=3.6)
    tests = list(dict.fromkeys(table["test"]))
    colours = colours_of("test", tests)
    for test in tests:
        rows = table[table["test"] == test].sort_values("n")
        ax.plot(rows["n"], rows["p_value"], "o-", markersize=2.5, linewidth=1.2, color=colours[test],
                label=label(in_words(test)))  # fmt: skip
    ax.axhline(alpha, **REFERENCE)
    ax.set_yscale("log")
    ax.yaxis.set_major_formatter(FuncFormatter(lambda p, _: f"{p:g}"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    ax.set(xlabel="n-best list", ylabel="p", xlim=(0, table["n"].max()), ylim=(None, 1))
    ax.legend(loc="lower right")
    return ax
