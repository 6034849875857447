"""Looking a sentence up in a translation memory, and repairing what is found; compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from simstudy.learners.language_models.kneser_ney import next_word
from simstudy.learners.language_models.ngrams import END
from simstudy.learners.runs import longest_run

#: What becomes of a word of a sentence that is looked up: written anew, or the place of its like in the one found.
_NEW = -1


@njit(cache=True, nogil=True)
def look_up(bounds, ngrams, first, entries, entry_bounds, worth, whole, n_best, best):
    """Fill best (sentences, n_best) with the memory's sentences that share most with each, best first; -1 for none.

    What two sentences share is the worth of their common n-grams, twice, by that of all n-grams of both.

    Parameters
    ----------
    bounds, ngrams, first
        The distinct n-grams of sentence k are ngrams[bounds[k]] … ngrams[bounds[k + 1] - 1], -1 for those that the
        memory has not, and first is the worth of all of them.
    entries, entry_bounds
        N-gram g is in the memory's sentences entries[entry_bounds[g]] … entries[entry_bounds[g + 1] - 1].
    worth, whole
        Of an n-gram, and of all that a sentence of the memory has.
    """
    n_memory = len(whole)
    shared = np.zeros(n_memory)
    for k in range(len(bounds) - 1):
        shared[:] = 0
        for at in range(bounds[k], bounds[k + 1]):
            g = ngrams[at]
            if g >= 0:
                for e in range(entry_bounds[g], entry_bounds[g + 1]):
                    shared[entries[e]] += worth[g]
        found = 0
        least = 0.0
        top = np.empty(n_best)
        for s in range(n_memory):
            if shared[s] <= 0:
                continue
            # Rounded, so that no machine's last bits decide.
            likeness = np.round(2 * shared[s] / (first[k] + whole[s]), 9)
            if found == n_best and likeness <= least:
                continue
            place = min(found, n_best - 1)
            while place > 0 and top[place - 1] < likeness:
                top[place] = top[place - 1]
                best[k, place] = best[k, place - 1]
                place -= 1
            top[place] = likeness
            best[k, place] = s
            found = min(found + 1, n_best)
            least = top[found - 1]
        best[k, found:] = -1


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
def repair(words, others, partner, target, linked, lexical, fresh, owner, written):
    """Write the translation of a sentence from that of another one; return the number of words.

    Target words that are linked to a word that stays, or to none, stay. Those linked to a word whose place another one
    takes give way to the other's translation by the lexicon; those linked to words that are left out are left out. A
    word that is put in is translated after what belongs to the word before it.

    Parameters
    ----------
    words, others, partner
        The sentence, the one found, and `edit_path`'s answer.
    target, linked
        The translation of the one found, and (others, target) which words are linked.
    lexical
        (vocabulary,) a word's translation; 0 for none.
    fresh, owner, written
        Room: for words of the sentence, for words of the target, for the translation.
    """
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
def translate(
    words, bounds, best, source, source_bounds, target, target_bounds, linked, cells, worth, lexical, model,
    fluency, translations, sizes,
):  # fmt: skip
    """Fill translations (sentences, room) with the best repaired translation of each, and their numbers of words.

    The best has the highest likeness (1 less the edits' share of what both sentences are worth) and `fluency` times
    the mean logarithm of its words' probabilities.
    """
    longest = max(longest_run(bounds), longest_run(source_bounds), longest_run(target_bounds)) + 1
    cost = np.empty((longest, longest))
    partner, fresh, owner = np.empty(longest, np.int64), np.empty(longest, np.int64), np.empty(longest, np.int64)
    written = np.empty(2 * longest, np.int64)
    for k in range(len(bounds) - 1):
        own = words[bounds[k] : bounds[k + 1]]
        highest = -1e300
        total = 0.0
        for w in own:
            total += worth[w]
        sizes[k] = 0
        for s in best[k]:
            if s < 0:
                break
            others = source[source_bounds[s] : source_bounds[s + 1]]
            made = target[target_bounds[s] : target_bounds[s + 1]]
            links = linked[cells[s] : cells[s + 1]].reshape(len(others), len(made))
            edits = edit_path(own, others, worth, cost, partner)
            count = repair(own, others, partner, made, links, lexical, fresh, owner, written)
            if count == 0:
                continue
            state = model.start
            logarithm = 0.0
            for w in range(count):
                score, state = next_word(model, state, written[w])
                logarithm += score
            score, state = next_word(model, state, END)
            logarithm = (logarithm + score) / (count + 1)
            both = total
            for w in others:
                both += worth[w]
            # Rounded, so that no machine's last bits decide.
            value = np.round(1 - edits / both + fluency * logarithm, 9)
            if value > highest:
                highest = value
                sizes[k] = count
                translations[k, :count] = written[:count]
        if highest == -1e300:
            for w in own:
                if lexical[w] > 0:
                    translations[k, sizes[k]] = lexical[w]
                    sizes[k] += 1
