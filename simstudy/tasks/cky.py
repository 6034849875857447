"""CKY parsing from coarse to fine, compiled: a plain grammar's posteriors say what an annotated grammar may build.

The coarse pass is inside-outside with the plain grammar (Charniak et al. 2006); within a span it keeps symbols whose
figure of merit (Caraballo and Charniak 1998) is not far below the best's. The fine pass finds the best parse of the
annotated grammar among what has survived (Viterbi). Probabilities are scaled word by word, and need no logarithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy.tasks.binary_trees import IntArray
from simstudy.tasks.grammars import Coarse, Fine, slot_of

FloatArray = NDArray[np.float64]


class Items(NamedTuple):
    """What a span's neighbours combine with, (n, n + 1, symbols): the first `count` symbols and their probabilities."""

    count: IntArray
    symbol: IntArray
    score: FloatArray


@njit(cache=True, nogil=True)
def coarse_pass(
    words: FloatArray, before: FloatArray, after: FloatArray, grammar: Coarse, beam: float, floor: float
) -> tuple[FloatArray, FloatArray]:
    """Inside and outside probabilities of plain symbols (n, n + 1, symbols), any place of a chain of unary rules counted.

    Parameters
    ----------
    words
        (n, symbols) P(word | tag), scaled; 0 for symbols that are no tags.
    before, after
        (n + 1, symbols) what is before a span that begins at i, and behind one that ends there, says for a symbol: factors of
        the figure of merit.
    grammar
        The plain grammar.
    beam
        A symbol stays in a span if its figure of merit is at least so many times the best one's,
    floor
        and at least this.
    """
    n, n_symbols = words.shape
    inside = np.zeros((n, n + 1, n_symbols))
    shape = (n, n + 1, n_symbols)
    lefts = Items(np.zeros((n, n + 1), np.int32), np.empty(shape, np.int32), np.empty(shape))
    rights = Items(np.zeros((n, n + 1), np.int32), np.empty(shape, np.int32), np.empty(shape))
    made, merit = np.empty(n_symbols), np.empty(n_symbols)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            if length == 1:
                made[:] = words[i]
            else:
                made[:] = 0.0
                for k in range(i + 1, j):
                    _combine(made, lefts, rights, i, k, j, grammar)
            total = inside[i, j]
            for child in range(n_symbols):
                if made[child] > 0.0 and (child > 0 or length == n):
                    for c in range(grammar.chain_first[child], grammar.chain_first[child + 1]):
                        total[grammar.chain_top[c]] += grammar.chain_weight[c] * made[child]
            if length < n:
                total[0] = 0.0
            best = 0.0
            for s in range(n_symbols):
                merit[s] = total[s] * before[i, s] * after[j, s] if total[s] > 0.0 else 0.0
                best = max(best, merit[s])
            for s in range(n_symbols):
                if total[s] > 0.0 and merit[s] >= max(beam * best, floor):
                    if grammar.is_left[s]:
                        _add(lefts, i, j, s, total[s])
                    if grammar.is_right[s]:
                        _add(rights, i, j, s, total[s])
    return inside, _outside(inside, lefts, rights, grammar)


@njit(cache=True, nogil=True, inline="always")
def _add(items: Items, i: int, j: int, symbol: int, score: float) -> None:
    at = items.count[i, j]
    items.symbol[i, j, at] = symbol
    items.score[i, j, at] = score
    items.count[i, j] = at + 1


@njit(cache=True, nogil=True)
def _combine(made: FloatArray, lefts: Items, rights: Items, i: int, k: int, j: int, grammar: Coarse) -> None:
    n_symbols = len(made)
    for a in range(lefts.count[i, k]):
        row = lefts.symbol[i, k, a] * n_symbols
        score = lefts.score[i, k, a]
        for b in range(rights.count[k, j]):
            pair = row + rights.symbol[k, j, b]
            begin, end = grammar.first[pair], grammar.first[pair + 1]
            if begin < end:
                both = score * rights.score[k, j, b]
                for r in range(begin, end):
                    made[grammar.parent[r]] += grammar.weight[r] * both


# What has a smaller share of the sentence's probability is not followed downwards.
_NEGLIGIBLE = 1e-7


@njit(cache=True, nogil=True)
def _outside(inside: FloatArray, lefts: Items, rights: Items, grammar: Coarse) -> FloatArray:
    n, _, n_symbols = inside.shape
    # First what is outside the top of a chain, then what is outside any place of it.
    outside = np.zeros(inside.shape)
    whole = inside[0, n, 0]
    if whole <= 0.0:
        return outside
    outside[0, n, 0] = 1.0
    any_place = np.empty(n_symbols)
    for length in range(n, 0, -1):
        for i in range(n - length + 1):
            j = i + length
            top = outside[i, j]
            alive = False
            for child in range(n_symbols):
                any_place[child] = 0.0
                if inside[i, j, child] > 0.0:
                    for c in range(grammar.chain_first[child], grammar.chain_first[child + 1]):
                        any_place[child] += grammar.chain_weight[c] * top[grammar.chain_top[c]]
                    alive |= any_place[child] * inside[i, j, child] > _NEGLIGIBLE * whole
            top[:] = any_place
            if alive:
                for k in range(i + 1, j):
                    _share_out(top, outside, lefts, rights, i, k, j, grammar)
    return outside


@njit(cache=True, nogil=True)
def _share_out(above: FloatArray, outside: FloatArray, lefts: Items, rights: Items, i: int, k: int, j: int, grammar: Coarse) -> None:
    n_symbols = len(above)
    for a in range(lefts.count[i, k]):
        left = lefts.symbol[i, k, a]
        for b in range(rights.count[k, j]):
            pair = left * n_symbols + rights.symbol[k, j, b]
            begin, end = grammar.first[pair], grammar.first[pair + 1]
            if begin < end:
                whole = 0.0
                for r in range(begin, end):
                    whole += grammar.weight[r] * above[grammar.parent[r]]
                if whole > 0.0:
                    outside[i, k, left] += whole * rights.score[k, j, b]
                    outside[k, j, rights.symbol[k, j, b]] += whole * lefts.score[i, k, a]


@njit(cache=True, nogil=True)
def _grown(table: IntArray, size: int) -> IntArray:
    larger = np.empty((size, table.shape[1]), np.int32)
    larger[: len(table)] = table
    return larger


@njit(cache=True, nogil=True)
def best_parse(
    words: FloatArray, inside: FloatArray, outside: FloatArray, grammar: Fine, threshold: float, beam: float
) -> IntArray:
    """The nodes (nodes, 3) of the most probable parse: symbol, start and end, top first; none where there is no parse.

    Parameters
    ----------
    words
        (n, tags) P(word | tag) of the grammar's tags, scaled, where symbol 1 + i is tag i.
    inside, outside
        Of the coarse pass.
    grammar
        The annotated grammar.
    threshold
        Nothing is built whose plain symbol has a smaller posterior.
    beam
        A symbol stays in a span if its probability, times what is outside its plain symbol, times its share of that symbol,
        is at least so many times the best one's.
    """
    n, n_tags = words.shape
    n_symbols = len(grammar.coarse)
    # A span's items stand together: from[i, j] to to[i, j].
    begin, end = np.zeros((n, n + 1), np.int32), np.zeros((n, n + 1), np.int32)
    # Symbol; and what it was made of: left and right item, an item and -1, or twice -1.
    items, scores = np.empty((4096, 3), np.int32), np.empty(4096)
    n_items = 0
    best, made = np.zeros(n_symbols), np.empty((n_symbols, 2), np.int32)
    order, place = np.empty(n_symbols, np.int32), np.empty(n_symbols, np.int32)
    least = max(threshold * inside[0, n, 0], 1e-300)
    here, merit = np.empty(inside.shape[2], np.bool_), np.empty(n_symbols)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            possible = False
            for s in range(len(here)):
                here[s] = inside[i, j, s] * outside[i, j, s] >= least
                possible |= here[s]
            if not possible:
                continue
            count = 0
            if length == 1:
                for tag in range(n_tags):
                    if words[i, tag] > 0.0 and here[grammar.coarse[1 + tag]]:
                        best[1 + tag] = words[i, tag]
                        made[1 + tag, :] = -1
                        order[count] = 1 + tag
                        count += 1
            else:
                for k in range(i + 1, j):
                    if begin[i, k] == end[i, k] or begin[k, j] == end[k, j]:
                        continue
                    for a in range(begin[i, k], end[i, k]):
                        row = np.int64(items[a, 0]) * n_symbols
                        for b in range(begin[k, j], end[k, j]):
                            pair = row + items[b, 0]
                            slot = slot_of(grammar.keys, pair)
                            if grammar.keys[slot] != pair:
                                continue
                            both = scores[a] * scores[b]
                            at = grammar.slots[slot]
                            for r in range(grammar.first[at], grammar.first[at + 1]):
                                parent = grammar.parent[r]
                                score = both * grammar.weight[r]
                                if score > best[parent] and here[grammar.coarse[parent]]:
                                    if best[parent] == 0.0:
                                        order[count] = parent
                                        count += 1
                                    best[parent] = score
                                    made[parent, 0] = a
                                    made[parent, 1] = b
            count = _climb(best, made, order, count, here, grammar)
            count = _keep_best(best, made, order, count, merit, outside[i, j], grammar, beam)
            if n_items + count > len(items):
                items = _grown(items, 2 * (n_items + count))
                scores = np.append(scores, np.empty(len(items) - len(scores)))
            for c in range(count):
                place[order[c]] = n_items + c
            begin[i, j] = n_items
            for c in range(count):
                symbol = order[c]
                items[n_items, 0] = symbol
                items[n_items, 1] = made[symbol, 0] if made[symbol, 1] != -2 else place[made[symbol, 0]]
                items[n_items, 2] = max(made[symbol, 1], -1)
                scores[n_items] = best[symbol]
                best[symbol] = 0.0
                n_items += 1
            end[i, j] = n_items
    for item in range(begin[0, n], end[0, n]):
        if items[item, 0] == 0:
            return _nodes(items, item, begin, end, n)
    return np.empty((0, 3), np.int32)


@njit(cache=True, nogil=True)
def _climb(best: FloatArray, made: IntArray, order: IntArray, count: int, here: NDArray[np.bool_], grammar: Fine) -> int:
    """Apply unary rules until no symbol of a span gets better; made is then (child's symbol, -2)."""
    again = True
    while again:
        again = False
        c = 0
        while c < count:
            child = order[c]
            c += 1
            for r in range(grammar.unary_first[child], grammar.unary_first[child + 1]):
                parent = grammar.unary_parent[r]
                score = best[child] * grammar.unary_weight[r]
                if score > best[parent] and here[grammar.coarse[parent]]:
                    if best[parent] == 0.0:
                        order[count] = parent
                        count += 1
                    best[parent] = score
                    made[parent, 0] = child
                    made[parent, 1] = -2
                    again = True
    return count


@njit(cache=True, nogil=True)
def _keep_best(
    best: FloatArray, made: IntArray, order: IntArray, count: int, merit: FloatArray, outside: FloatArray, grammar: Fine,
    beam: float,
) -> int:  # fmt: skip
    """Leave out the symbols of a span whose merit is too far below the best one's, and on which no other one stands."""
    highest = 0.0
    for c in range(count):
        symbol = order[c]
        merit[symbol] = best[symbol] * grammar.share[symbol] * outside[grammar.coarse[symbol]]
        highest = max(highest, merit[symbol])
    for c in range(count):
        symbol = order[c]
        if merit[symbol] >= beam * highest:
            while made[symbol, 1] == -2:
                symbol = made[symbol, 0]
                merit[symbol] = highest
    kept = 0
    for c in range(count):
        symbol = order[c]
        if merit[symbol] >= beam * highest:
            order[kept] = symbol
            kept += 1
        else:
            best[symbol] = 0.0
    return kept


@njit(cache=True, nogil=True)
def _nodes(items: IntArray, top: int, begin: IntArray, end: IntArray, n: int) -> IntArray:
    """A parse from its top item: a node's span is found from its words, which come in order."""
    stack = np.empty(4 * len(items) + 4, np.int32)
    found = np.empty((len(items), 3), np.int32)
    spans = np.empty((len(stack), 2), np.int32)
    stack[0], spans[0, 0], spans[0, 1] = top, 0, n
    size, count = 1, 0
    while size:
        size -= 1
        item, i, j = stack[size], spans[size, 0], spans[size, 1]
        found[count, 0], found[count, 1], found[count, 2] = items[item, 0], i, j
        count += 1
        left, right = items[item, 1], items[item, 2]
        if left >= 0 and right < 0:
            stack[size], spans[size, 0], spans[size, 1] = left, i, j
            size += 1
        elif left >= 0:
            k = i + 1
            while not (begin[i, k] <= left < end[i, k]):
                k += 1
            stack[size], spans[size, 0], spans[size, 1] = right, k, j
            stack[size + 1], spans[size + 1, 0], spans[size + 1, 1] = left, i, k
            size += 2
    return found[:count]


@njit(cache=True, nogil=True)
def forward(tags: FloatArray, transition: FloatArray) -> FloatArray:
    """Probabilities (n + 2,) of the first 0, 1, ..., n words, and of all and the end, by a hidden Markov model.

    Parameters
    ----------
    tags
        (n, tags) P(word | tag), scaled.
    transition
        (tags + 1, tags + 1) P(tag | tag before); 0 is the sentence's boundary.
    """
    n, n_tags = tags.shape
    prefix = np.ones(n + 2)
    state, following = np.zeros(n_tags + 1), np.zeros(n_tags + 1)
    state[0] = 1.0
    for i in range(n):
        following[:] = 0.0
        for one in range(n_tags + 1):
            if state[one] > 0.0:
                for other in range(n_tags):
                    following[other + 1] += state[one] * transition[one, other + 1]
        following[1:] *= tags[i]
        state[:] = following
        prefix[i + 1] = state.sum()
    prefix[n + 1] = (state * transition[:, 0]).sum()
    return prefix
