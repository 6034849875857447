"""A stack decoder of phrase-based models (Koehn et al. 2003, section 2.2), compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from simstudy.learners.language_models.kneser_ney import LanguageModel, next_word
from simstudy.learners.language_models.ngrams import END
from simstudy.learners.runs import Floats, Integers
from simstudy.learners.translation.hypotheses import (
    COVERAGE,
    OPTION,
    PREVIOUS,
    SCORE,
    STATE,
    STOP,
    TOTAL,
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


@njit(cache=True, nogil=True)
def decode(lengths, options, models, search, hyps, future, chosen, chosen_count, scores):
    """Translate sentences: fill chosen (sentences, words) with options in their order, and the scores.

    A phrase may begin where it leaves words out only if its end is within the distortion limit of the first of them:
    so every hypothesis can be finished.
    """
    model, unit_model = models.language, models.units
    unit_bits = np.int64(32)
    start = model.start
    if models.unit_weight != 0:
        start |= unit_model.start << unit_bits
    by_first = np.zeros(future.shape[0] + 2, np.int64)
    for sentence in range(len(lengths)):
        n = lengths[sentence]
        first_option, last_option = options.bounds[sentence], options.bounds[sentence + 1]
        _future(options, first_option, last_option, n, future)
        o = first_option
        for i in range(n + 1):
            while o < last_option and options.first[o] < i:
                o += 1
            by_first[i] = o
        for k in range(n + 1):
            hyps.filled[k], hyps.floor[k] = 0, -1e300
            for at in range(hyps.table.shape[1]):
                hyps.table[k, at] = 0
        push(hyps, 0, search, 0, 0, start, 0.0, future[0, n], -1, -1)
        for k in range(n):
            if hyps.filled[k] == 0:
                continue
            prune(hyps, k, search.stack, search.width)
            for h in range(hyps.filled[k]):
                coverage, stop = hyps.whole[k, h, COVERAGE], hyps.whole[k, h, STOP]
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
                        reached = k + end - first
                        score = hyps.real[k, h, SCORE] + options.score[o] - models.distortion_weight * jump
                        # What is left costs as much as its best translation, gap by gap.
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
                        state = hyps.whole[k, h, STATE] & ((np.int64(1) << unit_bits) - 1)
                        language = 0.0
                        for w in range(options.word_bounds[o], options.word_bounds[o + 1]):
                            logarithm, state = next_word(model, state, options.words[w])
                            language += logarithm
                        if reached == n:
                            logarithm, state = next_word(model, state, END)
                            language += logarithm
                        score += models.language_weight * language
                        if models.unit_weight != 0:
                            unit_state = hyps.whole[k, h, STATE] >> unit_bits
                            language, unit_state = next_word(unit_model, unit_state, options.unit[o])
                            if reached == n:
                                logarithm, unit_state = next_word(unit_model, unit_state, END)
                                language += logarithm
                            score += models.unit_weight * language
                            state |= unit_state << unit_bits
                        push(hyps, reached, search, covered, end, state, score, score + expected, h, o)
        best, total = 0, -1e300
        for h in range(hyps.filled[n]):
            if hyps.real[n, h, TOTAL] > total:
                best, total = h, hyps.real[n, h, TOTAL]
        scores[sentence] = total
        count, k, h = 0, n, best
        while k > 0:
            o = hyps.whole[k, h, OPTION]
            chosen[sentence, count] = o
            count += 1
            h = hyps.whole[k, h, PREVIOUS]
            k -= options.stop[o] - options.first[o]
        chosen_count[sentence] = count
        for i in range(count // 2):
            o = chosen[sentence, i]
            chosen[sentence, i] = chosen[sentence, count - 1 - i]
            chosen[sentence, count - 1 - i] = o
