"""Claims about many systems, small: counts against loops over test sets with scipy's tests, and made-up ranks."""

from __future__ import annotations

from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import load_study
from tests.experiments.programs import block_of, drawn_lines, figures_of, program, shipped

SYSTEMS: Any = program("multiple_systems")
STUDY: Any = load_study("multiple_systems")
BETTER, NAMED = "one-sided for the better system", "one-sided for the named system"
SIDES = {"two-sided": "two-sided", BETTER: "greater", NAMED: "greater"}


def claims_block(condition: str, equality: str, n_systems: int, n_sets: int, **settings: Any) -> Any:
    at = {"condition": condition, "equality": equality, "n_systems": 10}
    return block_of("multiple_systems", n_sets, at, n_systems=n_systems, **settings)


def scipy_p_value(first: np.ndarray, second: np.ndarray, test: str, alternative: Any = "two-sided") -> float:
    """The p-value of the question whether the first system is better."""
    if test == "t_paired":
        return float(stats.ttest_rel(first, second, alternative=alternative).pvalue)
    wins, losses = (first > second).sum(), (first < second).sum()
    return float(stats.binomtest(wins, wins + losses, alternative=alternative).pvalue) if wins + losses else 1.0


def holm_by_steps(p_values: list[float], alpha: float) -> list[bool]:
    """Whether each is significant: the least at alpha / n, the next one at alpha / (n - 1), until one is not."""
    significant = [False] * len(p_values)
    for step, k in enumerate(np.argsort(p_values)):
        if p_values[k] * (len(p_values) - step) > alpha:
            break
        significant[k] = True
    return significant


def counts_by_loops(block: Any, alpha: float) -> dict[str, np.ndarray]:
    """Method -> for each test set: any false claim, wrong winners, the share of false claims, and power."""
    true = SYSTEMS.model(block.condition).scores().round(9)
    corrections: dict[str, Any] = {
        "none": lambda p_values: [p <= alpha for p in p_values],
        "Holm": lambda p_values: holm_by_steps(p_values, alpha),
        "Benjamini-Hochberg": lambda p_values: stats.false_discovery_control(p_values) <= alpha,
    }
    rows: dict[str, list[Any]] = {}
    for statistics in block.statistics:
        units = statistics[..., 0].astype(float)
        scores = units.sum(axis=1)
        ranking = np.argsort(-scores, kind="stable")
        everything = list(combinations(range(len(units)), 2))
        selections = {
            "all pairs": everything,
            "one baseline": [pair for pair in everything if pair[1] == len(units) - 1],
            "neighbours": [tuple(sorted(ranking[k : k + 2])) for k in range(len(units) - 1)],
        }
        for (selection, pairs), (side, alternative) in product(selections.items(), SIDES.items()):
            # The better system is asked about, or the one that was named.
            asked = [(j, i) if side == BETTER and scores[j] > scores[i] else (i, j) for i, j in pairs]
            p_values = [scipy_p_value(units[i], units[j], block.condition["test"], alternative) for i, j in asked]
            for correction, significant in corrections.items():
                winners = [
                    (i, j) if scores[i] > scores[j] else (j, i)
                    for (i, j), yes in zip(asked, significant(p_values), strict=True)
                    if yes
                ]
                false = [true[i] <= true[j] for i, j in winners]
                wrong = sum(true[i] < true[j] for i, j in winners)
                differing = sum(true[i] != true[j] for i, j in pairs)
                power = (len(winners) - sum(false)) / differing if differing else np.nan
                row = any(false), wrong, sum(false) / max(1, len(false)), power
                rows.setdefault(f"{selection}, {side}, {correction}", []).append(row)
    return {method: np.array(of_method, dtype=float).T for method, of_method in rows.items()}


@pytest.mark.parametrize("name", ["accuracy_100", "skewed_100", "clusters"])
@pytest.mark.parametrize("equality", ["all equal", "half equal"])
def test_claims_are_those_of_loops_with_tests_of_scipy(name: str, equality: str) -> None:
    """At a level and a spread of true scores at which claims of all kinds are made; the best system is the last."""
    block = claims_block(name, equality, 5, 40, n_units=30, alpha=0.3, n_draws=19, least=0.8, spread=-0.1)
    found = SYSTEMS.claims(block)
    expected = counts_by_loops(block, 0.3)
    assert len(expected) == 27
    for method, (any_false, n_wrong, proportion, power) in expected.items():
        quantities = found[method]
        assert quantities["any false claim"].tolist() == any_false.astype(bool).tolist(), method
        if equality == "half equal":
            assert quantities["any wrong winner"].tolist() == (n_wrong > 0).tolist(), method
            assert quantities["wrong winners"].tolist() == n_wrong.tolist(), method
            assert quantities["false discoveries"] == pytest.approx(proportion), method
            assert quantities["power"] == pytest.approx(power, nan_ok=True), method
    assert len({tuple(counts[0]) for counts in expected.values()}) > 9, "methods differ"
    if equality == "half equal":
        assert sum(counts[1].sum() for counts in expected.values()) > 0, "there are wrong winners"


def test_stepdown_claims_and_rank_sets_are_those_of_the_leaderboard() -> None:
    settings: Any = {"n_units": 40, "alpha": 0.45, "n_draws": 29, "least": 0.85, "spread": -0.2}
    block = claims_block("accuracy_100", "half equal", 6, 30, **settings)
    true = SYSTEMS.model(block.condition).scores().round(9)
    assert true.tolist() == pytest.approx([65, 71.6666667, 78.3333333, 85, 85, 85])
    found = SYSTEMS.claims(block)
    stepdown, sets = found["all pairs, two-sided, Romano-Wolf"], found["confidence sets for ranks"]
    n_false = 0
    for m, board in enumerate(block.boards.places(level=0.55, n_draws=29, seed=block.seed("signs"))):
        winners = [(i, j) for i, j in product(range(6), range(6)) if board.better[i, j]]
        false = sum(true[i] <= true[j] for i, j in winners)
        n_false += false
        assert stepdown["any false claim"][m] == (false > 0)
        assert stepdown["power"][m] == pytest.approx((len(winners) - false) / 12)
        assert sets["the best"][m] == board.may_be_best[3:].all()
        assert sets["systems that may be the best"][m] == board.may_be_best.sum()
        assert sets["ranks in a set"][m] == pytest.approx(np.mean(board.high - board.low) + 1)
    assert n_false > 0
    assert 0 < sets["the best"].sum() < 30


def test_a_set_of_ranks_must_hold_all_that_tied_systems_may_have() -> None:
    """True ranks 1, 2 - 3 and 2 - 3: a set that leaves out one of two tied ranks does not hold them."""
    wide, narrow = (
        SimpleNamespace(low=low, low_own=low, high=high, high_own=high, may_be_best=np.array([best, True, True]))
        for low, high, best in (
            (np.array([1, 2, 2]), np.array([1, 3, 3]), True), (np.array([1, 2, 3]), np.array([1, 2, 3]), False),
        )
    )  # fmt: skip
    sets = SYSTEMS.guarantees([wide, narrow], np.array([0.9, 0.5, 0.5]))
    assert sets["all ranks"].tolist() == [True, False]
    assert sets["own rank"] == pytest.approx([1, 1 / 3])
    assert sets["the best"].tolist() == [True, False]
    assert sets["ranks in a set"] == pytest.approx([5 / 3, 1])
    assert sets["systems that may be the best"].tolist() == [3, 2]
    assert not SYSTEMS.guarantees([narrow], np.array([0.5, 0.5, 0.5]))["the best"].any(), "one of three is left out"


def test_groups_and_ranks_of_equal_systems_are_what_the_claims_count() -> None:
    """There is more than one group exactly if any pair is significant; ranks ask about neighbours."""
    block = claims_block("accuracy_1000", "all equal", 4, 20, n_units=120, alpha=0.3, n_draws=19)
    found = SYSTEMS.claims(block)
    any_false = {
        (pairs, correction): found[f"{pairs}, two-sided, {correction}"]["any false claim"]
        for pairs, correction in product(["all pairs", "neighbours"], ["none", "Holm", "Benjamini-Hochberg"])
    }
    for m, replicate in enumerate(block):
        pairs = ss.compare(replicate.outputs, test="sign_flips", alternative="two-sided").corrected().frame
        for correction, p in (("none", "p_value"), ("Holm", "p_holm"), ("Benjamini-Hochberg", "p_bh")):
            several = ss.comparisons.groups(pairs, alpha=0.3, p=p)["group"].max() > 1
            assert any_false["all pairs", correction][m] == several
        ranks = ss.comparisons.ranks(pairs, alpha=0.3).iloc[0]
        assert any_false["neighbours", "none"][m] == (ranks["n_significant"] > 0)
        assert any_false["neighbours", "Holm"][m] == (ranks["n_significant_holm"] > 0)
    assert len({tuple(values) for values in any_false.values()}) > 3


def test_systems_of_a_family_are_more_alike_and_spread_as_the_condition_says() -> None:
    """Eleven systems are two families in turn; logarithms spread by 0.2 to 1 where they do so unequally."""
    unequal, clusters = (
        SYSTEMS.model(claims_block(name, "all equal", 11, 1).condition) for name in ("unequal_100", "clusters")
    )
    matrix = unequal.dependence.matrix(11)
    for i, j in combinations(range(11), 2):
        assert matrix[i, j] == pytest.approx(0.8 if i % 2 == j % 2 else 0.5)
    assert [margin.spread for margin in unequal.margins] == pytest.approx(np.linspace(0.2, 1, 11))
    assert set(unequal.scores().round(9)) == {1}
    assert (clusters.clusters.mean_size, clusters.clusters.correlation) == (10, 0.3)


def test_the_figure_has_all_pairs_of_equal_systems_two_sided() -> None:
    tables = shipped("multiple_systems")
    axes = figures_of(SYSTEMS.show(STUDY, tables))["family_wise_error"].axes
    drawn = {ax.get_title("left"): drawn_lines(ax) for ax in axes if ax.containers}
    assert len(drawn) == 7, "two conditions have one number of systems"
    rates = tables["rates"].query("equality == 'all equal' and quantity == 'any false claim'")
    for correction, (_, *line) in drawn["right or wrong, 50 clusters of 10"].items():
        method = f"all pairs, two-sided, {correction.replace('no correction', 'none')}"
        rows = rates[(rates["method"] == method) & (rates["condition"] == "clusters")]
        assert line == [pytest.approx(rows[name].tolist()) for name in ("share", "low", "high")]


def test_corrections_keep_the_family_wise_level_where_single_tests_do() -> None:
    """All systems are equally good: at most 0.05 and 4 standard errors; without a correction it is far above."""
    rates = shipped("multiple_systems")["rates"].query("equality == 'all equal' and quantity == 'any false claim'")
    rates = rates[
        rates["method"].str.startswith("all pairs, two-sided") & ~rates["condition"].str.startswith("unequal")
    ]
    shares = rates.pivot_table(index=["condition", "n_systems", "n_sets"], columns="method", values="share")
    n_sets = shares.index.get_level_values("n_sets")
    corrected = shares.drop(columns="all pairs, two-sided, none")
    assert corrected.shape == (5 + 5 + 1 + 1 + 3 + 5 + 4, 3), "numbers of systems of seven conditions"
    assert corrected.le(0.05 + 4 * np.sqrt(0.05 * 0.95 / n_sets), axis=0).all(axis=None)
    assert (shares.query("n_systems >= 10")["all pairs, two-sided, none"] > 0.4).all()
