"""The columns of a table of candidates: which are scores, which are counts, and which describe the candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from pandas.api.types import infer_dtype

from simstudy.loaders.base import MISSING, Ties
from simstudy.loaders.tables import (
    BLANK,
    Where,
    check_plain,
    coded,
    first_of,
    no_column,
    numbers,
    places,
    read_table,
    renamed,
)
from simstudy.notes import note
from simstudy.outputs.item_columns import names_clusters
from simstudy.rankings.association import association
from simstudy.rankings.candidates import Candidates
from simstudy.rankings.contingency import CELLS, SIGNATURE, has_tables
from simstudy.rankings.inputs import BoolArray
from simstudy.text.numerals import counted
from simstudy.text.reprs import listed
from simstudy.validation import InputError, check_choice

# Columns that are no scores, whatever is in them; the first that is there names the candidates.
_IDS = ("item", "id")

# Columns that are no scores where a table has contingency tables: counts.
_COUNTS = (*CELLS, *SIGNATURE, "R1", "R2", "C1", "C2")

# A number with a decimal comma.
_COMMA = r"\s*[-+]?\d+,\d+\s*"


def read_candidate_table(
    path: Path, columns: Mapping[str, str], missing: str, ties: Ties, has_items: bool = False
) -> tuple[Candidates, pd.DataFrame]:
    """Candidates and what describes them: a row for each with id, true, and the columns that are no scores.

    `columns` maps our names to the file's: ``gold``, ``item`` or ``id``, and whatever is no score. Where there is a
    table of the items too (`has_items`), that may have some of them.
    """
    check_choice("missing", missing, MISSING)
    if missing == "zero":
        raise InputError("missing must be 'error' or 'drop' for candidates: one without a score has no rank")
    table = read_table(path)
    for ours, theirs in {"gold": "gold", **columns}.items():
        if theirs not in table and (ours in ("gold", *_IDS) or not has_items):
            hint = "Name it with columns={'gold': 'NAME'}." if ours == theirs == "gold" else ""
            no_column(path, theirs, table.columns, hint)
    frame = renamed(table, columns)
    names, where = [*frame], places(frame, path)
    for name in names:
        check_plain(frame[name], columns.get(name, name), where)
    counts = [name for name in _COUNTS if name in names and has_tables(names)]
    described = {"gold", *_IDS, "domain", *filter(names_clusters, names), *columns, *counts}
    scores = _scores(frame.drop(columns=[name for name in names if name in described]))
    _check_commas(frame.drop(columns=[name for name in names if name in described or name in scores]), where)
    if scores.empty and not counts:
        raise InputError(f"{path}: no column of scores among {listed([*map(str, table.columns)], 12)}")
    true = _true(frame["gold"], columns.get("gold", "gold"), where)
    items = _items(frame.drop(columns=["gold", *scores]), counts, true, where)
    kept = _complete(frame[[*scores, *counts]], scores, missing, where)
    _note_incomplete(scores)
    _note_binary(scores[kept])
    if not kept.all():
        first = items["id"].iloc[int(np.argmin(kept))]
        lost = f"{int((~kept).sum()):,} of {counted(len(frame), 'candidate')}"
        note("text", text=f"{lost} dropped that lack a score, first '{first}'")
        frame, scores, items = frame[kept], scores[kept], items[kept].reset_index(drop=True)
    _check_both(items["true"], path, columns.get("gold", "gold"))
    if counts:
        where = places(frame, path)
        labels = [f"{name} ({where(row)})" for row, name in enumerate(items["id"])]
        scores = _with_measures(scores, association(frame[counts].set_axis(labels)), path)
    candidates = Candidates.from_scores(
        scores.set_axis(items["id"]), items["true"].to_numpy(), ties=ties.how, seed=ties.seed
    )
    return candidates, items


def _scores(columns: pd.DataFrame) -> pd.DataFrame:
    """Those columns that have a number, as numbers; NaN where a cell is none."""
    found = {}
    for name, cells in columns.items():
        # Times would be taken for their nanoseconds; true and false are a description.
        if cells.dtype.kind not in "mM" and infer_dtype(cells, skipna=True) != "boolean":
            values = pd.to_numeric(cells, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
            if np.isfinite(values).any():
                found[str(name)] = values
    return pd.DataFrame(found, index=columns.index)


def _check_commas(columns: pd.DataFrame, where: Where) -> None:
    """Raise a ValueError where text is numbers with decimal commas: a scoring function would be lost."""
    for name, cells in columns.items():
        if cells.astype(str).str.fullmatch(_COMMA).all():
            raise InputError(f"{where(0)}: column '{name}' must have decimal points, not commas ('{cells.iloc[0]}')")


def _true(cells: pd.Series[Any], column: str, where: Where) -> BoolArray:
    values = numbers(cells)
    if (row := first_of(~np.isin(values, (0, 1)))) is not None:
        found = repr(str(cells.iloc[row]))
        raise InputError(f"{where(row)}: column '{column}' must be 1 or 0 (true or false), not {found}")
    return np.asarray(values == 1)


def _check_both(true: pd.Series[bool], path: Path, column: str) -> None:
    if not len(true):
        raise InputError(f"{path}: no candidate is left that has all scores")
    if true.all() or not true.any():
        which = ("true", 1) if true.all() else ("false", 0)
        raise InputError(
            f"{path}: column '{column}' is {which[0]} for each of {counted(len(true), 'candidate')}: the precision of "
            f"any list is {which[1]}"
        )


def _items(frame: pd.DataFrame, counts: Sequence[str], true: BoolArray, where: Where) -> pd.DataFrame:
    """id, true, and what the columns that are no scores say of the candidates."""
    key = next((name for name in _IDS if name in frame), None)
    text = frame.drop(columns=counts)
    ids = _joined(text.drop(columns=[*_scores(text)])) if key is None else _ids(frame[key], where)
    others = frame.drop(columns=[name for name in ("id", "true", key) if name in frame])
    return others.reset_index(drop=True).assign(id=ids, true=true)[["id", "true", *others]]


def _ids(cells: pd.Series[Any], where: Where) -> list[str]:
    codes, known = coded(cells, "id", where)
    if (row := first_of(pd.Series(codes).duplicated())) is not None:
        first = where(int(np.argmax(codes == codes[row])))
        raise InputError(f"{where(row)}: candidate '{known[codes[row]]}' again, first in {first}")
    return [known[code] for code in codes]


def _joined(text: pd.DataFrame) -> list[str]:
    """What columns of text say of each candidate; numbers of rows where that does not tell them apart."""
    cells = text.astype(object).where(text.notna(), "").to_numpy().tolist()
    ids = [" ".join(" ".join(map(str, row)).split()) for row in cells]
    return ids if len(set(ids)) == len(ids) and "" not in ids else [str(row) for row in range(1, len(ids) + 1)]


def _complete(cells: pd.DataFrame, scores: pd.DataFrame, missing: str, where: Where) -> BoolArray:
    """Which candidates have all scores, and all counts."""
    kept = np.ones(len(cells), dtype=bool)
    for name, column in cells.items():
        blank = (column.isna() | column.astype(str).str.strip().isin(BLANK)).to_numpy()
        wrong = scores[name].isna().to_numpy() & ~blank if name in scores else np.zeros(len(cells), dtype=bool)
        if (row := first_of(wrong)) is not None:
            raise InputError(
                f"{where(row)}: column '{name}' is used as scores, but has {str(column.iloc[row])!r}; "
                f"columns={{'{name}': '{name}'}} makes it a column of the items"
            )
        if missing == "error" and (row := first_of(blank)) is not None:
            raise InputError(f"{where(row)}: column '{name}' is empty; missing='drop' leaves such candidates out")
        kept &= ~blank
    return kept


def _with_measures(scores: pd.DataFrame, measures: pd.DataFrame, path: Path) -> pd.DataFrame:
    for name in measures:
        if name in scores:
            raise InputError(
                f"{path}: column '{name}' has the name of an association measure of its contingency tables; "
                f"columns={{'stored': '{name}'}} makes it a column of the items"
            )
    return pd.concat([scores.reset_index(drop=True), measures.reset_index(drop=True)], axis=1)


def _note_incomplete(scores: pd.DataFrame) -> None:
    """Say where scores have the names of counts, but there are no contingency tables for want of others."""
    taken = {str(name).upper(): str(name) for name in scores}
    for columns in (CELLS, SIGNATURE):
        found = [taken[name.upper()] for name in columns if name.upper() in taken]
        if len(found) > 1:
            named = ", ".join(columns)
            note(
                "text",
                text=f"used as scores: {', '.join(found)}; contingency tables need columns with the names {named}",
            )
            return


def _note_binary(scores: pd.DataFrame) -> None:
    """Say where scores are yes or no only: a label that was not declared ranks very well."""
    names = [name for name in scores if set(scores[name]) == {0, 1}]
    if names:
        listed = ", ".join(f"'{name}'" for name in names)
        example = f"columns={{'{names[0]}': '{names[0]}'}} makes '{names[0]}' a column of the items"
        note("text", text=f"used as scores, although they are only 0 and 1: {listed}; {example}")
