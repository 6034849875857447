"""Association measures of word pairs (Evert 2004, section 2): more is a stronger attraction.

A pair has a frequency signature: f = O11 of the pair, f1 = R1 of the first word, f2 = C1 of the second word, and N of
all. Row and column sums are R and C, and E_ij = R_i C_j / N is what independence expects.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy.special import xlogy


def log_likelihood(pairs: pd.DataFrame) -> Any:
    """G2 = 2 sum O ln(O / E), negative if O11 < E11 (Dunning 1993)."""
    f, f1, f2, n = (pairs[column] for column in ("f", "f1", "f2", "N"))
    cells = xlogy(f, f) + (xlogy(f1 - f, f1 - f) + xlogy(f2 - f, f2 - f)) + xlogy(n - f1 - f2 + f, n - f1 - f2 + f)
    margins = (xlogy(f1, f1) + xlogy(f2, f2)) + (xlogy(n - f1, n - f1) + xlogy(n - f2, n - f2))
    return np.sign(_deviation(pairs)) * 2 * (cells - margins + xlogy(n, n))


def chi_squared(pairs: pd.DataFrame) -> Any:
    """X2 = N (O11 O22 - O12 O21)^2 / (R1 R2 C1 C2), negative if O11 < E11, and 0 if a margin is empty."""
    n = pairs["N"].astype(float)
    margins = pairs["f1"] * (n - pairs["f1"]) * (pairs["f2"] * (n - pairs["f2"]))
    deviation = _deviation(pairs)
    return np.sign(deviation) * n**3 * deviation**2 / margins.clip(lower=1)


def t_score(pairs: pd.DataFrame) -> Any:
    """T = (O11 - E11) / sqrt(O11) (Church et al. 1991)."""
    return _deviation(pairs) / np.sqrt(pairs["f"])


def frequency(pairs: pd.DataFrame) -> Any:
    """O11."""
    return pairs["f"]


#: Name -> measure.
MEASURES = {
    "log_likelihood": log_likelihood,
    "chi_squared": chi_squared,
    "t_score": t_score,
    "frequency": frequency,
}


def _deviation(pairs: pd.DataFrame) -> Any:
    """O11 - E11."""
    return (pairs["f"] * pairs["N"] - pairs["f1"] * pairs["f2"]) / pairs["N"]
