"""Recall, precision and F-measures of the message understanding conferences, from counts of fills per message."""

from __future__ import annotations

import numpy as np

from simstudy.metrics.base import Array, Ratio
from simstudy.metrics.f_measure import FBeta, Precision, Recall


class _Fills(Ratio):
    """A ratio of (correct, guessed, gold) counts, taken of the fills of a message, in percent.

    An item is a message: (possible, actual, correct, partial) fills, the four-tuple of Chinchor (1992, "Elements of
    hypothesis testing"). A partial match is worth one half: what `counts` calls correct is correct + partial / 2,
    guessed is actual, gold is possible.
    """

    def __init__(self, name: str, counts: Ratio) -> None:
        above, below = (_of_fills(weights) for weights in (counts.numerator, counts.denominator))
        # Not shared: optional fills are possible only where a system has them (Chinchor 1992).
        super().__init__(
            name,
            ("possible", "actual", "correct", "partial"),
            numerator=above,
            denominator=below,
            of_item=("possible",),
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


class MucRecall(_Fills):
    """100 * (correct + partial / 2) / possible; 0 where there is nothing to find (Chinchor 1992).

    Examples
    --------
    >>> import numpy as np
    >>> float(MucRecall().score(np.array([20, 16, 7, 2])))   # (7 + 1) / 20
    40.0
    """

    def __init__(self) -> None:
        super().__init__("muc_recall", Recall())


class MucPrecision(_Fills):
    """100 * (correct + partial / 2) / actual; 0 where nothing was filled (Chinchor 1992).

    Examples
    --------
    >>> import numpy as np
    >>> float(MucPrecision().score(np.array([20, 16, 7, 2])))   # (7 + 1) / 16
    50.0
    """

    def __init__(self) -> None:
        super().__init__("muc_precision", Precision())


class MucF(_Fills):
    """F-measure of MUC precision P and recall R in percent: (1 + beta^2) P R / (beta^2 P + R).

    Chinchor (1992, figures 9-11) reports three weightings: "P&R" (`muc_f`, beta 1), "2P&R", precision twice as
    important (`muc_f_2p`, beta 1/2), and "P&2R", recall twice as important (`muc_f_2r`, beta 2).

    Parameters
    ----------
    name
        The metric's name.
    beta
        As for `FBeta`: a positive number, above 1 in favour of recall.

    Raises
    ------
    ValueError
        Where beta is not positive.

    Examples
    --------
    >>> import numpy as np
    >>> float(MucF("muc_f", 1).score(np.array([20, 12, 7, 2])))   # 2 * 8 / (20 + 12)
    50.0
    """

    def __init__(self, name: str, beta: float) -> None:
        super().__init__(name, FBeta(beta))


def _of_fills(weights: tuple[int, ...]) -> tuple[int, ...]:
    """Weights of (correct, guessed, gold) as weights of fills, all doubled so that half a match stays an integer."""
    correct, guessed, gold = weights
    return 2 * gold, 2 * guessed, 2 * correct, correct
