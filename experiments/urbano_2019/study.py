"""Urbano, Lima and Hanjalic 2019: error rates of five tests on retrieval scores drawn from fitted models.

"Statistical Significance Testing in Information Retrieval: An Empirical Analysis of Type I, Type II and Type III
Errors", SIGIR 2019. How test sets are drawn is read off the authors' code (julian-urbano/sigir2019-statistical).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from simstudy.studies import Block, Condition, by_block

from .copulas import FAMILIES, SYMMETRIC
from .margins import Floats
from .page import show
from .pairs import NO_COPULA, Pair, pair_of
from .published import LEVEL, SIGN_WITH_TIES
from .runs import Collections
from .tables import summarise

__all__ = ["differences", "generate", "show", "sign_with_ties", "summarise", "truth"]

# Differences of printed scores that are equal are 0, whatever rounding makes of them.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class TestSet:
    """Scores (2, topics) of one test set, and the pair of systems that they are drawn from."""

    scores: Floats
    pair: Pair


@by_block
def generate(condition: Condition, n: int, rng: np.random.Generator) -> list[TestSet]:
    """Test sets of one pair of systems."""
    seed = int(rng.integers(2**63))
    pair = pair_of(condition["condition"], condition["gain"], Collections.of(condition), seed)
    scores = pair.draw(n * condition["n_topics"], rng).reshape(2, n, condition["n_topics"])
    return [TestSet(pair_scores, pair) for pair_scores in scores.swapaxes(0, 1)]


def truth(condition: Condition) -> float:
    """The true gain."""
    return float(condition["gain"])


@by_block
def sign_with_ties(block: Block) -> dict[str, dict[str, NDArray[Any]]]:
    """The paper's sign test, for which small differences are ties."""
    difference = block.scores[:, 0] - block.scores[:, 1]
    tie = block.condition["tie"] + _ROUNDING
    wins, losses = (difference > tie).sum(axis=1), (difference < -tie).sum(axis=1)
    better = stats.binom.sf(wins - 1, wins + losses, 0.5)
    either = np.minimum(2 * stats.binom.sf(np.maximum(wins, losses) - 1, wins + losses, 0.5), 1)
    return {SIGN_WITH_TIES: {"p_value": either, "p_value, greater": better, "estimate": difference.mean(axis=1)}}


@by_block
def differences(block: Block) -> dict[str, NDArray[Any]]:
    """How the differences D of each pair are distributed, by many topics: the same numbers for all its test sets.

    balance is P(D > 0) - P(D < 0), its square without what the number of topics adds to it; unequal is the share that
    is not 0; beyond_ties has the same for differences beyond the paper's ties. skewness is the size of D's. predicted
    is the rate of the paper's sign test that the balance alone gives.
    """
    condition, rng = block.condition, np.random.default_rng(block.seed("differences"))
    pairs = list(dict.fromkeys(test_set.pair for test_set in block.data))
    n = condition["profile"]
    drawn = np.array([first - second for first, second in (pair.draw(n, rng) for pair in pairs)])
    values: dict[str, NDArray[Any]] = {}
    for end, tie in (("", _ROUNDING), ("_beyond_ties", condition["tie"] + _ROUNDING)):
        more, less = (drawn > tie).mean(axis=1), (drawn < -tie).mean(axis=1)
        balance, unequal = more - less, more + less
        values |= {f"balance_square{end}": balance**2 - (unequal - balance**2) / n, f"unequal{end}": unequal}
    values["predicted"] = sign_rates(balance, unequal, condition["n_topics"])
    spread = drawn.std(axis=1)
    cubes = ((drawn - drawn.mean(axis=1, keepdims=True)) ** 3).mean(axis=1)
    # Nothing where D does not vary.
    values["skewness"] = np.divide(np.abs(cubes), spread**3, out=np.full(len(pairs), np.nan), where=spread > 0)
    chosen = np.array([pair.family for pair in pairs])
    values |= {f"family {name}": chosen == name for name in FAMILIES}
    values["asymmetric"] = ~np.isin(chosen, [*SYMMETRIC, NO_COPULA])
    place = {pair: k for k, pair in enumerate(pairs)}
    at = [place[test_set.pair] for test_set in block.data]
    return {name: numbers[at] for name, numbers in values.items()}


def sign_rates(balance: Floats, unequal: Floats, n: int) -> Floats:
    """Rates (pairs,) of two-sided sign tests of n topics, of which as many differ as are expected (rounded)."""
    differ = np.maximum(np.rint(n * unequal).astype(int), 1)
    chance = np.clip(0.5 + balance / unequal.clip(1e-12) / 2, 0, 1)
    # Up to so many wins of one side are not significant.
    most = stats.binom.isf(LEVEL / 2, differ, 0.5)
    return np.asarray(stats.binom.sf(most, differ, chance) + stats.binom.sf(most, differ, 1 - chance))
