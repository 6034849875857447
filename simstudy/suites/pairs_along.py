"""Tables of pairs in one order, whichever system is ahead in each of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.metrics.base import FloatArray


def along(frame: pd.DataFrame, pairs: tuple[NDArray[np.object_], NDArray[np.object_]]) -> pd.DataFrame:
    """Comparisons in this order of pairs, their gains turned where the pair is the other way round."""
    rows = {pair: row for row, pair in enumerate(zip(frame["system_a"], frame["system_b"], strict=True))}
    both = list(zip(*pairs, strict=True))
    turned = np.array([pair not in rows for pair in both])
    found = frame.iloc[[rows.get((a, b), rows.get((b, a), -1)) for a, b in both]].reset_index(drop=True)
    low, high = found["gain_low"], found["gain_high"]
    swapped = {
        "gain": found["gain"].where(~turned, -found["gain"]),
        "gain_low": low.where(~turned, -high),
        "gain_high": high.where(~turned, -low),
    }
    for one, other in (("score_a", "score_b"), ("wins", "losses")):
        swapped |= {one: found[one].where(~turned, found[other]), other: found[other].where(~turned, found[one])}
    return found.assign(**swapped, system_a=pairs[0], system_b=pairs[1])


def rounded(gains: FloatArray, scores: FloatArray) -> FloatArray:
    """Gains without what rounding leaves of none."""
    return np.asarray(np.where(np.abs(gains) > 1e-12 * np.abs(scores).max(initial=0), gains, 0.0))
