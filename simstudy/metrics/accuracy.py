"""Accuracy: the share of decisions that are correct, in percent."""

from __future__ import annotations

from simstudy.metrics.base import Array, References, TextCounter
from simstudy.metrics.per_class import label_counts
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
        self, references: References, *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter:
        labels = one_label_each(self.name, references)
        return TextCounter(len(labels), lambda said: label_counts(self, labels, [own.strip() for own in said]))

    def check(self, statistics: Array) -> None:
        correct, total = statistics[..., 0], statistics[..., 1]
        self._require((correct >= 0) & (correct <= total), "0 <= correct <= total")
