"""Root finding: the size for a gain, and the gain for a size."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from simstudy.planning.forms import Difference, Level
from simstudy.validation import check_fraction, check_number, check_whole

#: No test set is planned to be larger.
MOST_UNITS = 10_000_000

_FEWEST = 2

# How far power may dip on larger test sets, and at how many sizes that is looked at.
_DIP, _DIPS = 0.005, 60


def size_for(difference: Difference, gain: float, *, power: float = 0.8, level: Level | None = None) -> int:
    """The least number of units from which on a true gain is found with this power.

    Of right and wrong answers power goes up in steps, as few numbers of wins are significant or not: on no larger test
    set is it below what was asked for by more than 0.005 (as far as 60 sizes up to a twentieth more show).

    Raises
    ------
    ValueError
        For a gain that is not above 0 or more than there can be, a power that is not above that of no gain, and where
        ten million units are too few.

    Examples
    --------
    >>> from simstudy.planning.forms import NormalDifference
    >>> size_for(NormalDifference(1 / 3), 0.03)   # (1.96 + 0.84)^2 / 9 / 0.03^2 is 969, of a known variance
    971
    """
    level = Level() if level is None else level
    check_power(power, level)
    check_gain(gain, difference)
    if difference.found(gain, MOST_UNITS, level).power < power:
        raise ValueError(
            f"gain must be larger for any test set of up to {MOST_UNITS:,} units to find it with power {power:g}, not {gain:g}"
        )

    def off(n: int) -> bool:
        return difference.found(gain, n, level).power >= power

    low, high = _FEWEST - 1, MOST_UNITS
    while high - low > 1:
        middle = int(np.sqrt(low * high)) if high > 2 * low else (low + high) // 2
        middle = min(max(middle, low + 1), high - 1)
        low, high = (low, middle) if off(middle) else (middle, high)
    # Right and wrong answers go up in steps: the last dip by more than is promised, of so many sizes just above.
    for n in np.unique(np.linspace(high, 1.05 * high + 20, _DIPS).astype(np.int64))[::-1]:
        if difference.found(gain, int(n), level).power < power - _DIP:
            return int(n) + 1
    return high


def detectable_gain(difference: Difference, n: int, *, power: float = 0.8, level: Level | None = None) -> float:
    """The true gain that n units find with this power, to 1e-9 of it; NaN where no gain is found so often.

    Raises
    ------
    ValueError
        For fewer than two units, and a power that is not above that of no gain.

    Examples
    --------
    >>> from simstudy.planning.forms import RightOrWrongDifference
    >>> round(detectable_gain(RightOrWrongDifference(0.1), 8000), 2)
    1.0
    """
    level = Level() if level is None else level
    check_power(power, level)
    check_whole("n", n, _FEWEST)
    high = min(difference.largest, 1.0)
    while high < difference.largest and difference.found(high, n, level).power < power:
        high = min(2 * high, difference.largest)
    if difference.found(high, n, level).power < power:
        return float("nan")
    return float(
        optimize.brentq(lambda gain: difference.found(gain, n, level).power - power, 0.0, high, rtol=1e-9, xtol=1e-12)
    )


def check_power(power: float, level: Level) -> None:
    """Raise a ValueError where a power is no fraction above the level's tail."""
    check_fraction("power", power)
    if power <= level.tail:
        raise ValueError(f"power must be above {level.tail:g}, which a test has where there is no gain, not {power:g}")


def check_gain(gain: float, difference: Difference) -> None:
    """Raise a ValueError where a gain is not above 0, or more than the systems can differ."""
    check_number("gain", gain)
    if not 0 < gain <= difference.largest:
        most = f" and at most {difference.largest:g}" if np.isfinite(difference.largest) else ""
        raise ValueError(f"gain must be above 0{most}, not {gain:g}")
