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

#: What analyses ask of pairs: who, by how much, how surely, and of which families.
PAIR = ("system_a", "system_b", "family_a", "family_b", "gain", "p_value", "favours", "p_floor")

#: What all p-values and standard errors of one test set must have in common before they are put together.
QUESTION = ("test", "alternative", "convention", "unit", "strata")


def require_columns(pairs: pd.DataFrame, columns: Sequence[str]) -> None:
    """Raise ValueError where a table of Comparisons lacks a column or has no rows."""
    if not isinstance(pairs, pd.DataFrame):
        raise ValueError(f"pairs must be Comparisons, as `compare` returns them, not {type(pairs).__name__}")
    missing = [column for column in columns if column not in pairs]
    if missing:
        raise ValueError(f"pairs must be Comparisons, as `compare` returns them; no column {', '.join(missing)}")
    if pairs.empty:
        raise ValueError("pairs must have at least one row")


def require_one_question(pairs: pd.DataFrame, columns: Sequence[str] = QUESTION) -> None:
    """Raise ValueError where a test set's pairs are of several tests, sides, conventions, units, strata or seeds.

    Of several seeds, or of two test sets with one name, every two systems are there twice. Redrawn test sets are told
    apart by their column ``draw``.

    Parameters
    ----------
    pairs
        Comparisons.
    columns
        Those that must have one value for each test set; with fewer than `QUESTION` two systems may be there more than
        once.

    Examples
    --------
    >>> pairs = pd.DataFrame({"task": "t", "test_set": "news", "n_items": 9, "metric": "f1", "unit": ["item", "user"]})
    >>> require_one_question(pairs)
    Traceback (most recent call last):
    ValueError: pairs must have one unit for each test set, not item, user for 'news'; hand them in one by one
    """
    for column in columns:
        if column not in pairs or pairs[column].nunique(dropna=False) < 2:
            continue
        for key, values in pairs.groupby(TEST_SET, sort=False, observed=True)[column]:
            found = values.drop_duplicates()
            if len(found) > 1:
                raise ValueError(
                    f"pairs must have one {column} for each test set, not {', '.join(map(str, found))} for "
                    f"'{key[1]}'; hand them in one by one"
                )
    if columns == QUESTION and "system_a" in pairs and "system_b" in pairs:
        _require_once(pairs)


def _require_once(pairs: pd.DataFrame) -> None:
    apart = [column for column in (*TEST_SET, "draw") if column in pairs]
    first, second, n_systems = system_codes(pairs)
    keys = pd.DataFrame(
        {
            "set": pairs.groupby(apart, sort=False, dropna=False, observed=True).ngroup().to_numpy(),
            "pair": np.minimum(first, second) * n_systems + np.maximum(first, second),
        }
    )
    if (twice := keys.duplicated().to_numpy()).any():
        row = pairs[twice].iloc[0]
        raise ValueError(
            f"pairs must have every two systems of a test set once, unlike '{row['system_a']}' and '{row['system_b']}' "
            f"of '{row['test_set']}' (another seed, or another test set of that name?); hand them in one by one"
        )


def confidence(pairs: pd.DataFrame) -> NDArray[np.float64]:
    """The confidence in each pair's gain, (P,): 1 - p, and 0 where the test speaks for the other system.

    Parameters
    ----------
    pairs
        Comparisons. Where the column ``favours`` names neither system, the confidence is 1 - p.

    Examples
    --------
    >>> pairs = pd.DataFrame({"system_a": ["a", "a", "b"], "system_b": ["b", "c", "c"], "p_value": [0.25, 0.25, 0.75],
    ...                       "favours": ["a", "c", ""]})
    >>> confidence(pairs).tolist()
    [0.75, 0.0, 0.25]
    """
    sure = 1 - pairs["p_value"].to_numpy(dtype=np.float64)
    if "favours" in pairs:
        sure[(pairs["favours"] == pairs["system_b"]).to_numpy()] = 0.0
    return sure


def relation_classes(
    pairs: pd.DataFrame, columns: Sequence[str] | None = None
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each test set's pairs by relation class, and all of them together where there is more than one class.

    Parameters
    ----------
    pairs
        Comparisons.
    columns
        Those that are wanted, as far as they are there: a million pairs are not copied with all that is known of them.
    """
    if columns is not None:
        pairs = pairs[[column for column in pairs if column in (*TEST_SET, "relation", *columns)]]
    for values, of_test_set in pairs.groupby(TEST_SET, sort=False, observed=True):
        key = dict(zip(TEST_SET, values, strict=True))
        classes = sorted(of_test_set["relation"].unique(), reverse=True)
        for relation in classes:
            inside = of_test_set["relation"] == relation
            yield {**key, "relation": relation}, of_test_set if inside.all() else of_test_set[inside]
        if len(classes) > 1:
            yield {**key, "relation": ALL_PAIRS}, of_test_set


def system_codes(pairs: pd.DataFrame) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Each pair's two systems as integers, and how many systems there are."""
    # As pandas holds them: a million pairs have no object of Python's for each of their names.
    codes, names = pd.factorize(pd.concat([pairs["system_a"], pairs["system_b"]], ignore_index=True))
    return codes[: len(pairs)], codes[len(pairs) :], len(names)


def multiplicities(n: int, n_bootstrap: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """How often each of n systems is in each of n_bootstrap resamples of the systems, shape (n_bootstrap, n)."""
    return rng.multinomial(n, np.full(n, 1 / n), size=n_bootstrap)
