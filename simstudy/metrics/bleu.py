"""BLEU: the share of a text's word sequences that its references have (Papineni et al. 2002), as sacrebleu counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from simstudy.metrics.base import Array, FloatArray, Metric, References, TextCounter
from simstudy.metrics.references import sacrebleu_counter
from simstudy.validation import InputError, check_choice

_ORDERS = (1, 2, 3, 4)

# Factors of the product of precisions if k = 0 … 4 orders have no match: the first counts as 1/2 of a match, the next
# as 1/4, … (sacrebleu's and mteval-v13a's "exp" smoothing); without any match at all the score is 0.
_SMOOTHED = np.array([1, 1 / 2, 1 / 8, 1 / 64, 0])


class Bleu(Metric):
    """Corpus BLEU in percent: sacrebleu's, with its defaults (orders 1 to 4, "exp" smoothing; Post 2018).

    An item has the numbers of its 1- to 4-grams that some reference has (each at most as often as there), the numbers
    of all its 1- to 4-grams, its length in tokens, and the length of the reference that is nearest in length.
    """

    def __init__(self) -> None:
        counts = [f"{kind}_{n}" for kind in ("correct", "total") for n in _ORDERS]
        # Not shared: of several references, the nearest in length depends on the text.
        super().__init__(
            "bleu", (*counts, "hyp_length", "ref_length"), of_item=("ref_length",),
            ascending=(*((f"correct_{n}", f"total_{n}", "hyp_length") for n in _ORDERS), ("ref_length",)),
            label="BLEU", unit="points", of_texts=True, tokenizers=True,
        )  # fmt: skip

    def text_counter(
        self, references: References, *, tokenize: str | None = None, lowercase: bool = False
    ) -> TextCounter:
        # Not at the top: most studies count no texts.
        from sacrebleu.metrics.bleu import BLEU

        if tokenize is not None:
            check_choice("tokenize", tokenize, BLEU.TOKENIZERS)
        options = {"lowercase": lowercase, "tokenize": tokenize, "force": True}
        try:
            # From hyp_length, ref_length, correct, total.
            return sacrebleu_counter(BLEU, references, lambda counts: np.roll(counts, -2, axis=1), **options)
        except (ImportError, RuntimeError) as error:
            # It says which package a tokenizer needs.
            raise InputError(f"tokenizer '{tokenize}': {' '.join(str(error).split())}") from None

    def score(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums, dtype=np.float64)
        correct, total = ([sums[..., first + n] for n in range(4)] for first in (0, 4))
        hyp_length, ref_length = sums[..., 8], sums[..., 9]
        # At most 10^12 n-grams of each order keep these products in the range of double precision.
        matched = _product([np.maximum(c, 1) for c in correct]) * _SMOOTHED[sum((c <= 0).astype(int) for c in correct)]
        possible = _product(total)
        precisions = np.divide(matched, possible, out=np.zeros_like(possible), where=possible > 0)
        score = 100 * np.sqrt(np.sqrt(precisions)) * np.exp(np.minimum(1 - ref_length / np.maximum(hyp_length, 1), 0))
        return np.asarray(score)


def _product(factors: Sequence[FloatArray]) -> Any:
    return (factors[0] * factors[1]) * (factors[2] * factors[3])
