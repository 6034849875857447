"""ROUGE: overlap of summaries with references (Lin 2004), by the package rouge-score."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.metadata import version
from typing import Any

import numpy as np

from simstudy.metrics.base import FloatArray, References, TextCounter
from simstudy.metrics.mean import Mean
from simstudy.metrics.references import check_references
from simstudy.validation import InputError

#: Single words, word pairs, and the longest common subsequence: of the text, or of each of its sentences.
KINDS = ("rouge1", "rouge2", "rougeL", "rougeLsum")

# Ends the name of a metric whose words are not stemmed.
_NO_STEMS = ":stem=no"


class Rouge(Mean):
    """The mean of items' ROUGE F1 of one of the `KINDS`, in percent; of several references the best one counts.

    Words are lower-cased and Porter-stemmed, as by ROUGE-1.5.5 with its usual option -m, unless the name ends in
    ":stem=no", which is the default of other tools. All else is rouge-score's default: words are runs of a-z and 0-9.
    Only "rougeLsum" tells sentences apart, which are lines of a text.
    """

    def __init__(self, kind: str, *, stemmed: bool = True) -> None:
        name = kind if stemmed else f"{kind}{_NO_STEMS}"
        label = f"ROUGE-{kind.removeprefix('rouge')}{'' if stemmed else ' without stemming'}"
        super().__init__(name, low=0, high=1, scale=100, label=label, unit="points", of_texts=True, words="a-z0-9")

    def text_counter(self, references: References, **_: Any) -> TextCounter:
        kind = self.name.removesuffix(_NO_STEMS)
        scorer = _scorer(kind, kind == self.name)
        check_references(references)

        def count(hypotheses: Sequence[str]) -> FloatArray:
            best = [scorer.score_multi(targets, text) for text, targets in zip(hypotheses, references, strict=True)]
            return np.array([(scores[kind].fmeasure, 1.0) for scores in best], dtype=np.float64)

        stemmer = "porter" if kind == self.name else "no"
        return TextCounter(len(references), count, f"stemmer:{stemmer}|rouge-score:{version('rouge-score')}")


@cache
def _scorer(kind: str, stemmed: bool) -> Any:
    try:
        from rouge_score.rouge_scorer import RougeScorer
        from rouge_score.tokenizers import DefaultTokenizer
    except ImportError:
        raise InputError(f"metric {kind} needs the package rouge-score: pip install 'simstudy[rouge]'") from None
    tokenizer = DefaultTokenizer(stemmed)
    if stemmed:
        # Stems take most of the time, so that each distinct word is stemmed once.
        tokenizer._stemmer.stem = lru_cache(maxsize=2**18)(tokenizer._stemmer.stem)
    return RougeScorer([kind], tokenizer=tokenizer)
