"""Figures of one panel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from simstudy.plot.style import panels, share_legend
from simstudy.validation import brief, check_flag


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
    >>> from simstudy.rankings import precision_curve, simulated_candidates
    >>> (candidates,) = simulated_candidates(1, n_candidates=50)
    >>> single(plot.precision_curve, precision_curve(candidates, range(5, 10)), width=6).get_size_inches().tolist()
    [6.0, 3.4]
    """
    if not callable(draw):
        raise ValueError(f"draw must be a function of simstudy.plot, not {brief(draw)}")
    check_flag("legend_aside", legend_aside)
    figure, (ax,) = panels([title], height=height, width=width)
    draw(*tables, ax=ax, **options)
    if legend_aside:
        share_legend(figure, [ax], side=True)
    return figure
