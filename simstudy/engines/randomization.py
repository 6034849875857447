"""Approximate randomization of all pairs of systems at once (Noreen 1989; Chinchor 1992, Table 2; Yeh 2000, 3.3)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.engines import swap_kernels
from simstudy.engines.exact_randomization import exact_randomization
from simstudy.engines.question import Answers, Question
from simstudy.engines.resampling import over_resamples
from simstudy.engines.swaps import make_swap_tally


def randomization(question: Question) -> Answers:
    """Count, for every pair, the shuffles whose pseudo-systems differ by at least the gain.

    Where `question.monte_carlo` allows it and it can be had, the share of *all* shuffles.
    """
    computed = exact_randomization(question)
    if not np.isnan(computed).any():
        return Answers.resampled(None, question, computed, exact=True)
    tally = make_swap_tally(question)

    def draw(first: int, coins: NDArray[Any]) -> None:
        swap_kernels.coin_flips(np.uint64(question.seed), np.uint64(first), coins)

    extreme = over_resamples(tally.columns, draw, tally.add, question)
    # Two tails overlap where the gain is 0 and the pseudo-systems' gain is 0 too.
    return Answers.resampled(np.minimum(extreme, question.n_resamples), question, computed, exact=True)
