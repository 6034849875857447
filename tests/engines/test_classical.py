"""The classical tests against scipy, pair by pair, their formulas, and the numbers of Yeh (2000)."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy import stats

from simstudy.engines.registry import TESTS
from simstudy.metrics import Metric
from simstudy.outputs import Outputs
from tests.engines.pairs import scored
from tests.oracles import ERROR_RATE, compared

BOTH = pytest.mark.parametrize("alternative", ["greater", "two-sided"])
PAIRED = ("t_paired", "z_paired", "sign", "wilcoxon")
OF_MEANS = (*PAIRED, "z_independent", "t_two_sample")


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
        expected = stats.ttest_rel(a, b, alternative=alternative)
    elif test == "t_two_sample":
        expected = stats.ttest_ind(a, b, equal_var=True, alternative=alternative)
    elif test == "wilcoxon":
        expected = stats.wilcoxon(a, b, method="asymptotic", correction=False, alternative=alternative)
        # scipy's two-sided statistic is the smaller of the two sums of ranks.
        return float(stats.wilcoxon(a, b, alternative="greater", method="asymptotic").statistic), float(expected.pvalue)
    elif test == "sign":
        won, lost = int((difference > 0).sum()), int((difference < 0).sum())
        return won, float(stats.binomtest(won, won + lost, 0.5, alternative=alternative).pvalue)
    else:
        spread = difference.var(ddof=1) if test == "z_paired" else a.var(ddof=1) + b.var(ddof=1)
        z = difference.mean() / np.sqrt(spread / n)
        return z, float(stats.norm.sf(abs(z)) * 2 if alternative == "two-sided" else stats.norm.sf(z))
    return float(expected.statistic), float(expected.pvalue)


@pytest.mark.parametrize("test", OF_MEANS)
def test_every_pair_has_the_statistic_and_p_value_that_scipy_gives(test: str, scores: np.ndarray) -> None:
    outputs = scored(scores)
    for alternative in ("greater", "two-sided"):
        for row in compared(outputs, test=test, alternative=alternative, monte_carlo=True).itertuples():
            a, b = (scores[outputs.names.index(name)] for name in (row.system_a, row.system_b))
            statistic, p = theirs(test, a, b, alternative)
            assert row.statistic == pytest.approx(statistic, rel=1e-9, abs=0)
            assert row.p_value == pytest.approx(p, rel=1e-9, abs=0)
            assert row.exact_level == (test == "sign")
            assert row.computation == ("exact" if test == "sign" else "approximated")


@BOTH
def test_wilcoxon_is_the_share_of_all_signs(alternative: str, rng: np.random.Generator) -> None:
    """scipy has no exact distribution for ties, but can flip all signs of the signed ranks."""
    for scores in (*(rng.integers(1, 6, size=(2, n)) for n in (6, 11)), rng.normal([[0.5], [0.0]], size=(2, 11))):
        row = compared(scored(scores), test="wilcoxon", alternative=alternative).iloc[0]
        difference = (scores[0] - scores[1]) * (1 if row.system_a == "a" else -1)
        difference = difference[difference != 0]
        ranks = stats.rankdata(np.abs(difference)) * np.sign(difference)
        flipped = stats.permutation_test(
            (ranks,), lambda x, axis: x.sum(axis=axis), permutation_type="samples", n_resamples=np.inf,
            alternative=alternative, vectorized=True,
        )  # fmt: skip
        assert row.p_value == pytest.approx(flipped.pvalue, rel=1e-12, abs=0)
        assert (row.statistic, row.exact_level, row.computation) == (ranks[ranks > 0].sum(), True, "exact")
    scores = rng.normal([[0.5], [0.0]], size=(2, 40))
    row = compared(scored(scores), test="wilcoxon", alternative=alternative).iloc[0]
    exact = stats.wilcoxon(*scores[:: 1 if row.system_a == "a" else -1], alternative=alternative, method="exact")
    assert row.p_value == pytest.approx(exact.pvalue)


@pytest.mark.parametrize("test", PAIRED)
def test_decimals_tie_as_their_tenths_do(test: str, rng: np.random.Generator) -> None:
    """0.3 - 0.2 and 0.2 - 0.1 differ in their last bit, 0.1 + 0.2 - 0.3 is not 0; ranks and signs do not see it."""
    tenths = rng.integers(0, 10, size=(3, 40))
    decimals = np.concatenate([tenths[:1] / 10, tenths[1:] / 10 + 0.1 - 0.1])
    assert (np.diff(np.unique(np.abs(decimals[1] - decimals[2]))) < 1e-12).any()
    whole, in_tenths = (compared(scored(scores), test=test, alternative="greater") for scores in (tenths, decimals))
    np.testing.assert_allclose(in_tenths["p_value"], whole["p_value"], rtol=1e-9)


def test_wilcoxon_turns_normal_where_the_distribution_would_be_long(rng: np.random.Generator) -> None:
    """Near the limit both agree to what the normal approximation is worth."""
    outputs = scored(rng.normal([[0.1], [0.0]], size=(2, 240)))
    exact = compared(outputs, test="wilcoxon", alternative="greater").iloc[0]
    normal = compared(outputs, test="wilcoxon", alternative="greater", monte_carlo=True).iloc[0]
    assert (exact.computation, normal.computation) == ("exact", "approximated")
    assert exact.statistic == normal.statistic
    assert exact.p_value == pytest.approx(normal.p_value, rel=0.02)
    larger = scored(rng.normal([[0.05], [0.0]], size=(2, 1000)))
    assert compared(larger, test="wilcoxon").computation[0] == "approximated"


@BOTH
@pytest.mark.parametrize("metric", ["accuracy", ERROR_RATE], ids=["accuracy", "error rate"])
def test_right_or_wrong_answers_have_one_exact_paired_test(
    metric: str | Metric, alternative: str, rng: np.random.Generator
) -> None:
    """McNemar's, the sign test and flips coincide; the published form is a binomial test of the discordant items."""
    right = (rng.random((3, 60)) < [[0.5], [0.6], [0.7]]).astype(int)
    outputs = scored(right, metric)
    tests = ("mcnemar", "sign", "randomization", "sign_flips", "skew_corrected")
    tables = [compared(outputs, test=test, alternative=alternative) for test in tests]
    for k, row in enumerate(tables[0].itertuples()):
        a, b = (right[outputs.names.index(name)] for name in (row.system_a, row.system_b))
        more, less = int((a > b).sum()), int((a < b).sum())
        better = more if metric == "accuracy" else less
        expected = stats.binomtest(better, more + less, 0.5, alternative=alternative).pvalue
        assert row.statistic == better
        for pairs in tables:
            assert pairs.p_value[k] == pytest.approx(expected, rel=1e-12, abs=0)
            assert (pairs.exact_level[k], pairs.computation[k]) == (True, "exact")


@pytest.mark.parametrize("test", sorted({*TESTS} - {"precision_score", "fisher"}))
def test_no_difference_at_all_is_p_1(test: str) -> None:
    """All items alike for both systems: everything right, everything wrong, or mixed."""
    for right, alternative in product(([1] * 12, [0] * 12, [0, 1] * 6), TESTS[test].alternatives):
        row = compared(scored([right, right], "accuracy"), test=test, alternative=alternative, n_resamples=99).iloc[0]
        assert (row.gain, row.p_value) == (0.0, 1.0)


@pytest.mark.parametrize("test", ["t_paired", "z_paired", "z_independent", "t_two_sample"])
def test_a_gain_without_any_spread_has_the_least_p_value(test: str) -> None:
    scores = [[3] * 10, [2] * 10] if "paired" not in test else [range(1, 11), range(10)]
    row = compared(scored(scores), test=test, alternative="greater").iloc[0]
    assert (row.gain, row.p_value, row.statistic) == (1.0, 1e-300, np.inf)
    assert compared(scored([[2, 3] * 5, [3, 2] * 5]), test=test, alternative="two-sided").p_value[0] == 1


@pytest.mark.parametrize("metric", ["precision", "recall", "accuracy", "error rate"])
def test_proportions_are_two_by_two_tables(metric: str, found: Outputs, rng: np.random.Generator) -> None:
    """Chi-square as scipy has it, z by its formula, and z squared is chi-square."""
    if metric in ("precision", "recall"):
        outputs = found.with_metric(metric)
        right, of = outputs.statistics.sum(axis=1).T[[0, 1 + (metric == "recall")]]
    else:
        counted = np.stack(np.broadcast_arrays(rng.binomial(9, [[0.5], [0.6], [0.62]], size=(3, 50)), 9), axis=-1)
        outputs = Outputs.from_statistics(counted, ERROR_RATE if metric == "error rate" else metric, list("abc"))
        right, of = counted.sum(axis=1).T
        right = of - right if metric == "error rate" else right
    chi = compared(outputs, test="chi_square")
    one_sided, both = (compared(outputs, test="two_proportions", alternative=a) for a in ("greater", "two-sided"))
    for table in (chi, one_sided, both):
        assert not table["exact_level"].any()
        assert set(table["computation"]) == {"approximated"}
    for k, row in enumerate(chi.itertuples()):
        pair = [outputs.names.index(name) for name in (row.system_a, row.system_b)]
        expected = stats.chi2_contingency([right[pair], of[pair] - right[pair]], correction=False)
        assert (row.statistic, row.p_value) == pytest.approx((expected.statistic, expected.pvalue), rel=1e-9, abs=0)
        pooled = right[pair].sum() / of[pair].sum()
        z = -np.diff(right[pair] / of[pair])[0] / np.sqrt(pooled * (1 - pooled) * (1 / of[pair]).sum())
        assert one_sided.statistic[k] == both.statistic[k] == pytest.approx(z, rel=1e-9, abs=0)
        assert one_sided.p_value[k] == pytest.approx(stats.norm.sf(z), rel=1e-9, abs=0)
        assert both.p_value[k] == pytest.approx(row.p_value, rel=1e-9, abs=0)


def test_yehs_chi_square_for_precision() -> None:
    """Section 2.2: 47 right of 95 and 25 of 39 give 2.38, "a 10 % to 20 % chance"; the randomization test below 4 %."""
    gold, spurious = np.arange(103), np.arange(57)
    right = [gold < 47, (gold < 19) | ((gold >= 47) & (gold < 53))]
    wrong = [spurious < 48, (spurious < 5) | (spurious >= 48)]
    given, of_gold = np.hstack([right, wrong]), np.arange(160) < 103
    counts = np.stack([given & of_gold, given, np.tile(of_gold, (2, 1))], axis=-1)
    outputs = Outputs.from_statistics(counts, "precision", ["I", "II"])
    row = compared(outputs, test="chi_square").iloc[0]
    assert round(row.statistic, 2) == 2.38
    assert 0.10 < row.p_value < 0.20
    assert compared(outputs, test="randomization", alternative="two-sided").p_value[0] < 0.04


@pytest.mark.parametrize(("r12", "ratio"), [(0.38, 1.27), (0.50, 1.41), (0.80, 2.24)])
def test_yehs_table_of_what_independence_costs(r12: float, ratio: float, rng: np.random.Generator) -> None:
    """Section 2.1: how much larger the standard deviation is if the correlation r12 is ignored."""
    # Two systems of equal spread that correlate by r12 exactly.
    centred = rng.normal(size=(2, 50))
    first, second = np.linalg.qr((centred - centred.mean(axis=1, keepdims=True)).T)[0].T
    outputs = scored([1 + first, r12 * first + np.sqrt(1 - r12**2) * second])
    paired, independent = (compared(outputs, test=test).statistic[0] for test in ("z_paired", "z_independent"))
    assert paired / independent == pytest.approx(1 / np.sqrt(1 - r12))
    assert round(paired / independent, 2) == ratio


@pytest.mark.parametrize("test", ["two_proportions", "chi_square"])
def test_a_system_without_a_guess_shows_nothing(test: str, found: Outputs) -> None:
    """No guesses, no proportion: z and chi-square are 0, and no warning is raised."""
    silent = found.statistics.copy()
    silent[4, :, :2] = 0
    pairs = compared(Outputs.from_statistics(silent, "precision", list("abcde")), test=test)
    assert (pairs.loc[pairs["system_b"] == "e", "statistic"] == 0).all()
    assert (pairs.loc[pairs["system_b"] != "e", "statistic"] > 0).all()
    nobody = np.zeros_like(silent)
    nobody[..., 2] = 1
    assert (compared(Outputs.from_statistics(nobody, "precision"), test=test)["p_value"] == 1).all()
