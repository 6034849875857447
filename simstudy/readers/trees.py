"""Bracketed constituency trees, as the Penn Treebank and parsers write them, and systems that parsed sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.metrics.parseval import Bracket, Tree, bracket_counts
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.readers.text_lines import check_as_many, line_rows
from simstudy.validation import InputError

# A leaf with its tag, an opening bracket with its label, a closing bracket, or a word on its own. Blanks are spelt out:
# a no-break space is part of a word.
_PIECE = re.compile(
    r"\([ \t\r\n]*([^ \t\r\n()]+)[ \t\r\n]+([^ \t\r\n()]+)[ \t\r\n]*\)|\([ \t\r\n]*([^ \t\r\n()]*)|\)|[^ \t\r\n()]+"
)


def read(request: Request) -> LongTable:
    """Rows of parses, a file for each system, scored by labelled brackets against a gold file.

    Trees, on one line or several, are matched by their order. Their words must be the same, traces left out. A tree
    without words, ``(())``, is a sentence that the system has not parsed: an item that it lacks.
    """
    names = request.metric.statistics
    gold_path = request.gold_file("trees", ["parseval"])
    gold, gold_texts = _read_trees(gold_path)
    for tree in gold:
        if not tree.words:
            raise InputError("a gold tree without words", at=f"{gold_path}, line {tree.line}")
    items = [str(number) for number in range(1, len(gold) + 1)]
    rows = []
    for name, path in request.named_files().items():
        trees, texts = _read_trees(path)
        check_as_many(path, len(trees), "tree", gold_path, len(gold))
        parsed = [i for i, tree in enumerate(trees) if tree.words]
        if not parsed:
            raise InputError("no tree has words", at=path)
        counts = np.array([_counts(path, trees[i], gold_path, gold[i]) for i in parsed])
        values = dict(zip(names, counts.T, strict=True))
        lines, ids = [trees[i].line for i in parsed], [items[i] for i in parsed]
        rows.append(line_rows(name, path, lines, ids, values, [texts[i] for i in parsed]))
    n_gold = [bracket_counts(tree, tree)[2] for tree in gold]
    expected = pd.DataFrame({"item": items, **dict(zip(names, (0, 0, n_gold), strict=True))})
    expected["input"] = [" ".join(tree.words) for tree in gold]
    expected["reference"] = gold_texts
    return LongTable(pd.concat(rows), names, None, expected, numbered=True, answers_compare=True)


def parse_trees(text: str, path: str | Path) -> list[Tree]:
    """The trees of a text, in their order; the path is for messages.

    Examples
    --------
    >>> parse_trees("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))", "")[0].brackets
    (('NP', 0, 2), ('VP', 2, 3), ('S', 0, 3))
    """
    return [tree for tree, _ in _trees_and_texts(text, path)]


def _trees_and_texts(text: str, path: str | Path) -> Iterator[tuple[Tree, str]]:
    """Each tree of a text, and as it is written there, on one line."""
    words: list[str] = []
    tags: list[str] = []
    brackets: list[Bracket] = []
    opened: list[tuple[str, int, int]] = []
    first = 0
    line, counted = 1, 0
    childless = False
    for piece in _PIECE.finditer(text):
        if not opened:
            first = piece.start()
        tag, word, label = piece.groups()
        if tag is not None:
            tags.append(tag)
            words.append(word)
        elif label is not None:
            opened.append((label, len(words), piece.start()))
        elif piece[0] != ")":
            problem = f"'{piece[0]}' must stand alone with its tag in brackets: (tag word)"
            raise _error(path, text, piece.start(), problem)
        elif not opened:
            raise _error(path, text, piece.start(), "this closing bracket has no opening one")
        else:
            name, start, offset = opened.pop()
            if name and childless:
                raise _error(path, text, offset, f"bracket '{name}' holds nothing: neither a word nor brackets")
            brackets.append((name, start, len(words)))
        childless = label is not None
        if not opened:
            line += text.count("\n", counted, first)
            counted = first
            written = " ".join(text[first : piece.end()].split())
            yield Tree(tuple(words), tuple(tags), tuple(brackets), line), written
            words, tags, brackets = [], [], []
    if opened:
        raise _error(path, text, opened[0][2], "the bracket opened here does not close")


def _error(path: str | Path, text: str, offset: int, problem: str) -> InputError:
    return InputError(problem, at=f"{path}, line {text.count(chr(10), 0, offset) + 1}")


@once
def _read_trees(path: Path) -> tuple[list[Tree], list[str]]:
    """The trees of a file without traces, and as they are written there."""
    pairs = list(_trees_and_texts("\n".join(read_lines(path)), path))
    return [tree.without_traces() for tree, _ in pairs], [written for _, written in pairs]


def _counts(path: Path, tree: Tree, gold_path: Path, gold: Tree) -> tuple[int, int, int]:
    try:
        return bracket_counts(tree, gold)
    except ValueError as error:
        raise InputError(f"{error} ({gold_path}, line {gold.line})", at=f"{path}, line {tree.line}") from None


FORMAT = Format("trees", "bracketed trees", read, ("*.mrg", "*.ptb"), metrics=("parseval",))
