"""Options in the sentences of loaders/, which have no fields yet: this module goes with the last of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

# How a message begins that says what an argument must be, how it names another that would do, and how it says another
# argument with its value: a name, a column under our name, a flag.
_ARGUMENT = re.compile(r"(\w+)(?: \([^)]*\)| of [\w -]+)? must ")
_OTHER = re.compile(r"(?<= must be given, or )\w+(?=:)")
_VALUE = re.compile(r"\b(\w+)=(?:'([\w-]+)'|(\d+(?:\.\d+)?))")
_COLUMN = re.compile(r"\b(\w+)=\{('.+?': (?:'.+?'|\.\.\.))\}")
_PAIR = re.compile(r"'(.+?)': (?:'(.+?)'|(\.\.\.))")
_FLAG = re.compile(r"\b(\w+)=(True|False)\b")


def by_options(message: str, params: Iterable[Any]) -> str:
    """A message about arguments of the library, with the options that a command of these parameters has for them."""
    params = list(params)
    flags = {(param.name, "False"): param.secondary_opts[0] for param in params if param.secondary_opts}
    flags |= {(param.name, "True"): param.opts[0] for param in params if param.secondary_opts}
    # An option of the argument's own name comes first.
    options = {prefix + param.name: param.opts[0] for prefix in ("n_", "") for param in params}
    if (begins := _ARGUMENT.match(message)) and options.get(begins[1], "").startswith("--"):
        message = options[begins[1]] + message[begins.end(1) :]
        message = _OTHER.sub(lambda found: options.get(found[0], found[0]), message)
    if message.startswith("--"):
        for value in ("must be None", "must not be True"):
            message = message.replace(value, "must not be given", 1)

    def column(found: re.Match[str]) -> str:
        pairs = ",".join(f"{pair[1]}={pair[2] or pair[3]}" for pair in _PAIR.finditer(found[2]))
        return f"{options[found[1]]} {pairs}" if found[1] in options else found[0]

    def option(found: re.Match[str]) -> str:
        return f"{options[found[1]]} {found[2] or found[3]}" if found[1] in options else found[0]

    message = _COLUMN.sub(column, message)
    message = _FLAG.sub(lambda found: flags.get((found[1], found[2]), found[0]), message)
    return _VALUE.sub(option, message)
