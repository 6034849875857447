"""Word alignments: a line has the links i-j of a sentence (Moses, fast_align), or one link (NAACL 2003 shared task)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source, check_as_many, counted
from simstudy.loaders.items import items_in_order
from simstudy.loaders.reading import once, read_lines
from simstudy.metrics.aer import Link, alignment_counts
from simstudy.notes import note
from simstudy.validation import check_choice

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


def read_alignments(source: Source) -> Loaded:
    """Word alignments, one file for each system, scored by AER against a gold file.

    Each line of a file has either the links of a sentence, ``i-j`` from 0 on, possible ones of the gold standard
    ``ipj`` or ``i?j``; or one link, ``sentence i j``, all from 1 on, with S (sure) or P (possible) and a confidence
    where there is one (Mihalcea and Pedersen 2003). Which it is, the file's first link says. All links of a system
    count as guessed; a sentence that a NAACL file lacks has no links, and its links to the empty word (0) are left out.

    Where the source text and the target text are given too (one sentence on each line, words between blanks), the
    positions of the links are checked against them.
    """
    check_choice("metric of word alignments", source.metric.name, ["aer"])
    if len(source.references) not in (1, 3):
        raise ValueError(
            "references of word alignments must be the gold file, or the gold file, source text and target text, not "
            f"{len(source.references)} files"
        )
    sides = [read_lines(path) for path in source.references[1:]]
    for path, lines in zip(source.references[1:], sides, strict=True):
        check_as_many(source.references[1], len(sides[0]), "line", path, len(lines))
    pairs = list(zip(*sides, strict=True))
    lengths = tuple((len(s.split()), len(t.split())) for s, t in pairs) if sides else None
    paths = (source.references[0], *source.paths)
    files = [read_links(path, lengths) for path in paths]
    gold, lines_of_gold = files[0]
    numbers = sorted(gold) if lengths is None else list(range(1, len(lengths) + 1))
    measure = source.references[0 if lengths is None else 1]
    for path, (sentences, by_line) in zip(paths, files, strict=True):
        if by_line and (lines_of_gold or lengths is not None):
            check_as_many(path, len(sentences), "line", measure, len(numbers))
        if unknown := sorted(set(sentences) - set(numbers)):
            raise ValueError(f"{path} has sentence {unknown[0]}, which {measure} lacks")
    items = items_in_order(source, pd.DataFrame({"id": [str(number) for number in numbers]}))
    ids = items["id"].tolist()
    nothing = Links()
    wanted = [gold.get(number, nothing) for number in numbers]
    systems = []
    for (name, path), (sentences, _) in zip(source.systems().items(), files[1:], strict=True):
        answers = [sentences.get(number, nothing).all for number in numbers]
        counts = [alignment_counts(own, g.sure, g.possible) for own, g in zip(answers, wanted, strict=True)]
        said = [tuple(sorted(own)) for own in answers]
        systems.append(SystemOutputs(name, str(path), ids, np.array(counts), said, texts=map(_text, said)))
    gold_texts = (
        " ".join(filter(None, [_text(sorted(g.sure)), _text(sorted(g.possible - g.sure), "p")])) for g in wanted
    )
    return assemble(systems, source, items, asked=Asked.of(ids, map("\n".join, pairs), gold_texts))


def _text(links: Iterable[Link], mark: str = "-") -> str:
    return " ".join(f"{i}{mark}{j}" for i, j in links)


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
                raise ValueError(
                    f"{path}, line {line}: link {text} is outside the sentence ({n_source} x {n_target} words)"
                )
        links = sentences[number]
        (links.sure if sure else links.possible).add(link)
    if n_null:
        note(f"{path}: {counted(n_null, 'link')} to the empty word (position 0) left out")
    return dict(sentences), by_line


def _pharaoh(path: str | Path, lines: Sequence[str]) -> Iterator[tuple[int, int, Link, bool, str]]:
    """(line, sentence, link, sure, text) of each link of a file whose lines are sentences."""
    for number, line in enumerate(lines, start=1):
        for text in line.split():
            match = _LINK.fullmatch(text)
            if match is None:
                raise ValueError(
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
            raise ValueError(
                f"{path}, line {n}: '{line.strip()}' is neither links like 3-4 nor the numbers of a sentence, a "
                "source word and a target word, from 1 on"
            )
        number, i, j = (int(match[k]) for k in (1, 2, 3))
        yield n, number, (i - 1, j - 1), match[4] != "P", f"{i} {j}"
