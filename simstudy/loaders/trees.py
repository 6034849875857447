"""Parses as bracketed constituency trees."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.corpora.trees import bracketed, parse_trees
from simstudy.loaders.items import items_in_order, numbered
from simstudy.loaders.reading import check_as_many, once, read_lines
from simstudy.metrics.base import IntArray
from simstudy.metrics.parseval import Tree, bracket_counts
from simstudy.validation import InputError


def read_trees(source: Source) -> Loaded:
    """Parses, one file for each system, scored by labelled brackets against a gold file.

    Trees, on one line or several, are matched by their order; the words must be the same, traces left out. A tree
    without words, ``(())``, is a sentence that the system has not parsed: an item that it lacks.
    """
    gold_path = source.gold("trees", ["parseval"])
    gold = _read(gold_path)
    for tree in gold:
        if not tree.words:
            raise InputError(f"{gold_path}, line {tree.line}: a gold tree without words")
    items = items_in_order(source, numbered(len(gold)))
    ids = items["id"].tolist()
    systems = []
    for name, path in source.systems().items():
        trees = _read(path)
        check_as_many(path, len(trees), "tree", gold_path, len(gold))
        parsed = [i for i, tree in enumerate(trees) if tree.words]
        counts = np.array([_counts(path, trees[i], gold_path, gold[i]) for i in parsed]).reshape(-1, 3)
        answers = [(trees[i].words, trees[i].tags, trees[i].brackets) for i in parsed]
        texts = map(bracketed, [trees[i] for i in parsed])
        systems.append(SystemOutputs(name, str(path), [ids[i] for i in parsed], counts, answers, texts=texts))
    wanted = dict(zip(ids, gold, strict=True))

    def nothing(item: str) -> IntArray:
        return np.array([0, 0, bracket_counts(wanted[item], wanted[item])[2]])

    words = {name: " ".join(tree.words) for name, tree in wanted.items()}
    asked = Asked(words, {name: bracketed(tree) for name, tree in wanted.items()})
    return assemble(systems, source, items, nothing, asked)


@once
def _read(path: Path) -> list[Tree]:
    return [tree.without_traces() for tree in parse_trees("\n".join(read_lines(path)), path)]


def _counts(path: Path, tree: Tree, gold_path: Path, gold: Tree) -> tuple[int, int, int]:
    try:
        return bracket_counts(tree, gold)
    except ValueError as error:
        raise InputError(f"{path}, line {tree.line}: {error} ({gold_path}, line {gold.line})") from None
