"""How the command says what the library says: its options in place of arguments."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from simstudy.cli.options import OPTIONS
from simstudy.notes import UNSAID, Argument, Note
from simstudy.validation import InputError


def wording(params: Iterable[Any]) -> Callable[[Argument], str]:
    """Function that names an argument by its option; one without an option stays as Python writes it."""
    params = [param for param in params if param.opts[0].startswith("--")]
    # An option of the argument's own name comes first.
    options: dict[str, str] = {prefix + param.name: param.opts[0] for prefix in ("n_", "") for param in params}
    off: dict[str, str] = {param.name: param.secondary_opts[0] for param in params if param.secondary_opts}

    def worded(argument: Argument) -> str:
        name, value = OPTIONS.get(argument.name, argument.name), argument.value
        if name not in options or (value is False and name not in off):
            return str(argument)
        if value is False:
            return off[name]
        if value is UNSAID or value is True:
            return options[name]
        if isinstance(value, Mapping):
            value = ",".join(f"{name}={column}" for name, column in value.items())
        elif isinstance(value, list | tuple):
            value = ",".join(map(str, value))
        return f"{options[name]} {shlex.quote(str(value))}"

    return worded


def worded_error(error: InputError, params: Iterable[Any]) -> str:
    """The message of an error, with the options that a command of these parameters has."""
    return error.said(wording(params))


def worded_notes(notes: Iterable[str], params: Iterable[Any]) -> tuple[str, ...]:
    """The notes, with the options that a command of these parameters has."""
    worded = wording(params)
    return tuple(note.worded(worded) if isinstance(note, Note) else note for note in notes)
