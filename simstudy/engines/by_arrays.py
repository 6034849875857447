"""Long loops of `node_kernels` and `exact_kernels` by arrays: the same numbers to the last bit, without numba.

To load numba takes half a second. Arrays do the work of one pair of systems in some hundredths of a second.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from simstudy.compiled import _Compiled, _plain
from simstudy.metrics.base import FloatArray, IntArray

if TYPE_CHECKING:
    from simstudy.engines.contour_kernels import Tilted

#: Numbers that are multiplied together: a power of two.
BLOCK = 32

#: Products below this are taken to be 0.
NONE = 1e-12

#: Whether they are is tried with so many numbers at most, at so many nodes together.
TRIED, TOGETHER = 256, 512

# Nodes times numbers that arrays multiply, and contributions of all pairs of this process.
_MOST_FACTORS, _MOST_CONTRIBUTIONS = 2**18, 2**14

# Nodes that arrays look at.
_MOST_NODES = 2**17

# Nodes are looked at from so many starts on together: some 20 MB.
_STARTS = 64

_seen = 0


class Either(_Compiled):
    """A compiled function whose work is done by arrays where functions run as they are written.

    The function of arrays gives NotImplemented if there is too much to do: then the loops are compiled all the same.
    """

    def __init__(self, arrays: Callable[..., Any], function: Callable[..., Any]) -> None:
        super().__init__(function, {"nogil": True, "inline": "never", "error_model": "python"})
        self._arrays = arrays

    def __call__(self, *arguments: Any) -> Any:
        found = self._arrays(*arguments) if _plain.get() else NotImplemented
        return (self._dispatcher or self.dispatcher())(*arguments) if found is NotImplemented else found


def little(n_contributions: int) -> bool:
    """Whether so much work, and all that came before it, takes less time than to load numba."""
    global _seen
    _seen += n_contributions
    return _seen <= _MOST_CONTRIBUTIONS and "numba" not in sys.modules


def join(weights: FloatArray, _: FloatArray, step: int, top: int) -> None:
    """`exact_kernels.join`."""
    weights[step : top + 1] += weights[: max(top + 1 - step, 0)].copy()


def large_nodes(numbers: Tilted, delta: float, first: int, last: int) -> Any:
    """`node_kernels.large_nodes`; NotImplemented for very many nodes."""
    if last - first > _MOST_NODES:
        return NotImplemented
    starts = np.arange(first, last + 1, TOGETHER)
    parts = [_large_nodes(numbers, delta, starts[k : k + _STARTS], last) for k in range(0, len(starts), _STARTS)]
    return np.concatenate([nodes for nodes, _ in parts]), sum(n_factors for _, n_factors in parts)


def _large_nodes(numbers: Tilted, delta: float, starts: IntArray, last: int) -> tuple[IntArray, int]:
    """The same for the nodes from some of them on, `TOGETHER` each."""
    # From each start on the last node that may be large is `reached` - 1 nodes away.
    reached, n_factors = np.minimum(TOGETHER, last + 1 - starts), 0
    sizes = np.ones((len(starts), TOGETHER))
    for begin in range(0, min(len(numbers.values), TRIED), BLOCK):
        alive = np.flatnonzero(reached)
        if not len(alive):
            break
        some, width = slice(begin, begin + BLOCK), int(reached.max())
        n_factors += BLOCK * int(reached.sum())
        angles, tilts = 2.0 * numbers.values[some] * delta, numbers.tilts[some]
        twice, q = 2.0 * _cosines(angles), 0.5 - 0.5 * tilts * tilts
        now, before = (_cosines(np.multiply.outer(starts[alive] - back, angles)) for back in (0, 1))
        cosines = np.empty((width, *now.shape))
        for row in cosines:
            row[:] = now
            now, before = twice * now - before, now
        factors = np.ones((width, len(alive), BLOCK))
        factors[..., : len(angles)] = 1.0 - q + q * cosines
        for least in (2, 4):
            often = np.flatnonzero(numbers.times[some] >= least)
            factors[..., often] *= factors[..., often]
        while factors.shape[2] > 1:
            half = factors.shape[2] // 2
            factors = factors[..., :half] * factors[..., half:]
        sizes[alive, :width] *= factors[..., 0].T
        sizes[np.arange(TOGETHER) >= reached[:, None]] = 0.0
        large = np.abs(sizes) >= NONE * NONE
        reached = np.where(large.any(axis=1), TOGETHER - large[:, ::-1].argmax(axis=1), 0)
    rows, columns = np.nonzero(np.abs(sizes) >= NONE * NONE)
    return starts[rows] + columns, n_factors


def multiply(numbers: Tilted, delta: float, nodes: IntArray) -> Any:
    """`node_kernels.multiply`; NotImplemented for many nodes and numbers."""
    if len(nodes) * len(numbers.values) > _MOST_FACTORS:
        return NotImplemented
    products = np.zeros((2, len(nodes)))
    products[0] = 1.0
    real, imaginary = products
    n_factors = 0
    for begin in range(0, len(numbers.values), BLOCK):
        some = slice(begin, begin + BLOCK)
        live = np.flatnonzero(real * real + imaginary * imaginary >= NONE * NONE)
        n_factors += BLOCK * len(live)
        angles = numbers.values[some] * delta
        a, b = np.ones((len(live), BLOCK)), np.zeros((len(live), BLOCK))
        by_cosine, by_sine = _cosines(angles), _sines(angles)
        cosine, sine, before = np.ones(len(angles)), np.zeros(len(angles)), 0
        for row, node in enumerate(nodes[live].tolist()):
            if node == before + 1:
                cosine, sine = cosine * by_cosine - sine * by_sine, sine * by_cosine + cosine * by_sine
            else:
                cosine, sine = _cosines(node * angles), _sines(node * angles)
            before = node
            a[row, : len(angles)], b[row, : len(angles)] = cosine, sine * numbers.tilts[some]
        for v in np.flatnonzero(numbers.times[some] > 1):
            a[:, v], b[:, v] = _power(a[:, v], b[:, v], int(numbers.times[begin + v]))
        while a.shape[1] > 1:
            half = a.shape[1] // 2
            c, d, a, b = a[:, :half], b[:, :half], a[:, half:], b[:, half:]
            a, b = c * a - d * b, c * b + d * a
        c, d = real[live], imaginary[live]
        real[live], imaginary[live] = c * a[:, 0] - d * b[:, 0], c * b[:, 0] + d * a[:, 0]
    return products, n_factors


def _power(a: FloatArray, b: FloatArray, times: int) -> tuple[FloatArray, FloatArray]:
    real, imaginary = np.ones_like(a), np.zeros_like(b)
    while times > 0:
        if times & 1:
            real, imaginary = real * a - imaginary * b, real * b + imaginary * a
        a, b = a * a - b * b, 2.0 * a * b
        times >>= 1
    return real, imaginary


# Compiled loops take these from the C library, and numpy's own may differ from them in the last bit.
def _cosines(angles: FloatArray) -> FloatArray:
    return np.array([math.cos(angle) for angle in angles.ravel().tolist()]).reshape(angles.shape)


def _sines(angles: FloatArray) -> FloatArray:
    return np.array([math.sin(angle) for angle in angles.tolist()])
