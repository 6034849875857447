"""Attachment scores of dependency parses, as in the evaluation of the CoNLL 2018 shared task."""

from __future__ import annotations

from collections.abc import Sequence

from simstudy.metrics.f_measure import FBeta

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
