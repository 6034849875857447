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

# The formats of a template beside those of Python: what is shown of a value.
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

    Attributes
    ----------
    template
        A format string with the names of the table's columns, such as "{low:.2f} to {high:.2f}". Beside Python's own
        formats there are "name" (of a system, a test set: printable, and not too long), "metric" (the label of a
        metric), "p" (a p-value), "gain" (a gain with two or three digits), "words" (without underscores) and "yes"
        (yes, or nothing). What is in square brackets is left out where one of its values is missing.
    missing
        A template of what is written instead, where another of its values is missing.

    Examples
    --------
    >>> rows = pd.DataFrame({"n": [1200, 7], "share": [0.25, None], "low": [0.1, None], "high": [0.4, None]})
    >>> Column("{share:.0%}[ ({low:.0%} – {high:.0%})]", missing="too few").texts(rows)
    ['25% (10% – 40%)', 'too few']
    >>> Column("{n:,}[, {share:.2f}]").texts(rows)
    ['1,200, 0.25', '7']
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
        return [self._text(row) for row in rows.to_dict("records")]

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
    """Rows of a page.

    Attributes
    ----------
    rows
        A table of a study, or rows of it.
    columns
        Heading -> Column, or just its template.
    across
        A column of the rows whose values become columns, behind the others: rows that agree in `columns` are one.
    cell
        What these columns hold.

    Examples
    --------
    >>> rows = pd.DataFrame({"test": ["sign", "sign", "t"], "n": [10, 100, 10], "share": [0.04, 0.05, 0.06]})
    >>> Table(rows, {"test": "{test}", "items": "{n}"}).text().to_numpy().tolist()
    [['sign', '10'], ['sign', '100'], ['t', '10']]
    >>> Table(rows, {"test": "{test}"}, across="n", cell="{share:.0%}").text().to_dict("list")
    {'test': ['sign', 't'], '10': ['4%', '6%'], '100': ['5%', '']}
    """

    rows: pd.DataFrame
    columns: Mapping[str, str | Column]
    across: str | None = None
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
    """A figure of a page.

    Attributes
    ----------
    name
        Of its files, without suffix: letters, digits, _ and -.
    draw
        Returns matplotlib's Figure, or Axes of it, and takes no arguments.
    """

    name: str
    draw: Callable[[], Any]


@dataclass(frozen=True)
class Section:
    """A part of a page.

    Attributes
    ----------
    heading
        In the page's outline.
    text
        What the figure or the table shows, in a sentence or some: the caption of both.
    figure
        Above the text.
    table
        Below the text.
    """

    heading: str
    text: str
    figure: Figure | None = field(default=None, kw_only=True)
    table: Table | None = field(default=None, kw_only=True)
