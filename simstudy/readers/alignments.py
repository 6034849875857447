"""Word alignments: a line has the links i-j of a sentence (Moses, fast_align), or one link (NAACL 2003 shared task)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.metrics.aer import Link, alignment_counts
from simstudy.notes import note
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.readers.text_lines import check_as_many, line_rows
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_LINK = re.compile(r"([0-9]{1,9})([-p?])([0-9]{1,9})")
_NAACL = re.compile(r"([0-9]{1,9})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?")


@dataclass
class Links:
    """The links of a sentence, from 0 on; a link that is not sure is possible."""

    sure: set[Link] = field(default_factory=set)
    possible: set[Link] = field(default_factory=set)
    #: The number of its first line.
    line: int = field(default=0, compare=False)

    @property
    def all(self) -> frozenset[Link]:
        """Sure and possible links."""
        return frozenset(self.sure | self.possible)


def read(request: Request) -> LongTable:
    """Rows of word alignments, a file for each system, scored by alignment error rate (AER) against a gold file.

    All links of a system count as guessed. A sentence that a NAACL file lacks has no links.
    """
    gold_path = request.gold_file("word alignments", ["aer"])
    gold, gold_by_line = read_links(gold_path)
    items = [str(number) for number in sorted(gold)]
    rows = []
    for name, path in request.named_files().items():
        links, by_line = read_links(path)
        if by_line and gold_by_line:
            check_as_many(path, len(links), "line", gold_path, len(gold))
        if unknown := sorted(links.keys() - gold.keys()):
            place = f"{path}, line {links[unknown[0]].line}"
            raise InputError(f"sentence {unknown[0]} is not in {gold_path}", at=place)
        guessed = [links.get(number, Links()) for number in sorted(gold)]
        pairs = zip(guessed, (gold[number] for number in sorted(gold)), strict=True)
        counts = np.array([alignment_counts(guess.all, right.sure, right.possible) for guess, right in pairs])
        values = dict(zip(request.metric.statistics, counts.T, strict=True))
        lines, answers = [guess.line for guess in guessed], [_text(guess.all) for guess in guessed]
        rows.append(line_rows(name, path, lines, items, values, answers))
    expected = pd.DataFrame({"item": items, "gold": [_gold_text(gold[number]) for number in sorted(gold)]})
    return LongTable(
        pd.concat(rows), request.metric.statistics, None, expected, numbered=gold_by_line, answers_compare=True
    )


@once
def read_links(path: Path) -> tuple[dict[int, Links], bool]:
    """The links of a file by the number of the sentence, from 1 on, and whether a sentence is a line.

    The first link of a file says which form its lines have: either the links of a sentence, ``i-j`` from 0 on,
    possible links of a gold standard ``ipj`` or ``i?j``; or one link, ``sentence i j``, all from 1 on, with S (sure)
    or P (possible) and a confidence if there is one (Mihalcea and Pedersen 2003). In the second form links to the
    empty word (0) are left out.
    """
    lines = read_lines(path)
    first = next(line for line in lines if line.strip())
    by_line = _LINK.fullmatch(first.split()[0]) is not None
    sentences = {number: Links(line=number) for number in range(1, len(lines) + 1)} if by_line else {}
    n_null = 0
    for number, line in enumerate(lines, start=1):
        for sentence, link, sure in (_moses if by_line else _naacl)(line, number, f"{path}, line {number}"):
            if min(link) < 0:
                n_null += 1
                continue
            links = sentences.setdefault(sentence, Links(line=number))
            (links.sure if sure else links.possible).add(link)
    if n_null:
        note("links to nothing", path=path, n=counted(n_null, "link"))
    return sentences, by_line


def _moses(line: str, number: int, place: str) -> Iterator[tuple[int, Link, bool]]:
    """(sentence, link, sure) of each link of a line that is a sentence."""
    for text in line.split():
        match = _LINK.fullmatch(text)
        if match is None:
            raise InputError("link", "must be like 3-4, possible links like 3p4", text, at=place)
        yield number, (int(match[1]), int(match[3])), match[2] == "-"


def _naacl(line: str, number: int, place: str) -> Iterator[tuple[int, Link, bool]]:
    """(sentence, link, sure) of a line that is a link."""
    match = _NAACL.fullmatch(line.strip())
    if match is not None and int(match[1]) > 0:
        yield int(match[1]), (int(match[2]) - 1, int(match[3]) - 1), match[4] != "P"
    elif line.strip():
        rule = "must have links like 3-4, or the numbers of a sentence, a source word and a target word, from 1 on"
        raise InputError("line", rule, line.strip(), at=place)


def _text(links: Iterable[Link], mark: str = "-") -> str:
    return " ".join(f"{i}{mark}{j}" for i, j in sorted(links))


def _gold_text(links: Links) -> str:
    return f"{_text(links.sure)} {_text(links.possible - links.sure, 'p')}".strip()


FORMAT = Format("alignments", "word alignments, i-j or NAACL .wa", read, ("*.wa", "*.talp"), metrics=("aer",))
