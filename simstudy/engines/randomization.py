"""Approximate randomization of all pairs of systems at once (Noreen 1989; Chinchor 1992, Table 2; Yeh 2000, 3.3)."""

from __future__ import annotations

from simstudy.engines import swap_kernels
from simstudy.engines.exact_randomization import exact_randomization
from simstudy.engines.question import Question, SignificanceResult
from simstudy.engines.resampling import over_resamples
from simstudy.engines.swaps import SwapTally, make_swap_tally
from simstudy.metrics.base import IntArray


def randomization(question: Question) -> SignificanceResult:
    """Count, for every pair, the shuffles whose pseudo-systems differ by at least the gain.

    Where `question.monte_carlo` allows it and it can be had, the share of *all* shuffles.
    """
    computed = exact_randomization(question)
    return SignificanceResult.resampled(
        question, computed, lambda: by_coins(make_swap_tally(question), question), exact=True
    )


def by_coins(tally: SwapTally, question: Question) -> IntArray:
    """How many of the question's shuffles are extreme (P,)."""
    return over_resamples(tally.columns, swap_kernels.coin_flips, tally.add, question)
