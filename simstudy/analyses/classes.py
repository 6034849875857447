"""What every analysis of Comparisons does first: check the table, and take its test sets and relation classes apart."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

#: The relation under which a table lists all classes together.
ALL_PAIRS = "all pairs"

#: What tells one test set in a table of Comparisons from another.
TEST_SET = ["task", "test_set", "n_items", "metric"]


def require_columns(pairs: pd.DataFrame, columns: Sequence[str]) -> None:
    """Raise ValueError where a table of Comparisons lacks a column or has no rows."""
    if not isinstance(pairs, pd.DataFrame):
        raise ValueError(f"pairs must be Comparisons, as `compare` returns them, not {type(pairs).__name__}")
    missing = [column for column in columns if column not in pairs]
    if missing:
        raise ValueError(f"pairs must be Comparisons, as `compare` returns them; no column {', '.join(missing)}")
    if pairs.empty:
        raise ValueError("pairs must have at least one row")


def relation_classes(pairs: pd.DataFrame) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each test set's pairs by relation class, and all of them together where there is more than one class."""
    for values, of_test_set in pairs.groupby(TEST_SET, sort=False, observed=True):
        key = dict(zip(TEST_SET, values, strict=True))
        classes = sorted(of_test_set["relation"].unique(), reverse=True)
        for relation in classes:
            yield {**key, "relation": relation}, of_test_set[of_test_set["relation"] == relation]
        if len(classes) > 1:
            yield {**key, "relation": ALL_PAIRS}, of_test_set


def system_codes(pairs: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Each pair's two systems as integers, and how many systems there are."""
    codes, names = pd.factorize(np.concatenate([pairs["system_a"], pairs["system_b"]]))
    return codes[: len(pairs)], codes[len(pairs) :], len(names)


def multiplicities(n: int, n_bootstrap: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each of n systems is in each of n_bootstrap resamples of the systems, shape (n_bootstrap, n)."""
    return rng.multinomial(n, np.full(n, 1 / n), size=n_bootstrap)
