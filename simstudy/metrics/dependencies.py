"""Attachment scores of dependency parses, as in the evaluation of the CoNLL 2018 shared task.

Parses of one text may differ in their words, which are aligned. Words of tokens that are one word each are aligned if
they are the same characters of the text. A multiword token ("du": "de", "le") has no characters for each of its words:
words there are aligned by a longest common subsequence.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

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


@dataclass(frozen=True)
class TextWord:
    """A word, and the characters of the text that its token has."""

    form: str
    start: int
    end: int
    in_multiword: bool


def text_words(tokens: Iterable[tuple[str, Sequence[str]]]) -> tuple[str, list[TextWord]]:
    """The text of tokens without blanks, and their words; a token is its form and the forms of its words."""
    text: list[str] = []
    words: list[TextWord] = []
    n_characters = 0
    for form, forms in tokens:
        characters = "".join(character for character in form if unicodedata.category(character) != "Zs")
        start, n_characters = n_characters, n_characters + len(characters)
        text.append(characters)
        words += [TextWord(word.lower(), start, n_characters, len(forms) > 1) for word in forms]
    return "".join(text), words


def align_words(gold: Sequence[TextWord], system: Sequence[TextWord]) -> list[tuple[int, int]]:
    """The positions of each gold word and the system's word that are one, of words of the same text."""
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g].in_multiword or system[s].in_multiword:
            first_g, first_s, g, s = _multiword_span(gold, system, g, s)
            forms = ([word.form for word in gold[first_g:g]], [word.form for word in system[first_s:s]])
            pairs += [(first_g + i, first_s + j) for i, j in _common_subsequence(*forms)]
        elif (gold[g].start, gold[g].end) == (system[s].start, system[s].end):
            pairs.append((g, s))
            g, s = g + 1, s + 1
        elif gold[g].start <= system[s].start:
            g += 1
        else:
            s += 1
    return pairs


def _multiword_span(gold: Sequence[TextWord], system: Sequence[TextWord], g: int, s: int) -> tuple[int, int, int, int]:
    """The first words, and those after the last, of the shortest stretch around multiword tokens of both."""
    if gold[g].in_multiword:
        end = gold[g].end
        s += not system[s].in_multiword and system[s].start < gold[g].start
    else:
        end = system[s].end
        g += not gold[g].in_multiword and gold[g].start < system[s].start
    first_g, first_s = g, s
    while _inside(gold, g, end) or _inside(system, s, end):
        if g < len(gold) and (s >= len(system) or gold[g].start <= system[s].start):
            word, g = gold[g], g + 1
        else:
            word, s = system[s], s + 1
        end = max(end, word.end) if word.in_multiword else end
    return first_g, first_s, g, s


def _inside(words: Sequence[TextWord], i: int, end: int) -> bool:
    """Whether a word is there and belongs to a stretch that ends so."""
    if i >= len(words):
        return False
    return words[i].start < end if words[i].in_multiword else words[i].end <= end


def _common_subsequence(gold: Sequence[str], system: Sequence[str]) -> list[tuple[int, int]]:
    """The positions of a longest common subsequence of both."""
    lengths = [[0] * (len(system) + 1) for _ in range(len(gold) + 1)]
    for g in reversed(range(len(gold))):
        for s in reversed(range(len(system))):
            same = 1 + lengths[g + 1][s + 1] if gold[g] == system[s] else 0
            lengths[g][s] = max(same, lengths[g + 1][s], lengths[g][s + 1])
    pairs: list[tuple[int, int]] = []
    g = s = 0
    while g < len(gold) and s < len(system):
        if gold[g] == system[s]:
            pairs.append((g, s))
            g, s = g + 1, s + 1
        elif lengths[g][s] == lengths[g + 1][s]:
            g += 1
        else:
            s += 1
    return pairs
