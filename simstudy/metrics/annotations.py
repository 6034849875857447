"""Counts of annotated sentences: labelled spans, constituency trees, dependency parses and word alignments."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from dataclasses import dataclass, field
from functools import cache
from itertools import accumulate, zip_longest

from simstudy.metrics.base import Ratio
from simstudy.metrics.f_measure import FBeta
from simstudy.validation import InputError

SPAN_F1 = FBeta(1, "span_f1", "span F1")
STRICT_SPAN_F1 = FBeta(1, "span_f1:strict", "span F1 (strict)")

#: A label, the position of the first token, and that after the last.
Span = tuple[str, int, int]

# A letter that says where in a span a token is, and the label, which may be left out.
_TAG = re.compile(r"(?P<place>[BIESLU])(?:-(?P<label>.+))?")

# BILOU writes L and U for the E and S of IOBES.
_PLACES = {"L": "E", "U": "S"}


def is_span_tag(tag: str) -> bool:
    """Whether a tag is O, or one of BIO, IOBES or BILOU with or without a label."""
    return tag == "O" or _TAG.fullmatch(tag) is not None


def tagged_spans(tags: Sequence[str]) -> set[Span]:
    """The spans that tags of a sentence mark, as conlleval and seqeval read them (Tjong Kim Sang and Buchholz 2000).

    Tags are of BIO, IOBES or BILOU. An I- or E- that continues nothing of its label begins a span, as B- does: both
    variants of BIO are read. An InputError names a tag of none of these.
    """
    spans: set[Span] = set()
    start, last = None, ("O", "")
    for i, (place, label) in enumerate([*map(_place_and_label, tags), ("O", "")]):
        ends = place in "BSO" or last[0] in "ESO" or label != last[1]
        if start is not None and ends:
            spans.add((last[1], start, i))
        if ends:
            start = None if place == "O" else i
        last = place, label
    return spans


def strict_spans(tags: Sequence[str], has_ends: bool) -> set[Span]:
    """The spans that are tagged as their scheme demands, as in seqeval's strict mode.

    A span begins with B. In IOBES and BILOU (`has_ends`) it is S, or it begins with B and ends with E.
    """
    places = [_place_and_label(tag)[0] for tag in tags]
    ends = {("S", "S"), ("B", "E")}
    return {
        (label, start, end)
        for label, start, end in tagged_spans(tags)
        if ((places[start], places[end - 1]) in ends if has_ends else places[start] == "B")
    }


def has_ends(tags: Iterable[str]) -> bool:
    """Whether tags are of a scheme that marks the ends of spans: IOBES or BILOU."""
    return any(tag[:1] in "ESLU" and is_span_tag(tag) for tag in tags if tag)


def span_counts(
    guessed: Sequence[str], gold: Sequence[str], *, strict: bool = False, ends: bool = False
) -> tuple[int, int, int]:
    """(correct, guessed, gold) spans of one sentence from its tags; correct are those of right label and extent."""
    spans, gold_spans = ((strict_spans(tags, ends) if strict else tagged_spans(tags)) for tags in (guessed, gold))
    return len(spans & gold_spans), len(spans), len(gold_spans)


def _place_and_label(tag: str) -> tuple[str, str]:
    """B, I, E, S or O, and the label."""
    parts = _TAG.fullmatch(tag)
    if parts is None and tag != "O":
        raise InputError("tags", "of spans must be O, or B, I, E, S, L or U with or without -label", tag)
    return (_PLACES.get(parts["place"], parts["place"]), parts["label"] or "") if parts else ("O", "")


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


# F1 of (correct, system's, gold) words, as in the CoNLL 2018 shared task: accuracy where the words are the same.
UAS = FBeta(1, "uas", "UAS")
LAS = FBeta(1, "las", "LAS")
UPOS = FBeta(1, "upos", "UPOS")

#: The number of each word's head, from 1 on (0 is the root), and the relation to it.
Parse = tuple[Sequence[int], Sequence[str]]


def right_attachments(guessed: Parse, gold: Parse, *, labelled: bool = True) -> int:
    """The number of words of a sentence with the right head and, if labelled, the right relation to it.

    Subtypes of relations (what follows the colon) do not count, and punctuation does.
    """
    words = zip(*guessed, *gold, strict=True)
    return sum(
        head == gold_head and (not labelled or relation.partition(":")[0] == gold_relation.partition(":")[0])
        for head, relation, gold_head, gold_relation in words
    )


#: A source word and a target word, by their positions.
Link = tuple[int, int]


class Aer(Ratio):
    """Alignment error rate in percent: 1 - (|A & S| + |A & P|) / (|A| + |S|) (Och and Ney 2003, section 5).

    A are the guessed links, S the sure ones of the gold standard, P its possible ones, which include the sure ones.
    Statistics are |A & S|, |A & P|, |A| and |S|. Lower is better.
    """

    def __init__(self) -> None:
        super().__init__(
            "aer", ("in_sure", "in_possible", "guessed", "sure"), higher_is_better=False,
            numerator=(-1, -1, 1, 1), denominator=(0, 0, 1, 1),
            of_item=("sure",), shared=("sure",), ascending=(("in_sure", "in_possible", "guessed"), ("in_sure", "sure")),
            label="AER", unit="percent",
        )  # fmt: skip


def alignment_counts(guessed: Set[Link], sure: Set[Link], possible: Set[Link]) -> tuple[int, int, int, int]:
    """(in_sure, in_possible, guessed, sure) of one sentence; sure links count as possible, whether listed or not."""
    return len(guessed & sure), len(guessed & (possible | sure)), len(guessed), len(sure)
