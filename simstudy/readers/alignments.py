"""Word alignments: a line has the links i-j of a sentence (Moses, fast_align), or one link (NAACL 2003 shared task)."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from simstudy.metrics.annotations import Link, alignment_counts
from simstudy.readers.annotations import Annotated, compared_with_gold
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request
from simstudy.readers.text_files import once, read_lines
from simstudy.validation import InputError

_LINK = re.compile(r"([0-9]{1,9})([-p?])([0-9]{1,9})")
_NAACL = re.compile(r"0*([1-9][0-9]{0,8})\s+([0-9]{1,9})\s+([0-9]{1,9})(?:\s+([SP]))?(?:\s+[0-9.eE+-]+)?")


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
    gold_links, gold_by_line = read_links(request.gold_file("word alignments", ["aer"]))

    def by_number(links: dict[int, Links]) -> dict[str, Annotated[Links]]:
        return {str(n): Annotated(links[n].line, None, links[n], _text(links[n])) for n in sorted(links)}

    def of_system(path: Path) -> dict[str, Annotated[Links]]:
        links, by_line = read_links(path)
        return by_number(links if by_line else {number: Links() for number in gold_links} | links)

    def counts(guess: Links, right: Links) -> tuple[int, ...]:
        return alignment_counts(guess.all, right.sure, right.possible)

    return compared_with_gold(request, by_number(gold_links), of_system, counts, numbered=gold_by_line)


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
    for number, line in enumerate(lines, start=1):
        place = f"{path}, line {number}"
        if by_line:
            for text in line.split():
                match = _LINK.fullmatch(text)
                if match is None:
                    raise InputError("link", "must be like 3-4, possible links like 3p4", text, at=place)
                links = sentences[number].sure if match[2] == "-" else sentences[number].possible
                links.add((int(match[1]), int(match[3])))
        elif line.strip():
            match = _NAACL.fullmatch(line.strip())
            if match is None:
                rule = "must have links like 3-4, or the numbers of a sentence, a source and a target word, from 1 on"
                raise InputError("line", rule, line.strip(), at=place)
            link = int(match[2]) - 1, int(match[3]) - 1
            if min(link) >= 0:
                sentence = sentences.setdefault(int(match[1]), Links(line=number))
                (sentence.possible if match[4] == "P" else sentence.sure).add(link)
    return sentences, by_line


def _text(links: Links) -> str:
    """The links as a line of a gold file has them, the sure ones first."""
    sure, possible = sorted(links.sure), sorted(links.possible - links.sure)
    return " ".join([*(f"{i}-{j}" for i, j in sure), *(f"{i}p{j}" for i, j in possible)])


FORMAT = Format("alignments", "word alignments, i-j or NAACL .wa", read, ("*.wa", "*.talp"), metrics=("aer",))
