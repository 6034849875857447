"""The classical tests against scipy, pair by pair, their formulas, and the numbers of Yeh (2000)."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.engines.arguments import applicable
from simstudy.engines.needs import MEAN, SUMS, Need
from simstudy.engines.registry import TESTS
from simstudy.metrics import METRICS, Metric
from simstudy.outputs import Outputs
from tests.oracles import ERROR_RATE, compared

BOTH = pytest.mark.parametrize("alternative", ["greater", "two-sided"])
PAIRED = ("t_paired", "z_paired", "sign", "wilcoxon")
OF_MEANS = (*PAIRED, "z_independent", "t_two_sample")


def needing(*needs: Need) -> set[str]:
    """The tests that need just these."""
    return {name for name, test in TESTS.items() if test.needs == needs}


def scored(scores: Any, metric: str | Metric = "mean") -> Outputs:
    """Outputs of systems a, b, … with one score an item."""
    scores = np.asarray(scores)
    statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
    return Outputs.from_statistics(statistics, metric, list("abcdefgh")[: len(scores)])


@pytest.fixture(params=["decimals", "ratings", "right or wrong", "heavy tails"])
def scores(request: pytest.FixtureRequest, rng: np.random.Generator) -> np.ndarray:
    """Four systems on 45 items, correlated as systems are."""
    easy = rng.normal(size=45)
    latent = easy + np.array([[0.0], [0.2], [0.3], [0.6]]) + rng.normal(size=(4, 45))
    if request.param == "ratings":
        return np.clip(np.rint(latent + 3), 1, 5).astype(int)
    if request.param == "right or wrong":
        return (latent > 0).astype(int)
    return latent + (rng.standard_t(2, size=(4, 45)) if request.param == "heavy tails" else 0)


def theirs(test: str, a: np.ndarray, b: np.ndarray, alternative: str) -> tuple[float, float]:
    """Statistic and p-value as scipy, or the formula, has it."""
    n, difference = len(a), a - b
    if test == "t_paired":
        found = stats.ttest_rel(a, b, alternative=alternative)
    elif test == "t_two_sample":
        found = stats.ttest_ind(a, b, equal_var=True, alternative=alternative)
    elif test == "wilcoxon":
        found = stats.wilcoxon(a, b, method="asymptotic", correction=False, alternative=alternative)
        # scipy's two-sided statistic is the smaller of the two sums of ranks.
        return float(stats.wilcoxon(a, b, alternative="greater", method="asymptotic").statistic), float(found.pvalue)
    elif test == "sign":
        won, lost = int((difference > 0).sum()), int((difference < 0).sum())
        return won, float(stats.binomtest(won, won + lost, 0.5, alternative=alternative).pvalue)
    else:
        spread = difference.var(ddof=1) if test == "z_paired" else a.var(ddof=1) + b.var(ddof=1)
        z = difference.mean() / np.sqrt(spread / n)
        return z, float(stats.norm.sf(abs(z)) * 2 if alternative == "two-sided" else stats.norm.sf(z))
    return float(found.statistic), float(found.pvalue)


@pytest.mark.parametrize("test", OF_MEANS)
def test_every_pair_has_the_statistic_and_p_value_that_scipy_gives(test: str, scores: np.ndarray) -> None:
    outputs = scored(scores)
    for alternative in ("greater", "two-sided"):
        for row in compared(outputs, test=test, alternative=alternative, monte_carlo=True).itertuples():
            a, b = (scores[outputs.names.index(name)] for name in (row.system_a, row.system_b))
            statistic, p = theirs(test, a, b, alternative)
            assert row.statistic == pytest.approx(statistic, rel=1e-9, abs=0)
            assert row.p_value == pytest.approx(p, rel=1e-9, abs=0)
            assert (row.exact, row.monte_carlo) == (test == "sign", False)


@BOTH
def test_wilcoxon_without_ties_is_scipys_exact_one(alternative: str, rng: np.random.Generator) -> None:
    for n in (5, 12, 40):
        scores = rng.normal([[0.5], [0.0]], size=(2, n))
        row = compared(scored(scores), test="wilcoxon", alternative=alternative).iloc[0]
        a, b = scores if row.system_a == "a" else scores[::-1]
        assert row.p_value == pytest.approx(stats.wilcoxon(a, b, alternative=alternative, method="exact").pvalue)
        assert (row.exact, row.monte_carlo) == (True, False)


@BOTH
def test_wilcoxon_with_ties_is_the_share_of_all_signs(alternative: str, rng: np.random.Generator) -> None:
    """scipy has no exact distribution for ties, but can flip all signs of the signed ranks."""
    for n in (6, 11):
        scores = rng.integers(1, 6, size=(2, n))
        row = compared(scored(scores), test="wilcoxon", alternative=alternative, monte_carlo=False).iloc[0]
        difference = (scores[0] - scores[1]) * (1 if row.system_a == "a" else -1)
        difference = difference[difference != 0]
        ranks = stats.rankdata(np.abs(difference)) * np.sign(difference)
        found = stats.permutation_test(
            (ranks,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", n_resamples=np.inf,
            alternative=alternative, vectorized=True,
        )  # fmt: skip
        assert row.p_value == pytest.approx(found.pvalue, rel=1e-12, abs=0)
        assert row.statistic == ranks[ranks > 0].sum()


@pytest.mark.parametrize("test", PAIRED)
def test_decimals_tie_as_their_tenths_do(test: str, rng: np.random.Generator) -> None:
    """0.3 - 0.2 and 0.2 - 0.1 differ in their last bit, 0.1 + 0.2 - 0.3 is not 0; ranks and signs do not see it."""
    for _ in range(2):
        tenths = rng.integers(0, 10, size=(3, 40))
        decimals = tenths[1:] / 10 + 0.1 - 0.1
        assert (np.diff(np.unique(np.abs(decimals[0] - decimals[1]))) < 1e-12).any()
        whole = compared(scored(tenths), test=test, alternative="greater").iloc[-1]
        found = compared(scored(np.concatenate([tenths[:1] / 10, decimals])), test=test, alternative="greater").iloc[-1]
        assert found.p_value == pytest.approx(whole.p_value, rel=1e-9, abs=0)


def test_small_differences_beside_a_large_score_are_differences() -> None:
    """Of a score of 3e10 the last bits are larger than 3e-4: such differences tie with each other, and not with 0."""
    b = np.pi * np.array([1e10, 1.0, 2.0, 3.0, 4.0, 5.0])
    a = b + np.pi * np.array([1e9, 1e-4, 2e-4, 0.0, 0.0, -3e-4])
    row = compared(scored([a, b]), test="wilcoxon", alternative="greater").iloc[0]
    # Ranks of 4, 2, 2 and 2, of which b has one.
    assert row.statistic == 8
    assert row.p_value == pytest.approx(4 / 16)


def test_wilcoxon_turns_normal_where_the_distribution_would_be_long(rng: np.random.Generator) -> None:
    """Near the limit both agree to what the normal approximation is worth; beyond it monte_carlo=False is refused."""
    outputs = scored(rng.normal([[0.1], [0.0]], size=(2, 240)))
    exact = compared(outputs, test="wilcoxon", alternative="greater").iloc[0]
    normal = compared(outputs, test="wilcoxon", alternative="greater", monte_carlo=True).iloc[0]
    assert (exact.exact, normal.exact) == (True, False)
    assert exact.statistic == normal.statistic
    assert exact.p_value == pytest.approx(normal.p_value, rel=0.02)
    larger = scored(rng.normal([[0.05], [0.0]], size=(2, 1000)))
    assert not compared(larger, test="wilcoxon").exact[0]
    with pytest.raises(ValueError, match="is not available for test 'wilcoxon' with so many units"):
        compared(larger, test="wilcoxon", monte_carlo=False)


@BOTH
@pytest.mark.parametrize("metric", ["accuracy", ERROR_RATE], ids=["accuracy", "error rate"])
def test_right_or_wrong_answers_have_one_exact_paired_test(
    metric: str | Metric, alternative: str, rng: np.random.Generator
) -> None:
    """McNemar, sign and randomization coincide; the published form is a binomial test of the discordant items."""
    right = (rng.random((3, 60)) < [[0.5], [0.6], [0.7]]).astype(int)
    outputs = scored(right, metric)
    found = {
        test: compared(outputs, test=test, alternative=alternative) for test in ("mcnemar", "sign", "randomization")
    }
    for k, row in enumerate(found["mcnemar"].itertuples()):
        a, b = (right[outputs.names.index(name)] for name in (row.system_a, row.system_b))
        more, less = int((a > b).sum()), int((a < b).sum())
        better = more if metric == "accuracy" else less
        expected = stats.binomtest(better, more + less, 0.5, alternative=alternative).pvalue
        assert row.statistic == better
        for pairs in found.values():
            assert pairs.p_value[k] == pytest.approx(expected, rel=1e-12, abs=0)
            assert (pairs.exact[k], pairs.monte_carlo[k]) == (True, False)


# Those that are known, and what the registry has beside them.
OF_ANY_SUMS = {"sign_flips", "bootstrap", "randomization", "skew_corrected", *needing(), *needing(SUMS)}
OF_MEAN_SCORES = {*OF_MEANS, *needing(MEAN)}

OF_ACCEPTANCE_SETS = {"precision_score", "fisher"}

#: Tests and the questions that they can be asked.
APPLIES = {
    "own denominators": {*OF_ANY_SUMS, "two_proportions", "chi_square"},
    "f1": OF_ANY_SUMS,
    "muc_f": OF_ANY_SUMS,
    "decimals": {*OF_ANY_SUMS, *OF_MEAN_SCORES},
    "ratings": {*OF_ANY_SUMS, *OF_MEAN_SCORES},
    "words": set(TESTS) - {"mcnemar", *OF_ACCEPTANCE_SETS},
    "right or wrong": set(TESTS) - OF_ACCEPTANCE_SETS,
    "acceptance sets": {*OF_ANY_SUMS, "two_proportions", "chi_square", *OF_ACCEPTANCE_SETS},
    "lost, tied, won": {*OF_ANY_SUMS, *OF_MEAN_SCORES},
}


@pytest.mark.parametrize("kind", APPLIES)
def test_a_test_that_does_not_apply_says_so_in_one_line(kind: str, guesses: Outputs, tagged: Outputs) -> None:
    rng = np.random.default_rng(0)
    fills = np.stack([guesses.statistics[..., s] for s in (2, 1, 0)] + [np.zeros((4, 40), int)], axis=-1)
    item, accepts = np.arange(20), rng.integers(0, 2, size=(3, 20))
    outputs = {
        "own denominators": guesses,
        "f1": guesses.with_metric("f1"),
        "muc_f": Outputs.from_statistics(fills, "muc_f"),
        "decimals": scored(rng.random((3, 20))),
        "ratings": scored(rng.integers(1, 6, size=(3, 20))),
        "words": tagged,
        "right or wrong": scored(rng.integers(0, 2, size=(3, 20)), "accuracy"),
        "lost, tied, won": scored(rng.integers(-1, 2, size=(3, 20))),
        "acceptance sets": Outputs.from_statistics(
            np.stack([accepts & (item % 3 == 0), accepts], -1), METRICS["precision_of_accepted"]
        ),
    }[kind]
    assert set(applicable(outputs, unit="item")) == APPLIES[kind]
    for test in TESTS:
        if test in APPLIES[kind]:
            pair = outputs.select(outputs.names[:2])
            assert compared(pair, test=test, unit="item", n_resamples=50)["p_value"].between(0, 1).all()
        else:
            with pytest.raises(ValueError, match=f"^test '{test}' needs .* metric '?.*{outputs.metric.name}") as error:
                compared(outputs, test=test, unit="item")
            assert "\n" not in str(error.value)


@pytest.mark.parametrize("test", sorted({*TESTS} - OF_ACCEPTANCE_SETS))
def test_no_difference_at_all_is_p_1(test: str) -> None:
    """All items alike for both systems: everything right, everything wrong, or mixed."""
    for right, alternative in product(([1] * 12, [0] * 12, [0, 1] * 6), TESTS[test].alternatives):
        row = compared(scored([right, right], "accuracy"), test=test, alternative=alternative, n_resamples=99).iloc[0]
        assert (row.gain, row.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("test", ["t_paired", "z_paired", "z_independent", "t_two_sample"])
def test_where_nothing_varies_any_gain_is_certain(test: str) -> None:
    """Every item better by one: no spread to explain the gain. (Between systems, where neither varies.)"""
    scores = [[3] * 10, [2] * 10] if "paired" not in test else [range(1, 11), range(10)]
    row = compared(scored(scores), test=test, alternative="greater").iloc[0]
    assert (row.gain, row.p_value, row.statistic) == (1.0, 0.0, np.inf)
    assert compared(scored([[2, 3] * 5, [3, 2] * 5]), test=test, alternative="two-sided").p_value[0] == 1


def test_constant_differences_leave_the_exact_tests_their_smallest_p() -> None:
    outputs = scored([np.arange(1, 11), np.arange(10)])
    for test in ("sign", "wilcoxon", "randomization", "sign_flips"):
        assert compared(outputs, test=test, alternative="greater").p_value[0] == 2.0**-10
        assert compared(outputs, test=test, alternative="two-sided").p_value[0] == 2.0**-9


def test_the_better_mean_may_win_fewer_items() -> None:
    """One large win and three small losses: the sign test is of the system with the larger mean."""
    outputs = scored([[9, 0, 0, 0, 5], [0, 1, 1, 1, 5]])
    row = compared(outputs, test="sign", alternative="greater").iloc[0]
    assert (row.system_a, row.statistic) == ("a", 1)
    assert row.p_value == pytest.approx(stats.binom.sf(0, 4, 0.5))
    assert compared(outputs, test="sign", alternative="two-sided").p_value[0] == pytest.approx(2 * 5 / 16)


def test_many_pairs_in_parts_are_each_pair(monkeypatch: pytest.MonkeyPatch, tagged: Outputs) -> None:
    """Differences are held for some pairs at a time."""
    whole = {test: compared(tagged, test=test, unit="item") for test in PAIRED}
    monkeypatch.setattr("simstudy.engines.classical_tests._TOGETHER", 150)
    for test, expected in whole.items():
        pd.testing.assert_frame_equal(compared(tagged, test=test, unit="item"), expected)
