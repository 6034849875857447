"""Treebank grammars: binary trees with annotated nodes, their rules counted, as arrays that a parser reads."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy.tasks.binary_trees import BinaryTrees, IntArray, Symbols

FloatArray = NDArray[np.float64]


# What a count of 0 is worth in figures of merit.
_UNSEEN = 1e-3


class Annotated(NamedTuple):
    """Nodes with a grammar's own symbols.

    Attributes
    ----------
    symbol
        (nodes,) the grammar's symbol of each node; TOP is 0.
    coarse
        (symbols,) the plain symbol that each is a kind of.
    """

    symbol: IntArray
    coarse: IntArray


class Rules(NamedTuple):
    """Rules with weights: counts, or probabilities given the parent.

    Attributes
    ----------
    binary, binary_weight
        (rules, 3) parent, left and right child, in the order of left, then right child; and (rules,).
    unary, unary_weight
        (rules, 2) parent and child, in the order of the child; and (rules,).
    """

    binary: IntArray
    binary_weight: FloatArray
    unary: IntArray
    unary_weight: FloatArray


def plain(trees: BinaryTrees, symbols: Symbols) -> Annotated:
    """No annotation: the X-bar grammar of Petrov et al. (2006)."""
    return Annotated(trees.symbol, np.arange(symbols.size, dtype=np.int32))


def markovised(trees: BinaryTrees, symbols: Symbols, horizontal: int, vertical: int) -> Annotated:
    """Horizontal and vertical Markovisation (Klein and Manning 2003, section 2).

    Intermediate nodes know the `horizontal` (0, 1 or 2) last children of their owner. With `vertical` 2 all nodes but
    TOP know the label above, tags too (their TAG-PA), and these splits are made: noun phrases that hold only
    tags (BASE-NP), verb phrases by the tag of their first verb (SPLIT-VP, with every verbal tag its own), and nodes other than
    tags that have one child (UNARY-INTERNAL).
    """
    owners = symbols.owners()
    inner = trees.symbol >= symbols.first_intermediate
    parents = trees.parents()
    # The first node, whatever it is, stands in for the parent that TOP does not have.
    above = np.maximum(parents, 0)
    keys = [trees.symbol.astype(np.int64)]
    if horizontal:
        last = np.where(inner, trees.symbol[trees.left[above]], 0)
        keys.append(last)
    if horizontal > 1:
        keys.append(np.where(inner & inner[above], last[above], 0))
    if vertical > 1:
        up, kind = _context(
            trees.symbol, trees.left, trees.right, parents, owners, inner, *_special(symbols), symbols.first_label
        )
        keys += [up, kind]
    return _numbered(keys, trees.symbol)


def _numbered(keys: list[NDArray[np.int64]], symbol: IntArray) -> Annotated:
    """Nodes numbered by what is known of them; TOP has the smallest key, thus 0."""
    combined = np.zeros(len(symbol), dtype=np.int64)
    for key in keys:
        combined = combined * (int(key.max(initial=0)) + 1) + key
    _, first, number = np.unique(combined, return_index=True, return_inverse=True)
    return Annotated(number.astype(np.int32), symbol[first])


def _special(symbols: Symbols) -> tuple[int, int, NDArray[np.bool_]]:
    """The symbols of noun and verb phrases (-1 where there are none), and which symbols are verbal tags."""
    names = [symbols.name(s) for s in range(symbols.first_intermediate)]
    phrases = [names.index(label, symbols.first_label) if label in symbols.labels else -1 for label in ("NP", "VP")]
    verbal = np.array([i < symbols.first_label and name[:2] in ("VB", "MD", "TO") for i, name in enumerate(names)])
    return phrases[0], phrases[1], np.append(verbal, np.zeros(symbols.size - len(names), dtype=bool))


@njit(cache=True, nogil=True)
def _context(
    symbol: IntArray, left: IntArray, right: IntArray, parents: IntArray, owners: IntArray, inner: NDArray[np.bool_],
    noun_phrase: int, verb_phrase: int, verbal: NDArray[np.bool_], first_label: int,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # fmt: skip
    """The label above each node, and which split of its label it is: 0 for none."""
    n = len(symbol)
    up, kind = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.int64)
    # The first verb among a chain's children, and whether all of them are tags.
    verb, flat = np.zeros(n, dtype=np.int64), np.zeros(n, dtype=np.bool_)
    for node in range(n):
        a, b = left[node], right[node]
        if a < 0:
            continue
        flat[node] = symbol[a] < first_label
        if verbal[symbol[a]]:
            verb[node] = symbol[a]
        if b >= 0:
            flat[node] &= flat[b] if inner[b] else symbol[b] < first_label
            if not verb[node]:
                verb[node] = verb[b] if inner[b] else (symbol[b] if verbal[symbol[b]] else 0)
        if symbol[node] == verb_phrase:
            # A verb phrase over verb phrases is as the first of them.
            if not verb[node] and symbol[a] == verb_phrase:
                verb[node] = verb[a]
            kind[node] = 2 * verb[node]
        elif symbol[node] == noun_phrase and flat[node]:
            kind[node] = 2
        if b < 0 and symbol[node] != 0:
            kind[node] += 1
    for node in range(n - 1, -1, -1):
        parent = parents[node]
        if parent >= 0:
            up[node] = up[parent] if inner[node] else owners[symbol[parent]]
    return up, kind


def counted(trees: BinaryTrees, annotated: Annotated, weights: FloatArray) -> Rules:
    """How often each rule is used, its trees (n trees,) counting so many times; rules of no use are left out."""
    n = len(annotated.coarse)
    weight = weights[trees.tree]
    symbol = annotated.symbol.astype(np.int64)
    pairs = np.flatnonzero((trees.right >= 0) & (weight > 0))
    singles = np.flatnonzero((trees.left >= 0) & (trees.right < 0) & (weight > 0))
    left, right = symbol[trees.left[pairs]], symbol[trees.right[pairs]]
    code, place = np.unique((left * n + right) * n + symbol[pairs], return_inverse=True)
    binary = np.stack([code % n, code // n // n, code // n % n], axis=1).astype(np.int32)
    binary_weight = np.bincount(place, weight[pairs], len(code))
    code, place = np.unique(symbol[trees.left[singles]] * n + symbol[singles], return_inverse=True)
    unary = np.stack([code % n, code // n], axis=1).astype(np.int32)
    return Rules(binary, binary_weight, unary, np.bincount(place, weight[singles], len(code)))


def probabilities(rules: Rules, n_symbols: int) -> Rules:
    """Relative frequencies: the weights of a parent's rules sum to 1."""
    binary, unary = (
        np.bincount(table[:, 0], weight, n_symbols)
        for table, weight in ((rules.binary, rules.binary_weight), (rules.unary, rules.unary_weight))
    )
    total = binary + unary
    return rules._replace(
        binary_weight=rules.binary_weight / total[rules.binary[:, 0]],
        unary_weight=rules.unary_weight / total[rules.unary[:, 0]],
    )


class Coarse(NamedTuple):
    """A plain grammar as the coarse pass reads it.

    Attributes
    ----------
    first
        (symbols², + 1) where the rules of left child a and right child b begin: entry a * symbols + b.
    parent, weight
        (rules,)
    chain_first, chain_top, chain_weight
        Over a symbol stand, in these rows, tops of chains of unary rules, itself among them, with the sums of all such chains.
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


def coarse_grammar(rules: Rules, n_symbols: int, before: FloatArray, after: FloatArray, transition: FloatArray) -> Coarse:
    """Arrays for the coarse pass, from rule probabilities and `boundaries`."""
    left, right = rules.binary[:, 1].astype(np.int64), rules.binary[:, 2].astype(np.int64)
    first = np.searchsorted(left * n_symbols + right, np.arange(n_symbols**2 + 1)).astype(np.int32)
    step = np.zeros((n_symbols, n_symbols))
    step[rules.unary[:, 1], rules.unary[:, 0]] = rules.unary_weight
    # All chains of unary rules: 1 + U + U² + ... Below 1e-12 there is rounding only.
    chains = np.linalg.inv(np.eye(n_symbols) - step)
    child, top = np.nonzero(chains > 1e-12)
    chain_first = np.searchsorted(child, np.arange(n_symbols + 1)).astype(np.int32)
    used = np.arange(n_symbols)
    return Coarse(
        first, np.ascontiguousarray(rules.binary[:, 0]), rules.binary_weight, chain_first, top.astype(np.int32),
        chains[child, top], np.isin(used, left), np.isin(used, right), before, after,
        transition,
    )  # fmt: skip


def boundaries(
    trees: BinaryTrees, symbols: Symbols, weights: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """What the boundary figure of merit is made of (Caraballo and Charniak 1998, section 5).

    Returns
    -------
    before, after
        P(symbol | tag before its span) and P(tag after its span | symbol), each (symbols, tags + 1); tag 0 is the
        sentence's boundary.
    transition
        (tags + 1, tags + 1) P(tag | tag of the word before).
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
        table = np.bincount(trees.symbol * n_tags + seen, weight, symbols.size * n_tags)
        tables.append(table.reshape(symbols.size, n_tags) + _UNSEEN)
    before, after = tables
    # The tag after a tag's span; and at the sentence's beginning, the tags before which nothing stands.
    transition = np.vstack([before[:n_tags, 0], after[1:n_tags]])
    transition[0, 0] = 0.0
    return tuple(
        table / table.sum(axis=axis, keepdims=True) for table, axis in ((before, 0), (after, 1), (transition, 1))
    )  # type: ignore[return-value]


class Fine(NamedTuple):
    """An annotated grammar as the fine pass reads it.

    Attributes
    ----------
    keys, slots
        A hash table: pairs left * symbols + right (-1 where free), and the row of `first`.
    first
        (pairs + 1,) where the rules of a pair of children begin.
    parent, weight
        (rules,)
    unary_first, unary_parent, unary_weight
        Unary rules by their child.
    coarse
        (symbols,) the plain symbol of each.
    share
        (symbols,) how large a part of its plain symbol's nodes each is.
    """

    keys: NDArray[np.int64]
    slots: IntArray
    first: IntArray
    parent: IntArray
    weight: FloatArray
    unary_first: IntArray
    unary_parent: IntArray
    unary_weight: FloatArray
    coarse: IntArray
    share: FloatArray


def fine_grammar(rules: Rules, coarse: IntArray, count: FloatArray) -> Fine:
    """Arrays for the fine pass, from rule probabilities and how often each symbol was seen."""
    n = len(coarse)
    share = count / np.maximum(np.bincount(coarse, count)[coarse], 1e-300)
    pairs, first = np.unique(rules.binary[:, 1].astype(np.int64) * n + rules.binary[:, 2], return_index=True)
    keys, slots = _hashed(pairs)
    unary_first = np.searchsorted(rules.unary[:, 1], np.arange(n + 1)).astype(np.int32)
    return Fine(
        keys, slots, np.append(first, len(rules.binary)).astype(np.int32), np.ascontiguousarray(rules.binary[:, 0]),
        rules.binary_weight, unary_first, np.ascontiguousarray(rules.unary[:, 0]), rules.unary_weight, coarse, share,
    )  # fmt: skip


@njit(cache=True, nogil=True, inline="always")
def slot_of(keys: NDArray[np.int64], pair: int) -> int:
    """Where a pair is in the hash table, or the free place where it would be."""
    mask = len(keys) - 1
    at = (pair * 0x9E3779B1 >> 7) & mask
    while keys[at] != pair and keys[at] >= 0:
        at = (at + 1) & mask
    return at


@njit(cache=True, nogil=True)
def _hashed(pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], IntArray]:
    size = 4
    while size < 3 * len(pairs):
        size *= 2
    keys, slots = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int32)
    for i, pair in enumerate(pairs):
        at = slot_of(keys, pair)
        keys[at], slots[at] = pair, i
    return keys, slots


