"""Phrase pairs that word alignment allows (Och and Ney 2004), and what a phrase-based model knows of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from simstudy_learners.alignment.aligners import Links
from simstudy_learners.alignment.bitexts import Bitext
from simstudy_learners.language_models.ngrams import Ngrams
from simstudy_learners.segments import Floats, Integers, bounds_of
from simstudy_learners.translation.aligned_bitexts import AlignedBitext

#: What is known of a phrase pair, in the order of the columns of `PhraseTable.features`.
FEATURES = ("p(target|source)", "p(source|target)", "lex(target|source)", "lex(source|target)")


class PhraseTable(NamedTuple):
    """Distinct phrase pairs, by source phrase.

    Attributes
    ----------
    sources
        The n-grams of the source side of the training set.
    bounds
        (source n-grams + 1,): the pairs of n-gram k are bounds[k] … bounds[k + 1] - 1.
    words, word_bounds
        The words of the target phrases, of pair i from word_bounds[i] on.
    features
        (pairs, 4) logarithms, see `FEATURES`.
    """

    sources: Ngrams
    bounds: Integers
    words: Integers
    word_bounds: Integers
    features: Floats


def tabulated(corpus: AlignedBitext, rows: Integers, longest: int) -> tuple[PhraseTable, Integers]:
    """A table of phrase pairs by where they are, see `extracted`; target phrases may be empty.

    Its features are relative frequencies and lexical weights (Koehn et al. 2003, sections 3 and 4.4). The lexical
    weight of a pair that was found with several alignments is the highest. A word that is in no phrase pair by itself
    has its links instead, as far as there are any, with their relative frequencies as all features. The results are the
    table of the distinct phrase pairs, and which pair each row is (rows,).
    """
    bitext, lexicon = corpus.bitext, corpus.lexicon
    sources, source_numbers = Ngrams.of(bitext.source, bitext.first_source, corpus.n_words, longest)
    targets, target_numbers = Ngrams.of(bitext.target, bitext.first_target, corpus.n_words, longest)
    pair, first, length, target_first, target_length = rows.T
    a = source_numbers[bitext.first_source[pair] + first, length - 1]
    # Number 0 is the empty target phrase.
    b = np.zeros(len(rows), np.int64)
    some = target_length > 0
    b[some] = 1 + target_numbers[bitext.first_target[pair[some]] + target_first[some], target_length[some] - 1]
    n_targets = targets.firsts[-1] + 1
    keys, which = np.unique(a * n_targets + b, return_inverse=True)
    count = np.bincount(which, corpus.weights[pair], len(keys))
    a, b = keys // n_targets, keys % n_targets
    features = np.full((len(keys), len(FEATURES)), -np.inf)
    features[:, 0] = np.log(count / np.bincount(a, count)[a])
    features[:, 1] = np.log(count / np.bincount(b, count)[b])
    lexical = _lexical_weights(corpus, rows)
    for k in range(2):
        np.maximum.at(features[:, 2 + k], which, lexical[:, k])
    # Words that are in no pair by themselves.
    linked = np.flatnonzero(lexicon.to_target)
    word = np.searchsorted(sources.keys[0], bitext.lexicon.source[linked])
    lone, word = linked[~np.isin(word, a)], word[~np.isin(word, a)]
    more = np.log(np.stack([lexicon.to_target, lexicon.to_source] * 2, axis=1)[lone])
    a = np.concatenate([a, word])
    b = np.concatenate([b, 1 + np.searchsorted(targets.keys[0], bitext.lexicon.target[lone])])
    order = np.argsort(a, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    a, b, features = a[order], b[order], np.concatenate([features, more])[order]
    # One place of each target n-gram, to read its words from.
    at, level = np.nonzero(target_numbers >= 0)
    place, size = np.zeros((2, n_targets), np.int64)
    place[1 + target_numbers[at, level]], size[1 + target_numbers[at, level]] = at, level + 1
    word_bounds = bounds_of(size[b])
    places = np.arange(word_bounds[-1]) + np.repeat(place[b] - word_bounds[:-1], size[b])
    bounds = np.searchsorted(a, np.arange(sources.firsts[-1] + 1))
    return PhraseTable(sources, bounds, bitext.target[places], word_bounds, features), number[which]


def extracted(bitext: Bitext, links: Links, longest: int) -> Integers:
    """All phrase pairs of at most `longest` words a side that no link leaves and that have a link, wherever they are.

    A row (found, 5) has the sentence pair, first word and number of words of the source phrase, and the same of the
    target phrase.
    """
    rows = np.empty((_extract(bitext.bounds, links, longest, np.empty((0, 5), np.int64)), 5), np.int64)
    _extract(bitext.bounds, links, longest, rows)
    return rows


@njit(cache=True, nogil=True)
def _extract(all_bounds, linked, longest, rows):
    """Fill rows, or only count them where there are none to fill."""
    source_bounds, target_bounds, bounds = all_bounds
    found = 0
    for k in range(len(bounds) - 1):
        m = source_bounds[k + 1] - source_bounds[k]
        n = target_bounds[k + 1] - target_bounds[k]
        own = linked[bounds[k] : bounds[k + 1]].reshape(m, n)
        low, high = np.full(m, n), np.full(m, -1)
        low_source, high_source = np.full(n, m), np.full(n, -1)
        for i in range(m):
            for j in range(n):
                if own[i, j]:
                    low[i], high[i] = min(low[i], j), max(high[i], j)
                    low_source[j], high_source[j] = min(low_source[j], i), max(high_source[j], i)
        for first in range(m):
            least, most = n, -1
            for last in range(first, min(m, first + longest)):
                least, most = min(least, low[last]), max(most, high[last])
                if most < 0 or most - least >= longest:
                    continue
                closed = True
                for j in range(least, most + 1):
                    if low_source[j] < first or high_source[j] > last:
                        closed = False
                        break
                if not closed:
                    continue
                # Words without links beside the target phrase may be part of it.
                start = least
                while True:
                    stop = most
                    while stop - start < longest:
                        if len(rows):
                            rows[found, 0], rows[found, 1], rows[found, 2] = k, first, last - first + 1
                            rows[found, 3], rows[found, 4] = start, stop - start + 1
                        found += 1
                        stop += 1
                        if stop >= n or high_source[stop] >= 0:
                            break
                    start -= 1
                    if start < 0 or high_source[start] >= 0 or most - start >= longest:
                        break
    return found


def _lexical_weights(corpus: AlignedBitext, found: Integers) -> Floats:
    """(found, 2) logarithms: of the target words given the source words, and the reverse."""
    bitext, lexicon = corpus.bitext, corpus.lexicon
    i, j = (words[corpus.links] for words in bitext.words_of_cells())
    pairs = bitext.pairs[corpus.links]
    # A word's mean over the words that it is linked to; links of a phrase pair's words are all inside of it.
    of_target = _mean_or(j, lexicon.to_target[pairs], lexicon.target_of_none[bitext.target])
    of_source = _mean_or(i, lexicon.to_source[pairs], lexicon.source_of_none[bitext.source])
    sums = [np.concatenate([[0.0], np.cumsum(np.log(one))]) for one in (of_target, of_source)]
    first, target_first = bitext.first_source[found[:, 0]] + found[:, 1], bitext.first_target[found[:, 0]] + found[:, 3]
    return np.stack(
        [sums[0][target_first + found[:, 4]] - sums[0][target_first], sums[1][first + found[:, 2]] - sums[1][first]],
        axis=1,
    )


def _mean_or(where: Integers, what: Floats, otherwise: Floats) -> Floats:
    """Means of what is at each place, or another number where there is nothing."""
    n = len(otherwise)
    times = np.bincount(where, minlength=n)
    mean: Floats = np.where(times > 0, np.bincount(where, what, n) / np.maximum(times, 1), otherwise)
    return mean
