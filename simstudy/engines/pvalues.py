"""The one place where a count of resamples becomes a p-value, by a rule with a name."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import stats


@dataclass(frozen=True)
class Convention:
    """How resamples are counted (are ties extreme?) and how the count becomes a p-value."""

    name: str
    strict: bool
    plus_one: bool
    source: str

    def p_value(self, n_extreme: ArrayLike, n_resamples: int) -> NDArray[np.float64]:
        """p-values for counts of any shape.

        Examples
        --------
        >>> CONVENTIONS["default"].p_value([0, 49], 999).tolist()
        [0.001, 0.05]
        >>> CONVENTIONS["bk2012"].p_value([0, 50], 1000).tolist()
        [0.0, 0.05]
        """
        count = np.asarray(n_extreme, dtype=np.float64)
        return (count + 1) / (n_resamples + 1) if self.plus_one else count / n_resamples


CONVENTIONS = {
    convention.name: convention
    for convention in (
        Convention(
            "default",
            strict=False,
            plus_one=True,
            source="ties count, (s + 1) / (b + 1): never 0 (Phipson and Smyth 2010)",
        ),
        Convention(
            "bk2012", strict=True, plus_one=False, source="strict >, s / b (Berg-Kirkpatrick et al. 2012, figure 1)"
        ),
    )
}


def monte_carlo_interval(
    n_extreme: ArrayLike, n_resamples: int, level: float = 0.95
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Clopper-Pearson interval for the p-value that infinitely many resamples would give.

    Parameters
    ----------
    n_extreme
        How many of the resamples were at least as extreme as observed; any shape.
    n_resamples
        How many there were.
    level
        Coverage, a fraction.

    Returns
    -------
    low, high
        Arrays of the shape of `n_extreme`.

    Examples
    --------
    >>> low, high = monte_carlo_interval([0, 50], 1000)
    >>> [round(float(x), 4) for x in (*low, *high)]
    [0.0, 0.0373, 0.0037, 0.0654]
    """
    count = np.asarray(n_extreme, dtype=np.float64)
    tail = (1 - level) / 2
    # beta.ppf has no value where a shape is 0: there the bound is the end of the scale.
    low = np.where(count > 0, stats.beta.ppf(tail, np.maximum(count, 1), n_resamples - count + 1), 0.0)
    high = np.where(count < n_resamples, stats.beta.ppf(1 - tail, count + 1, np.maximum(n_resamples - count, 1)), 1.0)
    return low, high
