"""Links from posteriors, and one alignment of two directed ones (Och and Ney 2003; Koehn, Och and Marcu 2003)."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy.validation import check_choice
from simstudy_learners.alignment.bitexts import Bitext
from simstudy_learners.alignment.kernels import Posteriors
from simstudy_learners.alignment.models import Side

Links = NDArray[np.bool_]

#: Ways to combine two directed alignments.
SYMMETRISATIONS = ("intersection", "union", "grow-diag", "grow-diag-final", "grow-diag-final-and")

# Koehn's order of neighbours: which of two is added first can decide whether the other is.
_BESIDE = ((-1, 0), (0, -1), (1, 0), (0, 1), (-1, -1), (-1, 1), (1, -1), (1, 1))

# Posteriors that differ by less are equal: whichever way a machine rounds, links are the same.
_DECIMALS = 9


def best_links(side: Side, found: Posteriors) -> Links:
    """The links (cells,) of one direction: of each generated word the most probable one, unless the empty word is more.

    For models in which words are linked independently it is the most probable alignment; of equal links the first.
    """
    cells, nulls = np.round(found.cells, _DECIMALS), np.round(found.nulls, _DECIMALS)
    word = side.bitext.words_of_cells()[0 if side.turned else 1]
    best = np.zeros(len(nulls))
    np.maximum.at(best, word, cells)
    candidates = np.flatnonzero((cells == best[word]) & (cells > nulls[word]))
    _, where = np.unique(word[candidates], return_index=True)
    links = np.zeros(len(cells), bool)
    links[candidates[where]] = True
    return links


def probable_links(forward: Posteriors, backward: Posteriors, threshold: float) -> Links:
    """The links (cells,) whose posteriors of both directions have a geometric mean above a threshold.

    Liang et al. (2006, section 3.3) decode so, by the product.
    """
    links: Links = np.round(np.sqrt(forward.cells * backward.cells), _DECIMALS) > threshold
    return links


def symmetrise(bitext: Bitext, forward: Links, backward: Links, how: str) -> Links:
    """The links (cells,) of two directed alignments (cells,), combined.

    grow-diag begins with the intersection and adds links of the union beside links that are there, diagonally too,
    where a word of either side has none yet, until there is nothing to add: points in the order of source and target
    words, neighbours first sideways, then diagonal, as in Koehn's pseudocode. final adds those links of the forward and
    then of the backward alignment one of whose words has none yet; final-and those both of whose words have none. A
    ValueError is raised for an unknown way.

    Examples
    --------
    >>> from simstudy_learners.alignment.bitexts import index_bitexts
    >>> (bitext,) = index_bitexts([[(["a", "b"], ["c", "d"])]])
    >>> forward, backward = np.array([1, 0, 0, 1], bool), np.array([1, 1, 0, 0], bool)
    >>> symmetrise(bitext, forward, backward, "intersection").tolist()
    [True, False, False, False]
    >>> symmetrise(bitext, forward, backward, "grow-diag").tolist()
    [True, True, False, True]
    """
    check_choice("symmetrisation", how, SYMMETRISATIONS)
    if how == "union":
        return forward | backward
    combined: Links = forward & backward
    if how != "intersection":
        _grow(bitext.bounds, (forward, backward), combined, how != "grow-diag", how.endswith("-and"))
    return combined


@njit(cache=True, nogil=True)
def _grow(bounds, directions, combined, final, both_free):
    first_source, first_target, first_cell = bounds
    forward, backward = directions
    for s in range(len(first_cell) - 1):
        m, n = first_source[s + 1] - first_source[s], first_target[s + 1] - first_target[s]
        at = first_cell[s]
        source_linked, target_linked = np.zeros(m, np.bool_), np.zeros(n, np.bool_)
        for i in range(m):
            for j in range(n):
                if combined[at + i * n + j]:
                    source_linked[i] = target_linked[j] = True
        growing = True
        while growing:
            growing = False
            for i in range(m):
                for j in range(n):
                    if not combined[at + i * n + j]:
                        continue
                    for down, right in _BESIDE:
                        a, b = i + down, j + right
                        if a < 0 or b < 0 or a >= m or b >= n:
                            continue
                        cell = at + a * n + b
                        free = not source_linked[a] or not target_linked[b]
                        if free and (forward[cell] or backward[cell]):
                            combined[cell] = source_linked[a] = target_linked[b] = growing = True
        if final:
            for directed in directions:
                for i in range(m):
                    for j in range(n):
                        cell = at + i * n + j
                        free = not source_linked[i] and not target_linked[j]
                        if not both_free:
                            free = not source_linked[i] or not target_linked[j]
                        if directed[cell] and free:
                            combined[cell] = source_linked[i] = target_linked[j] = True
