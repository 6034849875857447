"""Alignment error rate: how far a word alignment is from sure and possible gold links."""

from __future__ import annotations

from collections.abc import Set

from simstudy.metrics.base import Array
from simstudy.metrics.ratio import Ratio

#: A source word and a target word, by their positions.
Link = tuple[int, int]


class Aer(Ratio):
    """Alignment error rate in percent: 1 - (|A & S| + |A & P|) / (|A| + |S|) (Och and Ney 2003, section 5).

    A are the guessed links, S the sure ones of the gold standard, P its possible ones, which include the sure ones.
    Statistics are |A & S|, |A & P|, |A| and |S|. Lower is better.
    """

    def __init__(self) -> None:
        super().__init__(
            "aer", ("in_sure", "in_possible", "guessed", "sure"), higher_is_better=False,
            numerator=(-1, -1, 1, 1), denominator=(0, 0, 1, 1),
            of_item=("sure",), shared=("sure",), label="AER", unit="percent",
        )  # fmt: skip

    def check(self, statistics: Array) -> None:
        in_sure, in_possible, guessed, sure = (statistics[..., s] for s in range(4))
        self._require(
            (in_sure >= 0) & (in_sure <= in_possible) & (in_possible <= guessed) & (in_sure <= sure),
            "0 <= in_sure <= in_possible <= guessed and in_sure <= sure",
        )


def alignment_counts(guessed: Set[Link], sure: Set[Link], possible: Set[Link]) -> tuple[int, int, int, int]:
    """(in_sure, in_possible, guessed, sure) of one sentence; sure links count as possible, whether listed or not."""
    return len(guessed & sure), len(guessed & (possible | sure)), len(guessed), len(sure)
