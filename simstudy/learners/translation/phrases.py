"""Phrase pairs that word alignment allows (Och and Ney 2004), and what a phrase-based model knows of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from simstudy.learners.translation.bitexts import Bitext
from simstudy.learners.translation.ngrams import Ngrams
from simstudy.learners.translation.texts import Floats, Integers, Text
from simstudy.learners.translation.word_alignment import Lexicon, Links

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


def phrase_table(bitext: Bitext, longest: int) -> PhraseTable:
    """Relative frequencies and lexical weights (Koehn et al. 2003, sections 3 and 4.4) of all phrase pairs.

    Words of a phrase are at most `longest` on either side.
    """
    rows = extracted(bitext.source.bounds, bitext.target.bounds, bitext.links, longest)
    return tabulated(bitext, rows, longest)[0]


def tabulated(bitext: Bitext, rows: Integers, longest: int) -> tuple[PhraseTable, Integers]:
    """A table of phrase pairs by where they are, see `extracted`; target phrases may be empty.

    The lexical weight of a pair that was found with several alignments is the highest. A word that is in no phrase pair
    by itself has its links instead, as far as there are any, with their relative frequencies as all features.

    Returns
    -------
    table
        The distinct phrase pairs.
    pairs
        (rows,) which pair each row is.
    """
    source, target, words = bitext.source, bitext.target, bitext.words
    n_words = len(source.vocabulary)
    sources, source_numbers = Ngrams.of(source.words, source.bounds, n_words, longest)
    targets, target_numbers = Ngrams.of(target.words, target.bounds, n_words, longest)
    pair, first, length, target_first, target_length = rows.T
    a = source_numbers[source.bounds[pair] + first, length - 1]
    # Number 0 is the empty target phrase.
    b = np.zeros(len(rows), np.int64)
    some = target_length > 0
    b[some] = 1 + target_numbers[target.bounds[pair[some]] + target_first[some], target_length[some] - 1]
    n_targets = targets.firsts[-1] + 1
    keys, which = np.unique(a * n_targets + b, return_inverse=True)
    count = np.bincount(which, bitext.weights[pair], len(keys))
    a, b = keys // n_targets, keys % n_targets
    features = np.full((len(keys), len(FEATURES)), -np.inf)
    features[:, 0] = np.log(count / np.bincount(a, count)[a])
    features[:, 1] = np.log(count / np.bincount(b, count)[b])
    lexical = _lexical_weights(source, target, bitext.links, words, rows)
    for k in range(2):
        np.maximum.at(features[:, 2 + k], which, lexical[:, k])
    # Words that are in no pair by themselves.
    lone = (words.source > 0) & (words.target > 0)
    lone[lone] = ~np.isin(np.searchsorted(sources.keys[0], words.source[lone]), a)
    more = np.log(np.stack([words.source_share, words.target_share] * 2, axis=1))[lone]
    a = np.concatenate([a, np.searchsorted(sources.keys[0], words.source[lone])])
    b = np.concatenate([b, 1 + np.searchsorted(targets.keys[0], words.target[lone])])
    order = np.argsort(a, kind="stable")
    number = np.empty(len(order), np.int64)
    number[order] = np.arange(len(order))
    a, b, features = a[order], b[order], np.concatenate([features, more])[order]
    # One place of each target n-gram, to read its words from.
    at, level = np.nonzero(target_numbers >= 0)
    place, size = np.zeros((2, n_targets), np.int64)
    place[1 + target_numbers[at, level]], size[1 + target_numbers[at, level]] = at, level + 1
    word_bounds = np.concatenate([[0], np.cumsum(size[b])])
    places = np.arange(word_bounds[-1]) + np.repeat(place[b] - word_bounds[:-1], size[b])
    bounds = np.searchsorted(a, np.arange(sources.firsts[-1] + 1))
    return PhraseTable(sources, bounds, target.words[places], word_bounds, features), number[which]


def extracted(source_bounds: Integers, target_bounds: Integers, links: Links, longest: int) -> Integers:
    """All phrase pairs that no link leaves and that have a link, as often as they are there.

    Returns
    -------
    rows
        (found, 5): sentence pair, first word and number of words of the source phrase, the same of the target phrase.
    """
    n = _extract(source_bounds, target_bounds, links.linked, links.bounds, longest, np.empty((0, 5), np.int64))
    rows = np.empty((n, 5), np.int64)
    _extract(source_bounds, target_bounds, links.linked, links.bounds, longest, rows)
    return rows


@njit(cache=True, nogil=True)
def _extract(source_bounds, target_bounds, linked, bounds, longest, rows):
    """Fill rows, or only count them where there are none to fill."""
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


def _lexical_weights(source: Text, target: Text, links: Links, words: Lexicon, found: Integers) -> Floats:
    """(found, 2) logarithms: of the target words given the source words, and the reverse."""
    n_words = len(source.vocabulary)
    keys = words.source * n_words + words.target

    def share(of: Floats, asked: Integers) -> Floats:
        place = np.minimum(np.searchsorted(keys, asked), len(keys) - 1)
        return np.where(keys[place] == asked, of[place], 0.0)

    pair = np.repeat(np.arange(len(source)), np.diff(links.bounds))
    cells = np.arange(len(pair)) - links.bounds[pair]
    key = source.words[source.bounds[pair] + cells // target.lengths[pair]] * n_words
    key += target.words[target.bounds[pair] + cells % target.lengths[pair]]
    forward, backward = np.zeros((2, len(key)))
    linked = np.flatnonzero(links.linked)
    forward[linked] = share(words.source_share, key[linked])
    backward[linked] = share(words.target_share, key[linked])
    # A word's mean over the words that it is linked to; links of a phrase pair's words are all inside of it.
    n_of_source, n_of_target = len(source.words), len(target.words)
    i = (source.bounds[pair] + cells // target.lengths[pair])[linked]
    j = (target.bounds[pair] + cells % target.lengths[pair])[linked]
    of_target = _mean_or(j, forward[linked], n_of_target, share(words.source_share, target.words))
    of_source = _mean_or(i, backward[linked], n_of_source, share(words.target_share, source.words * n_words))
    sums = [np.concatenate([[0.0], np.cumsum(np.log(one))]) for one in (of_target, of_source)]
    first, last = source.bounds[found[:, 0]] + found[:, 1], found[:, 2]
    target_first = target.bounds[found[:, 0]] + found[:, 3]
    return np.stack(
        [sums[0][target_first + found[:, 4]] - sums[0][target_first], sums[1][first + last] - sums[1][first]], axis=1
    )


def _mean_or(where: Integers, what: Floats, n: int, otherwise: Floats) -> Floats:
    """(n,) means of what is at each place, or another number where there is nothing."""
    times = np.bincount(where, minlength=n)
    mean: Floats = np.where(times > 0, np.bincount(where, what, n) / np.maximum(times, 1), otherwise)
    return mean
