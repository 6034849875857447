"""How often winners win again, by a model: true gains are normal around 0."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import stats


def expected_wins(pairs: pd.DataFrame, items_elsewhere: float | NDArray[np.float64] = np.inf) -> NDArray[np.float64]:
    """The probability that each pair's winner also wins on other items of the same population, by a model.

    1 - p is not the probability that the winner is better: that depends on how far apart such systems are in truth.
    Let the true gains (signed) of these pairs be normal around 0 with variance t^2, and each observed gain normal
    around its true one with its standard error s; t^2 is what the observed gains vary more than their errors explain.
    Then, given an observed gain g, the true one is normal with mean w g and variance w s^2, w = t^2 / (t^2 + s^2), and
    a gain on m times as many items has a further error of variance s^2 / m.

    With m = `items_elsewhere`, one number or (P,), infinite for the population itself. A pair without a standard error
    has NaN.

    Examples
    --------
    Where true gains vary as much as errors do, a gain of 1.96 standard errors is real with probability 0.92:

    >>> gains = np.repeat([-1.0, 1.0], 2) * 2**0.5
    >>> pairs = pd.DataFrame({"gain": [*np.abs(gains), 1.96], "gain_se": 1.0})
    >>> model = pd.concat([pairs[:4]] * 1000 + [pairs[4:]])
    >>> round(float(expected_wins(model)[-1]), 2)   # the normal distribution at 1.96 / sqrt(2)
    0.92
    """
    if "gain_se" not in pairs:
        return np.full(len(pairs), np.nan)
    gain, se = (pairs[name].to_numpy(dtype=np.float64) for name in ("gain", "gain_se"))
    known = ~np.isnan(se)
    spread = max(float((gain**2 - se**2)[known].mean()), 0.0) if known.any() else 0.0
    weight = spread / (spread + se**2) if spread else np.zeros(len(pairs))
    error = weight * se**2 + se**2 / np.asarray(items_elsewhere, dtype=np.float64)
    mean = weight * gain
    # Where nothing is known of the winner, it wins in half of the cases.
    z = np.divide(mean, np.sqrt(error), out=np.zeros(len(pairs)), where=error > 0)
    return np.where(known, stats.norm.cdf(z), np.nan)
