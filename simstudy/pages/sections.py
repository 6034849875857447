"""What a page shows, as data: sections of a table with its columns, a figure and some sentences.

Nothing here knows what a page is written in. `simstudy.pages.report` draws the figures and writes the tables' text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from string import Formatter
from typing import Any

import pandas as pd

from simstudy.metrics import label
from simstudy.text.numerals import gain_text, p_text
from simstudy.text.plain_text import in_words, shown
from simstudy.validation import nearest

# The formats of a template beside those of Python: a gain with two or three digits, a metric's label, the name of a
# system or test set (printable, and not too long), a p-value, a name without underscores, and yes or nothing.
_FORMATS: dict[str, Callable[[Any], str]] = {
    "gain": gain_text,
    "metric": label,
    "name": shown,
    "p": p_text,
    "words": in_words,
    "yes": lambda value: "yes" if value else "",
}

# A part of a template that is left out where one of its values is missing.
_OPTIONAL = re.compile(r"\[([^\[\]]*)\]")


@dataclass(frozen=True)
class Column:
    """How a column of a page is written.

    The template is a format string with the names of the table's columns, such as "{low:.2f} to {high:.2f}". Beside
    Python's own formats there are those of `_FORMATS`. What is in square brackets is left out where one of its values
    is missing; where another one is, the template `missing` is written instead.
    """

    template: str
    missing: str = ""

    def texts(self, rows: pd.DataFrame) -> list[str]:
        """The text of each row; a ValueError where the rows lack a column, or a format does not fit its values."""
        whole = f"{self.template}{self.missing}"
        try:
            names = [name for _, name, _, _ in Formatter().parse(whole) if name is not None]
        except ValueError as error:
            raise ValueError(f"template '{whole}': {error}") from None
        for name in names:
            if name not in rows and len(rows):
                raise ValueError(f"template '{whole}': there is no column '{name}'{nearest(name, map(str, rows))}")
        used = [name for name in dict.fromkeys(names) if name in rows]
        return [self._text(row) for row in (rows[used].to_dict("records") if used else [{}] * len(rows))]

    def _text(self, row: Mapping[Any, Any]) -> str:
        if not _has_all(_OPTIONAL.sub("", self.template), row):
            return _filled(self.missing, row)
        return _filled(_OPTIONAL.sub(lambda part: part[1] if _has_all(part[1], row) else "", self.template), row)


def _has_all(template: str, row: Mapping[Any, Any]) -> bool:
    return not any(name is not None and pd.isna(row[name]) for _, name, _, _ in Formatter().parse(template))


def _filled(template: str, row: Mapping[Any, Any]) -> str:
    parts = []
    for text, name, form, _ in Formatter().parse(template):
        parts.append(text)
        if name is not None:
            try:
                parts.append(_FORMATS[form](row[name]) if form in _FORMATS else format(row[name], form or ""))
            except (TypeError, ValueError) as error:
                raise ValueError(f"template '{template}', column '{name}': {error}") from None
    return "".join(parts)


@dataclass(frozen=True)
class Table:
    """Rows of a page."""

    rows: pd.DataFrame
    #: Heading -> Column, or just its template.
    columns: Mapping[str, str | Column]
    #: A column of the rows whose values become columns, behind the others: rows that agree in `columns` are one.
    across: str | None = None
    #: What these columns hold.
    cell: str | Column = ""

    def text(self) -> pd.DataFrame:
        """The rows as text."""
        columns = {heading: _column(form).texts(self.rows) for heading, form in self.columns.items()}
        if self.across is None:
            return pd.DataFrame(columns, dtype=object)
        keys = list(zip(*columns.values(), strict=True))
        places = [str(value) for value in self.rows[self.across]]
        cells = dict(zip(zip(keys, places, strict=True), _column(self.cell).texts(self.rows), strict=True))
        wide = [
            [*key, *(cells.get((key, place), "") for place in dict.fromkeys(places))] for key in dict.fromkeys(keys)
        ]
        return pd.DataFrame(wide, columns=[*columns, *dict.fromkeys(places)], dtype=object)


def _column(form: str | Column) -> Column:
    return Column(form) if isinstance(form, str) else form


@dataclass(frozen=True)
class Figure:
    """A figure of a page."""

    #: Of its files, without suffix: letters, digits, _ and -.
    name: str
    #: Returns matplotlib's Figure, or Axes of it.
    draw: Callable[[], Any]


@dataclass(frozen=True)
class Section:
    """A part of a page: the figure, the text, which is the caption of both, and the table, from top to bottom."""

    heading: str
    text: str
    figure: Figure | None = field(default=None, kw_only=True)
    table: Table | None = field(default=None, kw_only=True)
