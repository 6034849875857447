"""Reference texts of items: one or several each, as metrics of texts take them, and sacrebleu's counts of both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from simstudy.metrics.base import Array, IntArray, References, TextCounter
from simstudy.validation import InputError


def check_references(references: References) -> None:
    """Raise a ValueError where there is no item, or one without a list of references."""
    if not references:
        raise InputError("references", "must hold at least one item")
    for i, texts in enumerate(references):
        if isinstance(texts, str) or not texts:
            rule = f"must hold a list of at least one text for every item, unlike {texts!r} of item number {i}"
            raise InputError("references", rule)


def single_labels(metric: str, references: References) -> list[str]:
    """The one label of each item, without blanks around it; ValueError where an item has several."""
    for i, labels in enumerate(references):
        if len(labels) > 1:
            raise InputError(
                f"metric '{metric}' needs one label for each item: item number {i + 1} has {len(labels)} references"
            )
    return [labels[0].strip() for labels in references]


def reference_streams(references: References) -> list[tuple[Any, ...]]:
    """References as sacrebleu takes them: the first ones of all items, the second ones, …, None where there is none."""
    check_references(references)
    return list(zip_longest(*references))


def sacrebleu_counter(metric: Any, n_items: int, arranged: Callable[[IntArray], IntArray]) -> TextCounter:
    """Counts texts by a metric of sacrebleu that holds references; its counts (n, S) are arranged in our order."""

    def count(hypotheses: Sequence[str]) -> Array:
        # What sacrebleu.significance resamples.
        return arranged(np.array(metric._extract_corpus_statistics(hypotheses, None), dtype=np.int64))

    return TextCounter(n_items, count, str(metric.get_signature()))
