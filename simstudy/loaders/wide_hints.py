"""What to say of a wide table with a cell that is no score: the cell is a slip, or its column is no system."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from simstudy.loaders.tables import BLANK, Where, first_of, how_to_write, numbers
from simstudy.loaders.usual_names import plain
from simstudy.metrics.base import IntArray
from simstudy.text.reprs import listed

# A column of which more than this share are numbers has scores.
_MOST = 0.5


def check_numbers(frame: pd.DataFrame, system: str, rows: IntArray, where: Where, systems: Iterable[str]) -> None:
    """Raise a ValueError for the first of a system's cells, those in `rows`, that is no number.

    If the column has other words than scores, all those of the `systems` that do are named.
    """
    cells = frame[system].iloc[rows]
    wrong = np.isnan(numbers(cells))
    if (i := first_of(wrong)) is None:
        return
    place, cell = where(rows[i]), cells.iloc[i]
    _check_battles(frame, place)
    written = how_to_write(cell)
    if written and all(map(how_to_write, cells[wrong].unique())):
        raise ValueError(f"{place}: a score of system '{system}' must be a number, not '{cell}'{written}")
    if wrong.mean() < _MOST:
        raise ValueError(
            f"{place}: a score of system '{system}' must be a number, not '{cell}': leave the cell empty and choose "
            "missing='drop' or missing='zero', or write 0"
        )
    words = [name for name in systems if name in frame and _has_words(frame[name])] or [system]
    one = len(words) == 1
    own = ", ".join(f"'{name}': '{name}'" for name in words)
    named = listed([f"'{name}'" for name in words], 12)
    advice = f"columns={{{own}}} makes {'it a column' if one else 'them columns'} of the items"
    if one and frame["item"].duplicated().any():
        # Rows come again for each system.
        advice += f"; if it names systems, say columns={{'system': '{system}', 'score': 'NAME'}}"
    used = f"column {named} is used as a system, but has" if one else f"columns {named} are used as systems, but have"
    raise ValueError(f"{place}: {used} '{cell}'{written}; {advice}")


def _has_words(cells: pd.Series) -> bool:
    """Whether most cells of a column, those that are empty aside, are no numbers."""
    there = cells[cells.notna() & ~cells.isin(BLANK)]
    return bool(len(there)) and float(np.isnan(numbers(there)).mean()) >= _MOST


def _check_battles(frame: pd.DataFrame, place: str) -> None:
    """Raise a ValueError where two columns name models, as in tables of preferences."""
    known = {plain(name): str(name) for name in frame}
    if not {"model_a", "model_b"} <= {*known}:
        return
    others = [name for name in frame if plain(name) not in ("item", "model_a", "model_b") and _has_words(frame[name])]
    winner = others[0] if len(others) == 1 else "NAME"
    two = "".join(f"'{name}': '{known[name]}', " for name in ("model_a", "model_b") if known[name] != name)
    raise ValueError(
        f"{place}: the columns 'model_a' and 'model_b' name the systems of a comparison: "
        f"metric='bradley_terry' and columns={{{two}'winner': '{winner}'}} say which of the two is better"
    )
