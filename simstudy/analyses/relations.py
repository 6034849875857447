"""How the two systems of a pair are related, from any column of the systems table (Berg-Kirkpatrick 2012, 3.1)."""

from __future__ import annotations

import pandas as pd

from simstudy.pairs import relations
from simstudy.tables import check_table, require_columns, takes_pairs
from simstudy.validation import check_text, nearest

#: A column of the systems table with this name, of true and false, makes classes of its own (section 3.1.3).
COMBINATION = "combination"

COMBINATIONS = "system combinations"
MIXED = "combination and single system"


@takes_pairs
def related(pairs: pd.DataFrame, systems: pd.DataFrame, by: str = "family") -> pd.DataFrame:
    """Comparisons with the relation of each pair taken from a column of the systems table.

    Parameters
    ----------
    pairs
        Comparisons.
    systems
        A row for each system, with ``name``, the column `by` and, where some systems combine the outputs of others,
        a column ``combination`` of true and false.
    by
        Two systems with the same value here are specially related: ``family`` (base model), ``group`` (who made
        them), or whatever else is known.

    Returns
    -------
    pairs
        A copy whose column ``relation`` reads "same group" / "different groups" (after `by`), "group unknown"
        where one of the two has no value, and, where there are system combinations, "system combinations" for two
        of them and "combination and single system" for one.

    Raises
    ------
    ValueError
        Where the table has no such column, or lacks a system, and where ``combination`` is neither true nor false.

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
        raise ValueError(f"systems must have one row for each system, unlike '{twice}'")
    if by == "name" or by not in systems:
        hint = nearest(by, map(str, systems.columns.drop("name")))
        raise ValueError(f"by must be a column of the systems table, not '{by}'{hint}; it has {_listed(systems)}")
    values = systems.set_index("name")[by]
    unknown = set(pairs["system_a"]).union(pairs["system_b"]).difference(values.index)
    if unknown:
        raise ValueError(
            f"systems must have a row for every system of the pairs; it has none for '{min(map(str, unknown))}'"
        )
    codes = pd.Series(pd.factorize(values)[0], index=values.index)
    first, second = (codes.loc[pairs[side]].to_numpy() for side in ("system_a", "system_b"))
    what = by.replace("_", " ")
    relation = relations(first, second, what)
    relation[(first < 0) | (second < 0)] = f"{what} unknown"
    if COMBINATION in systems:
        combined = _combined(systems)
        both = combined.loc[pairs["system_a"]].to_numpy() + combined.loc[pairs["system_b"]].to_numpy()
        relation[both == 2] = COMBINATIONS
        relation[both == 1] = MIXED
    return pairs.assign(relation=relation.astype(str))


def _combined(systems: pd.DataFrame) -> pd.Series[int]:
    """1 for systems that combine others, else 0; a table that was read as text has words for them."""
    known = {"true": 1, "1": 1, "1.0": 1, "false": 0, "0": 0, "0.0": 0}
    cells = systems.set_index("name")[COMBINATION].astype(object)
    words = cells.where(cells.notna(), "false").astype(str).str.lower()
    if not (right := words.isin(known)).all():
        raise ValueError(f"{COMBINATION} must be true or false, not '{words[~right].iloc[0]}'")
    return words.map(known).astype("int64")


def _listed(systems: pd.DataFrame) -> str:
    return ", ".join(str(column) for column in systems.columns if column != "name")
