"""Repairing what was found in a translation memory; compiled."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy_learners.alignment.bitexts import Bounds
from simstudy_learners.language_models.kneser_ney import LanguageModel, next_word
from simstudy_learners.language_models.ngrams import END
from simstudy_learners.segments import Floats, Integers, longest_segment

#: What becomes of a word of a sentence that is looked up: written anew, or the place of its like in the one found.
_NEW = -1


class Memory(NamedTuple):
    """Sentence pairs: their bounds, the numbers of their words, and which are linked (cells,)."""

    bounds: Bounds
    source: Integers
    target: Integers
    linked: NDArray[np.bool_]


class Match(NamedTuple):
    """One of them: source words, target words, and (source words, target words) which are linked."""

    source: Integers
    target: Integers
    linked: NDArray[np.bool_]


class Judgement(NamedTuple):
    """What decides between translations, and writes single words.

    Attributes
    ----------
    worth
        (vocabulary,) of a word that two sentences share.
    lexical
        (vocabulary,) a word's translation; 0 for none.
    language
        The language model of translations.
    fluency
        What the mean logarithm of a translation's words is multiplied by.
    """

    worth: Floats
    lexical: Integers
    language: LanguageModel
    fluency: float


class Room(NamedTuple):
    """Room for a repair: for words of the sentence, for words of the other's translation, for the translation."""

    fresh: Integers
    owner: Integers
    written: Integers


@njit(cache=True, nogil=True)
def edit_path(words, others, worth, cost, partner):
    """The least that makes one sentence of the other, and fill partner with what becomes of each of its words.

    A word that is left out or put in costs what it is worth, one in the place of another the higher worth of both.
    partner is the place of the word whose place it takes (the same word or another), or -1.
    """
    m, n = len(others), len(words)
    cost[0, 0] = 0.0
    for i in range(1, m + 1):
        cost[i, 0] = cost[i - 1, 0] + worth[others[i - 1]]
    for j in range(1, n + 1):
        cost[0, j] = cost[0, j - 1] + worth[words[j - 1]]
    for i in range(1, m + 1):
        for j in range(1, n + 1):
            a, b = others[i - 1], words[j - 1]
            changed = cost[i - 1, j - 1] + (0.0 if a == b else max(worth[a], worth[b]))
            cost[i, j] = min(changed, cost[i - 1, j] + worth[a], cost[i, j - 1] + worth[b])
    i, j = m, n
    while j > 0:
        partner[j - 1] = _NEW
        if i > 0:
            a, b = others[i - 1], words[j - 1]
            changed = cost[i - 1, j - 1] + (0.0 if a == b else max(worth[a], worth[b]))
            if cost[i, j] == changed:
                i, j = i - 1, j - 1
                partner[j] = i
                continue
            if cost[i, j] == cost[i - 1, j] + worth[a]:
                i -= 1
                continue
        j -= 1
    return cost[m, n]


@njit(cache=True, nogil=True)
def repair(words, partner, match, lexical, room):
    """Write the translation of a sentence from that of another one; return the number of words.

    Target words that are linked to a word that stays, or to none, stay. Those linked to a word whose place another one
    takes give way to the other's translation by the lexicon; those linked to words that are left out are left out. A
    word that is put in is translated after what belongs to the word before it.

    `partner` is `edit_path`'s answer for the sentence, `match` the sentence pair that was found, and `lexical`
    (vocabulary,) a word's translation; 0 for none. The translation is written to `room.written`.
    """
    others, target, linked = match
    fresh, owner, written = room
    m, n, t = len(others), len(words), len(target)
    taker = np.full(m, -1)
    for j in range(n):
        if partner[j] >= 0:
            taker[partner[j]] = j
    # What each target word is: -1 stays, -2 goes, or the word that takes its place.
    for q in range(t):
        owner[q] = -1
        links = 0
        for i in range(m):
            if linked[i, q]:
                links += 1
                if taker[i] >= 0 and words[taker[i]] == others[i]:
                    owner[q] = -1
                    links = 0
                    break
                owner[q] = taker[i] if taker[i] >= 0 else (owner[q] if links > 1 else -2)
        if links == 0:
            owner[q] = -1
    # Where each word that is new is written: before the target word of that place.
    place = 0
    for j in range(n):
        i = partner[j]
        fresh[j] = -1
        if i >= 0:
            last = -1
            for q in range(t):
                if linked[i, q]:
                    last = q
            if words[j] != others[i]:
                fresh[j] = place
                for q in range(t):
                    if owner[q] == j:
                        fresh[j] = q
                        break
            if last >= 0:
                place = last + 1
        else:
            fresh[j] = place
    count = 0
    for q in range(t + 1):
        for j in range(n):
            if fresh[j] == q and lexical[words[j]] > 0:
                written[count] = lexical[words[j]]
                count += 1
        if q < t and owner[q] == -1:
            written[count] = target[q]
            count += 1
    return count


@njit(cache=True, nogil=True)
def translate(words, bounds, best, memory, judgement):
    """The best repaired translation (sentences, room) of each sentence, and their numbers of words.

    The best has the highest likeness (1 less the edits' share of what both sentences are worth) and `fluency` times the
    mean logarithm of its words' probabilities. A sentence without any is translated word by word. `best` (sentences, n)
    is `look_up`'s answer; memory and judgement were learnt.
    """
    worth, lexical, language, fluency = judgement
    n_words, n_target = longest_segment(bounds), longest_segment(memory.bounds.target)
    longest = max(n_words, longest_segment(memory.bounds.source), n_target) + 1
    translations = np.zeros((len(bounds) - 1, n_words + n_target), np.int64)
    sizes = np.zeros(len(bounds) - 1, np.int64)
    cost, partner = np.empty((longest, longest)), np.empty(longest, np.int64)
    room = Room(np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(2 * longest, np.int64))
    for k in range(len(bounds) - 1):
        own = words[bounds[k] : bounds[k + 1]]
        highest = -1e300
        total = 0.0
        for w in own:
            total += worth[w]
        for s in best[k]:
            if s < 0:
                break
            match = _match(memory, s)
            edits = edit_path(own, match.source, worth, cost, partner)
            count = repair(own, partner, match, lexical, room)
            if count == 0:
                continue
            both = total
            for w in match.source:
                both += worth[w]
            # Rounded, so that no machine's last bits decide.
            value = np.round(1 - edits / both + fluency * _mean_logarithm(language, room.written[:count]), 9)
            if value > highest:
                highest = value
                sizes[k] = count
                translations[k, :count] = room.written[:count]
        if highest == -1e300:
            for w in own:
                if lexical[w] > 0:
                    translations[k, sizes[k]] = lexical[w]
                    sizes[k] += 1
    return translations, sizes


@njit(cache=True, nogil=True)
def _match(memory, s):
    """Sentence pair s of the memory."""
    bounds = memory.bounds
    source = memory.source[bounds.source[s] : bounds.source[s + 1]]
    target = memory.target[bounds.target[s] : bounds.target[s + 1]]
    linked = memory.linked[bounds.cell[s] : bounds.cell[s + 1]].reshape(len(source), len(target))
    return Match(source, target, linked)


@njit(cache=True, nogil=True)
def _mean_logarithm(language, words):
    """The mean logarithm of the probabilities of a sentence's words and of its end."""
    state = language.start
    logarithm = 0.0
    for word in words:
        score, state = next_word(language, state, word)
        logarithm += score
    score, state = next_word(language, state, END)
    return (logarithm + score) / (len(words) + 1)
