"""How objects show themselves: a few lines at a prompt, a table in a notebook, and never an array.

`ReprMixin` is for objects with tables, `FieldsMixin` for dataclasses, which show their fields. Both fit 100 columns; in
a notebook all that comes from files is text, and colours are the notebook's own.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import MISSING, Field, fields, is_dataclass
from html import escape
from itertools import accumulate
from numbers import Number
from typing import TYPE_CHECKING, Any

from simstudy.text.layout import wrapped
from simstudy.text.plain_text import line, printable, shown

if TYPE_CHECKING:
    import pandas as pd

# Columns and lines of a repr; rows that a notebook shows of a table; characters of a field.
_COLUMNS, _LINES, _MOST_ROWS, _FIELD = 100, 10, 20, 60


class ReprMixin:
    """An object that shows itself by what it holds."""

    @abstractmethod
    def _summary(self) -> tuple[str, str]:
        """What it is, and what is in it: two texts of one line."""

    @abstractmethod
    def _table(self) -> pd.DataFrame:
        """What is in it, as rows."""

    def __repr__(self) -> str:
        return "\n".join(in_columns(line(text)) for text in self._summary() if text)

    def _repr_html_(self) -> str:
        return f"<p>{escape(line(self._summary()[0]))}</p>\n{table_html(self._table(), self._n_rows())}"

    def _n_rows(self) -> int | None:
        """Rows that there are, where its table has only the first of them."""
        return None


class FieldsMixin:
    """A dataclass that shows itself by its fields: those that are not as they are by default, or all if none is."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A dataclass leaves a method as it is that its class has: this one, or the one of a parent.
        cls.__repr__ = cls.__repr__  # type: ignore[method-assign]

    def __repr__(self) -> str:
        told = [f"{name}={text}" for name, text in _told(self).items()]
        return in_columns(f"{type(self).__name__}({', '.join(told)})")

    def _repr_html_(self) -> str:
        if type(self).__repr__ is not FieldsMixin.__repr__:
            return f"<p>{escape(repr(self))}</p>"
        told = _told(self).items()
        rows = "".join(f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>\n" for name, text in told)
        return f"<p>{escape(type(self).__name__)}</p>\n<table>\n{rows}</table>"


def table_html(table: pd.DataFrame, n_rows: int | None = None) -> str:
    """A table for a notebook, in which names are text; a sentence says how many of so many rows are not shown."""
    cells = table.map(lambda cell: printable(cell) if isinstance(cell, str) else cell)
    rows = cells.rename(columns=printable).to_html(index=False, max_rows=_MOST_ROWS, border=0, escape=True)
    n = len(table) if n_rows is None else n_rows
    left = n - min(len(table), _MOST_ROWS)
    verb = "is" if left == 1 else "are"
    return f"{rows}\n<p>{left:,} of {n:,} rows {verb} not shown.</p>" if left else rows


def in_columns(text: str) -> str:
    """A text of one line in as many as a repr may have."""
    lines = wrapped(text, _COLUMNS).split("\n")
    return "\n".join(lines if len(lines) <= _LINES else [*lines[: _LINES - 1], "…"])


def _told(value: Any) -> dict[str, str]:
    """The fields of a dataclass that say something, each in a few words."""
    assert is_dataclass(value)
    own = [one for one in fields(value) if one.repr and not one.name.startswith("_")]
    told = [one for one in own if not _is_default(value, one)] or own
    return {one.name: _words(getattr(value, one.name)) for one in told}


def _is_default(value: Any, one: Field[Any]) -> bool:
    default = one.default_factory() if one.default_factory is not MISSING else one.default
    held = getattr(value, one.name)
    return held is default or (type(held) is type(default) and isinstance(held, _PLAIN) and held == default)


_PLAIN = (str, Number, tuple, type(None))


def _words(value: Any) -> str:
    """A value in a few words: as Python writes it, or what it is."""
    if isinstance(value, str):
        return repr(shown(value))
    if shape := getattr(value, "shape", ()):
        kind = "table" if len(shape) == 2 and hasattr(value, "columns") else "array"
        return f"<{kind} of {' x '.join(f'{n:,}' for n in shape)}>"
    if isinstance(value, Number) and not isinstance(value, int):
        number = getattr(value, "item", lambda: value)()
        return repr(number) if len(repr(number)) <= 8 else f"{number:.6g}"
    if isinstance(value, Mapping):
        return _some([f"{_words(key)}: {_words(one)}" for key, one in [*value.items()][:_FIELD]], len(value), "{}")
    if isinstance(value, tuple | list | set | frozenset):
        ends = {tuple: "()", list: "[]"}.get(type(value), "{}")
        return _some([_words(one) for one in [*value][:_FIELD]], len(value), ends)
    text = printable(repr(value))
    short = len(text) <= _FIELD and "\n" not in text and " at 0x" not in text
    return text if short else f"<{getattr(value, '__name__', type(value).__name__)}>"


def _some(texts: list[str], n: int, ends: str) -> str:
    """The first of n texts that a field has room for."""
    some = max(1, sum(total <= _FIELD for total in accumulate(len(text) + 2 for text in texts)))
    comma = "," if ends == "()" and n == 1 else ""
    more = f" and {n - some:,} more" if n > some else comma
    return f"{ends[0]}{', '.join(texts[:some])}{more}{ends[1]}"


def listed(names: list[str], most: int = 5, characters: int | None = None) -> str:
    """The first few of the names, of so many characters together if there is a limit, and how many more there are."""
    if characters is not None:
        most = max(1, sum(total <= characters for total in accumulate(map(len, names[:most]))))
    more = f" and {len(names) - most:,} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
