"""What a page shows, as data: sections of a table with its columns, a figure and some sentences.

Nothing here knows what a page is written in. `simstudy.pages.report` writes a folder with a page in Markdown,
`simstudy.pages.html` one HTML file.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from string import Formatter
from typing import Any

import pandas as pd

from simstudy.metrics import label
from simstudy.text.numerals import gain_text, p_text
from simstudy.text.plain_text import in_words, shown
from simstudy.validation import InputError, nearest

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
    #: The column of the rows that has the unrounded numbers of a template of texts: for sorting, and for CSV files.
    source: str = ""

    def texts(self, rows: pd.DataFrame) -> list[str]:
        """The text of each row; a ValueError where the rows lack a column, or a format does not fit its values."""
        whole = f"{self.template}{self.missing}"
        try:
            names = [name for _, name, _, _ in Formatter().parse(whole) if name is not None]
        except ValueError as error:
            raise InputError(f"template '{whole}': {error}") from None
        for name in names:
            if name not in rows and len(rows):
                raise InputError(f"template '{whole}': there is no column '{name}'{nearest(name, map(str, rows))}")
        if not len(rows):
            return []
        if not names:
            return [self._text({})] * len(rows)
        # Pairs have some forty columns: only those that are written become rows of Python's objects.
        return [self._text(row) for row in rows[list(dict.fromkeys(names))].to_dict("records")]

    @property
    def fields(self) -> list[str]:
        """The columns of the rows that have what is written, in the template's order."""
        if self.source:
            return [self.source]
        return list(dict.fromkeys(name for _, name, _, _ in Formatter().parse(self.template) if name))

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
                raise InputError(f"template '{template}', column '{name}': {error}") from None
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

    @classmethod
    def of_text(cls, rows: pd.DataFrame) -> Table:
        """A table of text, as it is."""
        named = rows.set_axis([f"c{k}" for k in range(len(rows.columns))], axis=1)
        return cls(named, {str(name): f"{{c{k}}}" for k, name in enumerate(rows.columns)})

    def text(self) -> pd.DataFrame:
        """The rows as text; it must not be changed."""
        return self._texts

    @cached_property
    def _texts(self) -> pd.DataFrame:
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
class Chart:
    """A figure as data: what an HTML page draws in a browser in the place of the picture."""

    #: The name under which a script of the page knows how to draw it.
    kind: str
    #: What is drawn. Names of systems are as people see them (`simstudy.text.plain_text.shown`).
    tables: Mapping[str, pd.DataFrame]
    #: Labels of the axes, levels and what else the script asks for, as JSON has it.
    settings: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Widget:
    """What a reader of an HTML page can try, as data; a browser shows it in the place of the section's table."""

    #: The name of the script that shows it, without suffix.
    kind: str
    #: As JSON has it.
    data: Mapping[str, Any]


@dataclass(frozen=True)
class Figure:
    """A figure of a page."""

    #: Of its files, without suffix: letters, digits, _ and -.
    name: str
    #: Returns matplotlib's Figure, or Axes of it.
    draw: Callable[[], Any]
    #: Whether a column of a paper has room for it.
    in_papers: bool = field(default=True, kw_only=True)
    #: Returns the same figure as data; without it an HTML page has the picture only.
    chart: Callable[[], Chart] | None = field(default=None, kw_only=True)
    #: What the figure shows, for who cannot see it; by default the section's heading and first sentence.
    alt: str = field(default="", kw_only=True)


@dataclass(frozen=True)
class Section:
    """A part of a page: the figure, the text, which is the caption of both, and the table, from top to bottom."""

    heading: str
    text: str
    figure: Figure | None = field(default=None, kw_only=True)
    table: Table | None = field(default=None, kw_only=True)
    #: Returns the text and the table of an HTML page where they are others: it has the page's answer above, and has
    #: room for more rows, of which it shows some at a time.
    on_screen: Callable[[], tuple[str, Table | None]] | None = field(default=None, kw_only=True)
    #: Returns what a browser shows in the place of the table.
    widget: Callable[[], Widget] | None = field(default=None, kw_only=True)
