"""Tables of scores in memory, read as the same table in a file is."""

from __future__ import annotations

import numpy as np
import pandas as pd

from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.column_names import guesses
from simstudy.loaders.entries import is_tidy
from simstudy.loaders.scores import scores_from_frame
from simstudy.loaders.tables import renamed
from simstudy.notes import note
from simstudy.outputs.frames import as_frame, check_no_ids, with_index
from simstudy.text.numerals import counted

#: What messages call a table without a file.
THE_TABLE = "the table"


def read_in_memory(table: object, source: Source) -> Loaded:
    """Systems from a table of scores of pandas, polars or pyarrow, or a dictionary of scores by system.

    The columns tell the shape, as for `simstudy.loaders.scores.read_scores`. Where none of them is the item, the index
    is; its named levels are columns too. Where nothing names the items of a wide table, they are numbered from 0.
    """
    frame = as_frame(THE_TABLE, table)
    item = source.columns.get("item", "item")
    frame = with_index(THE_TABLE, frame, item)
    named = item in frame or "item" in guesses(frame, THE_TABLE, source.columns, source.metric)
    if not named and _is_wide(frame, source):
        check_no_ids(THE_TABLE, frame)
        note(f"{THE_TABLE} does not name its items: they are numbered, 0 to {len(frame) - 1:,}")
        frame = frame.assign(**{item: np.arange(len(frame))})
    if frame.empty:
        raise ValueError(f"{THE_TABLE} has {counted(len(frame.columns), 'column')}, but no rows")
    return scores_from_frame(frame.set_axis(pd.RangeIndex(1, len(frame) + 1, name="row")), THE_TABLE, source)


def _is_wide(frame: pd.DataFrame, source: Source) -> bool:
    named = renamed(frame, source.columns)
    return not ({"system", "score"} & {*named} or is_tidy(named, source.metric))
