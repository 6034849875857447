"""The calculations of the study of published numbers, another way: scipy, enumeration, drawn test sets."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import load_study
from tests.experiments.programs import program

CALCULATORS, COUNTS, FEW, POWERS, SUBSETS = (
    program("published_numbers", part) for part in ("calculators", "replicability", "few_items", "powers", "subsets")
)
SHIPPED: Any = load_study("published_numbers")


@pytest.mark.parametrize("method", ["Bonferroni", "Fisher"])
def test_counts_of_data_sets_are_those_of_all_subsets(method: str) -> None:
    """u data sets have an effect if every n - u + 1 of them have at least one (Benjamini and Heller 2008)."""
    p = np.random.default_rng(1).uniform(size=(30, 5)) ** 4
    for own, count in zip(p, COUNTS.counts(p, method), strict=True):
        u = 0
        while u < 5:
            subsets = list(combinations(own, 5 - u))
            if method == "Fisher":
                worst = max(stats.combine_pvalues(subset, "fisher").pvalue for subset in subsets)
            else:
                worst = max(min(1, min(subset) * len(subset)) for subset in subsets)
            if worst > 0.05:
                break
            u += 1
        assert count == u
    assert len({*COUNTS.counts(p, method)}) > 2


def test_counts_without_effects_err_as_their_tests_do() -> None:
    settings = SHIPPED.replicability.model_copy(update={"correlations": [0.0], "effects": [0], "sets": 10_000})
    found = COUNTS.overcounts(settings, 3).set_index("method")["share"]
    for method, level in {"Bonferroni": 1 - (1 - 0.05 / 6) ** 6, "Fisher": 0.05}.items():
        assert abs(found[method] - level) < 4.5 * np.sqrt(0.05 * 0.95 / 10_000)
    assert (found != COUNTS.overcounts(settings, 4).set_index("method")["share"]).all()


def test_coverage_of_one_accuracy_is_that_of_drawn_ones() -> None:
    coverage = FEW.one_accuracy([20], {}, []).set_index(["n_items", "interval"])["coverage"]
    p = np.random.default_rng(0).uniform(size=200_000)
    right = np.random.default_rng(1).binomial(20, p)
    for name, (low, high) in FEW.intervals(20).items():
        assert coverage[20, name] == pytest.approx(((low[right] <= p) & (p <= high[right])).mean(), abs=0.004)
    assert coverage[20, "bayes"] == pytest.approx(0.95)


def test_a_bootstrap_of_right_and_wrong_answers_is_a_binomial() -> None:
    low, high = FEW.intervals(30)["bootstrap"]
    answers = np.arange(30) < 9
    drawn = np.random.default_rng(2).choice(answers, (40_000, 30)).mean(axis=1)
    assert (low[9], high[9]) == pytest.approx(tuple(np.percentile(drawn, [2.5, 97.5])))


@pytest.fixture(scope="module")
def anchors() -> dict[str, Any]:
    return {one.name: one for one in [*POWERS.of_papers(2000), *CALCULATORS.calculators()]}


def test_published_numbers_come_out_where_they_are_done_again(anchors: dict[str, Any]) -> None:
    """To the digits that are printed; of the one that is simulated within its error."""
    found = anchors
    for name in ("MRPC", "RTE", "QNLI", "MNLI"):
        one = found[f"GLUE, {name}"]
        assert one.published == round(one.recomputed, 2)
        assert 1 < one.ours / one.recomputed < 1.04, "the exact test is careful"
    assert found["mean score, gain 0.03"].published == found["mean score, gain 0.03"].recomputed
    for pairs in (50, 75, 100):
        one = found[f"McNemar, exact, two-sided, {pairs} pairs"]
        assert one.published == round(one.recomputed, 6)
    assert found["paired t"].published == round(found["paired t"].recomputed, 6)
    assert found["paired means"].published == found["paired means"].recomputed == found["paired means"].ours
    assert found["McNemar, normal"].published == found["McNemar, normal"].recomputed
    bleu = found["BLEU, 2,000 sentences"]
    assert abs(bleu.published - bleu.recomputed) < 3 * np.sqrt(0.75 * 0.25 / 500)
    assert abs(bleu.ours - bleu.recomputed) < 4.5 * np.sqrt(0.75 * 0.25 / 2000)


def simulated(one: Any, sets: int, seed: int) -> float:
    drawn = (one.source, one.name, one.n, one.gain, one.difference, one.level)
    return float(POWERS.simulated_power(*drawn, sets, seed))


@pytest.mark.parametrize(
    "name", ["GLUE, QNLI", "McNemar, exact, two-sided, 50 pairs", "paired means", "McNemar, exact, one-sided"]
)
def test_powers_are_those_of_drawn_test_sets(name: str, anchors: dict[str, Any]) -> None:
    one = anchors[name]
    exact = one.difference.detection(one.gain, one.n, one.level).power
    assert exact >= one.power - 1e-6, "what was asked for"
    sets = 20_000
    assert abs(simulated(one, sets, 1) - exact) < 4.5 * np.sqrt(exact * (1 - exact) / sets)


def test_anchors_have_the_weight_of_the_items_that_they_stand_for() -> None:
    """Two kinds of items that no system of the half confuses: two anchors give the exact scores."""
    source = np.repeat([[1, 0], [1, 1], [0, 1]], [30, 10], axis=1).astype(float)
    items, weights = SUBSETS.anchor_items(source, 2, np.random.default_rng(0))
    assert sorted(weights) == [0.25, 0.75]
    assert source[:, items] @ weights == pytest.approx(source.mean(axis=1))


def test_telling_items_are_those_that_go_with_the_scores() -> None:
    rng = np.random.default_rng(3)
    source = np.array([[1] * 6, [1] * 3 + [0] * 3, [0] * 6]) * np.ones((3, 6))
    source = np.hstack([source, [[0, 1], [0, 1], [1, 1]]])
    chosen, weights = SUBSETS.telling_items(source, 6, rng)
    correlations = [np.corrcoef(source[:, k], source.mean(axis=1))[0, 1] if k != 7 else 0 for k in range(8)]
    assert set(chosen) == set(np.argsort(correlations)[-6:])
    assert weights.tolist() == [1 / 6] * 6


def test_one_half_of_the_systems_chooses_items_and_pairs_of_the_other_are_ranked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """System k is right on its first items; no two pairs have one gain. The third block has the fifth trial alone."""
    numbers = [0, 1, 4, 10, 18, 23, 25]
    right = (np.arange(100) < np.array(numbers)[:, None]).astype(float)
    chosen: list[list[int]] = []

    def all_items(source: np.ndarray, size: int, _: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        chosen.append(source.sum(axis=1).astype(int).tolist())
        assert size == 30
        return np.arange(100), np.full(100, 0.01)

    def the_first(*_: Any) -> tuple[np.ndarray, np.ndarray]:
        return np.array([0]), np.array([1.0])

    monkeypatch.setattr(SUBSETS, "_CHOOSE", {"all": all_items, "first": the_first})
    asked = SHIPPED.subsets.model_copy(update={"sizes": [30, 60], "most": 0.3, "trials": 5})
    rows = SUBSETS.rank(asked, 0, "t", right, range(4, 5))
    (source,) = chosen
    others = sorted(set(numbers) - set(source))
    assert (len(source), len(others)) == (3, 4)
    gains = {float(b - a): a == 0 for a, b in combinations(others, 2)}
    found = {(row["method"], row["gain_class"]): (row["n_pairs"], row["n_right"], row["n_tied"]) for row in rows}
    # All but one system are right on the first item.
    assert found == {("all", gain): (1, 1, 0) for gain in gains} | {
        ("first", gain): (1, int(told), int(not told)) for gain, told in gains.items()
    }
    for seed, name, trials in ((1, "t", [4]), (0, "u", [4]), (0, "t", [2, 3])):
        SUBSETS.rank(asked, seed, name, right, trials)
    assert len({str(one) for one in chosen}) == len(chosen) == 5


def test_predicted_rankings_are_those_of_drawn_items() -> None:
    first = np.repeat([1.0, 0, 1, 0], [120, 90, 500, 290])
    second = np.repeat([0.0, 1, 1, 0], [120, 90, 500, 290])
    right = np.array([first, second])
    drawn = np.random.default_rng(4).multivariate_hypergeometric([120, 90, 790], 200, 40_000)
    ranked = (drawn[:, 0] > drawn[:, 1]).mean()
    assert SUBSETS.predicted(right, 200, 3.0, 0.1) == pytest.approx(ranked, abs=0.01)
    found = SUBSETS.needed(right, 3.0, 0.1, 0.8)
    error = np.sqrt((0.21 - 0.03**2) / found["items_to_rank"])
    assert stats.norm.cdf(0.03 / error) == pytest.approx(0.8)
    # The exact test of a plan is a little careful.
    plan = ss.plan(metric="accuracy", gain=3, guess=ss.Guess(score=60, agreement=0.79))
    assert 1 <= plan.answers["n_items"].iloc[0] / found["items_to_test"] < 1.05


def test_the_example_of_the_counts_comes_out() -> None:
    rows = COUNTS.count_claims(SHIPPED.replicability)
    assert [(row["published"], row["recomputed"], row["ours"]) for row in rows] == [(1, 1, 1), (2, 2, 1)]


def test_coverage_of_a_gain_is_that_of_drawn_ones() -> None:
    found = FEW.two_systems([20], 0.8, 5.0).set_index(["gain", "interval"])["coverage"]
    better, worse, _ = np.random.default_rng(0).multinomial(20, [0.125, 0.075, 0.8], 200_000).T
    gain = (better - worse) / 20
    reach = 1.959964 * np.sqrt(((better + worse) / 20 - gain**2) / 20)
    assert found[5.0, "normal"] == pytest.approx((abs(gain - 0.05) <= reach).mean(), abs=0.004)


def test_few_items_find_no_gain_so_often() -> None:
    gains = FEW.few_gains([8, 100], 0.8).set_index("n_items")
    assert np.isnan(gains.loc[8, "exact"]), "of 8 items some two differ"
    assert gains.loc[100, "normal"] == pytest.approx(2.8016 * np.sqrt(0.2 / 100) * 100, rel=1e-4)
    assert gains.loc[100, "exact"] > gains.loc[100, "normal"]


def test_the_least_gain_is_where_all_larger_ones_are_ranked_right() -> None:
    shares = {1.0: 0.9, 2.0: 0.5, 3.0: 0.85, 4.0: 1.0}
    rows = [
        {"test_set": "t", "method": "m", "n_items": 9, "gain_class": gain, "n_pairs": 100, "n_right": 100 * share}
        for gain, share in shares.items()
    ]
    assert SUBSETS.least_gains(pd.DataFrame(rows), 0.8)["least_gain"].tolist() == [3.0]
