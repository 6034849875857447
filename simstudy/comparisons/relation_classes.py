"""Classes of pairs by the relation of their two systems (Berg-Kirkpatrick 2012, 3.1), and the confidence in a gain."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.pairs import ALL_PAIRS, relations
from simstudy.tables import TEST_SET, check_table, require_columns, takes_pairs
from simstudy.validation import InputError, check_text, nearest

#: Columns of pairs that analyses need.
PAIR = ("system_a", "system_b", "family_a", "family_b", "gain", "p_value", "better", "p_floor")

#: A column of the systems table with this name, of true and false, makes classes of its own (section 3.1.3).
COMBINATION = "combination"

COMBINATIONS, MIXED = "system combinations", "combination and single system"


def confidence(pairs: pd.DataFrame) -> NDArray[np.float64]:
    """The confidence in each pair's gain, (P,): 1 - p, and 0 where the test prefers the other system.

    Where the column ``better`` names neither system, the confidence is 1 - p.
    """
    sure = 1 - pairs["p_value"].to_numpy(dtype=np.float64)
    if "better" in pairs:
        sure[(pairs["better"] == pairs["system_b"]).to_numpy()] = 0.0
    return sure


def relation_classes(
    pairs: pd.DataFrame, columns: Sequence[str] | None = None
) -> Iterator[tuple[dict[str, Any], pd.DataFrame]]:
    """Yield each test set's pairs by relation class, and all of them together if there are several classes.

    Only these columns, as far as they are there, are copied: a table may have a million pairs.
    """
    if columns is not None:
        pairs = pairs[[column for column in pairs if column in (*TEST_SET, "relation", *columns)]]
    grouped = pairs.groupby(TEST_SET, sort=False, observed=True)
    # A group is a copy of its rows: one test set of millions of pairs needs none.
    alone = grouped.ngroups == 1 and int(grouped.size().iloc[0]) == len(pairs)
    for values, table in [(tuple(pairs[name].iloc[0] for name in TEST_SET), pairs)] if alone else grouped:
        key = dict(zip(TEST_SET, values, strict=True))
        classes = sorted(table["relation"].unique(), reverse=True)
        for relation in classes:
            inside = table["relation"] == relation
            yield {**key, "relation": relation}, table if inside.all() else table[inside]
        if len(classes) > 1:
            yield {**key, "relation": ALL_PAIRS}, table


@takes_pairs
def related(pairs: pd.DataFrame, systems: pd.DataFrame, by: str = "family") -> pd.DataFrame:
    """Comparisons with the relation of each pair taken from a column of the systems table.

    Parameters
    ----------
    pairs
        Comparisons.
    systems
        A row for each system, with ``name``, the column `by` and, if some systems combine the outputs of others, a
        column ``combination`` of true and false.
    by
        Two systems with the same value here are related: ``family`` (base model), ``group`` (who made them), or any
        other column.

    Returns
    -------
    pairs
        A copy whose column ``relation`` reads "same group" / "different groups" (after `by`), "group unknown" if one of
        the two has no value, and "system combinations" or "combination and single system" for pairs with combinations.

    Raises
    ------
    ValueError
        If the table lacks the column or a system, and if ``combination`` is neither true nor false.

    Examples
    --------
    >>> pairs = pd.DataFrame({"system_a": ["x", "x", "y"], "system_b": ["y", "z", "z"]})
    >>> systems = pd.DataFrame({"name": ["x", "y", "z"], "base_model": ["m", "m", None]})
    >>> related(pairs, systems, "base_model")["relation"].tolist()
    ['same base model', 'base model unknown', 'base model unknown']
    """
    require_columns(pairs, ["system_a", "system_b"])
    check_table("systems", systems, ["name"], "a table with a row for each system")
    check_text("by", by, "the name of a column of the systems table")
    if systems["name"].duplicated().any():
        twice = systems["name"][systems["name"].duplicated()].iloc[0]
        raise InputError("systems", f"must have one row for each system, unlike '{twice}'")
    columns = [str(column) for column in systems if column != "name"]
    if by not in columns:
        hint = nearest(by, columns)
        raise InputError("by", f"must be a column of the systems table, not '{by}'{hint}; it has {', '.join(columns)}")
    systems = systems.set_index("name")
    if unknown := set(pairs["system_a"]).union(pairs["system_b"]).difference(systems.index):
        missing = min(map(str, unknown))
        raise InputError("systems", f"must have a row for every system of the pairs; it has none for '{missing}'")
    codes = pd.Series(pd.factorize(systems[by])[0], index=systems.index)
    first, second = (codes.loc[pairs[side]].to_numpy() for side in ("system_a", "system_b"))
    noun = by.replace("_", " ")
    relation = relations(first, second, noun)
    relation[(first < 0) | (second < 0)] = f"{noun} unknown"
    if COMBINATION in systems:
        combined = _combined(systems[COMBINATION])
        n_combined = combined.loc[pairs["system_a"]].to_numpy() + combined.loc[pairs["system_b"]].to_numpy()
        relation[n_combined == 2] = COMBINATIONS
        relation[n_combined == 1] = MIXED
    return pairs.assign(relation=relation.astype(str))


def _combined(cells: pd.Series[Any]) -> pd.Series[int]:
    """1 for systems that combine others, else 0; a table that was read as text has words for them."""
    numbers = {"true": 1, "1": 1, "1.0": 1, "false": 0, "0": 0, "0.0": 0}
    words = cells.astype(object).where(cells.notna(), "false").astype(str).str.lower()
    if not (valid := words.isin(numbers)).all():
        raise InputError(COMBINATION, "must be true or false", words[~valid].iloc[0])
    return words.map(numbers).astype("int64")
