"""Root finding: the size for a power, and the gain for a size."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy
from scipy import special

from simstudy.planning.differences import Difference, t_cut
from simstudy.planning.settings import Level
from simstudy.validation import InputError, check_fraction, check_number, check_whole

#: No test set is planned to be larger.
MOST_UNITS = 10_000_000

_FEWEST = 2

# How far power may dip on larger test sets, and at how many sizes that is looked at.
_DIP, _DIPS = 0.005, 60


def size_for(difference: Difference, gain: float, *, power: float = 0.8, level: Level | None = None) -> int:
    """The least number of units from which on a true gain is found with this power.

    Of right and wrong answers power goes up in steps, as numbers of wins are significant or not: on no larger test set
    is it below what was asked for by more than 0.005 (as far as 60 sizes up to a twentieth more show).
    """
    level = Level() if level is None else level
    check_power(power, level)
    check_gain(gain, difference)
    found = least_size(lambda n: difference.power(gain, n, level), power)
    if found is None:
        raise InputError(
            "gain", f"must be larger for a test set of up to {MOST_UNITS:,} units to find it with power {power:g}", gain
        )
    return found


def least_size(power_at: Callable[[int], float], power: float, *, settled: bool = True) -> int | None:
    """The least number of units with this power, from what power numbers of units have; None above ten million.

    Where it is to be settled, larger numbers have it too; else it is near that, for the ends of a range.
    """
    # A little above, so that a power that is met exactly is not missed by its last bit.
    power -= 1e-12
    low, high = _FEWEST - 1, _FEWEST
    while power_at(high) < power:
        if high == MOST_UNITS:
            return None
        low, high = high, min(2 * high, MOST_UNITS)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if power_at(middle) >= power else (middle, high)
    if not settled:
        return high
    # Right and wrong answers go up in steps: the last dip by more than is promised, of so many sizes just above.
    for n in np.unique(np.linspace(high, 1.05 * high + 20, _DIPS).astype(np.int64))[::-1]:
        if power_at(int(n)) < power - _DIP:
            return int(n) + 1
    return high


def minimum_detectable_gain(difference: Difference, n: int, *, power: float = 0.8, level: Level | None = None) -> float:
    """The true gain that n units find with this power, to a millionth of it; NaN where no gain is found so often."""
    level = Level() if level is None else level
    check_power(power, level)
    check_whole("n", n, _FEWEST)
    if level.attainable_tail(n) == 0:
        return float("nan")

    def power_of(gain: float) -> float:
        return difference.power(gain, n, level)

    # Nearly so by the normal distribution, from which the search sets out.
    guess = (t_cut(level.tail, max(n - 1, 1)) + float(special.ndtri(power))) * difference.sd_of(0.0) / np.sqrt(n)
    low, high = 0.0, min(difference.largest, 1.1 * guess)
    while high < difference.largest and power_of(high) < power:
        low, high = high, min(1.5 * high, difference.largest)
    if power_of(high) < power:
        return float("nan")
    nearer = 0.8 * high
    low = nearer if nearer > low and power_of(nearer) < power else low
    return float(scipy.optimize.brentq(lambda gain: power_of(gain) - power, low, high, rtol=1e-6, xtol=1e-12))


def check_power(power: float, level: Level) -> None:
    """Raise a ValueError where a power is no fraction above the level's tail."""
    check_fraction("power", power)
    if power <= level.tail:
        raise InputError("power", f"must be above {level.tail:g}, the power without a gain", power)


def check_gain(gain: float, difference: Difference) -> None:
    """Raise a ValueError where a gain is not above 0, or more than the systems can differ."""
    check_number("gain", gain)
    if not 0 < gain <= difference.largest * (1 + 1e-12):
        most = f" and at most {difference.largest:g}" if np.isfinite(difference.largest) else ""
        raise InputError("gain", f"must be above 0{most}", gain)
