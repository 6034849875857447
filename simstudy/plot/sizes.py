"""Figures of the comparison on the first items of a test set: what is significant at each size."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from simstudy.plot.parts import REFERENCE, dots, in_percents, one_panel, with_room
from simstudy.plot.style import styled
from simstudy.tables import check_table

# After Holm's correction, and without one (Okabe and Ito 2008).
_HOLM, _SINGLE = "#0072B2", "0.55"


@styled
def smaller_test_sets(sizes: pd.DataFrame, *, ax: Axes | None = None) -> Axes:
    """The share of pairs that is significant on the first items of a test set; of one pair its gain, with intervals.

    Parameters
    ----------
    sizes
        `sizes` of an examination: columns n_items, and pairs, significant and significant_holm; of one pair also gain,
        gain_low and gain_high.

    Raises
    ------
    ValueError
        Where a column or all rows are missing.

    Examples
    --------
    >>> import pandas as pd
    >>> sizes = pd.DataFrame({"n_items": [400, 200], "pairs": 10, "significant": [8, 6], "significant_holm": [7, 2]})
    >>> smaller_test_sets(sizes).get_xlabel()
    'first items of the test set'
    """
    check_table("sizes", sizes, ["n_items", "pairs", "significant", "significant_holm"])
    ax = one_panel(ax)
    n = sizes["n_items"]
    if "gain" in sizes:
        dots(ax, n, sizes, "gain", ends="gain_", fmt="o", color=_HOLM, markersize=4.5, elinewidth=1.2)
        ax.axhline(0, **REFERENCE)
        ax.set_ylabel("gain (95 % interval)")
    else:
        for column, name, colour in (
            ("significant", "not corrected", _SINGLE),
            ("significant_holm", "Holm, for all pairs", _HOLM),
        ):
            ax.plot(n, sizes[column] / sizes["pairs"], marker="o", markersize=4, color=colour, label=name)
        ax.set(ylim=(-0.02, 1.02), ylabel="significant pairs")
        in_percents(ax.yaxis)
        ax.legend(loc="lower right")
    ax.set(xscale="log", xlabel="first items of the test set")
    ax.xaxis.set_major_locator(FixedLocator(with_room(n)))
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    ax.xaxis.set_minor_locator(NullLocator())
    return ax
