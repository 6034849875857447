"""The sentence pairs of a resample with their word alignment: what every translator begins with."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simstudy.training import Examples
from simstudy_learners.alignment.aligners import Links, TextAligner
from simstudy_learners.alignment.bitexts import Bitext, numbered_bitexts
from simstudy_learners.alignment.models import DiagonalModel, Stage
from simstudy_learners.segments import Floats, Integers, chosen_segments


class Lexicon(NamedTuple):
    """Relative frequencies of linked words (Koehn et al. 2003, section 4.4).

    Attributes
    ----------
    to_target, to_source
        (word pairs,) how often both are linked by how often the source word is, and by how often the target word is; a
        word without a link counts once.
    target_of_none, source_of_none
        (words of the vocabulary,) how often a word has no link, by how often any word of its side has none.
    left_out
        (words of the vocabulary,) the share of a source word's occurrences that have no link.
    """

    to_target: Floats
    to_source: Floats
    target_of_none: Floats
    source_of_none: Floats
    left_out: Floats


class AlignedBitext(NamedTuple):
    """Distinct sentence pairs, how often each is there (at least once), and which words are linked.

    Both sides have their words from one vocabulary.

    Attributes
    ----------
    bitext, weights
        The sentence pairs (n,).
    links
        (cells,)
    lexicon
        How often words are linked.
    """

    bitext: Bitext
    weights: Integers
    links: Links
    lexicon: Lexicon

    @property
    def n_words(self) -> int:
        """Size of the vocabulary."""
        return self.bitext.lexicon.n_source


def aligned(examples: Examples, weights: Integers, n_iterations: int) -> AlignedBitext:
    """The pairs of weight at least 1, aligned by themselves alone: fast_align's model, grow-diag-final-and.

    A ValueError is raised where no pair has a weight, or texts have not as many sentences.
    """
    if len(examples.inputs) != len(examples.gold):
        raise ValueError(
            f"gold must have a translation for each of the {len(examples.inputs)} sentences, not {len(examples.gold)}"
        )
    chosen = np.flatnonzero(weights)
    sides: list[Integers] = []
    for text in (examples.inputs, examples.gold):
        bounds, rows = chosen_segments(text.bounds, chosen)
        sides += [text.words[rows], bounds]
    n_words = len(examples.inputs.vocabulary)
    (bitext,) = numbered_bitexts([(sides[0], sides[1], sides[2], sides[3])], np.arange(n_words), n_words)
    often = weights[chosen]
    aligner = TextAligner((Stage(DiagonalModel(adapts=False), n_iterations),))
    links = aligner.combine(bitext, aligner.posteriors(bitext, often)(bitext))
    return AlignedBitext(bitext, often, links, lexicon(bitext, often, links))


def lexicon(bitext: Bitext, weights: Integers, links: Links) -> Lexicon:
    """Count links and words without any, each sentence pair as often as its weight says."""
    pairs, n_words = bitext.lexicon, bitext.lexicon.n_source
    often = np.bincount(bitext.pairs[links], weights[bitext.sentence_of_cell()[links]], len(pairs.source))
    alone = []
    sides = (bitext.source, bitext.first_source), (bitext.target, bitext.first_target)
    for (words, bounds), word_of_cell in zip(sides, bitext.words_of_cells(), strict=True):
        counts = np.repeat(weights, np.diff(bounds))
        counts[word_of_cell[links]] = 0
        alone.append(np.bincount(words, counts, n_words))
    of_source = np.bincount(pairs.source, often, n_words) + alone[0]
    of_target = np.bincount(pairs.target, often, n_words) + alone[1]
    return Lexicon(
        to_target=often / of_source[pairs.source],
        to_source=often / of_target[pairs.target],
        target_of_none=alone[1] / max(1, alone[1].sum()),
        source_of_none=alone[0] / max(1, alone[0].sum()),
        left_out=alone[0] / np.maximum(1, of_source),
    )
