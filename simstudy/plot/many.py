"""How often something false is claimed, by how many systems or looks there are."""

from __future__ import annotations

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from simstudy.plot.style import REFERENCE, dots, in_percents, one_panel, styled
from simstudy.tables import check_table
from simstudy.text.plain_text import label
from simstudy.validation import check_share, check_text

_LINES = (
    ("#D55E00", "v"), ("#0072B2", "o"), ("#E69F00", "^"), ("#009E73", "s"), ("#CC79A7", "D"), ("#56B4E9", "P"),
    ("#999999", "x"),
)  # fmt: skip


@styled
def rates_by_number(
    table: pd.DataFrame,
    *,
    number: str = "n_systems",
    of: str = "systems",
    shares: str = "test sets with any false claim",
    most: float = 1.0,
    ax: Axes | None = None,
) -> Axes:
    """Shares over a number of systems or looks, a line for each way, beside the level.

    Parameters
    ----------
    table
        Columns title (of a way), alpha, share, low and high (fractions), the number, and where there is algebra
        ``expected`` (a fraction; NaN: none), which is a dashed line of the same colour.
    number
        The column with how many there are, at least 1.
    of, shares
        What is numbered and what is shared, as the axes say it.
    most
        The end of the axis of shares.

    Raises
    ------
    ValueError
        Where a column or all rows are missing, a number is below 1, or a way has a number twice.

    Examples
    --------
    >>> table = pd.DataFrame({"title": "Holm", "n_systems": [2, 10], "alpha": 0.05, "share": [0.05, 0.04],
    ...                       "low": [0.04, 0.03], "high": [0.06, 0.05]})
    >>> rates_by_number(table).get_xlabel()
    'systems'
    """
    check_text("number", number, "the name of a column")
    check_table("table", table, ["title", number, "alpha", "share", "low", "high"])
    check_text("of", of)
    check_text("shares", shares)
    check_share("most", most)
    if table.duplicated(["title", number]).any():
        raise ValueError(f"table must have each title once for a number in {number}")
    if not (table[number] >= 1).all():
        raise ValueError(f"table must have numbers of at least 1 in {number}, not {table[number].min()}")
    ax = one_panel(ax, width=4.4, height=3.2)
    ax.axhline(table["alpha"].iloc[0], **REFERENCE, zorder=1)
    for k, (title, rows) in enumerate(table.groupby("title", sort=False)):
        colour, marker = _LINES[k % len(_LINES)]
        rows = rows.sort_values(number)
        if "expected" in rows and rows["expected"].notna().any():
            ax.plot(rows[number], rows["expected"], "--", color=colour, linewidth=1, zorder=2)
        dots(ax, rows[number], rows, "share", fmt=f"{marker}-", markersize=4, linewidth=1.3, elinewidth=0.9,
             color=colour, label=label(str(title)))  # fmt: skip
    ax.set_xscale("log")
    ax.xaxis.set_major_locator(FixedLocator(sorted(set(table[number]))))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    ax.set(ylim=(0, most), xlabel=of, ylabel=shares)
    in_percents(ax.yaxis)
    ax.label_outer()
    ax.legend(loc="upper left")
    return ax
