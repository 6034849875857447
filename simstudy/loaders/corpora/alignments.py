"""Word alignments: a line has the links i-j of a sentence (Moses, fast_align), or one link (NAACL 2003 shared task)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simstudy.loaders.reading import once, read_lines
from simstudy.metrics.aer import Link
from simstudy.notes import note
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_LINK = re.compile(r"([0-9]+)([-p?])([0-9]+)")
_NAACL = re.compile(r"([0-9]+)\s+([0-9]+)\s+([0-9]+)(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?")


@dataclass
class Links:
    """The links of a sentence, from 0 on; what is not sure is possible."""

    sure: set[Link] = field(default_factory=set)
    possible: set[Link] = field(default_factory=set)

    @property
    def all(self) -> frozenset[Link]:
        """Sure and possible ones."""
        return frozenset(self.sure | self.possible)


@once
def read_links(path: Path, lengths: tuple[tuple[int, int], ...] | None = None) -> tuple[dict[int, Links], bool]:
    """A file's links by the number of the sentence, from 1 on, and whether a sentence is a line.

    In NAACL form a sentence without links does not appear. Lengths are the numbers of source and target words of each.
    """
    lines = read_lines(path)
    first = next(line for line in lines if line.strip())
    by_line = _LINK.fullmatch(first.split()[0]) is not None
    sentences: dict[int, Links] = {n: Links() for n in range(1, len(lines) + 1)} if by_line else defaultdict(Links)
    n_null = 0
    for line, number, link, sure, text in (_pharaoh if by_line else _naacl)(path, lines):
        if min(link) < 0:
            n_null += 1
            continue
        if lengths is not None and number <= len(lengths):
            n_source, n_target = lengths[number - 1]
            if link[0] >= n_source or link[1] >= n_target:
                raise InputError(
                    f"{path}, line {line}: link {text} is outside the sentence ({n_source} x {n_target} words)"
                )
        links = sentences[number]
        (links.sure if sure else links.possible).add(link)
    if n_null:
        note("text", text=f"{path}: {counted(n_null, 'link')} to the empty word (position 0) left out")
    return dict(sentences), by_line


def _pharaoh(path: str | Path, lines: Sequence[str]) -> Iterator[tuple[int, int, Link, bool, str]]:
    """(line, sentence, link, sure, text) of each link of a file whose lines are sentences."""
    for number, line in enumerate(lines, start=1):
        for text in line.split():
            match = _LINK.fullmatch(text)
            if match is None:
                raise InputError(
                    f"{path}, line {number}: '{text}' is not a link; links are like 3-4, possible ones like 3p4"
                )
            i, kind, j = match.groups()
            yield number, number, (int(i), int(j)), kind == "-", text


def _naacl(path: str | Path, lines: Sequence[str]) -> Iterator[tuple[int, int, Link, bool, str]]:
    """(line, sentence, link, sure, text) of each link of a file whose lines are links."""
    for n, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        match = _NAACL.fullmatch(line.strip())
        if match is None or int(match[1]) == 0:
            raise InputError(
                f"{path}, line {n}: '{line.strip()}' is neither links like 3-4 nor the numbers of a sentence, a "
                "source word and a target word, from 1 on"
            )
        number, i, j = (int(match[k]) for k in (1, 2, 3))
        yield n, number, (i - 1, j - 1), match[4] != "P", f"{i} {j}"
