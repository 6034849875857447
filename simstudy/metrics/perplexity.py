"""Perplexity of words and bytes, and bits per byte: log-likelihoods of texts over their lengths."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from simstudy.metrics.base import Array, FloatArray, Metric


class Perplexity(Metric):
    """Perplexity of a test set: e to the power of the negative log-likelihood over the length, lower is better.

    Statistics are the negative log-likelihood (in nats) of an item's text and its length in words or bytes. The score
    is of their sums, as in lm-evaluation-harness, and no mean of items. "bits_per_byte" is the exponent in bits.
    """

    def __init__(self, name: str, length: str) -> None:
        super().__init__(
            name, ("loss", length), higher_is_better=False, of_item=(length,), shared=(length,),
            ascending=((length,),), label=name.replace("_", " "), zero_is_best=True,
        )  # fmt: skip

    def score(self, sums: Array) -> FloatArray:
        sums = np.asarray(sums, dtype=np.float64)
        length = sums[..., 1]
        rate = np.divide(sums[..., 0], length, out=np.zeros_like(length), where=length > 0)
        # A resample may have texts whose probabilities no float holds.
        with np.errstate(over="ignore"):
            return np.asarray(rate / np.log(2) if self.name == "bits_per_byte" else np.exp(rate))

    def defined(self, sums: Array) -> NDArray[np.bool_]:
        return np.asarray(np.asarray(sums)[..., 1] > 0)


PERPLEXITIES = (
    Perplexity("word_perplexity", "words"),
    Perplexity("byte_perplexity", "bytes"),
    Perplexity("bits_per_byte", "bytes"),
)
