"""Tagged documents, a word and its part of speech at a time: the Brown corpus as it is packed for NLTK."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from simstudy.files.packed import unzipped
from simstudy.readers.text_files import decoded
from simstudy.validation import InputError, NoSuchFile

# The table of contents: a line for each document, its name and its genre.
_CONTENTS = "cats.txt"

TaggedSentence = list[tuple[str, str]]
"""(word, tag) of each token."""


@dataclass(frozen=True)
class TaggedDocument:
    """A document, its name ("ca01") and genre ("news"), and the (word, tag) of each token of its sentences."""

    name: str
    genre: str
    sentences: list[TaggedSentence]


def read_tagged(path: str | Path) -> list[TaggedDocument]:
    r"""Read all documents of a tagged corpus.

    A document is a file with a sentence on each line and tokens ``word/tag`` between spaces; a token is split at its
    last slash, since words may have slashes. Blank lines are left out. ``cats.txt`` has a line ``document genre`` for
    each document: what it does not name (README, CONTENTS) is none.

    The path is that of the zip file (``brown.zip``), or of the folder of its files. Documents are in the order of
    ``cats.txt``.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "cats.txt").write_text("ca01 news\n")
    ...     _ = Path(folder, "ca01").write_text("\n\tIt/pps gave/vbd up/rp 1/2/cd ./.\n")
    ...     read_tagged(folder)[0].sentences
    [[('It', 'pps'), ('gave', 'vbd'), ('up', 'rp'), ('1/2', 'cd'), ('.', '.')]]
    """
    path = Path(path)
    files = _files(path)
    # One tuple for each kind of token: there are twenty times as many tokens.
    split: dict[str, tuple[str, str]] = {}
    documents = []
    for name, (genre, line) in _genres(path, files).items():
        if name not in files:
            raise InputError(f"{path}: {_CONTENTS}, line {line}: there is no document '{name}'")
        documents.append(TaggedDocument(name, genre, _sentences(f"{path}: {name}", files[name], split)))
    return documents


def _files(path: Path) -> dict[str, bytes]:
    """The content of all files by their own names, whatever folder of the zip file they are in."""
    if path.is_dir():
        return {file.name: file.read_bytes() for file in path.iterdir() if file.is_file()}
    if not path.is_file():
        raise NoSuchFile(path)
    return unzipped(path)


def _genres(path: Path, files: dict[str, bytes]) -> dict[str, tuple[str, int]]:
    """Document -> genre, and the line that says so."""
    if _CONTENTS not in files:
        raise InputError(f"{path} has no {_CONTENTS}, which names the documents and their genres")
    genres: dict[str, tuple[str, int]] = {}
    for line, text in _lines(f"{path}: {_CONTENTS}", files[_CONTENTS]):
        words = text.split()
        if len(words) != 2:
            raise InputError(f"{path}: {_CONTENTS}, line {line}: '{text}' is not a document and its genre")
        name, genre = words
        if name in genres:
            raise InputError(f"{path}: {_CONTENTS}, line {line}: '{name}' is there already, at line {genres[name][1]}")
        genres[name] = genre, line
    return genres


def _sentences(where: str, content: bytes, split: dict[str, tuple[str, str]]) -> list[TaggedSentence]:
    sentences = []
    for line, text in _lines(where, content):
        tokens = text.split()
        for token in tokens:
            if token not in split:
                word, _, tag = token.rpartition("/")
                if not word or not tag:
                    raise InputError(f"{where}, line {line}: '{token}' is not word/tag")
                split[token] = word, tag
        sentences.append([split[token] for token in tokens])
    return sentences


def _lines(where: str, content: bytes) -> list[tuple[int, str]]:
    """Number and text of the lines that are not blank."""
    text = decoded(content, where)
    return [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
