"""What a supervised aligner sees of a possible link: posteriors, places, association, spelling, neighbours."""

from __future__ import annotations

import numpy as np

from simstudy_learners.alignment.bitexts import Bitext
from simstudy_learners.alignment.kernels import Posteriors
from simstudy_learners.segments import Floats, Integers

# Posteriors below this are all alike.
_LEAST = 1e-6


def dice(bitext: Bitext, weights: Integers) -> Floats:
    """Dice's coefficient (pairs,): 2 n(e, f) / (n(e) + n(f)), by the sentence pairs that have the words, as weighted.

    Examples
    --------
    >>> from simstudy_learners.alignment.bitexts import index_bitexts
    >>> (bitext,) = index_bitexts([[(["a"], ["c"]), (["a", "b"], ["c", "d"])]])
    >>> dice(bitext, np.array([1, 1])).round(2).tolist()   # (a, c), (a, d), (b, c), (b, d)
    [1.0, 0.67, 0.67, 1.0]
    """
    lexicon = bitext.lexicon
    sides = (
        (bitext.pairs, np.diff(bitext.first_cell), len(lexicon.source)),
        (bitext.source, np.diff(bitext.first_source), lexicon.n_source),
        (bitext.target, np.diff(bitext.first_target), lexicon.n_target),
    )
    together, of_source, of_target = (_sentences_with(numbers, lengths, n, weights) for numbers, lengths, n in sides)
    either = of_source[lexicon.source] + of_target[lexicon.target]
    ratio: Floats = np.divide(2 * together, either, out=np.zeros(len(together)), where=either > 0)
    return ratio


def _sentences_with(numbers: Integers, lengths: Integers, n: int, weights: Integers) -> Floats:
    """In how many sentence pairs, as weighted, each of n words or word pairs is."""
    codes = np.unique(np.repeat(np.arange(len(lengths)), lengths) * n + numbers)
    return np.bincount(codes % n, weights[codes // n], n).astype(np.float64)


def link_features(bitext: Bitext, found: tuple[Posteriors, Posteriors], association: Floats) -> Floats:
    """Features (cells, 15) of the links of all cells.

    `found` has the posteriors of both directions, `association` (pairs,) how much the words of a pair go together.
    """
    forward, backward = (one.cells for one in found)
    both = np.sqrt(forward * backward)
    i, j = bitext.places()
    sentence = bitext.sentence_of_cell()
    n_source, n_target = (np.diff(first)[sentence] for first in (bitext.first_source, bitext.first_target))
    of_source, of_target = bitext.words_of_cells()
    own = association[bitext.pairs]

    def beside(down: int, right: int) -> Floats:
        """The posterior of the link so many source words and target words on, 0 outside of the sentence."""
        there = (i + down >= 0) & (i + down < n_source) & (j + right >= 0) & (j + right < n_target)
        cells = np.arange(len(both)) + down * n_target + right
        return np.where(there, both[np.where(there, cells, 0)], 0.0)

    columns = [
        forward,
        backward,
        both,
        np.log(np.maximum(forward, _LEAST)),
        np.log(np.maximum(backward, _LEAST)),
        np.abs((i + 1) / n_source - (j + 1) / n_target),
        own,
        bitext.lexicon.alike[bitext.pairs].astype(np.float64),
        beside(-1, -1) + beside(1, 1),
        beside(-1, 1) + beside(1, -1),
        beside(0, -1) + beside(0, 1),
        beside(-1, 0) + beside(1, 0),
        _best_other(both, of_source) + _best_other(both, of_target),
        np.minimum(own - _best_other(own, of_source), own - _best_other(own, of_target)),
        found[0].nulls[of_target] + found[1].nulls[of_source],
    ]
    return np.stack(columns, axis=1)


def _best_other(values: Floats, word: Integers) -> Floats:
    """The largest value (cells,) among the other cells of the same word, 0 where there are none."""
    best = np.zeros(int(word.max()) + 1)
    np.maximum.at(best, word, values)
    is_best = values == best[word]
    # The last of equal cells counts as the best one; the others are beside an equal one.
    holder = np.full(len(best), -1)
    holder[word[is_best]] = np.flatnonzero(is_best)
    rest = values.copy()
    rest[holder[holder >= 0]] = 0.0
    second = np.zeros(len(best))
    np.maximum.at(second, word, rest)
    return np.where(holder[word] == np.arange(len(values)), second[word], best[word])
