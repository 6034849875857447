"""Precision of n-best lists over n, and where two rankings differ, in the manner of Evert 2004."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes

from simstudy.plot.parts import colours_among, in_percents, one_panel
from simstudy.plot.style import styled
from simstudy.tables import check_table
from simstudy.text.plain_text import in_words, label
from simstudy.validation import InputError, check_flag, check_fraction

# Marks of significance across a panel; more would be a bar.
_MARKS = 60


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
    'n, length of the n-best list'
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
    ax.set(xlabel="n, length of the n-best list", ylabel="precision", xlim=(0, curves["n"].max()), ylim=(0, None))
    ax.legend(loc="upper right")
    return ax


def _check_differences(differences: pd.DataFrame) -> None:
    check_table("differences", differences, ["ranking_1", "ranking_2", "n", "precision_1", "precision_2", "p_value"])
    if len(differences[["ranking_1", "ranking_2"]].drop_duplicates()) > 1:
        raise InputError("differences", "must be of one pair of rankings")


def _mark(ax: Axes, differences: pd.DataFrame, alpha: float) -> None:
    ordered = differences.sort_values("n")
    shown = ordered.iloc[:: max(1, len(ordered) // _MARKS)]
    shown = shown[shown["p_value"] <= alpha]
    middle = (shown["precision_1"] + shown["precision_2"]) / 2
    ax.plot(shown["n"], middle, "^", markersize=3.5, color="0.45", label=f"p ≤ {alpha:g}")
    run = (ordered["p_value"] <= alpha).cumprod().astype(bool)
    if run.any():
        ax.axvline(ordered["n"][run].max(), color="0.45", linewidth=0.8)
