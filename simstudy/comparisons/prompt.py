"""Comparisons at a prompt: a line that sums them up, and the first pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.engines.registry import TESTS
from simstudy.metrics import label
from simstudy.statistics.decisions import Decision
from simstudy.tables import TEST_SET
from simstudy.text.numerals import p_floor, p_text, score_format
from simstudy.text.plain_text import shown

#: Rows that a prompt shows.
MOST_ROWS = 10


def summary(pairs: pd.DataFrame, n_systems: int) -> str:
    """How many pairs there are, of what, and how they were tested."""
    if pairs.empty:
        return "Comparisons: no pairs"
    row = pairs.iloc[0]
    sets = len(pairs[TEST_SET].drop_duplicates())
    on = f"{row['n_items']:,} items" if sets == 1 else f"{sets} test sets"
    count = "1 pair" if len(pairs) == 1 else f"{len(pairs):,} pairs"
    sides = "two-sided" if row["alternative"] == "two-sided" else "one-sided"
    what = f"{label(str(row['metric']))}, {TESTS[row['test']].title}, {sides}"
    return f"Comparisons: {count} of {n_systems:,} systems on {on} ({what})"


def first_rows(pairs: pd.DataFrame) -> pd.DataFrame:
    """The first pairs as text: systems, gain, interval, p-value, and whether the gain is significant."""
    found = pairs.head(MOST_ROWS)
    numbers = found[["score_a", "gain", "gain_low", "gain_high"]].to_numpy(dtype=np.float64)
    digits = score_format(np.nanmax(np.abs(numbers), initial=0))
    bounds = zip(found["gain_low"], found["gain_high"], strict=True)
    return pd.DataFrame(
        {
            "system_a": found["system_a"].map(shown),
            "system_b": found["system_b"].map(shown),
            "gain": found["gain"].map(lambda gain: format(gain, digits)),
            "95 % interval": [
                "none" if np.isnan(low) else f"{low:{digits}} to {high:{digits}}" for low, high in bounds
            ],
            "p": [p_text(p, None, p_floor(n)) for p, n in zip(found["p_value"], found["n_resamples"], strict=True)],
            "significant at 0.05": np.where(Decision().significant(found), "yes", "no"),
        }
    )
