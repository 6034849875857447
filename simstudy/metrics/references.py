"""Reference texts of items, one or several each, and sacrebleu's counts of texts against them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from simstudy.metrics.base import Array, References, TextCounter
from simstudy.validation import InputError


def check_references(references: References) -> None:
    """Raise an InputError if there is no item, or one without a list of references."""
    if not references:
        raise InputError("references", "must hold at least one item")
    for i, texts in enumerate(references):
        if isinstance(texts, str) or not texts:
            rule = f"must hold a list of at least one text for every item, unlike {texts!r} of item number {i}"
            raise InputError("references", rule)


def single_references(metric: str, references: References) -> list[str]:
    """The one reference, or label, of each item; an InputError if an item has several."""
    check_references(references)
    for i, texts in enumerate(references):
        if len(texts) > 1:
            rule = f"metric '{metric}' needs one reference for each item: item number {i + 1} has {len(texts)}"
            raise InputError(rule)
    return [text for (text,) in references]


def reference_streams(references: References) -> list[tuple[Any, ...]]:
    """References as sacrebleu takes them: the first ones of all items, the second ones, …, None for missing ones."""
    check_references(references)
    return list(zip_longest(*references))


def sacrebleu_counter(
    metric: type, references: References, arranged: Callable[[Array], Array] = np.asarray, **options: Any
) -> TextCounter:
    """Counter of texts by a metric of sacrebleu, whose counts (n, S) are `arranged` in our order."""
    scorer = metric(references=reference_streams(references), **options)

    def count(hypotheses: Sequence[str]) -> Array:
        # The statistics that sacrebleu.significance resamples. TER's mean of reference lengths need not be whole.
        counts = np.array(scorer._extract_corpus_statistics(hypotheses, None))
        return arranged(counts.astype(np.int64) if (counts == np.rint(counts)).all() else counts)

    return TextCounter(len(references), count, str(scorer.get_signature()))
