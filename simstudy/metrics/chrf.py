"""chrF and chrF++: F-scores of character and word sequences (Popović 2015, 2017), as sacrebleu counts."""

from __future__ import annotations

from typing import Any

import numpy as np

from simstudy.metrics.base import Array, FloatArray, Metric, References, TextCounter
from simstudy.metrics.references import sacrebleu_counter

_CHARACTERS = 6
_BETA_SQUARED = 4


class Chrf(Metric):
    """Corpus chrF (beta 2) in percent: sacrebleu's, with its defaults (characters 1 to 6 without blanks).

    Precision and recall are means over the orders that both texts and references have. An item has, for each order,
    the numbers of n-grams that match, of those in the text, and of those in the reference; where it has several
    references, these are of the one with the best score for the item. With word_order 2 it is "chrf++": words and word
    pairs are two more orders.
    """

    word_order: int

    def __init__(self, word_order: int = 0) -> None:
        orders = [f"char_{n + 1}" for n in range(_CHARACTERS)] + [f"word_{n + 1}" for n in range(word_order)]
        counts = [f"{kind}_{order}" for kind in ("match", "hyp", "ref") for order in orders]
        # Not shared: of several references, the best one depends on the text.
        plus = "+" * word_order
        super().__init__(
            f"chrf{plus}", tuple(counts), of_item=tuple(f"ref_{order}" for order in orders),
            ascending=tuple((f"match_{order}", f"{kind}_{order}") for order in orders for kind in ("hyp", "ref")),
            label=f"chrF{plus}", unit="points", of_texts=True, words="spaced" if word_order else "",
        )  # fmt: skip
        object.__setattr__(self, "word_order", word_order)

    def text_counter(self, references: References, *, lowercase: bool = False, **_: Any) -> TextCounter:
        # Not at the top: most studies count no texts.
        from sacrebleu.metrics.chrf import CHRF

        def arranged(counts: Array) -> Array:
            # From hyp, ref, match of each order.
            by_kind = counts.reshape(len(counts), -1, 3)[..., [2, 0, 1]]
            return by_kind.swapaxes(1, 2).reshape(len(counts), -1)

        options = {"char_order": _CHARACTERS, "word_order": self.word_order, "lowercase": lowercase}
        return sacrebleu_counter(CHRF, references, arranged, **options)

    def score(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums, dtype=np.float64)
        n_orders = len(self.statistics) // 3
        precision, recall, n_common = (np.zeros(sums.shape[:-1]) for _ in range(3))
        for order in range(n_orders):
            match, hyp, ref = (sums[..., kind * n_orders + order] for kind in range(3))
            precision += match / np.maximum(hyp, 1)
            recall += match / np.maximum(ref, 1)
            n_common += np.minimum(hyp, ref) > 0
        # Sums over orders, not means yet: F of the means is F of the sums by their number.
        below = (_BETA_SQUARED * precision + recall) * n_common
        return 100 * (1 + _BETA_SQUARED) * precision * recall / np.where(below > 0, below, 1)
