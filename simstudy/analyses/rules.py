"""Rules of thumb: one c for many test sets, where gains that are significant are c / sqrt(n)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from simstudy.tables import TEST_SET, check_table
from simstudy.validation import check_texts

_KEYS = ["of", "alternative", "alpha"]


def rule_of_thumb(table: pd.DataFrame, numbers: Sequence[str] = ("observed_50", "true_80")) -> pd.DataFrame:
    """The c of c / sqrt(n) over test sets of one kind, and how far it is from the same for all of them.

    Parameters
    ----------
    table
        Rows of what `significant_gains` returned, one for each test set (of each `of`), on one scale: test sets with
        accuracies, all pairs, say.
    numbers
        Its columns that a rule is wanted for.

    Returns
    -------
    rules
        of, alternative, alpha, number (the column), n_test_sets (that have one), c (the median over test sets of number
        times sqrt(n_items)), c_10, c_90 (which 10 % of the test sets are below, and above), exponent (the slope of a
        free power law through the test sets, -0.5 where the square root holds; NaN for fewer than 3 sizes).

    Raises
    ------
    ValueError
        Where the table is none of significant gains, has a test set more than once, or no number.

    Examples
    --------
    >>> table = pd.DataFrame({"task": "t", "test_set": ["a", "b", "c"], "n_items": [100, 400, 900], "metric": "f1",
    ...                       "alternative": "two-sided", "alpha": 0.05, "of": "all pairs", "true_80": [9.0, 4.0, 3.0]})
    >>> rule_of_thumb(table, ["true_80"])[["n_test_sets", "c", "c_10", "c_90"]].round(1).iloc[0].tolist()
    [3.0, 90.0, 82.0, 90.0]
    """
    check_texts("numbers", numbers, "names of columns")
    check_table("table", table, [*TEST_SET, *_KEYS, *numbers], "one of significant gains", empty=True)
    if table.duplicated([*TEST_SET, *_KEYS]).any():
        again = table.loc[table.duplicated([*TEST_SET, *_KEYS]), "test_set"].iloc[0]
        raise ValueError(f"table must have each test set once; '{again}' has several rows (hand in one relation class)")
    rows = []
    for key, members in table.groupby(_KEYS, sort=False):
        for number in numbers:
            known = members[members[number].notna()]
            if known.empty:
                raise ValueError(f"table must have a number in {number} for some test set")
            n, gain = known["n_items"].to_numpy(dtype=np.float64), known[number].to_numpy(dtype=np.float64)
            c_10, c, c_90 = np.percentile(gain * np.sqrt(n), [10, 50, 90])
            slope = np.polyfit(np.log(n), np.log(gain), 1)[0] if len(np.unique(n)) > 2 else np.nan
            found = {"number": number, "n_test_sets": len(known), "c": c, "c_10": c_10, "c_90": c_90, "exponent": slope}
            rows.append({**dict(zip(_KEYS, key, strict=True)), **found})
    return pd.DataFrame(rows)
