"""Constituency trees as binary ones, in flat arrays: what treebank grammars are counted in.

A node with more than two children becomes a chain of nodes that branches to the right (Klein and Manning 2003,
section 2): the first child, and an intermediate node over the others. All grammars share this shape and differ in how
they annotate nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics.annotations import Bracket, Tree, without_function_tags

IntArray = NDArray[np.int32]
FloatArray = NDArray[np.float64]

#: The symbol above every tree.
TOP = 0

_TOPS = frozenset(("", "TOP", "ROOT", "S1"))


@dataclass(frozen=True)
class Symbols:
    """The symbols of plain binary trees: TOP, tags, labels, and for TOP and each label one for intermediate nodes.

    Attributes
    ----------
    tags, labels
        Symbol 1 + i is tag i, symbol 1 + len(tags) + i is label i.

    Examples
    --------
    >>> symbols = Symbols(("DT", "NN"), ("NP", "S"))
    >>> [symbols.name(s) for s in range(symbols.size)]
    ['TOP', 'DT', 'NN', 'NP', 'S', '@TOP', '@NP', '@S']
    """

    tags: tuple[str, ...]
    labels: tuple[str, ...]

    @classmethod
    def of(cls, trees: Iterable[Tree]) -> Symbols:
        """All tags and labels of some trees, in alphabetical order; labels have lost their function tags."""
        tags: set[str] = set()
        labels: set[str] = set()
        for tree in trees:
            tags.update(tree.tags)
            labels.update(without_function_tags(bracket[0]) for bracket in tree.brackets)
        return cls(tuple(sorted(tags)), tuple(sorted(labels - _TOPS)))

    @property
    def first_label(self) -> int:
        """The first symbol that is a label."""
        return 1 + len(self.tags)

    @property
    def first_intermediate(self) -> int:
        """The first symbol of an intermediate node, TOP's."""
        return self.first_label + len(self.labels)

    @property
    def size(self) -> int:
        """Number of symbols."""
        return self.first_intermediate + 1 + len(self.labels)

    def owners(self) -> IntArray:
        """For each symbol the symbol that an intermediate node stands for a part of; any other is its own."""
        owners = np.arange(self.size, dtype=np.int32)
        owners[self.first_intermediate] = TOP
        owners[self.first_intermediate + 1 :] = np.arange(self.first_label, self.first_intermediate)
        return owners

    def name(self, symbol: int) -> str:
        """A symbol in words."""
        if symbol >= self.first_intermediate:
            return "@" + self.name(int(self.owners()[symbol]))
        return ("TOP", *self.tags, *self.labels)[symbol]


@dataclass(frozen=True)
class BinaryTrees:
    """The nodes of many binary trees; a node comes after its children, and a tree's last node is TOP.

    Attributes
    ----------
    symbol
        (nodes,) symbols.
    left, right
        (nodes,) positions of a node's children; right is -1 where there is one child, both are where it is a word.
    start, end
        (nodes,) the first word below a node, and the one after the last, counted over all trees.
    tree
        (nodes,) which tree a node belongs to. An empty tree has no nodes.
    """

    symbol: IntArray
    left: IntArray
    right: IntArray
    start: IntArray
    end: IntArray
    tree: IntArray

    @classmethod
    def of(cls, trees: Sequence[Tree], symbols: Symbols) -> BinaryTrees:
        """Trees without function tags and traces, as binary ones.

        Brackets without a label, and those called TOP, ROOT or S1, are left out: the tree's top is TOP. A node whose
        only child has its own label is left out too.
        """
        columns = _Columns(symbols)
        n_words = 0
        for t, tree in enumerate(trees):
            tree = tree.without_traces()
            columns.add_tree(tree, t, n_words)
            n_words += len(tree.words)
        return columns.arrays()

    def parents(self) -> IntArray:
        """Position of each node's parent (nodes,); -1 at the top."""
        parents = np.full(len(self.symbol), -1, dtype=np.int32)
        for children in (self.left, self.right):
            inner = np.flatnonzero(children >= 0)
            parents[children[inner]] = inner
        return parents

    def brackets(self, symbols: Symbols) -> list[list[Bracket]]:
        """Each tree's labelled brackets, by positions in its own words; the way back from binary trees.

        Examples
        --------
        >>> tree = Tree(("a", "b", "c"), ("X", "Y", "Z"), (("NP-SBJ", 0, 3), ("", 0, 3)))
        >>> symbols = Symbols.of([tree])
        >>> BinaryTrees.of([tree], symbols).brackets(symbols)
        [[('NP', 0, 3)]]
        """
        if not len(self.tree):
            return []
        found: list[list[Bracket]] = [[] for _ in range(int(self.tree[-1]) + 1)]
        first = np.full(len(found), np.iinfo(np.int32).max)
        np.minimum.at(first, self.tree, self.start)
        labelled = (self.symbol >= symbols.first_label) & (self.symbol < symbols.first_intermediate)
        for node in np.flatnonzero(labelled):
            t = self.tree[node]
            label = symbols.labels[self.symbol[node] - symbols.first_label]
            found[t].append((label, int(self.start[node] - first[t]), int(self.end[node] - first[t])))
        return found


class _Columns:
    """Nodes as they are made."""

    def __init__(self, symbols: Symbols) -> None:
        self.symbols = symbols
        self.tags = {tag: 1 + i for i, tag in enumerate(symbols.tags)}
        self.labels = {label: symbols.first_label + i for i, label in enumerate(symbols.labels)}
        self.rows: list[tuple[int, int, int, int, int, int]] = []

    def add(self, symbol: int, children: tuple[int, int], start: int, end: int, tree: int) -> int:
        self.rows.append((symbol, *children, start, end, tree))
        return len(self.rows) - 1

    def add_tree(self, tree: Tree, t: int, first: int) -> None:
        """Add the nodes of tree number t, whose first word is `first` of all."""
        # Nodes without a parent yet, from left to right.
        roots: list[int] = []
        n_leaves = 0

        def grow(end: int) -> None:
            nonlocal n_leaves
            for i in range(n_leaves, end):
                roots.append(self.add(self.tags[tree.tags[i]], (-1, -1), first + i, first + i + 1, t))
            n_leaves = max(n_leaves, end)

        def close(symbol: int, intermediate: int, start: int) -> None:
            at = len(roots)
            while at and self.rows[roots[at - 1]][3] >= start:
                at -= 1
            children = roots[at:]
            del roots[at:]
            if len(children) == 1 and self.rows[children[0]][0] == symbol:
                roots.append(children[0])
                return
            below = children.pop()
            end = self.rows[below][4]
            while len(children) > 1:
                left = children.pop()
                below = self.add(intermediate, (left, below), self.rows[left][3], end, t)
            pair = (children[0], below) if children else (below, -1)
            roots.append(self.add(symbol, pair, self.rows[pair[0]][3], end, t))

        for full, start, end in tree.brackets:
            label = without_function_tags(full)
            if label in self.labels and start < end:
                grow(end)
                symbol = self.labels[label]
                intermediate = symbol - self.symbols.first_label + self.symbols.first_intermediate + 1
                close(symbol, intermediate, first + start)
        grow(len(tree.words))
        if tree.words:
            close(TOP, self.symbols.first_intermediate, first)

    def arrays(self) -> BinaryTrees:
        table: NDArray[Any] = np.array(self.rows, dtype=np.int32).reshape(-1, 6)
        return BinaryTrees(*(np.ascontiguousarray(column) for column in table.T))
