"""How objects show themselves: two lines at a prompt, a table in a notebook."""

from __future__ import annotations

from abc import abstractmethod
from html import escape
from itertools import accumulate
from typing import TYPE_CHECKING

from simstudy.text.plain_text import line, printable

if TYPE_CHECKING:
    import pandas as pd

# Rows that a notebook shows of a table.
_MOST_ROWS = 20


class ReprMixin:
    """An object that shows itself by what it holds."""

    @abstractmethod
    def _summary(self) -> tuple[str, str]:
        """What it is, and what is in it: two texts of one line."""

    @abstractmethod
    def _table(self) -> pd.DataFrame:
        """What is in it, as rows."""

    def __repr__(self) -> str:
        return "\n".join(line(text) for text in self._summary())

    def _repr_html_(self) -> str:
        table = self._table().map(lambda cell: printable(cell) if isinstance(cell, str) else cell)
        rows = table.rename(columns=printable).to_html(index=False, max_rows=_MOST_ROWS, border=0, escape=True)
        return f"<p>{escape(line(self._summary()[0]))}</p>\n{rows}"


def listed(names: list[str], most: int = 5, characters: int | None = None) -> str:
    """The first few of the names, of so many characters together if there is a limit, and how many more there are."""
    if characters is not None:
        most = max(1, sum(total <= characters for total in accumulate(map(len, names[:most]))))
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
