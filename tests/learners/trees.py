"""Dependency trees for tests: all of a few words, by enumeration, and invented sentences."""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from simstudy.readers.conllu import Sentence
from simstudy.training.examples import Examples
from simstudy_learners.dependencies.trees import Integers, Parses, Words, index_sentences
from simstudy_learners.treebanks import item_table

Heads = tuple[int, ...]


def is_tree(heads: Heads) -> bool:
    """Whether words 1 … n with these heads form a tree, whose root, 0, has one dependent."""
    n = len(heads)
    reached, last = {0}, set[int]()
    while reached != last:
        last = set(reached)
        reached |= {m for m in range(1, n + 1) if heads[m - 1] in last}
    return len(reached) == n + 1 and heads.count(0) == 1


def is_projective(heads: Heads) -> bool:
    """Whether every word between a head and its dependent descends from the head (the definition, not crossings)."""

    def descends(word: int, ancestor: int) -> bool:
        while word not in (0, ancestor):
            word = heads[word - 1]
        return word == ancestor

    return all(
        descends(between, head)
        for word, head in enumerate(heads, start=1)
        for between in range(min(word, head) + 1, max(word, head))
    )


@cache
def trees(n: int) -> list[Heads]:
    """All trees of n words."""
    return [heads for heads in product(range(n + 1), repeat=n) if is_tree(heads)]


@cache
def projective_trees(n: int) -> list[Heads]:
    """All projective trees of n words."""
    return [heads for heads in trees(n) if is_projective(heads)]


def random_words(rng: np.random.Generator, lengths: list[int], n_forms: int = 30) -> Words:
    """Sentences of words and tags without sense; the root is 1, no word is 0."""

    def drawn(below: int) -> Integers:
        return np.concatenate([[1, *rng.integers(2, below, size=n), 0] for n in lengths])

    return Words(np.cumsum([0, *(n + 2 for n in lengths)]), drawn(n_forms), drawn(7), drawn(12))


def random_heads(rng: np.random.Generator, lengths: list[int], *, projective: bool = True) -> Integers:
    """The heads of random trees, as in `Parses`."""
    among = [projective_trees(n) if projective else trees(n) for n in lengths]
    return np.concatenate([[-1, *some[rng.integers(len(some))], -1] for some in among])


def sentence(words: str, tags: str, heads: list[int], relations: str, name: str = "s") -> Sentence:
    """A sentence from its words, tags and relations between blanks."""
    parts = tuple(words.split()), tuple(tags.split()), tuple(heads), tuple(relations.split())
    return Sentence(name, "", *parts, line=1)


def examples(sentences: list[Sentence]) -> Examples:
    """Sentences as a task has them."""
    ((words, parses),) = index_sentences([sentences])
    return Examples(words, parses, item_table(sentences))


def invented(rng: np.random.Generator, lengths: list[int]) -> list[Sentence]:
    """Trees and words that go together by chance; a relation follows from the dependent's tag."""
    made = []
    for k, n in enumerate(lengths):
        heads = projective_trees(n)[rng.integers(len(projective_trees(n)))]
        tags = [f"T{rng.integers(5)}" for _ in range(n)]
        relations = ["root" if h == 0 else f"r{t}:x" for h, t in zip(heads, tags, strict=True)]
        words = [f"w{rng.integers(50)}" for _ in range(n)]
        made.append(sentence(" ".join(words), " ".join(tags), list(heads), " ".join(relations), f"s{k}"))
    return made


def shown(parses: Parses, bounds: np.ndarray) -> list[tuple[list[int], list[str]]]:
    """Heads and relations sentence by sentence; the numbers of relations stand for their names."""
    return [
        (parses.heads[i + 1 : j - 1].tolist(), [str(r) for r in parses.relations[i + 1 : j - 1]])
        for i, j in zip(bounds[:-1], bounds[1:], strict=True)
    ]
