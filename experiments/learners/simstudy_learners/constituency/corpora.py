"""Constituency parsing of English: biomedical articles (CRAFT) and newspaper text (the Penn Treebank sample)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from simstudy.files.datasets import fetch_each, registry
from simstudy.files.packed import unzipped
from simstudy.metrics.annotations import Tree
from simstudy.readers.trees import parse_trees
from simstudy.training import BaseSystem, Examples, Task, mixed_order
from simstudy_learners.constituency.binary_trees import Symbols
from simstudy_learners.constituency.constituents import GoldTrees, Sentences, Vocabulary, count_brackets
from simstudy_learners.constituency.parsers import LatentStates, TreebankGrammar

#: The longest sentence of a test set, in words, punctuation among them and traces not: as parsers are often compared.
LONGEST = 40

CRAFT_SPLIT = {part: f"craft_treebank/articles/ids/craft-ids-{part}.txt" for part in ("train", "test")}
PENN_TREEBANK = "nltk/treebank.zip"


@dataclass(frozen=True)
class Document:
    """An article, its trees without traces."""

    name: str
    trees: tuple[Tree, ...]


def base_systems() -> dict[str, BaseSystem]:
    """Three grammars that know different things: siblings and kinds of phrases, the label above, or learned states."""
    return {
        "Markov": TreebankGrammar(horizontal=2, vertical=1, splits=True),
        "parent": TreebankGrammar(horizontal=1, vertical=2, splits=False),
        "latent": LatentStates(rounds=3, n_iterations=8, share_merged=0.5),
    }


def constituency_task(
    name: str, train: Sequence[Document], test_sets: Mapping[str, Sequence[Document]], files: Sequence[str] = ()
) -> Task:
    """A task of parsing. A ValueError is raised where no tree is left to train or test on.

    Training trees have any length; those without words are left out. Test sentences of more than `LONGEST` words are
    left out, and the others are put into a fixed order. `files` are names of public files that the documents are from.
    """
    rows = {"train": [row for row in _rows(train) if row[2].words]}
    for test_set, documents in test_sets.items():
        short = [row for row in _rows(documents) if 0 < len(row[2].words) <= LONGEST]
        rows[test_set] = [short[i] for i in mixed_order([""] * len(short))]
    for which, found in rows.items():
        if not found:
            raise ValueError(
                f"'{which}' of task '{name}' must have at least one tree with words (at most {LONGEST} to test)"
            )
    everything = [tree for found in rows.values() for _, _, tree in found]
    symbols, vocabulary = Symbols.of(everything), Vocabulary.of(everything)
    examples = {}
    for which, found in rows.items():
        trees = [tree for _, _, tree in found]
        items = pd.DataFrame({"id": [id for id, _, _ in found], "cluster": [document for _, document, _ in found]})
        examples[which] = Examples(Sentences.of(trees, vocabulary), GoldTrees.of(trees, symbols), items)
    return Task(
        name=name,
        train=examples.pop("train"),
        test_sets=examples,
        systems=base_systems(),
        statistics={"parseval": count_brackets},
        files={file: registry()[file].sha256 for file in files},
    )


def _rows(documents: Sequence[Document]) -> list[tuple[str, str, Tree]]:
    return [(f"{d.name}-{i}", d.name, tree) for d in documents for i, tree in enumerate(d.trees, start=1)]


def _document(name: str, text: str, path: Path) -> Document:
    return Document(name, tuple(tree.without_traces() for tree in parse_trees(text, path)))


def craft_files() -> list[str]:
    """The names of CRAFT's files of trees."""
    return [name for name in registry() if name.startswith("craft_treebank/penn/")]


def read_craft(data_dir: Path | None) -> dict[str, list[Document]]:
    """The articles of each part of CRAFT's official split."""
    at = fetch_each([*CRAFT_SPLIT.values(), *craft_files()], data_dir)
    parts = {}
    for part, split in CRAFT_SPLIT.items():
        articles = at[split].read_text(encoding="utf-8").split()
        paths = {article: at[f"craft_treebank/penn/{article}.tree"] for article in articles}
        parts[part] = [_document(name, path.read_text(encoding="utf-8"), path) for name, path in paths.items()]
    return parts


def read_penn_treebank(data_dir: Path | None) -> list[Document]:
    """The files of the Penn Treebank sample."""
    path = fetch_each([PENN_TREEBANK], data_dir)[PENN_TREEBANK]
    files = {name: content for name, content in sorted(unzipped(path).items()) if name.endswith(".mrg")}
    return [_document(Path(name).stem, content.decode("utf-8"), path / name) for name, content in files.items()]
