"""A stack decoder of phrase-based models (Koehn et al. 2003, section 2.2), compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from simstudy_learners.language_models.kneser_ney import LanguageModel, next_word
from simstudy_learners.language_models.ngrams import END
from simstudy_learners.segments import Floats, Integers
from simstudy_learners.translation.hypotheses import (
    COVERAGE,
    OPTION,
    PREVIOUS,
    SCORE,
    STATE,
    STOP,
    TOTAL,
    Hypothesis,
    clear,
    prune,
    push,
)

#: Words of a sentence that a coverage of 64 bits can tell apart.
MOST_WORDS = 62


class Options(NamedTuple):
    """Translations of the phrases of sentences.

    Attributes
    ----------
    bounds
        (sentences + 1,): those of sentence k are bounds[k] … bounds[k + 1] - 1, by first word.
    first, stop
        (options,) the phrase's first word, and the word after its last.
    score
        (options,) all that the model says of them but language model and distortion.
    expected
        (options,) score, and what the language model says of the words without context.
    words, word_bounds
        The words, of option i from word_bounds[i] on.
    unit
        (options,) what the phrase pair is called in a language model of phrase pairs, where there is one.
    """

    bounds: Integers
    first: Integers
    stop: Integers
    score: Floats
    expected: Floats
    words: Integers
    word_bounds: Integers
    unit: Integers


class Models(NamedTuple):
    """The parts of a log-linear model that need more than a phrase.

    Attributes
    ----------
    language
        The language model of what is written.
    units
        A language model of the phrase pairs in their order; only asked where its weight is not 0.
    language_weight, unit_weight
        What their logarithms are multiplied by.
    distortion_weight
        What each word between the end of a phrase and the beginning of the next costs.
    """

    language: LanguageModel
    units: LanguageModel
    language_weight: float
    unit_weight: float
    distortion_weight: float


@njit(cache=True, nogil=True)
def _future(options, first_option, last_option, n, future):
    """Fill future (n, n + 1) with the best that is expected of the words from the first to before the second."""
    for i in range(n + 1):
        for j in range(n + 1):
            future[i, j] = -1e9
    for o in range(first_option, last_option):
        i, j = options.first[o], options.stop[o]
        future[i, j] = max(future[i, j], options.expected[o])
    for length in range(2, n + 1):
        for i in range(n - length + 1):
            for middle in range(i + 1, i + length):
                future[i, i + length] = max(future[i, i + length], future[i, middle] + future[middle, i + length])


class _Sentence(NamedTuple):
    """A sentence of n words: its options, where those of each first word begin, what spans are expected to bring."""

    n: int
    options: Options
    by_first: Integers
    future: Floats


# The state of the language model of phrase pairs stands in the upper half of a hypothesis' state.
_UNIT_BITS = np.int64(32)


@njit(cache=True, nogil=True)
def decode(lengths, options, models, search, hyps):
    """Translate sentences: the options (sentences, words) chosen, in their order, how many, and the scores.

    A phrase may begin where it leaves words out only if its end is within the distortion limit of the first of them:
    so every hypothesis can be finished. `hyps` are stacks for the longest sentence.
    """
    most = len(hyps.filled) - 1
    chosen, counts = np.zeros((len(lengths), most), np.int64), np.zeros(len(lengths), np.int64)
    scores = np.zeros(len(lengths))
    future, by_first = np.zeros((most + 1, most + 1)), np.zeros(most + 3, np.int64)
    start = models.language.start
    if models.unit_weight != 0:
        start |= models.units.start << _UNIT_BITS
    for k in range(len(lengths)):
        n = lengths[k]
        first_option, last_option = options.bounds[k], options.bounds[k + 1]
        _future(options, first_option, last_option, n, future)
        o = first_option
        for i in range(n + 1):
            while o < last_option and options.first[o] < i:
                o += 1
            by_first[i] = o
        clear(hyps, n)
        push(hyps, 0, search, Hypothesis(0, 0, start, 0.0, future[0, n], -1, -1))
        sentence = _Sentence(n, options, by_first, future)
        for done in range(n):
            if hyps.filled[done] == 0:
                continue
            prune(hyps, done, search.stack, search.width)
            for h in range(hyps.filled[done]):
                _extend(hyps, (done, h), sentence, models, search)
        counts[k], scores[k] = _trace_back(hyps, n, options, chosen[k])
    return chosen, counts, scores


@njit(cache=True, nogil=True)
def _extend(hyps, place, sentence, models, search):
    """Push all hypotheses that continue the one at a place (words translated, place in their stack) by an option."""
    n, options, by_first, future = sentence
    done, h = place
    coverage, stop, state = hyps.whole[done, h, COVERAGE], hyps.whole[done, h, STOP], hyps.whole[done, h, STATE]
    gap = 0
    while coverage >> gap & 1:
        gap += 1
    for first in range(gap, min(n, stop + search.distortion_limit + 1)):
        jump = abs(first - stop)
        if coverage >> first & 1 or jump > search.distortion_limit:
            continue
        for o in range(by_first[first], by_first[first + 1]):
            end = options.stop[o]
            if first > gap and end - gap > search.distortion_limit:
                continue
            phrase = ((np.int64(1) << (end - first)) - 1) << first
            if coverage & phrase:
                continue
            covered = coverage | phrase
            reached = done + end - first
            score = hyps.real[done, h, SCORE] + options.score[o] - models.distortion_weight * jump
            language, units, after = _logarithms(models, options, o, state, reached == n)
            score += models.language_weight * language
            if models.unit_weight != 0:
                score += models.unit_weight * units
            total = score + _expected(future, covered, gap, n)
            push(hyps, reached, search, Hypothesis(covered, end, after, score, total, h, o))


@njit(cache=True, nogil=True)
def _expected(future, covered, gap, n):
    """What is left of a sentence brings as much as its best translation, gap by gap from the first one on."""
    expected = 0.0
    i = gap
    while i < n:
        if covered >> i & 1:
            i += 1
            continue
        j = i
        while j < n and not covered >> j & 1:
            j += 1
        expected += future[i, j]
        i = j
    return expected


@njit(cache=True, nogil=True)
def _logarithms(models, options, o, state, is_last):
    """What the models of words and of phrase pairs say of an option in a state, and the state after it."""
    after = state & ((np.int64(1) << _UNIT_BITS) - 1)
    language, units = 0.0, 0.0
    for w in range(options.word_bounds[o], options.word_bounds[o + 1]):
        logarithm, after = next_word(models.language, after, options.words[w])
        language += logarithm
    if is_last:
        logarithm, after = next_word(models.language, after, END)
        language += logarithm
    if models.unit_weight != 0:
        units, unit_state = next_word(models.units, state >> _UNIT_BITS, options.unit[o])
        if is_last:
            logarithm, unit_state = next_word(models.units, unit_state, END)
            units += logarithm
        after |= unit_state << _UNIT_BITS
    return language, units, after


@njit(cache=True, nogil=True)
def _trace_back(hyps, n, options, chosen):
    """Fill chosen (words,) with the options of the best hypothesis of all n words; return their number, its score."""
    best, total = 0, -1e300
    for h in range(hyps.filled[n]):
        if hyps.real[n, h, TOTAL] > total:
            best, total = h, hyps.real[n, h, TOTAL]
    count, done, h = 0, n, best
    while done > 0:
        o = hyps.whole[done, h, OPTION]
        chosen[count] = o
        count += 1
        h = hyps.whole[done, h, PREVIOUS]
        done -= options.stop[o] - options.first[o]
    for i in range(count // 2):
        chosen[i], chosen[count - 1 - i] = chosen[count - 1 - i], chosen[i]
    return count, total
