"""Reference texts of items: one or several each, as metrics of texts take them, and sacrebleu's counts of both."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from simstudy.metrics.base import IntArray


def check_texts(hypotheses: Sequence[str], n: int) -> None:
    """Raise a ValueError where there are not n texts, as there are items with references.

    Examples
    --------
    >>> check_texts(["one", "two"], 3)
    Traceback (most recent call last):
    ValueError: hypotheses must be 3 texts, one for each item with references, not 2
    """
    if len(hypotheses) != n:
        raise ValueError(f"hypotheses must be {n} texts, one for each item with references, not {len(hypotheses)}")


def check_references(references: Sequence[Sequence[str]]) -> None:
    """Raise a ValueError where there is no item, or one without a list of references.

    Examples
    --------
    >>> check_references([["one"], []])
    Traceback (most recent call last):
    ValueError: references must hold a list of at least one text for every item, unlike [] of item number 1
    """
    if not references:
        raise ValueError("references must hold at least one item")
    for i, own in enumerate(references):
        if isinstance(own, str) or not own:
            raise ValueError(
                f"references must hold a list of at least one text for every item, unlike {own!r} of item number {i}"
            )


class SacrebleuCounter:
    """Counts texts by a metric of sacrebleu, which holds the counts of n items' references."""

    def __init__(self, metric: Any, n: int) -> None:
        self._metric, self._n = metric, n
        self.signature = str(metric.get_signature())

    def counts(self, hypotheses: Sequence[str]) -> IntArray:
        """What sacrebleu.significance resamples of n texts; ValueError where there are not as many as items."""
        check_texts(hypotheses, self._n)
        return np.array(self._metric._extract_corpus_statistics(hypotheses, None), dtype=np.int64)


def reference_streams(references: Sequence[Sequence[str]]) -> list[tuple[Any, ...]]:
    """References as sacrebleu takes them: the first ones of all items, the second ones, …, None where there is none.

    Examples
    --------
    >>> reference_streams([["a", "b"], ["c"]])
    [('a', 'c'), ('b', None)]
    """
    check_references(references)
    return list(zip_longest(*references))
