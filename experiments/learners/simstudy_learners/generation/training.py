"""What generators read of a resampled training set."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from simstudy.training import Examples
from simstudy_learners.generation.alignment import learn_alignment
from simstudy_learners.generation.meanings import Meaning, delexicalised, sentences
from simstudy_learners.generation.phrases import Part, in_phrases


def seen_texts(examples: Examples, weights: NDArray[np.int64]) -> Iterator[tuple[Meaning, str, int]]:
    """Meaning, reference and weight of what is in a resampled training set.

    A reference shares the weight of its item with no other: an item with several references has each as often as its
    weight says. A ValueError says where an item has no references, and where nothing has a weight.

    Examples
    --------
    >>> examples = Examples([(("name", "Cotto"),), (("name", "Aromi"),)], [["Cotto."], ["Aromi!", "An Aromi."]])
    >>> [(text, weight) for _, text, weight in seen_texts(examples, np.array([0, 2]))]
    [('Aromi!', 2), ('An Aromi.', 2)]
    """
    if not np.any(weights > 0):
        raise ValueError("weights must be above 0 for at least one item")
    for number, (meaning, texts, weight) in enumerate(
        zip(examples.inputs, examples.gold, weights.tolist(), strict=True)
    ):
        if not meaning:
            raise ValueError(f"inputs must have at least one slot for every item, unlike item number {number}")
        if isinstance(texts, str) or not texts:
            raise ValueError(f"gold must have a list of at least one text for every item, unlike item number {number}")
        if weight > 0:
            for text in texts:
                yield meaning, text, weight


def seen_phrases(
    examples: Examples, weights: NDArray[np.int64], open_slots: tuple[str, ...], iterations: int
) -> Iterator[tuple[list[list[Part]], int]]:
    """The sentences of each reference of a resampled training set, in parts, and its weight.

    Values of open slots are placeholders; phrases are found by word alignment with so many iterations.
    """
    meanings, texts, heavy = [], [], []
    for meaning, text, weight in seen_texts(examples, weights):
        meanings.append(meaning)
        texts.append(delexicalised(text, meaning, open_slots))
        heavy.append(weight)
    alignment = learn_alignment(meanings, texts, np.array(heavy), open_slots, iterations)
    for meaning, tokens, weight in zip(meanings, texts, heavy, strict=True):
        yield [in_phrases(one, meaning, alignment, open_slots) for one in sentences(tokens)], weight
