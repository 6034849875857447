"""A greedy transition parser: averaged perceptron, exploration with a dynamic oracle; compiled.

Unlabelled; the features are those of Zhang and Nivre (2011) as far as they suit the arc-hybrid system, and suffixes.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from simstudy_learners.dependencies.arc_hybrid import FRONT, NEVER, SIZE, State, legal, losses, take
from simstudy_learners.dependencies.hashed_features import slot
from simstudy_learners.dependencies.sentences import sentence_of
from simstudy_learners.segments import longest_segment

_MOST_SLOTS = 72


@njit(cache=True, nogil=True)
def state_slots(sentence, state, mask, slots):
    """Fill slots with the rows of a state's features, and return how many there are. Word n + 1 stands for none."""
    n = len(sentence.form) - 2
    none = n + 1
    stack, size, front = state.stack, state.at[SIZE], state.at[FRONT]
    s0 = stack[size - 1]
    s1 = stack[size - 2] if size > 1 else none
    s2 = stack[size - 3] if size > 2 else none
    b0 = front if front <= n else none
    b1 = front + 1 if front < n else none
    b2 = front + 2 if front < n - 1 else none
    focus = s0, s1, s2, b0, b1, b2
    k = _word_slots(sentence, focus, mask, slots)
    return k + _tree_slots(sentence, state, focus, mask, slots[k:])


@njit(cache=True, nogil=True)
def _word_slots(sentence, focus, mask, slots):
    """Features of the words on top of the stack and at the front: of one word, of two words, of three and four tags."""
    form, tag, suffix = sentence
    s0, s1, s2, b0, b1, b2 = focus
    k = 0
    # One word.
    for position, word in enumerate((s0, s1, b0, b1, b2)):
        slots[k] = slot(3 * position + 1, form[word], tag[word], mask)
        slots[k + 1] = slot(3 * position + 2, form[word], 0, mask)
        slots[k + 2] = slot(3 * position + 3, tag[word], 0, mask)
        k += 3
    for position, word in enumerate((s0, s1, b0)):
        slots[k] = slot(20 + position, suffix[word], tag[word], mask)
        k += 1
    # Two words.
    for position in range(3):
        if position == 0:
            x, y = s0, b0
        elif position == 1:
            x, y = s1, s0
        else:
            x, y = s1, b0
        both = form[x] * 32 + tag[x]
        template = 30 + 8 * position
        slots[k] = slot(template, both, form[y] * 32 + tag[y], mask)
        slots[k + 1] = slot(template + 1, form[x], form[y], mask)
        slots[k + 2] = slot(template + 2, both, tag[y], mask)
        slots[k + 3] = slot(template + 3, tag[x], form[y] * 32 + tag[y], mask)
        slots[k + 4] = slot(template + 4, tag[x], tag[y], mask)
        slots[k + 5] = slot(template + 5, suffix[x] * 32 + tag[x], suffix[y] * 32 + tag[y], mask)
        k += 6
    # Three and four tags.
    t0, t1, t2 = tag[s0], tag[s1], tag[s2]
    u0, u1, u2 = tag[b0], tag[b1], tag[b2]
    slots[k] = slot(60, (u0 * 32 + u1) * 32 + u2, 0, mask)
    slots[k + 1] = slot(61, (t0 * 32 + u0) * 32 + u1, 0, mask)
    slots[k + 2] = slot(62, (t1 * 32 + t0) * 32 + u0, 0, mask)
    slots[k + 3] = slot(63, (t2 * 32 + t1) * 32 + t0, 0, mask)
    slots[k + 4] = slot(64, ((t1 * 32 + t0) * 32 + u0) * 32 + u1, 0, mask)
    slots[k + 5] = slot(65, (t0 * 32 + u0) * 32 + u1, u2, mask)
    return k + 6


@njit(cache=True, nogil=True)
def _tree_slots(sentence, state, focus, mask, slots):
    """Features of the tree so far: children, distances, and numbers of children."""
    form, tag, _ = sentence
    outer, n_children = state.outer, state.n_children
    s0, s1, _, b0, _, _ = focus
    none = len(form) - 1
    k = 0
    # Children, with their heads and beside the other.
    context = (tag[s0] * 32 + tag[b0]) * 32 + tag[s1]
    for position in range(3):
        head = s0 if position == 0 else s1 if position == 1 else b0
        for side in range(4):
            if position == 2 and side > 1:
                break
            child = outer[side, head]
            template = 70 + 4 * position + side
            slots[k] = slot(template, context, tag[child], mask)
            k += 1
            if side % 2 == 0:
                slots[k] = slot(template + 20, tag[head] * 32 + tag[child], form[child], mask)
                k += 1
    # Distance and numbers of children.
    distance = min(b0 - s0, 6) if b0 != none else 7
    gap = min(s0 - s1, 6) if s1 != none else 7
    slots[k] = slot(110, context, distance, mask)
    slots[k + 1] = slot(111, form[s0] * 8 + distance, tag[b0], mask)
    slots[k + 2] = slot(112, tag[s0] * 8 + distance, form[b0], mask)
    slots[k + 3] = slot(113, context, gap, mask)
    k += 4
    for position in range(3):
        word = s0 if position == 0 else s1 if position == 1 else b0
        left, right = min(n_children[0, word], 3), min(n_children[1, word], 3)
        slots[k] = slot(120 + position, form[word] * 16 + left * 4 + right, tag[word], mask)
        slots[k + 1] = slot(123 + position, context, left * 4 + right, mask)
        k += 2
    return k


@njit(cache=True, nogil=True)
def _best(scores, allowed):
    best = -1
    for transition in range(3):
        if allowed[transition] and (best < 0 or scores[transition] > scores[best]):
            best = transition
    return best


@njit(cache=True, nogil=True)
def _begin(state, n):
    """Make it the first state of a sentence of n words."""
    state.stack[0] = 0
    state.at[:] = 1
    state.heads[: n + 1] = -1
    state.outer[:, : n + 2] = n + 1
    state.n_children[:, : n + 2] = 0


@njit(cache=True, nogil=True)
def learn_transitions(sentences, gold, order, n_followed, learnt):
    """Learn weights from sentences in an order; return the number of steps.

    gold has the heads of the words. In the first n_followed sentences of the order the states are those on the way to
    the gold tree, later those that the parser gets into by its own mistakes (Goldberg and Nivre 2012, with p = 1). The
    aim is the transition that scores highest of those that lose the fewest gold arcs, so that a tree that is not
    projective teaches, too.
    """
    weights, sums = learnt
    mask = len(weights) - 1
    longest = longest_segment(sentences.bounds)
    stack, at, heads = np.empty(longest, np.int64), np.empty(2, np.int64), np.empty(longest, np.int64)
    state = State(stack, at, heads, np.empty((4, longest), np.int64), np.empty((2, longest), np.int64))
    slots, scores, cost = np.empty(_MOST_SLOTS, np.int64), np.empty(3, np.int64), np.empty(3, np.int64)
    allowed = np.empty(3, np.bool_)
    step = 0
    for turn, item in enumerate(order):
        sentence = sentence_of(sentences, item)
        target = gold[sentences.bounds[item] : sentences.bounds[item + 1]]
        n = len(target) - 2
        _begin(state, n)
        while state.at[SIZE] > 1 or state.at[FRONT] <= n:
            losses(state, target, cost)
            k = state_slots(sentence, state, mask, slots)
            scores[:] = 0
            for i in range(k):
                for transition in range(3):
                    scores[transition] += weights[slots[i], transition]
            for transition in range(3):
                allowed[transition] = cost[transition] < NEVER
            guessed = _best(scores, allowed)
            least = min(cost[0], cost[1], cost[2])
            for transition in range(3):
                allowed[transition] = cost[transition] == least
            aim = _best(scores, allowed)
            if guessed != aim and cost[guessed] > least:
                for i in range(k):
                    weights[slots[i], aim] += 1
                    weights[slots[i], guessed] -= 1
                    sums[slots[i], aim] += step
                    sums[slots[i], guessed] -= step
            step += 1
            take(aim if turn < n_followed else guessed, state)
    return step


@njit(cache=True, nogil=True)
def parse_transitions(sentences, weights, heads):
    """Fill heads with those of greedy parses; the root's and those of none are -1."""
    mask = len(weights) - 1
    longest = longest_segment(sentences.bounds)
    stack, at = np.empty(longest, np.int64), np.empty(2, np.int64)
    outer, n_children = np.empty((4, longest), np.int64), np.empty((2, longest), np.int64)
    slots, scores, allowed = np.empty(_MOST_SLOTS, np.int64), np.empty(3), np.empty(3, np.bool_)
    heads[:] = -1
    for item in range(len(sentences.bounds) - 1):
        sentence = sentence_of(sentences, item)
        own = heads[sentences.bounds[item] : sentences.bounds[item + 1]]
        n = len(own) - 2
        state = State(stack, at, own, outer, n_children)
        _begin(state, n)
        while state.at[SIZE] > 1 or state.at[FRONT] <= n:
            k = state_slots(sentence, state, mask, slots)
            scores[:] = 0
            for i in range(k):
                for transition in range(3):
                    scores[transition] += weights[slots[i], transition]
            for transition in range(3):
                allowed[transition] = legal(transition, state, n)
            take(_best(scores, allowed), state)
