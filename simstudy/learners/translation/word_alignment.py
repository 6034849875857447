"""Word alignment: IBM model 2 with a prior for the diagonal (Dyer et al. 2013), both ways, made symmetric; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.special import digamma

from simstudy.learners.translation.texts import Floats, Integers, Text

#: As fast_align has them: how steep the prior is, the share of words without a partner, and the prior of the table.
_TENSION, _NULL, _DIRICHLET = 4.0, 0.08, 0.01


class Links(NamedTuple):
    """Which words of sentence pairs are linked.

    Attributes
    ----------
    linked
        (cells,) 1 where the words are linked: sentence pair k has the cells from bounds[k] on, its source word i and
        target word j cell i * (target words) + j.
    bounds
        (pairs + 1,)
    """

    linked: NDArray[np.uint8]
    bounds: Integers


def align(source: Text, target: Text, weights: Integers, n_iterations: int) -> Links:
    """Links of sentence pairs after EM on all of them, each there as often as its weight (at least 1) says.

    Both directions are trained by variational Bayes and joined by grow-diag-final-and (Koehn et al. 2005).
    """
    bounds = np.concatenate([[0], np.cumsum(source.lengths * target.lengths)])
    to_target = _best_partners(source, target, weights, n_iterations)
    to_source = _best_partners(target, source, weights, n_iterations)
    linked = np.zeros(bounds[-1], np.uint8)
    _symmetric(source.bounds, target.bounds, bounds, to_target, to_source, linked)
    return Links(linked, bounds)


def _best_partners(given: Text, made: Text, weights: Integers, n_iterations: int) -> Integers:
    """(words made,) the place of the given word that each most likely comes from, -1 for none."""
    n_words = len(given.vocabulary)
    rows = (given.lengths + 1) * made.lengths
    bounds = np.concatenate([[0], np.cumsum(rows)])
    keys = np.empty(bounds[-1], np.int64)
    _cell_keys(given.words, given.bounds, made.words, made.bounds, bounds, n_words, keys)
    pairs, entry = np.unique(keys, return_inverse=True)
    entry = entry.astype(np.int32)
    given_word = pairs // n_words
    kinds = np.bincount(given_word)
    table = 1 / np.bincount(given_word)[given_word]
    best = np.empty(len(made.words), np.int64)
    counts = np.zeros(len(pairs))
    for _ in range(n_iterations):
        counts[:] = 0
        _expect(given.bounds, made.bounds, bounds, entry, weights, table, counts, best)
        totals = np.bincount(given_word, counts)
        table = np.exp(digamma(counts + _DIRICHLET) - digamma(totals + _DIRICHLET * np.maximum(kinds, 1))[given_word])
    _expect(given.bounds, made.bounds, bounds, entry, weights, table, counts, best)
    return best


@njit(cache=True, nogil=True)
def _cell_keys(given, given_bounds, made, made_bounds, bounds, n_words, keys):
    for k in range(len(bounds) - 1):
        cell = bounds[k]
        for j in range(made_bounds[k], made_bounds[k + 1]):
            # Number 0 begins sentences and is in none: here it stands for no word.
            keys[cell] = made[j]
            cell += 1
            for i in range(given_bounds[k], given_bounds[k + 1]):
                keys[cell] = given[i] * n_words + made[j]
                cell += 1


@njit(cache=True, nogil=True)
def _expect(given_bounds, made_bounds, bounds, entry, weights, table, counts, best):
    longest = np.max(np.diff(given_bounds)) + 1
    score = np.empty(longest)
    for k in range(len(bounds) - 1):
        m = given_bounds[k + 1] - given_bounds[k]
        n = made_bounds[k + 1] - made_bounds[k]
        cell = bounds[k]
        for j in range(n):
            normal = 0.0
            for i in range(m):
                score[i] = np.exp(-_TENSION * abs((i + 1) / (m + 1) - (j + 1) / (n + 1)))
                normal += score[i]
            null = _NULL * table[entry[cell]]
            total = null
            likeliest, place = null, -1
            for i in range(m):
                score[i] *= (1 - _NULL) / normal * table[entry[cell + 1 + i]]
                total += score[i]
                # By so much that no machine's last bits decide.
                if score[i] > likeliest * (1 + 1e-9):
                    likeliest, place = score[i], i
            best[made_bounds[k] + j] = place
            share = weights[k] / total
            counts[entry[cell]] += null * share
            for i in range(m):
                counts[entry[cell + 1 + i]] += score[i] * share
            cell += m + 1


@njit(cache=True, nogil=True)
def _symmetric(source_bounds, target_bounds, bounds, to_target, to_source, linked):
    """Grow-diag-final-and: from the links of both directions along neighbours, then links of words without any."""
    for k in range(len(bounds) - 1):
        m = source_bounds[k + 1] - source_bounds[k]
        n = target_bounds[k + 1] - target_bounds[k]
        own = linked[bounds[k] : bounds[k + 1]].reshape(m, n)
        either = np.zeros((m, n), np.uint8)
        has_source, has_target = np.zeros(m, np.uint8), np.zeros(n, np.uint8)
        for j in range(n):
            i = to_target[target_bounds[k] + j]
            if i >= 0:
                either[i, j] += 1
        for i in range(m):
            j = to_source[source_bounds[k] + i]
            if j >= 0:
                either[i, j] += 1
        for i in range(m):
            for j in range(n):
                if either[i, j] == 2:
                    own[i, j] = has_source[i] = has_target[j] = 1
        grown = True
        while grown:
            grown = False
            for i in range(m):
                for j in range(n):
                    if not own[i, j]:
                        continue
                    for di in range(-1, 2):
                        for dj in range(-1, 2):
                            a, b = i + di, j + dj
                            if a < 0 or b < 0 or a >= m or b >= n or own[a, b] or not either[a, b]:
                                continue
                            if not has_source[a] or not has_target[b]:
                                own[a, b] = has_source[a] = has_target[b] = 1
                                grown = True
        for i in range(m):
            for j in range(n):
                if either[i, j] and not has_source[i] and not has_target[j]:
                    own[i, j] = has_source[i] = has_target[j] = 1


class Lexicon(NamedTuple):
    """How often words are linked, and what follows from it; word 0 stands for no word.

    Attributes
    ----------
    source, target, often
        (pairs,) linked words and how often they are, by source word, then target word.
    source_share, target_share
        (pairs,) often by all of the source word's, and of the target word's.
    """

    source: Integers
    target: Integers
    often: Floats
    source_share: Floats
    target_share: Floats


def lexicon(source: Text, target: Text, weights: Integers, links: Links) -> Lexicon:
    """Relative frequencies of linked words (Koehn et al. 2003, section 4.4)."""
    pair = np.repeat(np.arange(len(source)), np.diff(links.bounds))
    cells = np.flatnonzero(links.linked)
    k = pair[cells]
    within = cells - links.bounds[k]
    i = source.bounds[k] + within // target.lengths[k]
    j = target.bounds[k] + within % target.lengths[k]
    sentence_of = [np.repeat(np.arange(len(text)), text.lengths) for text in (source, target)]
    alone_source = np.setdiff1d(np.arange(len(source.words)), i)
    alone_target = np.setdiff1d(np.arange(len(target.words)), j)
    n_words = len(source.vocabulary)
    keys = np.concatenate(
        [source.words[i] * n_words + target.words[j], source.words[alone_source] * n_words, target.words[alone_target]]
    )
    weight = np.concatenate([weights[k], weights[sentence_of[0][alone_source]], weights[sentence_of[1][alone_target]]])
    pairs, which = np.unique(keys, return_inverse=True)
    count = np.bincount(which, weight, len(pairs)).astype(np.float64)
    first, second = pairs // n_words, pairs % n_words
    return Lexicon(
        first, second, count, count / np.bincount(first, count)[first], count / np.bincount(second, count)[second]
    )
