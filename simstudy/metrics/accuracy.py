"""Accuracy: the share of decisions that are correct, in percent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simstudy.metrics.base import Array, IntArray, TextCounter
from simstudy.metrics.ratio import Ratio
from simstudy.metrics.references import check_texts


class Accuracy(Ratio):
    """Micro accuracy in percent, from (correct, total) per item.

    An item with one decision has total 1; a sentence in tagging or parsing has as many as it has words.

    Examples
    --------
    >>> import numpy as np
    >>> float(Accuracy().score(np.array([3, 4])))
    75.0
    """

    def __init__(self) -> None:
        super().__init__(
            "accuracy",
            ("correct", "total"),
            numerator=(1, 0),
            denominator=(0, 1),
            of_item=("total",),
            shared=("total",),
            unit="percent",
            item_range=(0, 1),
        )

    def text_counter(
        self, references: Sequence[Sequence[str]], *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter:
        return LabelCounter(references)

    def check(self, statistics: Array) -> None:
        correct, total = statistics[..., 0], statistics[..., 1]
        self._require((correct >= 0) & (correct <= total), "0 <= correct <= total")


class LabelCounter:
    """Counts (correct, total) of labels: right where they equal the one that is wanted; blanks around do not count.

    Raises
    ------
    ValueError
        For an item of several labels.

    Examples
    --------
    >>> LabelCounter([["noun"], ["verb"]]).statistics(["noun ", "noun"]).tolist()
    [[1, 1], [0, 1]]
    """

    signature = ""

    def __init__(self, references: Sequence[Sequence[str]]) -> None:
        for i, own in enumerate(references):
            if len(own) > 1:
                raise ValueError(
                    f"metric 'accuracy' takes one label an item: item number {i + 1} has {len(own)} references"
                )
        self._labels = [own[0].strip() for own in references]

    def statistics(self, hypotheses: Sequence[str]) -> IntArray:
        """Statistics (n, 2) of n labels; ValueError where there are not as many as items."""
        check_texts(hypotheses, len(self._labels))
        right = [own.strip() == wanted for own, wanted in zip(hypotheses, self._labels, strict=True)]
        return np.stack([right, np.ones(len(right))], axis=-1).astype(np.int64)
