"""Names and numbers that users give, checked at the door."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from difflib import get_close_matches
from math import inf, isinf
from numbers import Real
from operator import index
from pathlib import Path
from typing import TYPE_CHECKING, Any

from simstudy.notes import UNSAID, Argument, said

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    from numpy.typing import NDArray

#: Nothing that is counted here is as many: no machine has the memory.
TOO_MANY = 2**40

# Values that any process can read again.
_PLAIN = (type(UNSAID), type(None), str, bytes, int, float)


class Shown(str):
    """A value as messages show it, without the quotes that text has."""

    def __repr__(self) -> str:
        return str(self)


class InputError(ValueError):
    """What a user gave and simstudy cannot use, as fields. Any other ValueError is a bug of simstudy.

    Attributes
    ----------
    argument
        The name of the argument, column or field that the rule is about; empty if `rule` is a whole sentence,
        which is then the only text that is given.
    rule
        What must hold, or what is wrong: "must be at least 1". Other arguments that it names are
        `simstudy.notes.Argument` in `simstudy.notes.Words`.
    value
        What was given instead; it is left out if the rule says it already.
    remedy
        What to do. One that begins with a colon or a bracket has no semicolon before it.
    at
        The place in a file: "runs/a.csv, line 3".

    Examples
    --------
    >>> print(InputError("samples", "must be at least 1", 0))
    samples must be at least 1, not 0
    >>> print(InputError("not a whole zip file", at="a.zip"))
    a.zip: not a whole zip file
    >>> print(InputError("score", "must be a number", "x", "write 1 for right and 0 for wrong", at="a.csv, line 3"))
    a.csv, line 3: score must be a number, not 'x'; write 1 for right and 0 for wrong
    """

    def __init__(
        self, argument: str, rule: str = "", value: object = UNSAID, remedy: str = "", *, at: object = ""
    ) -> None:
        if not rule:
            argument, rule = "", argument
        self.argument, self.rule, self.value, self.remedy, self.at = str(argument), rule, value, remedy, str(at)
        super().__init__(self.said(str))

    def __reduce__(self) -> tuple[Any, ...]:
        value = self.value if isinstance(self.value, _PLAIN) else Shown(brief(self.value))
        return _error_again, (type(self), self.argument, self.rule, value, self.remedy, self.at)

    def said(self, wording: Callable[[Argument], str]) -> str:
        """The message with each argument as `wording` has it."""
        # At a place in a file it is a column or a field, and no argument.
        argument = wording(Argument(self.argument)) if self.argument and not self.at else self.argument
        place = f"{self.at}: " if self.at else ""
        value = "" if self.value is UNSAID else f", not {brief(self.value)}"
        remedy = said(self.remedy, wording)
        if remedy and not remedy.startswith((" (", ": ")):
            remedy = f"; {remedy}"
        return f"{place}{argument}{' ' if argument else ''}{said(self.rule, wording)}{value}{remedy}"


class NoSuchFile(InputError, FileNotFoundError):
    """A path that a user gave and that does not exist."""

    def __init__(self, path: object, remedy: str = "") -> None:
        super().__init__("", f"no such file: {path}", remedy=remedy)
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return NoSuchFile, (self.path, self.remedy)


def _error_again(kind: type[InputError], argument: str, rule: str, value: object, remedy: str, at: str) -> InputError:
    return kind(argument, rule, value, remedy, at=at)


def check_choice(argument: str, value: object, known: Collection[str]) -> None:
    """Raise an InputError that lists the known names, and offers the nearest, where `value` is none of them."""
    # A registry that is asked for a name that simstudy has loads no plug-ins.
    if isinstance(value, str) and value in known:
        return
    listed = ", ".join(name or '""' for name in known)
    hint = nearest(value, known) if isinstance(value, str) else ""
    raise InputError(argument, f"must be one of {listed}", value, hint)


def brief(value: object) -> str:
    """What was given, for a message of one line: as Python writes it, or, where that is long, what it is."""
    if isinstance(value, Real | str) and hasattr(value, "item"):
        # A scalar of numpy's.
        value = value.item()
    text = repr(value)
    if "\n" not in text and len(text) <= 80:
        return text
    return f"{text[:60]}…{text[0]}" if isinstance(value, str) else f"a {type(value).__name__}"


def nearest(value: object, known: Iterable[str]) -> str:
    """A hint at the known name that `value` may have been meant for, or an empty string."""
    names = {name.casefold(): name for name in known}
    near = get_close_matches(str(value).casefold(), list(names), n=1)
    return f" (did you mean '{names[near[0]]}'?)" if near else ""


def check_whole(argument: str, value: object, least: int, below: int = TOO_MANY) -> None:
    """Raise an InputError if `value` is no whole number, under `least`, or not below `below` (a power of 2)."""
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, bool):
        raise InputError(argument, "must be a whole number (an int)", value) from None
    if number < least and below == TOO_MANY:
        raise InputError(argument, f"must be at least {least}", number)
    if not least <= number < below:
        raise InputError(argument, f"must be at least {least} and below 2^{below.bit_length() - 1}", number)


def check_seed(value: object) -> None:
    """Raise an InputError if `value` is no seed: a whole number from 0 to 2^64 - 1."""
    check_whole("seed", value, 0, 2**64)


def check_number(argument: str, value: object, what: str = "a number") -> None:
    """Raise an InputError if `value` is no number; `what` says in the message what it must be."""
    if not _is_number(value, -inf, inf):
        raise InputError(argument, f"must be {what}", value)


def _is_number(value: object, least: float, most: float) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and least <= float(value) <= most


def check_share(argument: str, value: object) -> None:
    """Raise an InputError if `value` is no number from 0 to 1."""
    if not _is_number(value, 0, 1):
        raise InputError(argument, "must lie between 0 and 1", value)


def check_flag(argument: str, value: object) -> None:
    """Raise an InputError if `value` is neither True nor False."""
    if not isinstance(value, bool):
        raise InputError(argument, "must be True or False", value)


def check_text(argument: str, value: object, what: str = "text", *, or_none: bool = False) -> None:
    """Raise an InputError if `value` is no text (or, where it may be, None, which empty text is not)."""
    fits = value is None or (isinstance(value, str) and value != "") if or_none else isinstance(value, str)
    if not fits:
        raise InputError(argument, f"must be {what}{', or None' if or_none else ''}", value)


def check_path(argument: str, value: object, *, or_none: bool = False) -> None:
    """Raise an InputError if `value` is no path (or, where it may be, None)."""
    if (not isinstance(value, str | Path) or "\0" in str(value)) and not (or_none and value is None):
        raise InputError(argument, f"must be a path (str or Path){', or None' if or_none else ''}", value)


def check_mapping(argument: str, value: object, what: str) -> None:
    """Raise an InputError if `value` is no dictionary with anything in it; `what` says what it maps to what."""
    if not isinstance(value, Mapping) or not value:
        raise InputError(argument, f"must map {what}, at least one", value)


def check_list(argument: str, value: object, what: str) -> None:
    """Raise an InputError if `value` is no list of things: text, a number, a table, a set, nothing at all."""
    # Arrays and Series are lists too, of one dimension; sets have no order, and tables are lists of names.
    unlike = isinstance(value, str | bytes | Mapping | set | frozenset) or not hasattr(type(value), "__iter__")
    if unlike or getattr(value, "ndim", 1) != 1:
        raise InputError(argument, f"must be a list of {what}", value)


def check_texts(argument: str, value: object, what: str) -> None:
    """Raise an InputError if `value` is no list of texts; `what` says in the message what these are."""
    check_list(argument, value, what)
    for part in value:  # type: ignore[attr-defined]
        check_text(argument, part, f"a list of {what}")


def check_fraction(argument: str, value: object) -> None:
    """Raise an InputError if `value` is no number strictly between 0 and 1."""
    if not _is_number(value, 0, 1) or value in (0, 1):
        raise InputError(argument, "must lie between 0 and 1, both excluded", value)


def number_list(argument: str, values: object) -> NDArray[np.float64]:
    """A list of numbers as an array (n,) of floats; InputError if it is something else, or has NaN."""
    # The command's help does not wait for numpy.
    import numpy as np

    check_list(argument, values, "numbers")
    check_unmasked(argument, values)
    if type(values) is np.ndarray and values.dtype.kind in "iuf" and not np.isnan(values).any():
        # A million numbers need not be looked at one by one.
        return values.astype(np.float64)
    listed = list(values)  # type: ignore[call-overload]
    # Text is a number to numpy, and so is what is true.
    if any(isinstance(value, bool | np.bool_) or not isinstance(value, Real) or value != value for value in listed):
        raise InputError(argument, "must be a list of numbers", values)
    return np.array(listed, dtype=np.float64)


def check_unmasked(argument: str, values: object) -> None:
    """Raise an InputError if values are masked, or a list holds such arrays: without the mask they count as given."""
    import numpy as np

    if isinstance(values, np.ma.MaskedArray):
        masked = int(np.ma.count_masked(values))  # type: ignore[no-untyped-call]
        if masked:
            what = "1 value is" if masked == 1 else f"{masked:,} values are"
            raise InputError(argument, f"must not be masked, as {what}: take such items out, or fill them (.filled())")
    elif isinstance(values, list | tuple):
        for part in values:
            check_unmasked(argument, part)


def check_utf8(names: Iterable[str], what: str) -> None:
    r"""Raise an InputError that names the first text with half a character, as damaged files have."""
    for name in names:
        try:
            name.encode()
        except UnicodeEncodeError:
            raise InputError(what, f"must be named in whole characters (UTF-8), unlike {name!r}") from None


def check_unique(keys: pd.Series[Any], argument: str, hint: str = "") -> None:
    """Raise an InputError that names the first key which occurs twice, and ends in the hint."""
    if not keys.is_unique:
        twice = keys[keys.duplicated()].iloc[0]
        raise InputError(argument, f"must be named once each; '{twice}' occurs twice", remedy=hint)


def check_range(argument: str, value: object, what: str = "numbers", least: float = -inf, most: float = inf) -> None:
    """Raise an InputError if `value` is not two finite numbers from least to most, the lower first."""
    ends = value if isinstance(value, tuple | list) and all(isinstance(end, Real) for end in value) else ()
    if len(ends) != 2 or not least <= ends[0] < ends[1] <= most or isinf(ends[0]) or isinf(ends[1]):
        raise InputError(argument, f"must be two {what}, the lower first", value)
