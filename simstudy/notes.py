"""Words for people that name arguments, and notes: objects with fields, worded by whoever shows them.

A `Words` reads as text in which arguments stand as Python writes them. The command words the same object with its
options (`Words.said`). So no code reads a sentence.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, Self

_heard: ContextVar[list[Note] | None] = ContextVar("heard", default=None)

#: Stands for a value where none is given; None may be a value.
UNSAID: Any = type("Unsaid", (), {"__repr__": lambda self: "UNSAID", "__reduce__": lambda self: "UNSAID"})()


@dataclass(frozen=True)
class Argument:
    """An argument of the library, with a value or without, as messages name it.

    Examples
    --------
    >>> print(Argument("missing", "drop"), Argument("columns", {"item": "NAME"}), Argument("Costs.budget"))
    missing='drop' columns={'item': 'NAME'} Costs.budget
    """

    name: str
    value: Any = UNSAID

    def __str__(self) -> str:
        return self.name if self.value is UNSAID else f"{self.name}={self.value!r}"


class Words(str):
    """Text in which arguments stand: a template with fields, as `str.format` fills them.

    Examples
    --------
    >>> words = Words("{drop} leaves item '{item}' out", drop=Argument("missing", "drop"), item="q1")
    >>> print(words)
    missing='drop' leaves item 'q1' out
    >>> words.said(lambda argument: f"--{argument.name} {argument.value}")
    "--missing drop leaves item 'q1' out"
    """

    template: str
    fields: Mapping[str, Any]

    def __new__(cls, template: str, /, **fields: Any) -> Self:
        """Fill the template with the fields; arguments and words in them are worded as Python writes them."""
        words = super().__new__(cls, template.format(**fields))
        words.template, words.fields = template, fields
        return words

    def __reduce__(self) -> tuple[Any, ...]:
        return _words_again, (self.template, dict(self.fields))

    def said(self, wording: Callable[[Argument], str]) -> str:
        """The text with each argument as `wording` has it."""
        return self.template.format(**{name: said(value, wording) for name, value in self.fields.items()})


def _words_again(template: str, fields: Mapping[str, Any]) -> Words:
    return Words(template, **fields)


def said(value: Any, wording: Callable[[Argument], str]) -> Any:
    """A field of words with each argument in it as `wording` has it; any other value as it is."""
    if isinstance(value, Argument):
        return wording(value)
    return value.said(wording) if isinstance(value, Words) else value


class Note(Words):
    """What a user should know about what was read or computed, and is no error: its kind, and fields by their names.

    Examples
    --------
    >>> one = Note("items dropped", {"n": 2, "all": 10, "first": "q7"})
    >>> one.kind, one.fields["n"]
    ('items dropped', 2)
    """

    kind: str

    def __new__(cls, kind: str, fields: Mapping[str, Any]) -> Self:
        """Word the fields by the kind's template."""
        words = super().__new__(cls, TEMPLATES[kind], **fields)
        words.kind = kind
        return words

    def __reduce__(self) -> tuple[Any, ...]:
        return Note, (self.kind, dict(self.fields))


def note(kind: str, **fields: Any) -> None:
    """Tell a user something that is no error. Outside of `notes_kept` it becomes a warning."""
    told = Note(kind, fields)
    heard = _heard.get()
    if heard is None:
        warnings.warn(str(told), stacklevel=3)
    else:
        heard.append(told)


def tell(told: Note) -> None:
    """Tell a note again that was kept before."""
    note(told.kind, **told.fields)


@contextmanager
def notes_kept() -> Iterator[list[Note]]:
    """Within the block, notes are kept in this list, in the order in which they are told."""
    heard: list[Note] = []
    token = _heard.set(heard)
    try:
        yield heard
    finally:
        _heard.reset(token)


#: Kind -> the words of its notes. All notes that simstudy has are here.
TEMPLATES: Mapping[str, str] = {
    # Of the rooms that still word their notes themselves.
    "text": "{text}",
    "items dropped": "{n} of {all} items dropped that not every system has: '{first}' …",
}
