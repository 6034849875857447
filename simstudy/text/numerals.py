"""How numbers are written for people: p-values, scores and gains, each by one rule."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from decimal import ROUND_UP, Context
from math import floor, isfinite, isnan, log10

import numpy as np

from simstudy.text.plain_text import shown

# Scores of more digits before the point, and what needs more behind it, are written as powers of ten.
_LARGE, _MOST_DECIMALS = 1e12, 8

# Scores below this are read as percentages are.
_LIKE_PERCENTAGES = 1000


def score_format(largest: float, *small: float) -> str:
    """The format of scores, and of gains of them: two decimals for percentages and the like, four for fractions.

    So that small numbers beside the largest score do not read 0, more decimals are taken, up to eight. Numbers that are
    too large or too small for that are written as powers of ten. What is rounded to 0 has no sign.
    """
    digits = 2 if abs(largest) >= 1 else 4
    widest = max([abs(largest), *map(abs, small)])
    for number in (widest, *small):
        if number and isfinite(number):
            digits = max(digits, -floor(log10(abs(number))))
    return ".4g" if digits > _MOST_DECIMALS or widest >= _LARGE else f"z.{digits}f"


def interval_format(largest: float, halves: Iterable[float]) -> str:
    """The format of scores and gains whose intervals are known, with no digit that the intervals make meaningless.

    The narrowest interval, half of whose width is among `halves`, has two significant digits. Percentages and the like
    have a decimal whatever their intervals, as papers have it. Without any interval it is the format of `score_format`.

    Examples
    --------
    >>> [interval_format(80.25, [half]) for half in (14.2, 1.31, 0.042)], interval_format(1204.5, [14.2])
    (['z.1f', 'z.1f', 'z.3f'], 'z.0f')
    """
    known = [half for half in halves if half > 0 and isfinite(half)]
    if not known or (usual := score_format(largest)).endswith("g"):
        return score_format(largest)
    digits = max(1 if abs(largest) < _LIKE_PERCENTAGES else 0, 1 - floor(log10(min(known))))
    return f"z.{digits}f" if digits <= _MOST_DECIMALS else usual


def number_text(number: float, form: str) -> str:
    """A number of a paper: no number that is not 0 reads 0, and a minus is a minus sign; empty for NaN.

    Examples
    --------
    >>> [number_text(number, "z.1f") for number in (1.26, -0.26, -0.004, 0.0)]
    ['1.3', '−0.3', '−0.004', '0.0']
    """
    if isnan(number):
        return ""
    text = format(number, form)
    if number and float(text) == 0:
        text = format(number, score_format(1, number))
    return text.replace("-", "−")


def p_text(p: float, alpha: float | None = None, floor: float = 0) -> str:
    """A p-value as `p_digits` writes it, or "< 0.000001".

    Where it is at or below `floor`, the least that its resamples can give (`p_floor`), it is known to be small only:
    that bound is written, rounded up.
    """
    # To a reader one in a million resamples and one is 0.000001.
    if max(p, floor) < 9.95e-7:
        return "< 0.000001"
    return f"< {_raised(floor, alpha)}" if at_floor(p, floor) else p_digits(p, alpha)


def p_floor(n_resamples: float) -> float:
    """The least p-value that so many resamples can give, (0 + 1) / (n + 1); 0 where none were drawn."""
    return 1 / (n_resamples + 1) if n_resamples > 0 else 0.0


def at_floor(p: float, floor: float) -> bool:
    """Whether a p-value is the least that its resamples can give: it is known to be small, but not how small."""
    return floor > 0 and p <= floor * (1 + 1e-9)


def p_digits(p: float, alpha: float | None = None) -> str:
    """A p-value with two significant digits, or three decimals where it is large; never rounded across alpha."""
    return f"{p:.3f}" if p >= 0.0995 else _shortest(p, alpha, lambda digits: float(f"{p:.{digits}g}"))


def _raised(p: float, alpha: float | None) -> str:
    """A bound on a p-value, as `p_digits` writes one, but never rounded down."""
    # In the digits that a reader sees: the number that stands for 0.001 is a little more than that.
    seen = repr(float(p))
    return _shortest(p, alpha, lambda digits: float(Context(prec=digits, rounding=ROUND_UP).create_decimal(seen)))


def _shortest(p: float, alpha: float | None, rounded: Callable[[int], float]) -> str:
    """A number rounded to two digits, or to as many as keep it on its side of alpha."""
    for digits in range(2, 17):
        number = rounded(digits)
        if alpha is None or (number <= alpha) == (p <= alpha):
            break
    return np.format_float_positional(number, trim="-")


def gain_text(gain: float) -> str:
    """A gain with two or three digits, for tables of gains of many metrics."""
    return f"{gain:.2f}" if gain >= 0.5 else f"{gain:.3g}"


def units_text(n: float, unit: str) -> str:
    """So many units, by what they are: items, clusters, or a column of the items."""
    return f"{int(n):,} {units_name(unit, n)}"


def units_name(unit: str, n: float = 2) -> str:
    """The name of so many units: items, clusters, or clusters by a column of the items."""
    # The samples of a question (`simstudy.outputs.samples`).
    word = {"item": "item", "sample_of": "question"}.get(unit, "cluster")
    which = "" if unit in ("item", "cluster", "sample_of") else f" ({shown(unit)})"
    return f"{word}{'' if n == 1 else 's'}{which}"
