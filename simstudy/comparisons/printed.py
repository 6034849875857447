"""How Comparisons show themselves: a line on all pairs, the first of them as a table, and both at a prompt."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.engines.descriptions import SIDES
from simstudy.engines.registry import TESTS
from simstudy.metrics import label
from simstudy.statistics.decisions import Decision
from simstudy.tables import TEST_SET
from simstudy.text.layout import laid_out
from simstudy.text.numerals import p_adjusted, p_floor, score_format
from simstudy.text.plain_text import shown

# Rows that a notebook shows and that a prompt does; lines and columns of a prompt.
_MOST_ROWS, _FIRST, _LINES, _COLUMNS = 20, 7, 10, 100


def summary(pairs: pd.DataFrame, n_systems: int) -> str:
    """How many pairs there are of so many systems, on what, and by which test."""
    if pairs.empty:
        return "Comparisons: no pairs"
    row = pairs.iloc[0]
    sets = len(pairs[TEST_SET].drop_duplicates())
    on = f"{row['n_items']:,} items" if sets == 1 else f"{sets} test sets"
    count = "1 pair" if len(pairs) == 1 else f"{len(pairs):,} pairs"
    sides = SIDES[row["alternative"]]
    what = f"{label(str(row['metric']))}, {TESTS[row['test']].title}, {sides}"
    return f"Comparisons: {count} of {n_systems:,} systems on {on} ({what})"


def first_rows(pairs: pd.DataFrame) -> pd.DataFrame:
    """The first pairs, as many as a notebook shows, with rounded numbers."""
    found = pairs.head(_MOST_ROWS)
    numbers = found[["score_a", "gain", "gain_low", "gain_high"]].to_numpy(dtype=np.float64)
    digits = score_format(np.nanmax(np.abs(numbers), initial=0))
    bounds = zip(found["gain_low"], found["gain_high"], strict=True)
    # Where a table is corrected, what is significant is so after correction.
    name, title = ("p_holm", "p (Holm)") if "p_holm" in found else ("p_value", "p, not corrected")
    p_values = zip(found[name], found["p_value"], found["n_resamples"], strict=True)
    return pd.DataFrame(
        {
            "system_a": found["system_a"].map(shown),
            "system_b": found["system_b"].map(shown),
            "gain": found["gain"].map(lambda gain: format(gain, digits)),
            "95 % interval": [
                "none" if np.isnan(low) else f"{low:{digits}} to {high:{digits}}" for low, high in bounds
            ],
            title: [p_adjusted(adjusted, p, floor=p_floor(n)) for adjusted, p, n in p_values],
            "significant at 0.05": np.where(Decision(p=name).significant(found), "yes", "no"),
        }
    )


def at_prompt(head: str, pairs: pd.DataFrame) -> str:
    """The head, below it as many of the first pairs as a prompt has lines for, and how many more there are."""
    table = first_rows(pairs)
    for shown_rows in range(_FIRST, -1, -1):
        laid = laid_out(table.head(shown_rows), _COLUMNS)
        left = len(pairs) - shown_rows
        more = [f"… and {left:,} more"] * (left > 0)
        lines = [head, *([*laid.head, *laid.rows] if shown_rows else []), *more]
        if "\n".join(lines).count("\n") < _LINES:
            break
    return "\n".join(lines)
