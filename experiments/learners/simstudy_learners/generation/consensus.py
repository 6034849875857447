"""The most central of several texts: the one that is most like all others (minimum Bayes risk)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from simstudy_learners.generation.meanings import Tokens


class Consensus:
    """Texts that can be compared by the n-grams that they share.

    The likeness of two texts is the Dice coefficient of their sets of n-grams, 2 |A and B| / (|A| + |B|), for n of 1
    to `order`. The text of least Bayes risk (Kumar and Byrne 2004, "Minimum Bayes-risk decoding") is the one of the
    highest mean likeness.

    Examples
    --------
    >>> texts = [("a", "cheap", "pub"), ("a", "cheap", "inn"), ("cheap", "pub")]
    >>> Consensus(texts, order=2).likeness([0, 1, 2]).round(2).tolist()
    [[1.0, 0.6, 0.75], [0.6, 1.0, 0.25], [0.75, 0.25, 1.0]]
    """

    def __init__(self, texts: Sequence[Tokens], order: int = 4) -> None:
        known: dict[Tokens, int] = {}
        columns: list[int] = []
        bounds = [0]
        for text in texts:
            grams = (text[k : k + n] for n in range(1, order + 1) for k in range(len(text) - n + 1))
            columns += dict.fromkeys(known.setdefault(gram, len(known)) for gram in grams)
            bounds.append(len(columns))
        ones = np.ones(len(columns), dtype=np.int64)
        self._grams: Any = sparse.csr_matrix((ones, columns, bounds), shape=(len(texts), len(known)))
        self._sizes = np.diff(bounds)

    def likeness(self, chosen: Sequence[int]) -> NDArray[np.float64]:
        """The likeness (k, k) of k texts to one another."""
        rows = self._grams[list(chosen)]
        shared = np.asarray((rows @ rows.T).toarray())
        sizes = self._sizes[list(chosen)]
        alike: NDArray[np.float64] = 2 * shared / np.maximum(sizes[:, None] + sizes, 1)
        return alike

    def most_central(self, chosen: Sequence[int], weights: NDArray[np.float64]) -> int:
        """Which of these texts is most like all of them on average, by weight (k,); the first one of equals."""
        # Rounded: the order in which a processor adds must not decide.
        gain = np.round((self.likeness(chosen) * weights).sum(axis=1) / weights.sum(), 9)
        return chosen[int(gain.argmax())]
