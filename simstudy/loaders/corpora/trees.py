"""Bracketed constituency trees, as the Penn Treebank and parsers write them."""

from __future__ import annotations

import re
from pathlib import Path

from simstudy.metrics.parseval import Bracket, Tree
from simstudy.validation import InputError

# A leaf with its tag, an opening bracket with its label, a closing bracket, or a word on its own. Blanks are spelt out:
# a no-break space is part of a word.
_PIECE = re.compile(
    r"\([ \t\r\n]*([^ \t\r\n()]+)[ \t\r\n]+([^ \t\r\n()]+)[ \t\r\n]*\)|\([ \t\r\n]*([^ \t\r\n()]*)|\)|[^ \t\r\n()]+"
)


def bracketed(tree: Tree) -> str:
    """A tree as text, on one line.

    Examples
    --------
    >>> bracketed(parse_trees("(S (NP (DT the) (NN dog)) (VP (VBZ barks)))", "")[0])
    '(S (NP (DT the) (NN dog)) (VP (VBZ barks)))'
    """
    leaves = [f"({tag} {word})" for tag, word in zip(tree.tags, tree.words, strict=True)]
    done: list[tuple[int, str]] = []
    n = 0
    for label, start, end in tree.brackets:
        done += enumerate(leaves[n:end], start=n)
        n = max(n, end)
        # A node comes after those below it: what does not begin before it is inside.
        first = next((i for i, (place, _) in enumerate(done) if place >= start), len(done))
        done[first:] = [(start, f"({label} {' '.join(text for _, text in done[first:])})")]
    return " ".join([*(text for _, text in done), *leaves[n:]])


def parse_trees(text: str, path: str | Path) -> list[Tree]:
    """The trees of a text, in their order; the path is for messages."""
    trees: list[Tree] = []
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
            raise _error(
                path, text, piece.start(), f"'{piece[0]}' must stand alone with its tag in brackets: (tag word)"
            )
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
            trees.append(Tree(tuple(words), tuple(tags), tuple(brackets), line))
            words, tags, brackets = [], [], []
    if opened:
        raise _error(path, text, opened[0][2], "the bracket opened here does not close")
    return trees


def _error(path: str | Path, text: str, offset: int, problem: str) -> ValueError:
    return InputError(f"{path}, line {text.count(chr(10), 0, offset) + 1}: {problem}")
