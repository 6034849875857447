"""Labels of dependency arcs: a linear classifier of each arc of a given tree, averaged perceptron; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from simstudy_learners.dependencies.hashed_features import slot
from simstudy_learners.dependencies.sentences import Integers, sentence_of
from simstudy_learners.segments import longest_segment

N_SLOTS = 29


class Tree(NamedTuple):
    """The heads (n + 2,) of a sentence's words, and each one's outermost children to the left and right, (2, words)."""

    heads: Integers
    outer: Integers


@njit(cache=True, nogil=True)
def _tree(heads, outer):
    """The tree of these heads; outer is filled, with n + 1 where there are no children."""
    n = len(heads) - 2
    outer[:, : n + 2] = n + 1
    for m in range(1, n + 1):
        h = heads[m]
        if m < h:
            outer[0, h] = min(outer[0, h], m)
        else:
            outer[1, h] = m
    return Tree(heads, outer)


@njit(cache=True, nogil=True)
def label_slots(sentence, tree, m, mask, slots):
    """Fill slots (N_SLOTS,) with the rows of the features of the arc to word m in a tree."""
    form, tag, suffix = sentence
    heads, outer = tree
    n = len(heads) - 2
    h = heads[m]
    none = n + 1
    # Siblings: the next to the left and to the right under the same head.
    before, after = none, none
    for i in range(1, m):
        if heads[i] == h:
            before = i
    for i in range(n, m, -1):
        if heads[i] == h:
            after = i
    direction = 1 if h < m else 0
    distance = min(abs(h - m), 4)
    arc = direction * 8 + distance
    hw, ht, mw, mt = form[h], tag[h], form[m], tag[m]
    hwt, mwt, tags = hw * 32 + ht, mw * 32 + mt, (ht * 32 + mt) * 2 + direction
    above = tag[heads[h]] if h > 0 else 0
    left, right = outer[0, m], outer[1, m]
    slots[0] = slot(1, tags, 0, mask)
    slots[1] = slot(2, tags, distance, mask)
    slots[2] = slot(3, mwt, direction, mask)
    slots[3] = slot(4, hwt, direction, mask)
    slots[4] = slot(5, mwt * 2 + direction, ht, mask)
    slots[5] = slot(6, hwt * 2 + direction, mt, mask)
    slots[6] = slot(7, hw * 2 + direction, mw, mask)
    slots[7] = slot(8, tags, suffix[m], mask)
    slots[8] = slot(9, tags, suffix[h], mask)
    slots[9] = slot(10, tags, tag[m - 1], mask)
    slots[10] = slot(11, tags, tag[m + 1], mask)
    slots[11] = slot(12, tags, tag[h - 1] * 32 + tag[h + 1], mask)
    slots[12] = slot(13, tags, tag[m - 1] * 32 + tag[m + 1], mask)
    slots[13] = slot(14, tags, above, mask)
    slots[14] = slot(15, tags, tag[left], mask)
    slots[15] = slot(16, tags, tag[right], mask)
    slots[16] = slot(17, tags, form[left], mask)
    slots[17] = slot(18, tags, form[right], mask)
    slots[18] = slot(19, tags * 32 + tag[before], tag[after], mask)
    slots[19] = slot(20, tags, form[before], mask)
    slots[20] = slot(21, tags, form[after], mask)
    slots[21] = slot(22, hwt * 2 + direction, form[left], mask)
    slots[22] = slot(23, mwt, form[left], mask)
    slots[23] = slot(24, hwt * 2 + direction, mt * 32 + tag[after], mask)
    slots[24] = slot(25, tags, form[m - 1], mask)
    slots[25] = slot(26, tags, form[m + 1], mask)
    slots[26] = slot(27, tags, tag[outer[0, h]] * 32 + tag[outer[1, h]], mask)
    slots[27] = slot(28, tags, form[outer[0, h]], mask)
    slots[28] = slot(29, arc, mt, mask)


@njit(cache=True, nogil=True)
def _score(weights, slots, scores):
    scores[:] = 0
    for i in range(N_SLOTS):
        row = weights[slots[i]]
        for relation in range(len(scores)):
            scores[relation] += row[relation]


@njit(cache=True, nogil=True)
def learn_labels(sentences, heads, gold, order, learnt):
    """Learn weights from the trees of sentences in an order; return the number of steps. gold has the relations."""
    weights, sums = learnt
    mask = len(weights) - 1
    longest = longest_segment(sentences.bounds)
    outer, slots = np.empty((2, longest), np.int64), np.empty(N_SLOTS, np.int64)
    scores = np.empty(weights.shape[1], np.int64)
    step = 0
    for item in order:
        sentence, first, last = sentence_of(sentences, item), sentences.bounds[item], sentences.bounds[item + 1]
        tree = _tree(heads[first:last], outer)
        for m in range(1, last - first - 1):
            label_slots(sentence, tree, m, mask, slots)
            _score(weights, slots, scores)
            guessed, right = np.argmax(scores), gold[first + m]
            if guessed != right:
                for i in range(N_SLOTS):
                    weights[slots[i], right] += 1
                    weights[slots[i], guessed] -= 1
                    sums[slots[i], right] += step
                    sums[slots[i], guessed] -= step
            step += 1
    return step


@njit(cache=True, nogil=True)
def label_trees(sentences, heads, weights, relations):
    """Fill relations with those of the arcs of given trees; the root's and those of none are -1."""
    mask = len(weights) - 1
    longest = longest_segment(sentences.bounds)
    outer, slots, scores = np.empty((2, longest), np.int64), np.empty(N_SLOTS, np.int64), np.empty(weights.shape[1])
    relations[:] = -1
    for item in range(len(sentences.bounds) - 1):
        sentence, first, last = sentence_of(sentences, item), sentences.bounds[item], sentences.bounds[item + 1]
        tree = _tree(heads[first:last], outer)
        for m in range(1, last - first - 1):
            label_slots(sentence, tree, m, mask, slots)
            _score(weights, slots, scores)
            relations[first + m] = np.argmax(scores)
