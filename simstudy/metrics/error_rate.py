"""Edit rates of texts: word and character error rate (WER, CER), and translation edit rate (TER)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from simstudy.compiled import compiled
from simstudy.metrics.base import IntArray, Ratio, References, TextCounter
from simstudy.metrics.references import sacrebleu_counter, single_references

# Blanks of any kind that follow each other.
_BLANKS = re.compile(r"\s\s+")


class ErrorRate(Ratio):
    """Edits that turn texts into their references, over the references' length, in percent; lower is better.

    Statistics are the edits and the reference's length. The score of a corpus is the ratio of the sums, not the mean of
    the items' rates. It may exceed 100.
    """

    def __init__(self, name: str) -> None:
        super().__init__(
            name, ("errors", "ref_length"), higher_is_better=False, numerator=(1, 0), denominator=(0, 1),
            of_item=("ref_length",), shared=("ref_length",), ascending=(("errors",), ("ref_length",)),
            label=name.upper(), unit="percent", of_texts=True, words="" if name == "cer" else "spaced",
            zero_is_best=True,
        )  # fmt: skip


class EditRate(ErrorRate):
    """Insertions, deletions and substitutions over the length of the one reference (Levenshtein 1966).

    Counts are those of jiwer 4. If the reference is empty (silence), every word of the text is an insertion. Words
    ("wer") stand between spaces. Two or more blanks of any kind that follow each other are one space; a single tab,
    no-break space or other blank inside a word is a part of the word. Characters ("cer") are Unicode code points,
    blanks between words among them. Blanks at both ends do not count. Case and punctuation do; nothing is normalized.
    """

    def text_counter(self, references: References, *, lowercase: bool = False, **_: Any) -> TextCounter:
        split: Callable[[str], Sequence[str]] = _words if self.name == "wer" else str.strip
        numbers: dict[str, int] = {}

        def coded(text: str) -> IntArray:
            tokens = split(text.lower() if lowercase else text)
            return np.array([numbers.setdefault(token, len(numbers)) for token in tokens], dtype=np.int64)

        gold = [coded(text) for text in single_references(self.name, references)]

        def count(hypotheses: Sequence[str]) -> IntArray:
            pairs = zip(map(coded, hypotheses), gold, strict=True)
            return np.array([(edit_distance(codes, wanted), len(wanted)) for codes, wanted in pairs], dtype=np.int64)

        return TextCounter(len(gold), count, f"case:{'lc' if lowercase else 'mixed'}")


def _words(text: str) -> list[str]:
    """The words of a text, as jiwer splits it."""
    return [word for word in _BLANKS.sub(" ", text).strip().split(" ") if word]


@compiled
def edit_distance(one: IntArray, other: IntArray) -> int:
    """The least number of insertions, deletions and substitutions that turn one sequence of numbers into the other."""
    row = np.arange(len(other) + 1)
    for i in range(len(one)):
        diagonal = row[0]
        row[0] = i + 1
        for j in range(len(other)):
            replaced = diagonal + (one[i] != other[j])
            diagonal = row[j + 1]
            row[j + 1] = min(replaced, row[j] + 1, diagonal + 1)
    return int(row[-1])


class Ter(ErrorRate):
    """Translation edit rate (Snover et al. 2006), as sacrebleu counts by default: shifts of phrases are one edit too.

    Of several references the one with the fewest edits counts, and the length is the mean of their lengths. Case does
    not count.
    """

    def __init__(self) -> None:
        super().__init__("ter")

    def text_counter(self, references: References, **_: Any) -> TextCounter:
        # Not at the top: most studies count no texts.
        from sacrebleu.metrics.ter import TER

        return sacrebleu_counter(TER, references)


WER, CER, TER = EditRate("wer"), EditRate("cer"), Ter()
