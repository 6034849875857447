"""From tables of phrase pairs to translations: the best pairs of each phrase, those of a sentence, the search."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from simstudy_learners.language_models.ngrams import Ngrams
from simstudy_learners.segments import Floats, Integers, bounds_of, chosen_segments, places_in_segments
from simstudy_learners.translation.hypotheses import Search, stacks
from simstudy_learners.translation.phrases import PhraseTable
from simstudy_learners.translation.stack_decoder import MOST_WORDS, Models, Options, decode
from simstudy_learners.translation.texts import Text, spelt_out


class Candidates(NamedTuple):
    """The phrase pairs that a translator looks at, by source phrase, as `Options` are.

    Attributes
    ----------
    sources
        N-grams of the source side of the training set.
    bounds
        (source n-grams + 1,): the pairs of n-gram k are bounds[k] … bounds[k + 1] - 1.
    words, word_bounds
        The words of the target phrases, of pair i from word_bounds[i] on.
    score, expected, unit
        (pairs,), see `Options`.
    """

    sources: Ngrams
    bounds: Integers
    words: Integers
    word_bounds: Integers
    score: Floats
    expected: Floats
    unit: Integers


def best_candidates(table: PhraseTable, score: Floats, expected: Floats, unit: Integers, n: int) -> Candidates:
    """The n pairs of each source phrase of which most is expected; scores are rounded, lest last bits decide."""
    score, expected = score.round(9), expected.round(9)
    source, place = places_in_segments(table.bounds)
    order = np.lexsort((-expected, source))
    kept = order[place < n]
    word_bounds, words = chosen_segments(table.word_bounds, kept)
    bounds = np.searchsorted(source[kept], np.arange(len(table.bounds)))
    return Candidates(table.sources, bounds, table.words[words], word_bounds, score[kept], expected[kept], unit[kept])


def translated(
    text: Text, candidates: Candidates, unknown: tuple[float, float, int], models: Models, search: Search
) -> list[str]:
    """The best translations that the search finds; sentences that are too long for it are translated in pieces."""
    cut, sentence = in_pieces(text.bounds, MOST_WORDS)
    options = options_of(text.words, cut, candidates, unknown)
    words, bounds = found(np.diff(cut), options, models, search)
    # The pieces of a sentence follow one another.
    whole = np.append(bounds[np.searchsorted(sentence, np.arange(len(text)))], bounds[-1])
    return spelt_out(words, whole, text.vocabulary)


def found(lengths: Integers, options: Options, models: Models, search: Search) -> tuple[Integers, Integers]:
    """The words of the best translations found of sentences of these lengths, and where each begins."""
    longest = int(lengths.max())
    chosen, count, _ = decode(lengths, options, models, search, stacks(longest, search.stack))
    ends, words = chosen_segments(options.word_bounds, chosen[np.arange(longest) < count[:, None]])
    return options.words[words], ends[bounds_of(count)]


def options_of(words: Integers, bounds: Integers, table: Candidates, unknown: tuple[float, float, int]) -> Options:
    """The candidates for the phrases of sentences; words without any stay as they are, with what `unknown` says."""
    numbers = table.sources.find(words, bounds)
    at, level = np.nonzero(numbers >= 0)
    number = numbers[at, level]
    own, pair = chosen_segments(table.bounds, number)
    place, size = np.repeat(at, np.diff(own)), np.repeat(level + 1, np.diff(own))
    alone = np.setdiff1d(np.arange(len(words)), place[size == 1])
    # Words that stay are pairs of their own, after those of the table.
    pair = np.concatenate([pair, len(table.score) + np.arange(len(alone))])
    place, size = np.concatenate([place, alone]), np.concatenate([size, np.ones(len(alone), np.int64)])
    order = np.argsort(place, kind="stable")
    pair, place, size = pair[order], place[order], size[order]
    all_words = np.concatenate([table.words, words[alone]])
    all_bounds = np.concatenate([table.word_bounds, table.word_bounds[-1] + 1 + np.arange(len(alone))])
    target_bounds, target = chosen_segments(all_bounds, pair)
    sentence = np.searchsorted(bounds, place, side="right") - 1
    first = place - bounds[sentence]
    score, expected, unit = (
        np.concatenate([known, np.full(len(alone), other)])[pair]
        for known, other in zip((table.score, table.expected, table.unit), unknown, strict=True)
    )
    begins = np.searchsorted(sentence, np.arange(len(bounds)))
    return Options(begins, first, first + size, score, expected, all_words[target], target_bounds, unit)


def in_pieces(bounds: Integers, most: int) -> tuple[Integers, Integers]:
    """Bounds of sentences cut where they have more words, and the sentence of each piece.

    Examples
    --------
    >>> cut, sentence = in_pieces(np.array([0, 5, 7]), most=2)
    >>> cut.tolist(), sentence.tolist()
    ([0, 2, 4, 5, 7], [0, 0, 0, 1])
    """
    lengths = np.diff(bounds)
    n_pieces = -(-lengths // most)
    sentence, place = places_in_segments(bounds_of(n_pieces))
    return np.append(bounds[sentence] + place * most, bounds[-1]), sentence
