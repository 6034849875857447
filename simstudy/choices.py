"""Names and numbers that users give, checked at the door."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from numbers import Real
from operator import index


def check_choice(argument: str, value: object, known: Iterable[str]) -> None:
    """Raise a ValueError that lists the known names, and offers the nearest, where `value` is none of them.

    Examples
    --------
    >>> check_choice("metric", "acuracy", ["accuracy", "f1"])
    Traceback (most recent call last):
    ValueError: metric must be one of accuracy, f1, not 'acuracy' (did you mean 'accuracy'?)
    """
    names = list(known)
    if not isinstance(value, str):
        raise ValueError(f"{argument} must be one of {', '.join(names)}, not {brief(value)}")
    if value not in names:
        raise ValueError(f"{argument} must be one of {', '.join(names)}, not '{value}'{nearest(value, names)}")


def brief(value: object) -> str:
    """What was given, for a message of one line: as Python writes it, or, where that is long, what it is.

    Examples
    --------
    >>> brief(1.5), brief([0] * 1000)
    ('1.5', 'a list')
    """
    text = repr(value)
    return text if "\n" not in text and len(text) <= 80 else f"a {type(value).__name__}"


def nearest(value: object, known: Iterable[str]) -> str:
    """A hint at the known name that `value` may have been meant for, or an empty string.

    Examples
    --------
    >>> nearest("quikstart", ["quickstart"])
    " (did you mean 'quickstart'?)"
    """
    near = get_close_matches(str(value), list(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""


def check_whole(argument: str, value: object, least: int, below: int | None = None) -> None:
    """Raise a ValueError where `value` is no whole number, under `least`, or not below `below` (a power of 2).

    Examples
    --------
    >>> check_whole("n_resamples", 1e6, 1)
    Traceback (most recent call last):
    ValueError: n_resamples must be a whole number (an int), not 1000000.0
    >>> check_whole("n_resamples", 0, 1)
    Traceback (most recent call last):
    ValueError: n_resamples must be at least 1, not 0
    """
    try:
        number = index(value)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(f"{argument} must be a whole number (an int), not {brief(value)}") from None
    if below is not None and not least <= number < below:
        raise ValueError(f"{argument} must be at least {least} and below 2^{below.bit_length() - 1}, not {number}")
    if number < least:
        raise ValueError(f"{argument} must be at least {least}, not {number}")


def check_seed(value: object) -> None:
    """Raise a ValueError where `value` is no seed: a whole number from 0 to 2^64 - 1."""
    check_whole("seed", value, 0, 2**64)


def check_fraction(argument: str, value: float) -> None:
    """Raise a ValueError where `value` is no number strictly between 0 and 1.

    Examples
    --------
    >>> check_fraction("cutoff", 5)
    Traceback (most recent call last):
    ValueError: cutoff must lie between 0 and 1, both excluded, not 5
    """
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 < value < 1:
        raise ValueError(f"{argument} must lie between 0 and 1, both excluded, not {brief(value)}")
