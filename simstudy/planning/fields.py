"""Fields of what a plan is given: their options, ranges, and numbers that they may have.

Modules that take time to import are imported where they are used, here and beside: the command's help does not wait.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from simstudy.validation import brief, check_number, check_whole

#: A number, or the two ends of a range, the lower one first.
Range = float | tuple[float, float]

# Numbers whose squares are neither 0 nor infinite, with room for sizes and ratios.
_LEAST, _MOST = 1e-60, 1e60


def option(default: Any, help: str, name: str | None = None) -> Any:
    """A field with the help of its option, and the option's name where that is another one."""
    return field(default=default, metadata={"help": help} | ({"option": name} if name else {}))


def ends(argument: str, value: Range) -> tuple[float, float, float]:
    """The middle, the lower and the upper end of a range; of a number three times itself.

    Examples
    --------
    >>> ends("Guess.r12", (0.5, 0.75)), ends("Guess.r12", 0.5)
    ((0.625, 0.5, 0.75), (0.5, 0.5, 0.5))
    """
    if isinstance(value, Sequence):
        if len(value) != 2:
            raise ValueError(f"{argument} must be a number, or the two ends of a range, not {brief(value)}")
        for end in value:
            check_number(argument, end)
        low, high = map(float, value)
        if low > high:
            raise ValueError(f"{argument} must have the lower end of its range first, not {brief(value)}")
        return (low + high) / 2, low, high
    check_number(argument, value, "a number, or the two ends of a range")
    return float(value), float(value), float(value)


def check_size(argument: str, value: object, *, must: str = "be 0 or") -> None:
    """Raise a ValueError where a number of the metric's scale is so large or so small that squares are inexact.

    `must` begins what the argument has to do.

    Examples
    --------
    >>> check_size("Guess.sd", 1e-308)
    Traceback (most recent call last):
    ValueError: Guess.sd must be 0 or from 1e-60 to 1e+60 in size, not 1e-308: tell scores in another unit
    """
    check_number(argument, value)
    size = abs(float(value))  # type: ignore[arg-type]
    if size and not _LEAST <= size <= _MOST:
        raise ValueError(
            f"{argument} must {must} from {_LEAST:g} to {_MOST:g} in size, not {brief(value)}: tell scores in another "
            "unit"
        )


def check_error(argument: str, error: float) -> None:
    """Raise a ValueError where a judge is no better than a coin."""
    check_number(argument, error)
    if not 0 <= error < 0.5:
        raise ValueError(f"{argument} must be at least 0 and below 0.5, where verdicts are coins, not {error:g}")


def check_odd(argument: str, judgements: int) -> None:
    """Raise a ValueError where a majority of so many verdicts may be none."""
    check_whole(argument, judgements, 1)
    if judgements % 2 == 0:
        raise ValueError(f"{argument} must be an odd number where the majority decides, not {judgements}")
