"""The coarse pass of the parser: what a plain grammar holds possible (Charniak et al. 2006), compiled.

It is inside-outside in CKY's order; within a span it keeps symbols whose figure of merit (Caraballo and Charniak 1998)
is not far below the best's. Probabilities are scaled word by word, and need no logarithms.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy_learners.constituency.binary_trees import BinaryTrees, FloatArray, IntArray, Symbols
from simstudy_learners.constituency.grammars import Rules, totals

# What a count of 0 is worth in figures of merit.
_UNSEEN = 1e-3


class Coarse(NamedTuple):
    """A plain grammar as the coarse pass reads it.

    Attributes
    ----------
    first
        (symbols², + 1) where the rules of left child a and right child b begin: entry a * symbols + b.
    parent, weight
        (rules,)
    chain_first, chain_top, chain_weight
        Over a symbol stand, in these rows, tops of chains of unary rules, itself among them, with the sums of all such
        chains.
    is_left, is_right
        (symbols,) whether any rule has it as that child.
    before, after
        (symbols, tags + 1): P(symbol | tag of the word before its span) and P(tag of the word after | symbol); tag 0
        is the end of the sentence.
    transition
        (tags + 1, tags + 1) P(tag | tag of the word before).
    """

    first: IntArray
    parent: IntArray
    weight: FloatArray
    chain_first: IntArray
    chain_top: IntArray
    chain_weight: FloatArray
    is_left: NDArray[np.bool_]
    is_right: NDArray[np.bool_]
    before: FloatArray
    after: FloatArray
    transition: FloatArray


def coarse_grammar(
    rules: Rules, n_symbols: int, before: FloatArray, after: FloatArray, transition: FloatArray
) -> Coarse:
    """Arrays for the coarse pass, from rule probabilities and `boundaries`."""
    left, right = rules.binary[:, 1].astype(np.int64), rules.binary[:, 2].astype(np.int64)
    first = np.searchsorted(left * n_symbols + right, np.arange(n_symbols**2 + 1)).astype(np.int32)
    step = np.zeros((n_symbols, n_symbols))
    step[rules.unary[:, 1], rules.unary[:, 0]] = rules.unary_weight
    # All chains of unary rules: 1 + U + U² + ... Rounded, so that no machine's last bits decide what is pruned.
    chains: FloatArray = np.linalg.inv(np.eye(n_symbols) - step).astype(np.float64).round(12)
    child, top = np.nonzero(chains > 0)
    chain_first = np.searchsorted(child, np.arange(n_symbols + 1)).astype(np.int32)
    used = np.arange(n_symbols)
    return Coarse(
        first, np.ascontiguousarray(rules.binary[:, 0]), rules.binary_weight, chain_first, top.astype(np.int32),
        chains[child, top], np.isin(used, left), np.isin(used, right), before, after,
        transition,
    )  # fmt: skip


def boundaries(trees: BinaryTrees, symbols: Symbols, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What the boundary figure of merit is made of (Caraballo and Charniak 1998, section 5).

    These are P(symbol | tag before its span) and P(tag after its span | symbol), each (symbols, tags + 1), and P(tag |
    tag of the word before), (tags + 1, tags + 1). Tag 0 is the sentence's boundary.
    """
    n_tags = len(symbols.tags) + 1
    leaves = trees.left < 0
    tag = np.zeros(int(trees.end.max(initial=0)) + 2, dtype=np.int64)
    tree = np.full(len(tag), -1)
    tag[trees.start[leaves] + 1] = trees.symbol[leaves]
    tree[trees.start[leaves] + 1] = trees.tree[leaves]
    weight = weights[trees.tree]
    tables = []
    for place in (trees.start, trees.end + 1):
        seen = np.where(tree[place] == trees.tree, tag[place], 0)
        table = totals(trees.symbol * n_tags + seen, weight, symbols.size * n_tags)
        tables.append(table.reshape(symbols.size, n_tags) + _UNSEEN)
    before, after = tables
    # The tag after a tag's span; and at the sentence's beginning, the tags before which nothing stands.
    transition = np.vstack([before[:n_tags, 0], after[1:n_tags]])
    transition[0, 0] = 0.0
    return (
        before / before.sum(axis=0),
        after / after.sum(axis=1, keepdims=True),
        transition / transition.sum(axis=1, keepdims=True),
    )


class Items(NamedTuple):
    """What a span's neighbours combine with, (n, n + 1, symbols): its first `number` symbols and their scores."""

    number: IntArray
    symbol: IntArray
    score: FloatArray


class Chart(NamedTuple):
    """What spans were kept as left children, and as right children."""

    lefts: Items
    rights: Items


class CoarseBeam(NamedTuple):
    """Which symbols stay in a span: those whose figure of merit is at least `share` of the best one's, and `floor`."""

    share: float
    floor: float


@njit(cache=True, nogil=True)
def coarse_pass(
    words: FloatArray, before: FloatArray, after: FloatArray, grammar: Coarse, beam: CoarseBeam
) -> tuple[FloatArray, FloatArray]:
    """Inside and outside probabilities of plain symbols (n, n + 1, symbols) in any place of a chain of unary rules.

    `words` (n, symbols) are P(word | tag), scaled; 0 for symbols that are no tags. `before` and `after` (n + 1,
    symbols) are factors of the figure of merit: what is before a span that begins at i, and behind one that ends there,
    says for a symbol. The grammar is the plain one; the beam says which symbols stay in a span.
    """
    n, n_symbols = words.shape
    inside = np.zeros((n, n + 1, n_symbols))
    shape = (n, n + 1, n_symbols)
    lefts = Items(np.zeros((n, n + 1), np.int32), np.empty(shape, np.int32), np.empty(shape))
    rights = Items(np.zeros((n, n + 1), np.int32), np.empty(shape, np.int32), np.empty(shape))
    chart = Chart(lefts, rights)
    made, merit = np.empty(n_symbols), np.empty(n_symbols)
    for length in range(1, n + 1):
        for i in range(n - length + 1):
            j = i + length
            if length == 1:
                made[:] = words[i]
            else:
                made[:] = 0.0
                for k in range(i + 1, j):
                    _combine(made, chart, (i, k, j), grammar)
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
                if total[s] > 0.0 and merit[s] >= max(beam.share * best, beam.floor):
                    if grammar.is_left[s]:
                        _add(lefts, i, j, s, total[s])
                    if grammar.is_right[s]:
                        _add(rights, i, j, s, total[s])
    return inside, _outside(inside, chart, grammar)


@njit(cache=True, nogil=True, inline="always")
def _add(items: Items, i: int, j: int, symbol: int, score: float) -> None:
    at = items.number[i, j]
    items.symbol[i, j, at] = symbol
    items.score[i, j, at] = score
    items.number[i, j] = at + 1


@njit(cache=True, nogil=True)
def _combine(made: FloatArray, chart: Chart, split: tuple[int, int, int], grammar: Coarse) -> None:
    """Add to made (symbols,) what can be made of the spans i … k and k … j, for a split (i, k, j)."""
    lefts, rights = chart
    i, k, j = split
    n_symbols = len(made)
    for a in range(lefts.number[i, k]):
        row = lefts.symbol[i, k, a] * n_symbols
        score = lefts.score[i, k, a]
        for b in range(rights.number[k, j]):
            pair = row + rights.symbol[k, j, b]
            begin, end = grammar.first[pair], grammar.first[pair + 1]
            if begin < end:
                both = score * rights.score[k, j, b]
                for r in range(begin, end):
                    made[grammar.parent[r]] += grammar.weight[r] * both


# What has a smaller share of the sentence's probability is not followed downwards.
_NEGLIGIBLE = 1e-7


@njit(cache=True, nogil=True)
def _outside(inside: FloatArray, chart: Chart, grammar: Coarse) -> FloatArray:
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
                    _share_out(top, outside, chart, (i, k, j), grammar)
    return outside


@njit(cache=True, nogil=True)
def _share_out(
    above: FloatArray, outside: FloatArray, chart: Chart, split: tuple[int, int, int], grammar: Coarse
) -> None:
    """Add to what is outside the spans i … k and k … j what is above both, for a split (i, k, j)."""
    lefts, rights = chart
    i, k, j = split
    n_symbols = len(above)
    for a in range(lefts.number[i, k]):
        left = lefts.symbol[i, k, a]
        for b in range(rights.number[k, j]):
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
def forward(tags: FloatArray, transition: FloatArray) -> FloatArray:
    """Probabilities (n + 2,) of the first 0, 1, ..., n words, and of all and the end, by a hidden Markov model.

    `tags` (n, tags) are P(word | tag), scaled, and `transition` (tags + 1, tags + 1) P(tag | tag before); 0 is the
    sentence's boundary.
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
