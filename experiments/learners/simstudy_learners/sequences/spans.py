"""Statistics of labelled spans, counted for all sentences at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.training import Examples


def count_spans(examples: Examples, predicted: NDArray[Any]) -> NDArray[np.int32]:
    """Statistics (n, 3) of the BIO tags given to tokens: correct, guessed and gold spans of each sentence.

    The same numbers as `simstudy.metrics.annotations.span_counts` of each sentence, as conlleval reads them: an I- that
    continues nothing of its label begins a span.
    """
    rows = examples.inputs
    first_of_sentence = np.zeros(len(examples.gold), bool)
    first_of_sentence[rows.first_rows()[:-1]] = True
    (guess, guess_begins, guess_ends), (gold, gold_begins, gold_ends) = (
        _spans(tags, first_of_sentence) for tags in (np.asarray(predicted), examples.gold)
    )
    correct = guess_begins & gold_begins & (guess == gold) & (guess_ends == gold_ends)
    of_tokens = np.stack([correct, guess_begins, gold_begins], axis=1).astype(np.int32)
    return np.add.reduceat(of_tokens, rows.first_rows()[:-1], axis=0)


def _spans(
    tags: NDArray[Any], first_of_sentence: NDArray[np.bool_]
) -> tuple[NDArray[np.str_], NDArray[np.bool_], NDArray[np.int64]]:
    """Each token's label, whether a span begins with it, and where the span that begins with it would end."""
    names, code = np.unique(tags, return_inverse=True)
    label = np.array([name[2:] for name in names])[code]
    outside = (names == "O")[code]
    begins_anew = np.array([name.startswith("B-") for name in names])[code]
    other_before = first_of_sentence | (label != np.roll(label, 1))
    begins = ~outside & (begins_anew | other_before)
    borders = np.append(np.flatnonzero(begins | outside | first_of_sentence), len(tags))
    ends = borders[np.searchsorted(borders, np.arange(len(tags)), side="right")]
    return label, begins, ends
