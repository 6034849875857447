"""F1 of labelled spans of tokens: names, chunks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

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
