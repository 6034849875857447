"""Attachment scores of dependency parses, and F1 of universal tags of words."""

from __future__ import annotations

from collections.abc import Sequence

from simstudy.metrics.f_measure import FBeta

# F1 of (correct, system's, gold) words, as in the CoNLL 2018 shared task: accuracy where the words are the same.
UAS = FBeta(1, "uas", "UAS")
LAS = FBeta(1, "las", "LAS")
UPOS = FBeta(1, "upos", "UPOS")

#: The number of each word's head, from 1 on (0 is the root), and the relation to it.
Parse = tuple[Sequence[int], Sequence[str]]


def right_attachments(
    guessed: Parse, gold: Parse, pairs: Sequence[tuple[int, int]], *, labelled: bool = True
) -> list[tuple[int, int]]:
    """The pairs of aligned words (gold, guessed) with aligned heads and, if labelled, the same relation.

    As in the evaluation of the CoNLL 2018 shared task, subtypes of relations (what follows the colon) do not count and
    punctuation does.
    """
    (heads, relations), (gold_heads, gold_relations) = guessed, gold
    # A word that is not aligned is the right head of none.
    gold_number = {0: 0} | {s + 1: g + 1 for g, s in pairs}
    pairs = [(g, s) for g, s in pairs if gold_number.get(heads[s]) == gold_heads[g]]
    same = (relations[s].partition(":")[0] == gold_relations[g].partition(":")[0] for g, s in pairs)
    return [pair for pair, right in zip(pairs, same, strict=True) if right or not labelled]
