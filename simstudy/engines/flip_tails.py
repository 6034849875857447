"""P-values of sign flips without random flips: the tail of the distribution that the flips are drawn from."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simstudy.compiled import plain
from simstudy.engines import flip_kernels
from simstudy.engines.by_arrays import little
from simstudy.engines.contour_kernels import LEAST_TAIL, MOST_ERROR, MOST_ERROR_OF_SMALL, SMALL
from simstudy.engines.flip_kernels import FlippedSums
from simstudy.engines.question import Question
from simstudy.engines.resampling import side_by_side
from simstudy.metrics.base import FloatArray

#: Why a share is not known, for the end of a sentence on two systems.
NOT_KNOWN = "their differences are nearly multiples of one another, so that many sums of them are nearly equal"


def never_0(shares: FloatArray, question: Question) -> FloatArray:
    """Shares of all flips or shuffles, of which what was observed is one if ties count; NaN stays."""
    return shares if question.convention.strict else np.maximum(shares, LEAST_TAIL)


def flipped_shares(columns: FloatArray, sums: FlippedSums, which: NDArray[np.intp], question: Question) -> FloatArray:
    """The share of all flips that are extreme, for some pairs (P',); NaN if the bound of its error is too large.

    `columns` are the systems' contributions, as for `flip_kernels.flip_tails`, and `sums` are of all pairs.
    """

    def shares(part: NDArray[np.intp]) -> FloatArray:
        found = np.empty((2, len(part)))
        with plain(little(len(part) * columns.shape[1])):
            flip_kernels.flip_tails(columns, question.pairs, sums, part, found)
        tails, errors = found
        most = np.where(tails >= SMALL, MOST_ERROR, MOST_ERROR_OF_SMALL)
        tails[errors > most * tails] = np.nan
        if question.two_sided:
            tails = np.where(sums.least[part] <= 0, 1.0, np.minimum(2 * tails, 1.0))
        return np.asarray(tails)

    return side_by_side(shares, which, question.n_jobs)
