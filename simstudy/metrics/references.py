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
    for i, own in enumerate(references):
        if isinstance(own, str) or not own:
            raise InputError(
                "references", f"must hold a list of at least one text for every item, unlike {own!r} of item number {i}"
            )


def one_label_each(metric: str, references: References) -> list[str]:
    """The one label of each item, without blanks around it; ValueError where an item has several."""
    for i, own in enumerate(references):
        if len(own) > 1:
            raise InputError(
                f"metric '{metric}' needs one label for each item: item number {i + 1} has {len(own)} references"
            )
    return [own[0].strip() for own in references]


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
