"""Treebank grammars: binary trees with annotated nodes, their rules counted, as arrays that a parser reads."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from simstudy_learners.constituency.binary_trees import BinaryTrees, FloatArray, IntArray, Symbols


def totals(place: NDArray[Any], weight: FloatArray, size: int) -> FloatArray:
    """Sums (size,) of the weights that are in each place."""
    return np.bincount(place, weight, size).astype(np.float64)


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


def markovised(trees: BinaryTrees, symbols: Symbols, horizontal: int, vertical: int, splits: bool) -> Annotated:
    """Horizontal and vertical Markovisation (Klein and Manning 2003, section 2).

    Intermediate nodes know the `horizontal` (0, 1 or 2) last children of their owner. With `vertical` 2 all nodes but
    TOP know the label above, tags too. With `splits` tags know it in any case (TAG-PA), and told apart are noun phrases
    that hold only tags (BASE-NP), verb phrases by the tag of their first verb (SPLIT-VP, with every verbal tag its
    own), and nodes other than tags that have one child (UNARY-INTERNAL).
    """
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
    nodes = _Nodes(trees.symbol, trees.left, trees.right, parents, inner)
    up, kind = _context(nodes, _special(symbols))
    keys.append(up if vertical > 1 else np.where(splits & (trees.left < 0), up, 0))
    keys.append(kind if splits else np.zeros_like(kind))
    return _numbered(keys, trees.symbol)


def _numbered(keys: list[NDArray[np.int64]], symbol: IntArray) -> Annotated:
    """Nodes numbered by what is known of them; TOP has the smallest key, thus 0."""
    combined = np.zeros(len(symbol), dtype=np.int64)
    for key in keys:
        combined = combined * (int(key.max(initial=0)) + 1) + key
    _, first, number = np.unique(combined, return_index=True, return_inverse=True)
    return Annotated(number.astype(np.int32), symbol[first])


class _Nodes(NamedTuple):
    """Nodes of binary trees (nodes,); inner says which are intermediate, parent is -1 at the top."""

    symbol: IntArray
    left: IntArray
    right: IntArray
    parent: IntArray
    inner: NDArray[np.bool_]


class _Special(NamedTuple):
    """What annotation asks of symbols.

    Attributes
    ----------
    owner
        (symbols,) see `Symbols.owners`.
    first_label
        Symbols below it, but for TOP, are tags.
    verbal
        (symbols,) which are tags of verbs.
    noun_phrase, verb_phrase
        -1 where there are none.
    """

    owner: IntArray
    first_label: int
    verbal: NDArray[np.bool_]
    noun_phrase: int
    verb_phrase: int


def _special(symbols: Symbols) -> _Special:
    names = [symbols.name(s) for s in range(symbols.first_intermediate)]
    phrases = [names.index(label, symbols.first_label) if label in symbols.labels else -1 for label in ("NP", "VP")]
    verbal = np.array([i < symbols.first_label and name[:2] in ("VB", "MD", "TO") for i, name in enumerate(names)])
    verbal = np.append(verbal, np.zeros(symbols.size - len(names), dtype=bool))
    return _Special(symbols.owners(), symbols.first_label, verbal, *phrases)


@njit(cache=True, nogil=True)
def _context(nodes: _Nodes, special: _Special) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The label above each node, and which split of its label it is: 0 for none."""
    symbol, left, right, parents, inner = nodes
    owners, first_label, verbal, noun_phrase, verb_phrase = special
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
    binary_weight = totals(place, weight[pairs], len(code))
    code, place = np.unique(symbol[trees.left[singles]] * n + symbol[singles], return_inverse=True)
    unary = np.stack([code % n, code // n], axis=1).astype(np.int32)
    return Rules(binary, binary_weight, unary, totals(place, weight[singles], len(code)))


def probabilities(rules: Rules, n_symbols: int) -> Rules:
    """Relative frequencies: the weights of a parent's rules sum to 1."""
    binary, unary = (
        totals(table[:, 0], weight, n_symbols)
        for table, weight in ((rules.binary, rules.binary_weight), (rules.unary, rules.unary_weight))
    )
    total = binary + unary
    return rules._replace(
        binary_weight=rules.binary_weight / total[rules.binary[:, 0]],
        unary_weight=rules.unary_weight / total[rules.unary[:, 0]],
    )
