"""What the perceptrons over hashed features share: where a feature's weights are, and averages of weights.

A feature is a template and one or two small numbers; its weights stand in the row of a table that a hash of the three
says. Weights are whole numbers while they are learnt, so that scores are exact and any machine learns the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba.extending import register_jitable
from numpy.typing import NDArray

# A feature's two parts must be below 2^PART, its template below 2^(63 - 2 PART).
PART = 27


class Learnt(NamedTuple):
    """What a perceptron learns into, (rows, columns) each.

    Attributes
    ----------
    weights
        Whole numbers.
    sums
        Every change of a weight times the number of steps before it.
    """

    weights: NDArray[np.int32]
    sums: NDArray[np.int64]


@register_jitable
def slot(template, x, y, mask):
    """The row of a feature in a table of mask + 1 rows: multiply and shift, as in MurmurHash3.

    The constants are those of Stafford's variant of it, the first less its highest bit, so that it is a signed number.
    """
    key = (template << 54) | (x << 27) | y
    key = (key ^ (key >> 31)) * 0x3F58476D1CE4E5B9
    key = (key ^ (key >> 27)) * 0x14D049BB133111EB
    return (key ^ (key >> 31)) & mask


def tables(bits: int, columns: int) -> Learnt:
    """Empty weights and sums of 2^bits features."""
    return Learnt(np.zeros((2**bits, columns), np.int32), np.zeros((2**bits, columns), np.int64))


def averaged(learnt: Learnt, n_steps: int) -> NDArray[np.float32]:
    """The mean of a perceptron's weights over all steps (Freund and Schapire 1999; Collins 2002).

    It is found from `Learnt.sums`, so that only changes cost time (Daumé 2006, section 2.3).
    """
    mean: NDArray[np.float32] = (learnt.weights - learnt.sums / max(n_steps, 1)).astype(np.float32)
    return mean
