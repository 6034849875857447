"""The sentence pairs of a resample with their word alignment: what every translator begins with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simstudy.learners.examples import Examples
from simstudy.learners.translation.texts import Integers, Text
from simstudy.learners.translation.word_alignment import Lexicon, Links, align, lexicon


class Bitext(NamedTuple):
    """Distinct sentence pairs, how often each is there, which words are linked, and how often words are."""

    source: Text
    target: Text
    weights: Integers
    links: Links
    words: Lexicon


def aligned(examples: Examples, weights: Integers, n_iterations: int) -> Bitext:
    """The pairs of weight at least 1, aligned by themselves alone.

    Raises
    ------
    ValueError
        Where no pair has a weight, or texts have not as many sentences.
    """
    chosen = np.flatnonzero(weights)
    if not len(chosen):
        raise ValueError("weights must be above 0 for at least one sentence pair")
    if len(examples.inputs) != len(examples.gold):
        raise ValueError(
            f"gold must have a translation for each of the {len(examples.inputs)} sentences, not {len(examples.gold)}"
        )
    source, target = examples.inputs.chosen(chosen), examples.gold.chosen(chosen)
    often = weights[chosen]
    links = align(source, target, often, n_iterations)
    return Bitext(source, target, often, links, lexicon(source, target, often, links))
