"""The fine pass of the parser: the best parse of an annotated grammar among what the coarse pass has left (Viterbi)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy_learners.constituency.binary_trees import FloatArray, IntArray
from simstudy_learners.constituency.fine_grammar import Fine, slot_of


class FineBeam(NamedTuple):
    """What the fine pass builds, and keeps.

    Attributes
    ----------
    posterior
        Nothing is built whose plain symbol has a smaller one.
    share
        A symbol stays in a span if its probability, times what is outside its plain symbol, times its share of that
        symbol, is at least so many times the best one's.
    """

    posterior: float
    share: float


class _Chart(NamedTuple):
    """The items of all spans.

    Attributes
    ----------
    begin, end
        (n, n + 1): a span's items stand together, from begin[i, j] to end[i, j].
    items
        (room, 3) symbol, and what it was made of: left and right item, an item and -1, or twice -1.
    scores
        (room,)
    """

    begin: IntArray
    end: IntArray
    items: IntArray
    scores: FloatArray


class _Span(NamedTuple):
    """The symbols of one span while it is made; the same room is used for all spans.

    Attributes
    ----------
    here
        (plain symbols,) which may be built.
    best
        (symbols,) the probability of the best way to make each, 0 for none.
    made
        (symbols, 2) of which items it is made; a symbol and -2 for a unary rule over a symbol of the same span.
    order
        The symbols that can be made.
    merit, place
        (symbols,) for pruning, and for the numbers of items.
    """

    here: NDArray[np.bool_]
    best: FloatArray
    made: IntArray
    order: IntArray
    merit: FloatArray
    place: IntArray


@njit(cache=True, nogil=True)
def _with_room(chart: _Chart, n_items: int) -> _Chart:
    """The chart, copied to a larger one where it has no room for so many items."""
    if n_items <= len(chart.items):
        return chart
    items, scores = np.empty((2 * n_items, 3), np.int32), np.empty(2 * n_items)
    items[: len(chart.items)] = chart.items
    scores[: len(chart.scores)] = chart.scores
    return _Chart(chart.begin, chart.end, items, scores)


@njit(cache=True, nogil=True)
def best_parse(words: FloatArray, inside: FloatArray, outside: FloatArray, grammar: Fine, beam: FineBeam) -> IntArray:
    """The nodes (nodes, 3) of the most probable parse: symbol, start and end, top first; none where there is no parse.

    `words` (n, tags) are P(word | tag) of the grammar's tags, scaled, where symbol 1 + i is tag i. `inside` and
    `outside` are of the coarse pass. The grammar is the annotated one; the beam says what is built and kept.
    """
    n = len(words)
    n_symbols = len(grammar.coarse)
    chart = _Chart(
        np.zeros((n, n + 1), np.int32), np.zeros((n, n + 1), np.int32), np.empty((4096, 3), np.int32), np.empty(4096)
    )
    span = _Span(
        np.empty(inside.shape[2], np.bool_), np.zeros(n_symbols), np.empty((n_symbols, 2), np.int32),
        np.empty(n_symbols, np.int32), np.empty(n_symbols), np.empty(n_symbols, np.int32),
    )  # fmt: skip
    n_items = 0
    least = max(beam.posterior * inside[0, n, 0], 1e-300)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            possible = False
            for s in range(len(span.here)):
                span.here[s] = inside[i, j, s] * outside[i, j, s] >= least
                possible |= span.here[s]
            if not possible:
                continue
            count = _tagged(span, words[i], grammar) if length == 1 else _combined(span, chart, (i, j), grammar)
            count = _climb(span, count, grammar)
            count = _keep_best(span, count, outside[i, j], grammar, beam.share)
            chart = _with_room(chart, n_items + count)
            chart.begin[i, j] = n_items
            n_items = _store(span, count, chart, n_items)
            chart.end[i, j] = n_items
    for item in range(chart.begin[0, n], chart.end[0, n]):
        if chart.items[item, 0] == 0:
            return _nodes(chart.items, item, chart.begin, chart.end, n)
    return np.empty((0, 3), np.int32)


@njit(cache=True, nogil=True)
def _tagged(span: _Span, word: FloatArray, grammar: Fine) -> int:
    """The tags of a word; like the next functions it returns how many symbols can be made."""
    here, best, made, order, _, _ = span
    count = 0
    for tag in range(len(word)):
        if word[tag] > 0.0 and here[grammar.coarse[1 + tag]]:
            best[1 + tag] = word[tag]
            made[1 + tag, :] = -1
            order[count] = 1 + tag
            count += 1
    return count


@njit(cache=True, nogil=True)
def _combined(span: _Span, chart: _Chart, where: tuple[int, int], grammar: Fine) -> int:
    """Apply binary rules to all pairs of spans that make up the one from i to j."""
    here, best, made, order, _, _ = span
    begin, end, items, scores = chart
    i, j = where
    n_symbols = len(best)
    count = 0
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
    return count


@njit(cache=True, nogil=True)
def _climb(span: _Span, count: int, grammar: Fine) -> int:
    """Apply unary rules until no symbol of a span gets better; made is then (child's symbol, -2)."""
    here, best, made, order, _, _ = span
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
def _keep_best(span: _Span, count: int, outside: FloatArray, grammar: Fine, share: float) -> int:
    """Leave out the symbols of a span whose merit is too far below the best one's, and on which no other one stands."""
    _, best, made, order, merit, _ = span
    highest = 0.0
    for c in range(count):
        symbol = order[c]
        merit[symbol] = best[symbol] * grammar.share[symbol] * outside[grammar.coarse[symbol]]
        highest = max(highest, merit[symbol])
    for c in range(count):
        symbol = order[c]
        if merit[symbol] >= share * highest:
            while made[symbol, 1] == -2:
                symbol = made[symbol, 0]
                merit[symbol] = highest
    kept = 0
    for c in range(count):
        symbol = order[c]
        if merit[symbol] >= share * highest:
            order[kept] = symbol
            kept += 1
        else:
            best[symbol] = 0.0
    return kept


@njit(cache=True, nogil=True)
def _store(span: _Span, count: int, chart: _Chart, n_items: int) -> int:
    """Make items of the symbols of a span, and clear it; return the number of all items."""
    _, best, made, order, _, place = span
    items, scores = chart.items, chart.scores
    for c in range(count):
        place[order[c]] = n_items + c
    for c in range(count):
        symbol = order[c]
        items[n_items, 0] = symbol
        items[n_items, 1] = made[symbol, 0] if made[symbol, 1] != -2 else place[made[symbol, 0]]
        items[n_items, 2] = max(made[symbol, 1], -1)
        scores[n_items] = best[symbol]
        best[symbol] = 0.0
        n_items += 1
    return n_items


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
