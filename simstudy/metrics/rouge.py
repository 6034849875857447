"""ROUGE: overlap of summaries with references (Lin 2004), by the package rouge-score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from simstudy.metrics.base import FloatArray, References, TextCounter, Words
from simstudy.metrics.mean import Mean
from simstudy.metrics.references import check_references
from simstudy.validation import InputError

#: Single words, word pairs, longest common subsequence.
KINDS = ("rouge1", "rouge2", "rougeL")


class Rouge(Mean):
    """The mean of items' ROUGE F1 of one of the `KINDS`, in percent; of several references the best one counts.

    Words are lower-cased and Porter-stemmed, as by ROUGE-1.5.5 with its usual option -m; all else is rouge-score's
    default: words are runs of a-z and 0-9, and no sentences are told apart.
    """

    def __init__(self, kind: str) -> None:
        label = f"ROUGE-{kind.removeprefix('rouge')}"
        super().__init__(kind, low=0, high=1, scale=100, label=label, unit="points", of_texts=True)

    @property
    def words(self) -> Words:
        return "a-z0-9"

    def text_counter(
        self, references: References, *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter:
        scorer = _scorer(self.name)
        check_references(references)

        def count(hypotheses: Sequence[str]) -> FloatArray:
            best = [scorer.score_multi(own, text) for text, own in zip(hypotheses, references, strict=True)]
            return np.array([(scores[self.name].fmeasure, 1.0) for scores in best], dtype=np.float64)

        return TextCounter(len(references), count, f"stemmer:porter|rouge-score:{version('rouge-score')}")


class _Words:
    """rouge-score's own words, each distinct one stemmed once: stems take most of the time."""

    def __init__(self) -> None:
        from nltk.stem.porter import PorterStemmer
        from rouge_score.tokenize import tokenize

        self._tokenize = tokenize
        self.stem = lru_cache(maxsize=2**18)(PorterStemmer().stem)

    def tokenize(self, text: str) -> Any:
        return self._tokenize(text, self)


@cache
def _scorer(kind: str) -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
    except ImportError:
        raise InputError(f"metric {kind} needs the package rouge-score: pip install 'simstudy[rouge]'") from None
    return RougeScorer([kind], tokenizer=_Words())
