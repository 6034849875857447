"""ROUGE: overlap of summaries with references (Lin 2004), by the package rouge-score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from simstudy.metrics.base import FloatArray, Words
from simstudy.metrics.mean import Mean
from simstudy.metrics.references import check_references, check_texts
from simstudy.validation import check_choice

#: Single words, word pairs, longest common subsequence.
KINDS = ("rouge1", "rouge2", "rougeL")


class Rouge(Mean):
    """The mean of items' ROUGE F1 (`rouge_scores`) of one of the `KINDS`, in percent."""

    def __init__(self, kind: str) -> None:
        label = f"ROUGE-{kind.removeprefix('rouge')}"
        super().__init__(kind, low=0, high=1, scale=100, label=label, unit="points", of_texts=True)

    @property
    def words(self) -> Words:
        return "a-z0-9"

    def text_counter(
        self, references: Sequence[Sequence[str]], *, tokenize: str | None = None, lowercase: bool = False
    ) -> RougeCounter:
        return RougeCounter(references, self.name)


class RougeCounter:
    """Scores texts by `rouge_scores`, as (sum, count) of each item."""

    def __init__(self, references: Sequence[Sequence[str]], kind: str) -> None:
        self._references, self._kind = references, kind
        _scorer(kind)
        self.signature = f"stemmer:porter|rouge-score:{version('rouge-score')}"

    def statistics(self, hypotheses: Sequence[str]) -> FloatArray:
        """Statistics (n, 2) of n texts."""
        scores = rouge_scores(hypotheses, self._references, self._kind)
        return np.stack([scores, np.ones_like(scores)], axis=-1)


def rouge_scores(hypotheses: Sequence[str], references: Sequence[Sequence[str]], kind: str) -> FloatArray:
    """ROUGE F1 of each text, a fraction, shape (n,): the best one where it has several references.

    Words are lower-cased and Porter-stemmed, as by ROUGE-1.5.5 with its usual option -m; all else is rouge-score's
    default: words are runs of a-z and 0-9, and no sentences are told apart. A ValueError says what is wrong with the
    texts, and where rouge-score is not installed.

    Examples
    --------
    >>> rouge_scores(["the cats sat"], [["a dog", "the cat sat down"]], "rouge1").round(3).tolist()   # 3/3 and 3/4
    [0.857]
    """
    check_choice("kind", kind, KINDS)
    check_references(references)
    check_texts(hypotheses, len(references))
    scorer = _scorer(kind)
    best = [scorer.score_multi(own, text)[kind] for text, own in zip(hypotheses, references, strict=True)]
    return np.array([score.fmeasure for score in best], dtype=np.float64)


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
        raise ValueError(f"metric {kind} needs the package rouge-score: pip install 'simstudy[rouge]'") from None
    return RougeScorer([kind], tokenizer=_Words())
