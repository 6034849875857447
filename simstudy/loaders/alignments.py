"""Word alignments, scored against gold links."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd

from simstudy.loaders.assembling import Asked, SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source
from simstudy.loaders.corpora.alignments import Links, read_links
from simstudy.loaders.items import items_in_order
from simstudy.loaders.reading import check_as_many, read_lines
from simstudy.metrics.aer import Link, alignment_counts
from simstudy.validation import InputError, check_choice


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
        raise InputError(
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
            raise InputError(f"{path} has sentence {unknown[0]}, which {measure} lacks")
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
