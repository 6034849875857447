"""Bracketed constituency trees, as the Penn Treebank and parsers write them, and systems that parsed sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from simstudy.metrics.annotations import Bracket, Tree, bracket_counts
from simstudy.readers.annotations import Annotated, compared_with_gold
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.validation import InputError

# A leaf with its tag, an opening bracket with its label, a closing bracket, or a word on its own. Blanks are spelt out:
# a no-break space is part of a word.
_PIECE = re.compile(
    r"\([ \t\r\n]*([^ \t\r\n()]+)[ \t\r\n]+([^ \t\r\n()]+)[ \t\r\n]*\)|\([ \t\r\n]*([^ \t\r\n()]*)|\)|[^ \t\r\n()]+"
)


def read(request: Request) -> LongTable:
    """Rows of parses, a file for each system, scored by labelled brackets against a gold file.

    Trees, on one line or several, are matched by their order. Their words must be the same, traces left out. A tree
    without words, ``(())``, is a sentence that the system has not parsed: an item that it lacks. So is an empty line of
    a file with as many lines as gold has trees.
    """
    gold = _read_trees(request.gold_file("trees", ["parseval"]))

    def counts(tree: Tree, gold: Tree) -> tuple[int, int, int] | None:
        return bracket_counts(tree, gold) if tree.words else None

    return compared_with_gold(request, gold, lambda path: _read_trees(path, len(gold)), counts)


@once
def _read_trees(path: Path, n_gold: int = 0) -> dict[str, Annotated[Tree]]:
    """The trees of a file by their numbers, without traces; an empty line of `n_gold` lines is one without words."""
    sentences, lines = {}, read_lines(path)
    if len(lines) == n_gold:
        lines = [line if line.strip() else "(())" for line in lines]
    for number, (whole, written) in enumerate(_trees("\n".join(lines), path), start=1):
        tree = whole.without_traces()
        sentences[str(number)] = Annotated(tree.line, " ".join(tree.words), tree, written)
    return sentences


def parse_trees(text: str, path: str | Path) -> list[Tree]:
    """The trees of a text, in their order; the path is for messages.

    Examples
    --------
    >>> parse_trees("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))", "")[0].brackets
    (('NP', 0, 2), ('VP', 2, 3), ('S', 0, 3))
    """
    return [tree for tree, _ in _trees(text, path)]


def _trees(text: str, path: str | Path) -> Iterator[tuple[Tree, str]]:
    """Each tree of a text, and as it is written there, on one line."""

    def error(offset: int, problem: str) -> InputError:
        return InputError(problem, at=f"{path}, line {text.count(chr(10), 0, offset) + 1}")

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
            raise error(piece.start(), f"'{piece[0]}' must stand alone with its tag in brackets: (tag word)")
        elif not opened:
            raise error(piece.start(), "this closing bracket has no opening one")
        else:
            name, start, offset = opened.pop()
            if name and childless:
                raise error(offset, f"bracket '{name}' holds nothing: neither a word nor brackets")
            brackets.append((name, start, len(words)))
        childless = label is not None
        if not opened:
            line += text.count("\n", counted, first)
            counted = first
            written = " ".join(text[first : piece.end()].split())
            yield Tree(tuple(words), tuple(tags), tuple(brackets), line), written
            words, tags, brackets = [], [], []
    if opened:
        raise error(opened[0][2], "the bracket opened here does not close")


FORMAT = Format("trees", "bracketed trees", read, ("*.mrg", "*.ptb"), metrics=("parseval",))
