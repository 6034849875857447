"""Recall, precision and F-measures of the message understanding conferences, from counts of fills per message."""

from __future__ import annotations

import numpy as np

from simstudy.metrics.base import Array
from simstudy.metrics.f_measure import PRECISION, RECALL, Counts, FBeta
from simstudy.metrics.ratio import Ratio


class Fills(Ratio):
    """A ratio of (correct, guessed, gold) counts, taken of the fills of a message, in percent.

    An item is a message: (possible, actual, correct, partial) fills, the four-tuple of Chinchor (1992, "Elements of
    hypothesis testing"). A partial match is worth one half: what `counts` calls correct is correct + partial / 2,
    guessed is actual, gold is possible.

    Examples
    --------
    >>> [float(metric.score(np.array([20, 16, 7, 2]))) for metric in MUC[:2]]   # (7 + 1) / 20 and (7 + 1) / 16
    [40.0, 50.0]
    >>> float(MUC[2].score(np.array([20, 12, 7, 2])))   # 2 * 8 / (20 + 12)
    50.0
    """

    def __init__(self, name: str, counts: Counts, label: str) -> None:
        # All weights are doubled, so that half a match stays an integer.
        above, below = (
            (2 * gold, 2 * guessed, 2 * correct, correct)
            for correct, guessed, gold in (counts.numerator, counts.denominator)
        )
        # Not shared: optional fills are possible only where a system has them (Chinchor 1992).
        super().__init__(
            name,
            ("possible", "actual", "correct", "partial"),
            numerator=above,
            denominator=below,
            of_item=("possible",),
            label=label,
            unit="percent",
        )

    def check(self, statistics: Array) -> None:
        possible, actual, correct, partial = (statistics[..., s] for s in range(4))
        # Narrow integers would wrap around.
        found = correct + partial.astype(np.result_type(partial, np.int64))
        self._require(
            (correct >= 0) & (partial >= 0) & (found <= possible) & (found <= actual),
            "0 <= correct, 0 <= partial, correct + partial <= possible and correct + partial <= actual",
        )


#: Chinchor (1992, figures 9-11) reports F in three weightings: "P&R", "2P&R" with precision twice as important, and
#: "P&2R" with recall twice as important.
MUC = (
    Fills("muc_recall", RECALL, "MUC recall"),
    Fills("muc_precision", PRECISION, "MUC precision"),
    Fills("muc_f", FBeta(1), "MUC P&R"),
    Fills("muc_f_2p", FBeta(0.5), "MUC 2P&R"),
    Fills("muc_f_2r", FBeta(2), "MUC P&2R"),
)
