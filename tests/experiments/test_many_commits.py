"""The study of many commits: its gates and draws against loops and enumeration."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.studies import Block
from simstudy.studies.simulation.study import draws_of
from tests.experiments.programs import program, small

STUDY = program("many_commits")
EQUAL, SOME_BETTER, KEPT = STUDY.EQUAL, STUDY.SOME_BETTER, STUDY.KEPT
USUAL, SHARES, PLANNED = STUDY.RULES
SMALL: Any = small("many_commits")
SHIPPED = SMALL.fixed


def condition_of(commits: str, **values: Any) -> Any:
    few = {"n_items": 60, "n_commits": 6, "n_looks": [1, 3, 6], "better_every": 3, "alpha": 0.2, "commits": commits}
    return SHIPPED | few | values


def pass_probabilities(condition: Any, levels: Any, gain: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities of numbers of right answers of the baseline, and those of a pass at each level given the number."""
    n, score, differ = (condition[name] for name in ("n_items", "score", "differ"))
    wins, losses = np.indices((n + 1, n + 1))
    p = 2 * stats.binom.cdf(losses, wins + losses, 0.5)
    passed = np.array([(wins > losses) & (p <= level) for level in levels])
    right = np.arange(n + 1)[:, None]
    of_wins = stats.binom.pmf(wins[:, 0], n - right, (differ / 2 + gain) / (1 - score))
    of_losses = stats.binom.pmf(losses[0], right, differ / 2 / score)
    return stats.binom.pmf(right[:, 0], n, score), np.einsum("kwl,rw,rl->kr", passed, of_wins, of_losses, optimize=True)


def test_levels_of_looks_add_up_to_alpha_and_are_handed_on() -> None:
    """The same as in the file of looks: 1/2, 1/6 and, after a pass, 1/6 + 1/12 of alpha; or 1/10 of ten looks each.

    The usual test has the whole level each time. No level passes a commit that is not ahead, or is handed on from it.
    """
    condition = condition_of(EQUAL, alpha=0.05, n_commits=10)
    for rule, levels in (
        (SHARES, [1 / 2, 1 / 6, 1 / 6 + 1 / 12, 1 / 6 + 1 / 12 + 1 / 20]),
        (PLANNED, [0.1, 0.1, 0.2, 0.3]), (USUAL, [1, 1, 1, 1]),
    ):  # fmt: skip
        below = 0.05 * np.array(levels) + [1e-9, -1e-9, -1e-9, 1e-9]
        p = np.array([below, [*below[:3], 0.05 * levels[3] - 1e-9], [0, 0, 0, 0]])
        ahead = np.array([[True] * 4, [True] * 4, [False] * 4])
        passed = STUDY.passes(condition, p, ahead, rule)
        assert passed.tolist() == [[False, True, True, False], [False, True, True, True], [False] * 4], rule
    assert sum(STUDY.share_of_level(condition, SHARES, k) for k in range(1, 10**4)) == pytest.approx(0.05, rel=1e-3)


def test_a_change_is_kept_if_it_raises_the_score_of_the_kept_system() -> None:
    """By a loop over sets, changes and items, with the same random numbers."""
    condition = condition_of(KEPT)
    counts = STUDY.generate(condition, 20, np.random.default_rng(3))
    rng, shape = np.random.default_rng(3), (20, 60)
    baseline = (rng.random(shape) < condition["score"]).tolist()
    current = [list(answers) for answers in baseline]
    for k in range(6):
        is_new, fresh = rng.random(shape) < condition["changed"], rng.random(shape) < condition["score"]
        for m, first in enumerate(baseline):
            changed = [int(b) if new else a for a, b, new in zip(current[m], fresh[m], is_new[m], strict=True)]
            pairs = [(changed, first), (first, changed)]
            wins, losses = (sum(a > b for a, b in zip(*pair, strict=True)) for pair in pairs)
            assert counts[m, k].tolist() == [wins, losses]
            if sum(changed) > sum(current[m]):
                current[m] = changed


@pytest.mark.parametrize(("commits", "rule"), [(SOME_BETTER, USUAL), *((EQUAL, rule) for rule in STUDY.RULES)])
def test_rates_are_those_of_enumeration(commits: str, rule: str) -> None:
    """Given the baseline's answers commits are independent, and before a first pass no level is handed on."""
    condition = condition_of(commits)
    outcomes = STUDY.gates(
        Block(draws_of(SMALL), condition, 0, 0, STUDY.generate(condition, 4000, np.random.default_rng(4)))
    )[rule]
    levels = [STUDY.share_of_level(condition, rule, k) for k in range(1, 7)]
    weights, chances = pass_probabilities(condition, levels)
    gain = (stats.norm.isf(0.1) + stats.norm.ppf(0.8)) * np.sqrt(0.2 / 60)
    expected = {}
    if commits == SOME_BETTER:
        expected = dict.fromkeys(
            ("true pass at look 3", "true pass at look 6"), pass_probabilities(condition, [0.2], gain)[1]
        )
        # No look is false at a commit that is better.
        chances[[2, 5]] = 0
    without = np.cumprod(1 - chances, axis=0)
    expected |= {f"false pass by look {k}": 1 - without[k - 1] for k in (1, 3, 6)}
    assert outcomes.keys() == expected.keys()
    for quantity, rates in expected.items():
        assert stats.binomtest(int(outcomes[quantity].sum()), 4000, (rates @ weights).item()).pvalue > 1e-3, quantity


def test_with_so_many_more_items_a_share_of_the_level_has_the_power() -> None:
    shift = stats.norm.isf(0.025) + stats.norm.ppf(0.8)
    for row in STUDY.summarise(SMALL, {}, None)["looks"].itertuples():
        level = {USUAL: 0.05, SHARES: 0.05 / row.look / (row.look + 1), PLANNED: 0.001}[row.rule]
        power = stats.norm.sf(stats.norm.isf(level / 2) - shift * np.sqrt(row.times_items))
        assert (row.level, power) == pytest.approx((level, 0.8))
