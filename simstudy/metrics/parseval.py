"""Labelled brackets of constituency trees (PARSEVAL), counted as evalb does with the parameters COLLINS.prm."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, zip_longest

from simstudy.metrics.f_measure import FBeta
from simstudy.validation import InputError

PARSEVAL = FBeta(1, "parseval", "labelled F1")

_TRACE = "-NONE-"
_PUNCTUATION = frozenset((",", ":", "``", "''", "."))
_UNCOUNTED = _PUNCTUATION | {"", "TOP", "ROOT", "S1"}

#: A label, the position of the first word, and that after the last.
Bracket = tuple[str, int, int]


@dataclass(frozen=True)
class Tree:
    """A constituency tree."""

    #: The n leaves, traces among them, and the labels right above them.
    words: tuple[str, ...]
    tags: tuple[str, ...]
    #: All other nodes, a node after those below it.
    brackets: tuple[Bracket, ...]
    #: Where the tree begins in its file, for messages.
    line: int = field(default=0, compare=False)

    def without_traces(self) -> Tree:
        """The tree without leaves tagged -NONE- and without what holds nothing else."""
        if _TRACE not in self.tags:
            return self
        kept = [tag != _TRACE for tag in self.tags]
        words, tags = (tuple(x for x, k in zip(leaves, kept, strict=True) if k) for leaves in (self.words, self.tags))
        return Tree(words, tags, tuple(_among(self.brackets, kept)), self.line)


def bracket_counts(guessed: Tree, gold: Tree) -> tuple[int, int, int]:
    """(correct, guessed, gold) labelled brackets of one sentence, as evalb counts them with COLLINS.prm.

    Traces are removed with what they leave empty. Punctuation (, : `` '' .) has no place in the extent of a bracket.
    Function tags do not count (NP-SBJ and NP=2 are NP, ADJP|ADVP is ADJP), PRT is ADVP; tags of words and the labels
    TOP, ROOT, S1 and none are left out. Of equal brackets each counts. evalb gives up on a sentence whose punctuation
    is tagged otherwise than in the gold tree; here the gold tags say for both trees what is punctuation. A ValueError
    says where the words, traces left out, differ.
    """
    guessed, gold = guessed.without_traces(), gold.without_traces()
    if guessed.words != gold.words:
        own, other = next((a, b) for a, b in zip_longest(guessed.words, gold.words, fillvalue="") if a != b)
        raise InputError(
            "trees", f"must be of the same words; the first that differs is '{own}', in the gold tree '{other}'"
        )
    kept = [counts_in_extent(tag) for tag in gold.tags]
    found, wanted = (
        Counter(
            (label, start, end)
            for full, start, end in _among(tree.brackets, kept)
            if (label := counted_label(full)) is not None
        )
        for tree in (guessed, gold)
    )
    return (found & wanted).total(), found.total(), wanted.total()


def _among(brackets: Sequence[Bracket], kept: Sequence[bool]) -> Iterator[Bracket]:
    """Brackets by their positions among the leaves that are kept, without those that hold none."""
    before = list(accumulate(kept, initial=0))
    for label, start, end in brackets:
        if before[start] < before[end]:
            yield label, before[start], before[end]


def counts_in_extent(tag: str) -> bool:
    """Whether a word with this gold tag has a place in the extent of a bracket: all but punctuation."""
    return tag not in _PUNCTUATION


@cache
def counted_label(label: str) -> str | None:
    """What a bracket's label counts as; None where it does not count."""
    category = without_function_tags(label)
    return None if category in _UNCOUNTED else "ADVP" if category == "PRT" else category


def without_function_tags(label: str) -> str:
    """A label's category; one that begins with a hyphen (-LRB-) is a name of its own."""
    return label if label.startswith("-") else re.split(r"[-=|]", label, maxsplit=1)[0]
