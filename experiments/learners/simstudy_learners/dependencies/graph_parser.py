"""A first-order graph-based parser: Eisner's algorithm, averaged perceptron; compiled.

A tree's score is the sum of its arcs', and the features of an arc are those of McDonald et al. (2005, table 1): the two
words and their tags, the tags beside and between them, each with direction and distance; and suffixes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from simstudy_learners.dependencies.eisner import best_projective_tree, reparse
from simstudy_learners.dependencies.hashed_features import slot
from simstudy_learners.dependencies.sentences import sentence_of
from simstudy_learners.segments import longest_segment

# Arc features, with at most one for each tag in between.
_MOST_SLOTS = 64


@njit(cache=True, nogil=True)
def _bucket(distance):
    return distance if distance <= 5 else 6 if distance <= 10 else 7


@njit(cache=True, nogil=True)
def arc_slots(sentence, arc, between, mask, slots):
    """Fill slots with the rows of the features of an arc (head, dependent), and return how many there are.

    between is the set of tags between head and dependent, as bits.
    """
    form, tag, suffix = sentence
    h, m = arc
    direction = 1 if h < m else 0
    kind = direction * 8 + _bucket(abs(h - m))
    hw, ht, mw, mt = form[h], tag[h], form[m], tag[m]
    hwt, mwt = hw * 32 + ht, mw * 32 + mt
    h_before, h_after, m_before, m_after = tag[h - 1], tag[h + 1], tag[m - 1], tag[m + 1]
    hs, ms = suffix[h] * 32 + ht, suffix[m] * 32 + mt
    tags = ht * 32 + mt
    k = 0
    slots[k] = slot(1, hwt, kind, mask)
    slots[k + 1] = slot(2, hw, kind, mask)
    slots[k + 2] = slot(3, mwt, kind, mask)
    slots[k + 3] = slot(4, mw, kind, mask)
    slots[k + 4] = slot(5, tags, kind, mask)
    slots[k + 5] = slot(6, hwt * 16 + kind, mwt, mask)
    slots[k + 6] = slot(7, ht * 16 + kind, mwt, mask)
    slots[k + 7] = slot(8, hw * 16 + kind, mwt, mask)
    slots[k + 8] = slot(9, hwt * 16 + kind, mt, mask)
    slots[k + 9] = slot(10, hwt * 16 + kind, mw, mask)
    slots[k + 10] = slot(11, hw * 16 + kind, mw, mask)
    slots[k + 11] = slot(12, tags * 16 + kind, h_after * 32 + m_before, mask)
    slots[k + 12] = slot(13, tags * 16 + kind, h_before * 32 + m_before, mask)
    slots[k + 13] = slot(14, tags * 16 + kind, h_after * 32 + m_after, mask)
    slots[k + 14] = slot(15, tags * 16 + kind, h_before * 32 + m_after, mask)
    slots[k + 15] = slot(16, tags * 16 + kind, m_before, mask)
    slots[k + 16] = slot(17, tags * 16 + kind, m_after, mask)
    slots[k + 17] = slot(18, tags * 16 + kind, h_before, mask)
    slots[k + 18] = slot(19, tags * 16 + kind, h_after, mask)
    slots[k + 19] = slot(20, hs * 16 + kind, mt, mask)
    slots[k + 20] = slot(21, ht * 16 + kind, ms, mask)
    slots[k + 21] = slot(22, hs * 16 + kind, ms, mask)
    # Some without the distance, too, and each word among its neighbours' tags.
    slots[k + 22] = slot(23, hwt * 2 + direction, mwt, mask)
    slots[k + 23] = slot(24, hw * 2 + direction, mw, mask)
    slots[k + 24] = slot(25, hwt * 2 + direction, mt, mask)
    slots[k + 25] = slot(26, ht * 2 + direction, mwt, mask)
    slots[k + 26] = slot(27, hwt, direction, mask)
    slots[k + 27] = slot(28, mwt, direction, mask)
    slots[k + 28] = slot(29, tags, direction, mask)
    slots[k + 29] = slot(31, (h_before * 32 + ht) * 32 + h_after, kind, mask)
    slots[k + 30] = slot(32, (m_before * 32 + mt) * 32 + m_after, kind, mask)
    k += 31
    t = 0
    while between:
        if between & 1:
            slots[k] = slot(30, tags * 16 + kind, t, mask)
            k += 1
        between >>= 1
        t += 1
    return k


@njit(cache=True, nogil=True)
def _tags_between(tag, h, m):
    low, high = (h, m) if h < m else (m, h)
    between = 0
    for i in range(low + 1, high):
        between |= 1 << tag[i]
    return between


@njit(cache=True, nogil=True)
def _score_arcs(sentence, weights, slots, scores):
    """Fill scores[head, word] of a sentence's arcs; slots is room."""
    tag, n = sentence.tag, len(sentence.tag) - 2
    mask = len(weights) - 1
    for h in range(n + 1):
        for step in (-1, 1):
            between = 0
            m = h + step
            while 1 <= m <= n:
                k = arc_slots(sentence, (h, m), between, mask, slots)
                score = 0.0
                for i in range(k):
                    score += weights[slots[i]]
                scores[h, m] = score
                between |= 1 << tag[m]
                m += step


@njit(cache=True, nogil=True)
def _change(learnt, slots, by, step):
    weights, sums = learnt
    for i in range(len(slots)):
        weights[slots[i]] += by
        sums[slots[i]] += by * step


@njit(cache=True, nogil=True)
def learn_arcs(sentences, gold, order, margin, learnt):
    """Learn weights from sentences in an order; return the number of steps.

    gold has the heads of the words, of projective trees. A gold arc counts `margin` less in training, so that the gold
    tree comes out as the best only where it is better than any other by the margin times the number of arcs that differ
    (the loss of McDonald et al. 2005).
    """
    weights, mask = learnt.weights, len(learnt.weights) - 1
    longest = longest_segment(sentences.bounds)
    scores, heads = np.zeros((longest, longest)), np.empty(longest, np.int64)
    slots = np.empty(_MOST_SLOTS, np.int64)
    for step, item in enumerate(order):
        sentence = sentence_of(sentences, item)
        target = gold[sentences.bounds[item] : sentences.bounds[item + 1]]
        n = len(target) - 2
        _score_arcs(sentence, weights, slots, scores)
        for m in range(1, n + 1):
            scores[target[m], m] -= margin
        best_projective_tree(scores, n, heads)
        for m in range(1, n + 1):
            if heads[m] != target[m]:
                for h, by in ((target[m], 1), (heads[m], -1)):
                    k = arc_slots(sentence, (h, m), _tags_between(sentence.tag, h, m), mask, slots)
                    _change(learnt, slots[:k], by, step)
    return len(order)


@njit(cache=True, nogil=True)
def parse_arcs(sentences, weights, heads):
    """Fill heads with those of the trees of the highest scores; the root's and those of none are -1."""
    longest = longest_segment(sentences.bounds)
    scores, slots = np.zeros((longest, longest)), np.empty(_MOST_SLOTS, np.int64)
    heads[:] = -1
    for item in range(len(sentences.bounds) - 1):
        _score_arcs(sentence_of(sentences, item), weights, slots, scores)
        own = heads[sentences.bounds[item] : sentences.bounds[item + 1]]
        best_projective_tree(scores, len(own) - 2, own)


@njit(cache=True, nogil=True)
def nearest_projective(bounds, gold, heads):
    """Fill heads with the projective trees that have most arcs of the gold trees: those themselves where they are."""
    reparse(bounds, gold.reshape(1, -1), np.ones(1), heads)
