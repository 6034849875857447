"""Names that users give, checked against the names that there are."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def check_choice(argument: str, value: object, known: Iterable[str]) -> None:
    """Raise a ValueError that lists the known names, and offers the nearest, where `value` is none of them.

    Examples
    --------
    >>> check_choice("metric", "acuracy", ["accuracy", "f1"])
    Traceback (most recent call last):
    ValueError: metric must be one of accuracy, f1, not 'acuracy' (did you mean 'accuracy'?)
    """
    names = list(known)
    if value not in names:
        raise ValueError(f"{argument} must be one of {', '.join(names)}, not '{value}'{nearest(value, names)}")


def nearest(value: object, known: Iterable[str]) -> str:
    """A hint at the known name that `value` may have been meant for, or an empty string.

    Examples
    --------
    >>> nearest("quikstart", ["quickstart"])
    " (did you mean 'quickstart'?)"
    """
    near = get_close_matches(str(value), list(known), n=1)
    return f" (did you mean '{near[0]}'?)" if near else ""
