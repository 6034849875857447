"""The house style, on a page and in a paper, and panels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any, TypeVar, cast

import matplotlib as mpl
import matplotlib.pyplot as plt
import seaborn as sns
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from simstudy.plot.fonts import families
from simstudy.text import plain_text
from simstudy.validation import (
    InputError,
    brief,
    check_flag,
    check_list,
    check_number,
    check_text,
    check_texts,
    check_whole,
)

_STYLE = {
    **sns.axes_style("ticks"),
    "font.family": families(),
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.labelsize": 9,
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "grid.color": "0.92",
    "grid.linewidth": 0.7,
    "legend.frameon": False,
    "legend.fontsize": 8,
    # Names are text: nothing between two dollars is a formula, whatever the user's own settings.
    "text.parse_math": False,
    "text.usetex": False,
    "axes.formatter.use_mathtext": False,
    "svg.fonttype": "none",
    # With a fixed salt an SVG's identifiers, and so its bytes, are the same in every run.
    "svg.hashsalt": "simstudy",
    # Fonts of a PDF are embedded as TrueType: many publishers refuse Type 3.
    "pdf.fonttype": 42,
}

# What is different in a paper, at the width of a column.
_PAPER_STYLE: dict[Any, Any] = {
    **_STYLE,
    "font.size": 8,
    "axes.labelsize": 8,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    # A paper is not read with the fonts of this machine: letters of an SVG are drawn.
    "svg.fonttype": "path",
}

#: Inches: the width of a column of a paper, 84 mm.
COLUMN = 3.33

_IN_A_PAPER: ContextVar[bool] = ContextVar("in_a_paper", default=False)

# A panel of more inches is none: a figure has at most 2^16 pixels a side.
_MOST_INCHES = 500

# Inches that half of a tick's name takes beside the last panel.
_ROOM_BESIDE = 0.15

# Characters of a title that a panel has room for, and of a line below a figure.
_TITLE, _SAID = 80, 90


@contextmanager
def for_a_paper() -> Iterator[None]:
    """Draw figures as wide as a column, with small letters and without titles, inside a with statement.

    Examples
    --------
    >>> from simstudy import plot
    >>> with plot.for_a_paper():
    ...     figure, (ax,) = plot.panels(["A title"])
    >>> figure.get_size_inches().round(2).tolist(), ax.get_title(loc="left")
    ([3.33, 2.57], '')
    """
    before = _IN_A_PAPER.set(True)
    try:
        yield
    finally:
        _IN_A_PAPER.reset(before)


def in_a_paper() -> bool:
    """Whether figures are drawn for a paper."""
    return _IN_A_PAPER.get()


_Draw = TypeVar("_Draw", bound=Callable[..., Any])


def styled(draw: _Draw) -> _Draw:
    """The same function, which draws in the house style and leaves your matplotlib settings alone.

    Examples
    --------
    >>> from simstudy import plot
    >>> figure = plot.single(plot.styled(lambda scores, ax: ax.plot(scores)), [0.8, 0.9], title="Scores")
    >>> figure.axes[0].get_title(loc="left")
    'Scores'
    """
    if not callable(draw):
        raise InputError("draw", "must be a function", draw)

    @wraps(draw)
    def in_style(*args: Any, **kwargs: Any) -> Any:
        if (ax := kwargs.get("ax")) is not None and not isinstance(ax, Axes):
            raise InputError("ax", "must be matplotlib's Axes, or None", ax)
        with mpl.rc_context(_PAPER_STYLE if in_a_paper() else _STYLE):
            drawn = draw(*args, **kwargs)
            # Labels of the axes are text also where the caller made the panel, with other settings.
            for axis in (drawn.xaxis, drawn.yaxis) if isinstance(drawn, Axes) else ():
                for text in (axis.label, *(tick.label1 for tick in axis.majorTicks)):
                    text.set_parse_math(False)
            return drawn

    return cast(_Draw, in_style)


@styled
def panels(
    titles: Sequence[str],
    *,
    per_row: int | None = None,
    height: float = 3.4,
    width: float = 4.4,
    shared: bool | None = None,
    rows_are_high: bool = False,
) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each title, in the house style; `save` closes it.

    Parameters
    ----------
    per_row
        Panels in a row; by default all.
    height, width
        Of a panel, in inches.
    shared
        Whether panels share their axes; by default those of a grid of several rows do.
    rows_are_high
        Whether the height is that of a number of rows, so that it stays where a paper makes the panel narrower.

    Examples
    --------
    >>> figure, axes = panels(["small", "large"], width=3)
    >>> [ax.get_title(loc="left") for ax in axes], figure.get_size_inches().tolist()
    (['small', 'large'], [6.0, 3.4])
    """
    check_texts("titles", titles, "texts")
    if not len(titles):
        raise InputError("titles", "must have at least one title")
    if per_row is not None:
        check_whole("per_row", per_row, 1, 2**10)
    for argument, inches in (("height", height), ("width", width)):
        check_number(argument, inches)
        if not 0 < inches <= _MOST_INCHES:
            raise InputError(argument, f"must be above 0 and at most {_MOST_INCHES} inches", inches)
    if shared is not None:
        check_flag("shared", shared)
    if in_a_paper():
        # Panels stand below each other, and keep their shape where their height is no number of rows.
        per_row, width, height = 1, COLUMN, height * (1 if rows_are_high else COLUMN / width)
        titles = [""] * len(titles)
    per_row = per_row or len(titles)
    rows = -(-len(titles) // per_row)
    shared = rows > 1 if shared is None else shared
    figure, grid = plt.subplots(
        rows, per_row, figsize=(width * per_row, height * rows), layout="constrained", squeeze=False,
        sharex=shared, sharey=shared,
    )  # fmt: skip
    axes = list(grid.flat)
    n = len(titles)
    for ax in axes[n:]:
        ax.remove()
    if shared and rows > 1:
        # What stands below these panels stands in an empty place: it moves the last row no further down, and lies over
        # a panel beside it.
        for ax in axes[n - per_row : (rows - 1) * per_row]:
            ax.xaxis.set_in_layout(False)
            ax.set_zorder(1)
        if n < rows * per_row:
            # The names at the end of the last of these panels need room at its right all the same.
            layout = cast(ConstrainedLayoutEngine, figure.get_layout_engine())
            layout.set(rect=(0, 0, 1 - _ROOM_BESIDE / (width * per_row), 1))
    for ax, title in zip(axes, titles, strict=False):
        ax.set_title(written := plain_text.label(title, _TITLE), fontsize=_title_size(written, width))
    return figure, axes[:n]


def _title_size(title: str, width: float) -> float:
    """Points of a title's letters, so many that a panel of so many inches has room for it, or the least."""
    largest, least = float(mpl.rcParams["axes.titlesize"]), 6.5
    # A panel's labels take some of its width; a bold letter is 0.68 of its size wide.
    room = 72 * (width - 0.45)
    return max(least, min(largest, room / (0.68 * max(len(title), 1))))


def single(
    draw: Callable[..., Axes],
    *tables: Any,
    title: str = "",
    height: float = 3.4,
    width: float = 4.4,
    legend_aside: bool = False,
    **options: Any,
) -> Figure:
    """A figure of one panel, in the house style.

    Parameters
    ----------
    draw
        A function of this room, such as `simstudy.plot.curve`, or your own one, by `simstudy.plot.styled`.
    tables, options
        What it is called with.
    title, height, width
        Of the panel, in inches.
    legend_aside
        Whether the legend is at the panel's right side instead of inside it.

    Examples
    --------
    >>> from simstudy import plot
    >>> import pandas as pd
    >>> points = pd.DataFrame({"gain": [1.0, 2.5], "p_value": [0.3, 0.01], "relation": "all pairs"})
    >>> single(plot.curve, points, width=6).get_size_inches().tolist()
    [6.0, 3.4]
    """
    if not callable(draw):
        raise InputError("draw", "must be a function of simstudy.plot", draw)
    check_flag("legend_aside", legend_aside)
    figure, (ax,) = panels([title], height=height, width=width)
    draw(*tables, ax=ax, **options)
    if legend_aside:
        share_legend(figure, [ax], side=True)
    return figure


@styled
def share_legend(figure: Figure, axes: Sequence[Axes], *, side: bool = False) -> None:
    """Give a figure one legend, below its panels or at their right side, instead of one in each.

    Examples
    --------
    >>> figure, axes = panels(["left", "right"])
    >>> for ax in axes:
    ...     line = ax.plot([0, 1], label="both")
    >>> share_legend(figure, axes)
    >>> [text.get_text() for text in figure.legends[0].get_texts()]
    ['both']
    """
    check_figure(figure)
    check_list("axes", axes, "Axes")
    for ax in axes:
        if not isinstance(ax, Axes):
            raise InputError("axes", f"must be a list of matplotlib's Axes, not of {brief(ax)}")
    check_flag("side", side)
    named: dict[str, Any] = {}
    for ax in axes:
        handles, labels = ax.get_legend_handles_labels()
        named = dict(zip(labels, handles, strict=True)) | named
        legend = ax.get_legend()
        if legend:
            legend.remove()
    place: Any = "outside right center" if side else "outside lower right"
    # So many columns as the figure has room for: a name's letters, and the line before it.
    longest = 0.47 + 0.0625 * max((len(name) for name in named), default=0)
    columns = max(1, min(len(named), int(figure.get_size_inches()[0] / longest)))
    figure.legend(named.values(), named.keys(), loc=place, ncols=1 if side else columns)


@styled
def say_below(figure: Figure, text: str) -> None:
    """Write a line below a figure, small: what its data are.

    Examples
    --------
    >>> figure, (ax,) = panels(["one"])
    >>> say_below(figure, "MMLU, accuracy, 14,042 items")
    >>> figure.get_supxlabel()
    'MMLU, accuracy, 14,042 items'
    """
    check_figure(figure)
    check_text("text", text)
    figure.supxlabel(plain_text.shown(text, _SAID), x=0.01, ha="left", fontsize=7.5, color="0.35", parse_math=False)


def check_figure(figure: object) -> None:
    """Raise a ValueError for what is no figure."""
    if not isinstance(figure, Figure):
        raise InputError("figure", "must be a matplotlib Figure", figure)
