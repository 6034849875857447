"""An n-gram language model: interpolated Kneser-Ney smoothing (Chen and Goodman 1998), as an automaton for decoders."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from simstudy_learners.language_models.ngrams import END, START, Ngrams
from simstudy_learners.segments import Floats, Integers

_EMPTY = -1


class LanguageModel(NamedTuple):
    """An n-gram model as an automaton: a state is the longest context that is known, 0 the empty one.

    Attributes
    ----------
    slots, nodes
        A table with open addressing of the n-grams, n > 1: slots have state * n_words + word, nodes the n-gram.
    unigrams
        (words of the vocabulary,) a word's node, 0 where the model does not know it.
    log_probability
        (nodes,) of an n-gram's last word after the others.
    backoff
        (nodes,) what a word's logarithm loses where the n-gram as its context is not known with it.
    shorter
        (nodes,) the n-gram without its first word.
    state
        (nodes,) the state after an n-gram.
    n_words
        Size of the vocabulary.
    unknown
        Logarithm of the probability of a word that the model does not know.
    start
        The state at the beginning of a sentence.
    """

    slots: Integers
    nodes: Integers
    unigrams: Integers
    log_probability: Floats
    backoff: Floats
    shorter: Integers
    state: Integers
    n_words: int
    unknown: float
    start: int


def train_language_model(
    words: Integers, bounds: Integers, weights: Integers, n_words: int, order: int
) -> LanguageModel:
    """Train on sentences, each there as often as its weight says.

    All n-grams of `order` and those that begin a sentence count as often as they are there; others count once for each
    word that they follow. Discounts are n1 / (n1 + 2 n2) of each order. What single words leave is shared out evenly
    among the known words and one that stands for all others.

    Sentences have no marks and weights (sentences,) of at least 1. All words and marks are below `n_words`, the size of
    the vocabulary. The order, that of the longest n-gram, is at least 2.
    """
    n = len(weights)
    padded_bounds = bounds + 2 * np.arange(n + 1)
    padded = np.empty(padded_bounds[-1], np.int64)
    inner = np.ones(len(padded), bool)
    inner[padded_bounds[:-1]] = inner[padded_bounds[1:] - 1] = False
    padded[inner] = words
    padded[padded_bounds[:-1]], padded[padded_bounds[1:] - 1] = START, END
    ngrams, numbers = Ngrams.of(padded, padded_bounds, n_words, order)
    firsts, prefixes, last = ngrams.firsts, ngrams.prefixes(), ngrams.last_words()
    n_nodes = int(firsts[-1])
    shorter = np.full(n_nodes, -1)
    at, level = np.nonzero(numbers >= 0)
    longer = level > 0
    shorter[numbers[at[longer], level[longer]]] = numbers[at[longer] + 1, level[longer] - 1]
    weight_of = np.repeat(weights, np.diff(padded_bounds))
    occurrences = np.bincount(numbers[at, level], weight_of[at], n_nodes)
    begins = np.zeros(n_nodes, bool)
    first = numbers[padded_bounds[:-1]]
    begins[first[first >= 0]] = True
    follows = np.bincount(shorter[shorter >= 0], minlength=n_nodes).astype(np.float64)
    counts = np.where(begins, occurrences, follows)
    counts[firsts[-2] :] = occurrences[firsts[-2] :]
    counts[: firsts[1]][last[: firsts[1]] == START] = 0
    probability, left_over, unknown = _interpolated(ngrams, counts, shorter)
    # Node 0 is the empty n-gram.
    has_next = np.zeros(n_nodes, bool)
    has_next[prefixes[prefixes >= 0]] = True
    state = np.where(has_next, np.arange(1, n_nodes + 1), 0)
    for k in range(1, order):
        level_of = slice(firsts[k], firsts[k + 1])
        # N-grams that begin no longer one back off without loss.
        state[level_of] = np.where(has_next[level_of], state[level_of], state[shorter[level_of]])
    longer_ones = np.arange(firsts[1], n_nodes)
    slots, nodes = _table(len(longer_ones))
    _fill((prefixes[longer_ones] + 1) * n_words + last[longer_ones], longer_ones + 1, slots, nodes)
    unigrams = np.zeros(n_words, np.int64)
    unigrams[last[: firsts[1]]] = np.arange(1, firsts[1] + 1)
    start = int(state[numbers[0, 0]])
    return LanguageModel(
        slots, nodes, unigrams,
        np.concatenate([[0.0], np.log(probability)]),
        np.concatenate([[0.0], np.log(np.maximum(left_over, 1e-99))]),
        np.concatenate([[0], shorter + 1]),
        np.concatenate([[0], state]),
        n_words, float(np.log(unknown)), start,
    )  # fmt: skip


def _interpolated(ngrams: Ngrams, counts: Floats, shorter: Integers) -> tuple[Floats, Floats, float]:
    """Kneser-Ney probabilities from counts (n-grams,); `shorter` is each n-gram without its first word.

    The results are the probability (n-grams,) of the last word after the others, what an n-gram as a context leaves to
    the shorter one (n-grams,), and the probability of a word that is not known.
    """
    firsts, prefixes, n_nodes = ngrams.firsts, ngrams.prefixes(), len(counts)
    probability = np.zeros(n_nodes)
    left_over = np.ones(n_nodes)
    own = counts[: firsts[1]]
    taken = np.minimum(own, _discount(own))
    unknown = taken.sum() / own.sum() / (np.count_nonzero(own) + 1)
    probability[: firsts[1]] = np.where(own > 0, (own - taken) / own.sum() + unknown, 1e-99)
    for k in range(1, len(ngrams.keys)):
        level_of = slice(firsts[k], firsts[k + 1])
        own = counts[level_of]
        taken = np.minimum(own, _discount(own))
        context = prefixes[level_of]
        total = np.bincount(context, own, n_nodes)
        lost = np.bincount(context, taken, n_nodes)
        seen = total > 0
        left_over[seen] = lost[seen] / total[seen]
        probability[level_of] = (own - taken) / total[context] + left_over[context] * probability[shorter[level_of]]
    return probability, left_over, unknown


def _discount(counts: Floats) -> float:
    """What is taken from every count: n1 / (n1 + 2 n2), or a half where there are none of them."""
    once, twice = np.count_nonzero(counts == 1), np.count_nonzero(counts == 2)
    return once / (once + 2 * twice) if once and twice else 0.5


def _table(n: int) -> tuple[Integers, Integers]:
    size = 1 << max(4, int(2 * n).bit_length())
    return np.full(size, _EMPTY, np.int64), np.zeros(size, np.int64)


@njit(cache=True, nogil=True)
def _slot(key, size):
    return (key * np.int64(-7046029254386353131) >> 20) & (size - 1)


@njit(cache=True, nogil=True)
def _fill(keys, values, slots, nodes):
    size = len(slots)
    for i in range(len(keys)):
        place = _slot(keys[i], size)
        while slots[place] != _EMPTY:
            place = (place + 1) & (size - 1)
        slots[place] = keys[i]
        nodes[place] = values[i]


@njit(cache=True, nogil=True)
def next_word(model, state, word):
    """The logarithm of a word's probability in a state, and the state after it."""
    lost = 0.0
    while state != 0:
        key = state * model.n_words + word
        size = len(model.slots)
        place = _slot(key, size)
        while model.slots[place] != _EMPTY:
            if model.slots[place] == key:
                node = model.nodes[place]
                return lost + model.log_probability[node], model.state[node]
            place = (place + 1) & (size - 1)
        lost += model.backoff[state]
        state = model.shorter[state]
    node = model.unigrams[word]
    if node == 0:
        return lost + model.unknown, 0
    return lost + model.log_probability[node], model.state[node]


@njit(cache=True, nogil=True)
def score_texts(model, words, bounds, start, end):
    """Logarithms (n,) of the probabilities of n texts, each begun in the state `start`.

    The end of the sentence, `end`, is scored too, unless it is negative.
    """
    scores = np.empty(len(bounds) - 1)
    for i in range(len(bounds) - 1):
        state = start
        total = 0.0
        for k in range(bounds[i], bounds[i + 1]):
            score, state = next_word(model, state, words[k])
            total += score
        if end >= 0:
            score, state = next_word(model, state, end)
            total += score
        scores[i] = total
    return scores


def scored(model: LanguageModel, words: Integers, bounds: Integers, *, sentences: bool) -> Floats:
    """Logarithms of the probabilities of texts: of whole sentences, or of pieces without any context."""
    scores: Floats = score_texts(model, words, bounds, model.start if sentences else 0, END if sentences else -1)
    return scores


def successors(model: LanguageModel) -> tuple[Integers, Integers]:
    """The words that were seen after each word (and after START), the most probable first, and where each one's begin.

    The results are bounds (words of the vocabulary + 1,) and the later word of each pair (pairs of words,); of equally
    probable ones the lower number comes first.

    Examples
    --------
    >>> model = train_language_model(np.array([2, 3, 2, 4, 4]), np.array([0, 2, 4, 5]), np.array([2, 1, 1]), 5, 2)
    >>> bounds, words = successors(model)
    >>> words[bounds[2] : bounds[3]].tolist()
    [3, 4]
    """
    known = np.flatnonzero(model.unigrams)
    word_of = np.zeros(len(known) + 1, np.int64)
    word_of[model.unigrams[known]] = known
    state, word = np.divmod(model.slots, model.n_words)
    # States after single words have the lowest numbers, from 1 on.
    pairs = np.flatnonzero((state > 0) & (state <= len(known)))
    before, word = word_of[state[pairs]], word[pairs]
    order = np.lexsort((word, -model.log_probability[model.nodes[pairs]].round(9), before))
    return np.searchsorted(before[order], np.arange(model.n_words + 1)), word[order]
