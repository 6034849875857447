"""Attachment scores of dependency parses, and F1 of universal tags of words."""

from __future__ import annotations

from collections.abc import Sequence

from simstudy.metrics.f_measure import FBeta
from simstudy.validation import InputError

# F1 of (correct, system's, gold) words, as in the CoNLL 2018 shared task: accuracy where the words are the same.
UAS = FBeta(1, "uas", "UAS")
LAS = FBeta(1, "las", "LAS")
UPOS = FBeta(1, "upos", "UPOS")

#: Heads (0 is the root), and the relations to them.
Parse = tuple[Sequence[int], Sequence[str]]


def attachment_counts(guessed: Parse, gold: Parse, *, labelled: bool = True) -> tuple[int, int, int]:
    """(correct, guessed, gold) words of one sentence, those of the right head and, if labelled, the right relation.

    As in the evaluation of the CoNLL 2018 shared task, subtypes of relations (what follows the colon) do not count and
    punctuation does. A ValueError says where the numbers of words differ.
    """
    if len(guessed[0]) != len(gold[0]):
        raise InputError("parses", f"must be of the same words, not of {len(guessed[0])} and {len(gold[0])}")
    correct = sum(
        own_head == head and (not labelled or own.partition(":")[0] == relation.partition(":")[0])
        for own_head, own, head, relation in zip(*guessed, *gold, strict=True)
    )
    return correct, len(guessed[0]), len(gold[0])
