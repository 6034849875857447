"""F1 of labelled spans of tokens: names, chunks."""

from __future__ import annotations

from collections.abc import Sequence

from simstudy.metrics.f_measure import FBeta
from simstudy.validation import InputError

SPAN_F1 = FBeta(1, "span_f1", "span F1")

#: A label, the position of the first token, and that after the last.
Span = tuple[str, int, int]


def is_bio(tag: str) -> bool:
    """Whether a tag is O, B-label or I-label."""
    return tag == "O" or (tag[:2] in ("B-", "I-") and len(tag) > 2)


def bio_spans(tags: Sequence[str]) -> set[Span]:
    """The spans that BIO tags of a sentence mark, as conlleval reads them (Tjong Kim Sang and Buchholz 2000).

    An I- that continues nothing of its label begins a span, as B- does: both variants of BIO are read. A ValueError
    names a tag that is not O, B-label or I-label.
    """
    spans: set[Span] = set()
    label, start = "", 0
    for i, tag in enumerate([*tags, "O"]):
        if not is_bio(tag):
            raise InputError("tags", "of spans must be O, B-label or I-label", tag)
        if label and tag != f"I-{label}":
            spans.add((label, start, i))
            label = ""
        if not label and tag != "O":
            label, start = tag[2:], i
    return spans


def span_counts(guessed: Sequence[str], gold: Sequence[str]) -> tuple[int, int, int]:
    """(correct, guessed, gold) spans of one sentence from its BIO tags; correct are those of right label and extent."""
    found, wanted = bio_spans(guessed), bio_spans(gold)
    return len(found & wanted), len(found), len(wanted)
