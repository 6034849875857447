"""A made-up treebank: a few trees with what real ones have, and random ones."""

from __future__ import annotations

import numpy as np

from simstudy.metrics.annotations import Tree
from simstudy.readers.trees import parse_trees

TREES = parse_trees(
    """
( (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ sees) (NP (NP (DT a) (NN cat)) (PP (IN in) (NP (DT the) (NN park))))) (. .)) )
( (S (NP-SBJ-1 (NNP Fido)) (VP (VBZ is) (VP (VBN seen) (NP (-NONE- *-1)) (PP-LGS (IN by) (NP (NN cat))))) (. .)) )
( (HEADING (NP (NN Results))) )
( (S (S (NP (DT the) (NN cat)) (VP (VBZ sleeps))) (CC and) (S (NP (NNS dogs)) (VP (VBP see) (NP (PRP it)))) (. .)) )
( (S (NP (NP (NNS dogs)) (PP (IN in) (NP (NNS parks)))) (VP (VBP see) (NP (DT the) (JJ old) (JJ big) (NN cat))) (. .)) )
( (NP (NP (NN cat) (CC and) (NN dog)) (PRN (-LRB- -LRB-) (NP (NNS parks)) (-RRB- -RRB-))) )
( (S (VP (VB sleep))) )
( (S (NP (NNS parks)) (VP (VBP sleep) (PRT (RP in)) (ADVP (RB well))) (. .)) )
( (FRAG (NN dog)) (. .) )
( (CC and) )
""",
    "the made-up treebank",
)


def random_tree(rng: np.random.Generator, n_words: int, labels: list[str], tags: list[str]) -> Tree:
    """A tree with brackets of any width, chains of them among them."""
    words = tuple(f"w{i}" for i in range(n_words))
    brackets: list[tuple[str, int, int]] = []

    def grow(start: int, end: int) -> None:
        if end - start > 1:
            cuts = np.flatnonzero(rng.random(end - start - 1) < 0.5) + start + 1
            bounds = [start, *map(int, cuts), end]
            if len(bounds) > 2:
                for a, b in zip(bounds[:-1], bounds[1:], strict=True):
                    grow(a, b)
        for _ in range(int(rng.integers(3))):
            brackets.append((str(rng.choice(labels)), start, end))

    grow(0, n_words)
    return Tree(words, tuple(str(rng.choice(tags)) for _ in words), tuple(brackets))
