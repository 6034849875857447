"""Accuracy: the share of decisions that are correct, in percent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from simstudy.metrics.base import Array, IntArray, TextCounter
from simstudy.metrics.ratio import Ratio
from simstudy.metrics.references import one_label_each


class Accuracy(Ratio):
    """Micro accuracy in percent, from (correct, total) per item.

    An item with one decision has total 1; a sentence in tagging or parsing has as many as it has words.
    """

    def __init__(self) -> None:
        super().__init__(
            "accuracy", ("correct", "total"), numerator=(1, 0), denominator=(0, 1),
            of_item=("total",), shared=("total",), unit="percent", item_range=(0, 1),
        )  # fmt: skip

    def text_counter(
        self, references: Sequence[Sequence[str]], *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter:
        labels = one_label_each(self.name, references)

        def count(said: Sequence[str]) -> IntArray:
            # Blanks around a label do not count.
            right = [own.strip() == wanted for own, wanted in zip(said, labels, strict=True)]
            return np.stack([right, np.ones(len(right))], axis=-1).astype(np.int64)

        return TextCounter(len(labels), count)

    def check(self, statistics: Array) -> None:
        correct, total = statistics[..., 0], statistics[..., 1]
        self._require((correct >= 0) & (correct <= total), "0 <= correct <= total")
