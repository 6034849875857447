"""What is known of the systems beside their outputs: who made them, what they are built on."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd

from simstudy.loaders.tables import first_of, places, read_table
from simstudy.notes import note
from simstudy.outputs import Outputs, check_outputs
from simstudy.outputs.tables import complete_systems
from simstudy.validation import InputError, check_path, nearest


def describe_systems(outputs: Outputs, table: pd.DataFrame | str | Path) -> Outputs:
    """The same Outputs, with a table that describes their systems. A note names systems that the table lacks.

    Parameters
    ----------
    outputs
        K systems.
    table
        A row a system, with a column ``system`` (or ``name``) and any others: family, group, base_model,
        combination … A path is read by `read_systems`. Rows of systems that the outputs have not are left out.

    Raises
    ------
    ValueError
        Where the table has no such column, names a system twice, or none of the systems.

    Examples
    --------
    >>> outputs = Outputs.from_scores(pd.DataFrame({"a": [1, 0], "b": [1, 1]}))
    >>> table = pd.DataFrame({"system": ["a", "b", "c"], "group": ["NLP lab", "NLP lab", "others"]})
    >>> describe_systems(outputs, table).systems["group"].tolist()
    ['NLP lab', 'NLP lab']
    """
    check_outputs("outputs", outputs)
    if not isinstance(table, pd.DataFrame):
        check_path("table (or a DataFrame)", table)
    source = "the systems table" if isinstance(table, pd.DataFrame) else str(table)
    rows = table if isinstance(table, pd.DataFrame) else read_systems(Path(table))
    key = next((name for name in ("system", "name") if name in rows), None)
    if key is None:
        raise InputError(f"{source} must have a column 'system'; it has {', '.join(map(str, rows.columns))}")
    if key == "system":
        # A column "name" beside it is what people call the system, not what the outputs do.
        rows = rows.drop(columns="name", errors="ignore").rename(columns={key: "name"})
    if rows["name"].isna().any():
        raise InputError(f"{source} must have a system in every row")
    # A table of its own: the caller's stays as it is.
    rows = rows.assign(name=rows["name"].astype(str))
    twice = rows["name"].duplicated()
    if (row := first_of(twice)) is not None:
        place = places(rows, source)(row) if rows.index.name else source
        raise InputError(f"{place}: system '{rows['name'].iloc[row]}' occurs twice")
    known = set(rows["name"])
    lacking = [name for name in outputs.names if name not in known]
    if len(lacking) == outputs.n_systems:
        hint = nearest(lacking[0], known)
        raise InputError(
            f"{source} must have rows for the systems; it has none for '{lacking[0]}'{hint} and all others"
        )
    described = outputs.systems[["name", "source"]].merge(rows, on="name", how="left", suffixes=("_of_outputs", ""))
    extra = [c for c in outputs.systems.columns if c not in described and outputs.systems[c].notna().any()]
    described = complete_systems(pd.concat([described, outputs.systems[extra]], axis=1))
    if lacking:
        more = " …" if len(lacking) > 1 else ""
        note(
            "text", text=f"{source} has no row for {len(lacking)} of {outputs.n_systems} systems: '{lacking[0]}'{more}"
        )
    return replace(outputs, systems=described)


def read_systems(path: Path) -> pd.DataFrame:
    """A systems table from a file .csv, .tsv or .parquet, whose index says where each row is.

    Text stays text: "01" is a name, and a group may be called "NA". Empty cells are what is not known.
    """
    rows = read_table(path)
    return rows.mask(rows.astype(object) == "")
