"""How numbers are written for people: p-values, scores and gains, each by one rule."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import ROUND_UP, Context
from math import ceil, floor, isfinite, isnan, log10, sqrt

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

    Halves are rounded away from 0, also those that floating-point error has moved: scores of 400 items end in 0.25.

    Examples
    --------
    >>> [number_text(number, "z.1f") for number in (1.26, -0.26, -0.004, 0.0)]
    ['1.3', '−0.3', '−0.004', '0.0']
    >>> [number_text(number, "z.1f") for number in (59.25, 61.25, 100 * 0.2025, -1.25)]
    ['59.3', '61.3', '20.3', '−1.3']
    """
    if isnan(number):
        return ""
    text = format(number * (1 + 1e-12), form)
    if number and float(text) == 0:
        text = format(number, score_format(1, number))
    return text.replace("-", "−")


def p_text(p: float, alpha: float = 0.05, floor: float = 0, times: float = 1) -> str:
    """A p-value with the digits that it deserves, or "< 0.000001"; never on the other side of alpha, and never 0.

    - A p-value that is computed has three significant digits, or three decimals from 0.1 on.
    - A Monte Carlo p-value has those that its resamples tell: one unit of the last digit is at most about the width
      of its 95 % interval. `floor` is the least p-value that they can give (`p_floor`), and says how many they are.
    - At its floor it is known to be small, but not how small: the bound is written, rounded up.
    - More digits are written where fewer would be equal to alpha, or beyond it.

    `times` is the factor by which an adjustment for many tests made it larger, and its interval wider.
    """
    # To a reader one in a million resamples and one is 0.000001.
    if max(p, floor) < 9.95e-7:
        return "< 0.000001"
    least = times * floor
    # In the digits that a reader sees: the number that stands for 0.001 is a little more than that.
    bound = max(p, least) if at_floor(p, least) else least
    raised = _raised(repr(float(bound)), bound, alpha) if floor else "0"
    if at_floor(p, least):
        return f"{'<' if float(raised) > bound else '<='} {raised}"
    # A larger p-value does not read smaller than the bound.
    return max(p_digits(p, alpha, floor, times), raised, key=float)


def p_adjusted(q: float, p: float, alpha: float = 0.05, floor: float = 0) -> str:
    """An adjusted p-value as `p_text` writes it: a bound if the p-value is one that it was made of."""
    if q >= 1:
        return p_text(1.0, alpha)
    if at_floor(p, floor):
        return p_text(q, alpha, max(q, floor))
    return p_text(q, alpha, floor, max(q / p, 1) if p else 1)


def p_short(p: float, alpha: float = 0.05, floor: float = 0) -> str:
    """A p-value for a cell of a figure: two decimals, or three if it is small; more keep it on its side of alpha."""
    if p < alpha < 0.001:
        return f"<{alpha:g}"
    bound = f"{max(ceil(1000 * floor - 1e-6), 1) / 1000:.3f}"
    if (p < 0.001 <= alpha) or at_floor(p, floor):
        return f"<{bound}"
    text = _on_its_side(p, alpha, 2 if p >= 0.0095 else 3 if p >= 0.00095 else 4)
    return max(text, bound, key=float) if floor else text


def p_floor(n_resamples: float) -> float:
    """The least p-value that so many resamples can give, (0 + 1) / (n + 1); 0 where none were drawn."""
    return 1 / (n_resamples + 1) if n_resamples > 0 else 0.0


def at_floor(p: float, floor: float) -> bool:
    """Whether a p-value is the least that its resamples can give: it is known to be small, but not how small."""
    return floor > 0 and p <= floor * (1 + 1e-9)


def p_digits(p: float, alpha: float = 0.05, floor: float = 0, times: float = 1) -> str:
    """A p-value as `p_text` writes it, also below 0.000001 and at its floor; 0 is "0"."""
    if p <= 0:
        return "0"
    decimals = _decimals(p, floor, times)
    # What is rounded up to 0.001 has the digits of that.
    decimals = min(decimals, _decimals(max(p, round(p, decimals)), floor, times))
    return _on_its_side(p, alpha, decimals)


def _decimals(p: float, floor: float, times: float) -> int:
    """How many decimals a p-value deserves.

    The number is the same between two multiples of a power of ten, such as 0.03 and 0.04: larger p-values are never
    rounded to smaller numbers.
    """
    power = min(_power(p), -1)
    computed = max(3, 2 - power)
    if not floor:
        return computed
    # The Monte Carlo error at the lower end of where p lies.
    digit = max(1, int(f"{p / 10.0**power:.12f}".partition(".")[0]))
    share = min(digit * 10.0**power / times, 1)
    # Near 1 it falls fast.
    share = share if p / times < 0.9 else 0.99 if p / times < 0.99 else 1
    width = 4 * times * sqrt(share * (1 - share) * floor / (1 - floor))
    return min(computed, max(-_power(width), -power)) if width else computed


def _power(number: float) -> int:
    """The power of ten of a positive number, by its digits: a floating-point logarithm of 0.001 may lie below -3."""
    return int(f"{number:.15e}".partition("e")[2])


def _on_its_side(p: float, alpha: float, decimals: int) -> str:
    """A number with so many decimals, or with as many as keep it on its side of alpha."""
    for n in range(decimals, 20):
        text = f"{p:.{n}f}"
        number = float(text)
        # What floating-point error tells from alpha is equal to it, on the side where equal is significant.
        if number > alpha if p > alpha else number < alpha or p > alpha * (1 - 1e-9):
            break
    return text


def _raised(seen: str, bound: float, alpha: float) -> str:
    """A bound on a p-value with two digits, never rounded down, or with as many as keep it on its side of alpha."""
    for digits in range(2, 17):
        number = float(Context(prec=digits, rounding=ROUND_UP).create_decimal(seen))
        if (number <= alpha) == (bound <= alpha):
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


def duration(seconds: float) -> str:
    """A time in two units: "12 s", "3 min 5 s", "1 h 6 min"."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    return f"{whole // 60} min {whole % 60} s" if whole < 3600 else f"{whole // 3600} h {whole % 3600 // 60} min"


def counted(n: int, noun: str) -> str:
    """A number of things, for messages: "1 line", "1,200 lines"."""
    return f"{n:,} {noun}" + "s" * (n != 1)
