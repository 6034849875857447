"""CoNLL-U: annotated sentences, as the Universal Dependencies treebanks have them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import conllu


@dataclass(frozen=True)
class Sentence:
    """A sentence's words and universal part-of-speech tags.

    Multiword-token ranges and empty nodes are left out: words are the lines with a whole number as id.
    """

    id: str
    document: str
    words: tuple[str, ...]
    tags: tuple[str, ...]


def read_conllu(path: str | Path) -> list[Sentence]:
    """Read all sentences of a CoNLL-U file.

    A sentence's id is its ``sent_id`` (or ``tweet_id``), its document the latest ``newdoc id``, where there is one.

    Raises
    ------
    ValueError
        Where the file cannot be read as CoNLL-U, or a sentence has no id or no words; the message names file and line.
    FileNotFoundError
        Where there is no such file.
    """
    path = Path(path)
    if not path.is_file():
        raise FileNotFoundError(f"no such file: {path}")
    sentences: list[Sentence] = []
    document = ""
    for line, block in _blocks(path):
        where = f"{path}, sentence at line {line}"
        try:
            (tokens,) = conllu.parse(block)
        except (ValueError, conllu.exceptions.ParseException) as error:
            raise ValueError(f"{where}: {' '.join(str(error).split())}") from None
        document = tokens.metadata.get("newdoc id", document)
        name = tokens.metadata.get("sent_id") or tokens.metadata.get("tweet_id")
        words = [token for token in tokens if isinstance(token["id"], int)]
        if not name or not words:
            raise ValueError(f"{where}: no {'words' if name else 'sent_id'}")
        sentences.append(Sentence(name, document, tuple(t["form"] for t in words), tuple(t["upos"] for t in words)))
    if not sentences:
        raise ValueError(f"{path} has no sentences")
    return sentences


def _blocks(path: Path) -> Iterator[tuple[int, str]]:
    """The runs of lines between empty lines, and the number of the first line of each."""
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not UTF-8: {error}") from None
    for filled, numbered in groupby(enumerate(lines, start=1), key=lambda line: bool(line[1].strip())):
        if filled:
            run = list(numbered)
            yield run[0][0], "\n".join(text for _, text in run)
