"""One decision: everything that says whether a gain is significant is asked about the same random pairs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons import verdict
from simstudy.comparisons.agreement import agreement
from simstudy.comparisons.comparisons import Comparisons
from simstudy.comparisons.equivalence import BETTER, BOTH, equivalence
from simstudy.comparisons.groups import RULES, groups
from simstudy.comparisons.leaderboard import leaderboard
from simstudy.comparisons.pair import Pair
from simstudy.comparisons.ranks import ranks
from simstudy.examination import Examination
from simstudy.gates import asked
from simstudy.gates.findings import find
from simstudy.outputs import Outputs, TestSet
from simstudy.statistics.decisions import Decision
from simstudy.statistics.multiplicity import corrected
from simstudy.studies.resampling.training_variance import training_variance
from simstudy.studies.side_by_side import disagreements
from tests.oracles import compared

N_PAIRS = 24


def random_pairs() -> Iterator[tuple[Outputs, pd.DataFrame, float]]:
    """Systems, their comparison, and a level near its p-value.

    By tests that draw, that compute, and that may speak for the system with the worse score; of few units and of many,
    of which few may differ; some with no gain at all.
    """
    rng = np.random.default_rng(11)
    tests = ("sign_flips", "bootstrap", "randomization", "t_paired", "sign", "wilcoxon")
    for k in range(N_PAIRS):
        n = int(rng.choice([4, 7, 12, 60]))
        differences = rng.lognormal(0, 1.5, n) * rng.choice([-1, 1], n, p=[0.35, 0.65])
        if k % 4 == 1:
            differences = 1 + rng.random(n) / 50
        if k % 3 == 0:
            differences[rng.permutation(n)[: n // 2]] = 0
        if k % 12 in (4, 11):  # Signs and ranks speak for the system that wins often, and only a little.
            differences = np.r_[np.ones(n), -float(n)]
        a = rng.normal(size=len(differences))
        family = {"name": ["x", "y"], "family": "f", "train_size": 9, "replicate": [0, 1]}
        outputs = Outputs.from_scores(pd.DataFrame({"x": a, "y": a + differences}), "mean", pd.DataFrame(family))
        monte_carlo = k % 4 > 0
        pairs = compared(outputs, test=tests[k % 6], n_resamples=199, seed=k, monte_carlo=monte_carlo)
        p = float(pairs["p_value"].iloc[0])
        yield outputs, pairs, float(np.clip(p * rng.choice([0.9, 1.0, 1.1, 2.0]), 1e-6, 0.99))


#: Made when they are first asked for, not by every process that collects tests.
PAIRS = cache(lambda: list(random_pairs()))


def by_hand(pairs: pd.DataFrame, alpha: float) -> bool:
    """The rule in words: a gain, p at most alpha, for the better system, and one of 2^(m - 1) swaps at most alpha."""
    row = pairs.iloc[0]
    reach = 2.0 ** (1 - row["wins"] - row["losses"]) <= alpha
    return bool(row["gain"] > 0 and row["p_value"] <= alpha and row["better"] == row["system_a"] and reach)


def gate(outputs: Outputs, pairs: pd.DataFrame, alpha: float) -> bool:
    row = pairs.iloc[0]
    return find(
        asked.Gate(asked.BETTER, row["system_a"], row["system_b"]), _examination(outputs, pairs, alpha), alpha
    ).passed


def _examination(outputs: Outputs, pairs: pd.DataFrame, alpha: float) -> Examination:
    return Examination(Comparisons(corrected(pairs)), alpha, test_set=TestSet(outputs), duplicates=pd.DataFrame())


def said_in_words(pairs: pd.DataFrame, alpha: float) -> bool:
    said = verdict(pairs.iloc[0], alpha=alpha)
    better = pairs["system_a"].iloc[0]
    # A test of something else than scores does not say that the gain is.
    return any(one in said for one in (f"the gain is significant at {alpha:g}.", f"{alpha:g} in favour of {better}."))


ASKED: dict[str, Callable[[Outputs, pd.DataFrame, float], bool]] = {
    "the decision": lambda _, pairs, alpha: bool(Decision(alpha).significant(pairs)[0]),
    "a row of the table": lambda _, pairs, alpha: Decision(alpha).is_significant(pairs.iloc[0]),
    "one pair": lambda _, pairs, alpha: Pair.of_row(pairs.iloc[0]).significant(alpha),
    **{
        f"groups, {rule}, {p}": lambda _, pairs, alpha, rule=rule, p=p: bool(
            groups(pairs if p == "p_value" else corrected(pairs), alpha=alpha, rule=rule, p=p)["group"].max() == 2
        )
        for rule, p in [*((rule, "p_value") for rule in RULES), ("maximal", "p_holm"), ("maximal", "p_bh")]
    },
    "ranks": lambda _, pairs, alpha: ranks(pairs, alpha=alpha)["n_significant"].item() == 1,
    "ranks, Holm": lambda _, pairs, alpha: ranks(pairs, alpha=alpha)["n_significant_holm"].item() == 1,
    "agreement": lambda _, pairs, alpha: (
        agreement(pairs, alpha=alpha, reference=pairs["test"].item(), n_bootstrap=2)["n_rejected"].item() == 1
    ),
    "equivalence": lambda _, pairs, alpha: equivalence(pairs, 1e-9, alpha=alpha)["conclusion"].item() in (BETTER, BOTH),
    "verdict": lambda _, pairs, alpha: said_in_words(pairs, alpha),
    "gate": gate,
    "groups of an examination": lambda outputs, pairs, alpha: (
        _examination(outputs, pairs, alpha).groups["group"].max() == 2
    ),
}


def test_the_pairs_are_of_all_kinds() -> None:
    decided = [by_hand(pairs, alpha) for _, pairs, alpha in PAIRS()]
    assert 6 < sum(decided) < 18
    table = pd.concat([pairs.assign(alpha=alpha) for _, pairs, alpha in PAIRS()])
    small = table["p_value"] <= table["alpha"]
    close = (table["p_low"] <= table["alpha"]) & (table["alpha"] < table["p_high"])
    assert (small & close).sum() > 2, "within Monte Carlo error of the level"
    assert (small & (table["better"] != table["system_a"])).sum() > 2
    assert (small & (table["p_floor"] > table["alpha"])).sum() > 2
    assert (small & (table["gain"] == 0)).sum() > 1


@pytest.mark.parametrize("who", ASKED)
def test_everybody_decides_as_the_rule_does(who: str) -> None:
    other = [
        k
        for k, (outputs, pairs, alpha) in enumerate(PAIRS())
        if ASKED[who](outputs, pairs, alpha) != by_hand(pairs, alpha)
    ]
    assert not other, f"{who} decides otherwise on pairs {other}"


def test_a_leaderboard_of_two_tells_them_apart_as_the_default_test_does() -> None:
    """Its 2,000 joint draws of signs have Monte Carlo error: but for pairs near the level they agree."""
    told = []
    for outputs, _, alpha in PAIRS():
        pairs = compared(outputs)
        p = pairs["p_value"].item()
        if pairs["n_resamples"].item() or alpha < 1 / 2000 or abs(p - alpha) < 5 * np.sqrt(p * (1 - p) / 2000) + 0.001:
            continue
        board = leaderboard(outputs, level=1 - alpha)
        told.append(bool((board["rank_low"] == board["rank_high"]).all()))
        assert told[-1] == by_hand(pairs, alpha)
    assert min(sum(told), len(told) - sum(told)) > 1


def test_variants_of_one_method() -> None:
    """Of pairs of one training size: the share is that of the pairs, one here."""
    asked = [each for each in PAIRS()[::2] if each[1]["gain_se"].notna().all()]
    assert len(asked) > 8
    for outputs, pairs, alpha in asked:
        assert training_variance(pairs, outputs, alpha=alpha)["share"].iloc[0] == by_hand(pairs, alpha)


def test_who_prefers_the_other_system_does_so_by_the_same_rule() -> None:
    n_other = 0
    for _, pairs, alpha in PAIRS():
        row = pairs.iloc[0]
        if row["better"] != row["system_b"]:
            continue
        expected = by_hand(pairs.assign(better=row["system_a"], gain=1.0), alpha)
        table = agreement(pairs, alpha=alpha, reference=row["test"], n_bootstrap=2)
        assert table["n_other"].item() == expected
        if row["gain"] > 0:
            assert (f"The test prefers {row['system_b']}, not " in verdict(row, alpha=alpha)) == expected
        n_other += expected
    assert n_other > 2


def test_a_table_of_many_pairs_is_decided_pair_by_pair() -> None:
    """Three systems, two tests; disagreements name what the rule says of each pair, or of none."""
    n_split = 0
    for seed in (0, 5, 14, 20, 24):
        scores = np.random.default_rng(seed).lognormal(0, 1.2, (25, 3)) + [0, 0.3, 0.6]
        outputs = Outputs.from_scores(pd.DataFrame(scores, columns=list("xyz")), "mean")
        tables = [
            compared(outputs, test=test, monte_carlo=True, n_resamples=99, seed=seed)
            for test in ("randomization", "sign")
        ]
        decided = [[by_hand(table.iloc[[k]], 0.05) for k in range(3)] for table in tables]
        split = disagreements(pd.concat(tables))
        assert len(split) == sum(one != other for one, other in zip(*decided, strict=True))
        n_split += len(split)
    assert n_split > 2
