"""Edit rates of texts: word and character error rate (WER, CER), and translation edit rate (TER)."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

import numpy as np

from simstudy.metrics.base import Array, FloatArray, IntArray, References, TextCounter, Words
from simstudy.metrics.edit_kernels import edit_distance
from simstudy.metrics.ratio import Ratio
from simstudy.metrics.references import check_references, reference_streams
from simstudy.validation import InputError

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
            of_item=("ref_length",), shared=("ref_length",), label=name.upper(), unit="percent", of_texts=True,
        )  # fmt: skip

    @property
    def zero_is_best(self) -> bool:
        return True

    def check(self, statistics: Array) -> None:
        self._require(np.all(statistics >= 0, axis=-1), "errors >= 0 and ref_length >= 0")

    def check_scores(self, statistics: Array, systems: Sequence[str]) -> None:
        for system, n_words in zip(systems, statistics[..., 1].sum(axis=1), strict=True):
            if n_words == 0:
                rule = f"of metric '{self.name}' must not be 0 in all items together, as it is for system '{system}'"
                raise InputError("ref_length", rule, remedy="a rate over no reference words is not defined")


class EditRate(ErrorRate):
    """Insertions, deletions and substitutions over the length of the one reference (Levenshtein 1966).

    Counts are those of jiwer 4. If the reference is empty (silence), every word of the text is an insertion. Words
    ("wer") stand between spaces. Two or more blanks of any kind that follow each other are one space; a single tab,
    no-break space or other blank inside a word is a part of the word. Characters ("cer") are Unicode code points,
    blanks between words among them. Blanks at both ends do not count. Case and punctuation do; nothing is normalized.
    """

    @property
    def words(self) -> Words:
        return "spaced" if self.name == "wer" else ""

    def text_counter(
        self, references: References, *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter:
        check_references(references)
        for i, own in enumerate(references):
            if len(own) > 1:
                raise InputError(
                    f"metric '{self.name}' needs one reference for each item: item number {i + 1} has {len(own)}; "
                    "metric 'ter' accepts several"
                )
        split: Callable[[str], Sequence[str]] = _words if self.name == "wer" else str.strip
        numbers: dict[str, int] = {}

        def coded(text: str) -> IntArray:
            tokens = split(text.lower() if lowercase else text)
            return np.array([numbers.setdefault(token, len(numbers)) for token in tokens], dtype=np.int64)

        wanted = [coded(own[0]) for own in references]

        def count(said: Sequence[str]) -> IntArray:
            rows = [(edit_distance(coded(text), gold), len(gold)) for text, gold in zip(said, wanted, strict=True)]
            return np.array(rows, dtype=np.int64)

        return TextCounter(len(wanted), count, f"case:{'lc' if lowercase else 'mixed'}")


def _words(text: str) -> list[str]:
    """The words of a text, as jiwer splits it."""
    return [word for word in _BLANKS.sub(" ", text).strip().split(" ") if word]


class Ter(ErrorRate):
    """Translation edit rate (Snover et al. 2006), as sacrebleu counts by default: shifts of phrases are one edit too.

    Of several references the one with the fewest edits counts, and the length is the mean of their lengths. Case does
    not count.
    """

    def __init__(self) -> None:
        super().__init__("ter")

    @property
    def words(self) -> Words:
        return "spaced"

    def text_counter(
        self, references: References, *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter:
        # Not at the top: most studies count no texts.
        from sacrebleu.metrics.ter import TER

        ter = TER(references=reference_streams(references))
        # No warning of texts that end in " .": what is counted is the same.
        ter._force = True

        def count(hypotheses: Sequence[str]) -> Array:
            # A mean of lengths need not be whole.
            return narrowed(np.array(ter._extract_corpus_statistics(hypotheses, None), dtype=np.float64))

        return TextCounter(len(references), count, str(ter.get_signature()))


def narrowed(counts: FloatArray) -> Array:
    """The counts as integers where all are whole."""
    return counts.astype(np.int64) if (counts == np.rint(counts)).all() else counts


WER, CER, TER = EditRate("wer"), EditRate("cer"), Ter()
