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
    for _ in range(2):
        tenths = rng.integers(0, 10, size=(3, 40))
        decimals = tenths[1:] / 10 + 0.1 - 0.1
        assert (np.diff(np.unique(np.abs(decimals[0] - decimals[1]))) < 1e-12).any()
        whole, in_tenths = (
            compared(scored(scores), test=test, alternative="greater").iloc[-1]
            for scores in (tenths, np.concatenate([tenths[:1] / 10, decimals]))
        )
        assert in_tenths.p_value == pytest.approx(whole.p_value, rel=1e-9, abs=0)


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
            assert (pairs.exact_level[k], pairs.computation[k]) == (True, "exact")


# The registry may have more tests with these needs.
OF_ANY_SUMS = {"sign_flips", "bootstrap", "randomization", "skew_corrected", *needing(), *needing(SUMS)}
OF_MEAN_SCORES = {*OF_ANY_SUMS, *OF_MEANS, *needing(MEAN)}
OF_COUNTS = {"two_proportions", "chi_square"}
OF_ACCEPTANCE_SETS = {"precision_score", "fisher"}

#: Kind of outputs -> the tests that apply.
APPLIES = {
    "own denominators": OF_ANY_SUMS | OF_COUNTS,
    "f1": OF_ANY_SUMS,
    "decimals": OF_MEAN_SCORES,
    "words": OF_MEAN_SCORES | OF_COUNTS,
    "right or wrong": OF_MEAN_SCORES | OF_COUNTS | {"mcnemar"},
    "acceptance sets": OF_ANY_SUMS | OF_COUNTS | OF_ACCEPTANCE_SETS,
    "lost, tied, won": OF_MEAN_SCORES,
}


@pytest.mark.parametrize("kind", APPLIES)
def test_a_test_that_does_not_apply_is_refused(kind: str, guesses: Outputs, tagged: Outputs) -> None:
    rng = np.random.default_rng(0)
    item, accepts = np.arange(20), rng.integers(0, 2, size=(3, 20))
    outputs = {
        "own denominators": guesses,
        "f1": guesses.with_metric("f1"),
        "decimals": scored(rng.random((3, 20))),
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
            with pytest.raises(
                ValueError, match=f"^test '{test}' needs [^\n]* metric '?.*{outputs.metric.name}[^\n]*$"
            ):
                compared(outputs, test=test, unit="item")


@pytest.mark.parametrize("test", sorted({*TESTS} - OF_ACCEPTANCE_SETS))
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


@BOTH
@pytest.mark.parametrize("test", ["mcnemar", "sign", "wilcoxon", "t_paired"])
def test_no_p_value_is_0(test: str, alternative: str) -> None:
    """2,000 wins: binomial and normal tails, and that of t at 2,000, are below 1e-300."""
    wins = np.ones(2000) if test == "mcnemar" else np.tile([1.0, 1.1], 1000)
    outputs = scored([wins, 0 * wins], "accuracy" if test == "mcnemar" else "mean")
    assert compared(outputs, test=test, alternative=alternative).p_value[0] == 1e-300


def test_the_better_mean_may_win_fewer_items() -> None:
    """One large win and three small losses: the sign test is of the system with the larger mean."""
    outputs = scored([[9, 0, 0, 0, 5], [0, 1, 1, 1, 5]])
    row = compared(outputs, test="sign", alternative="greater").iloc[0]
    assert (row.system_a, row.statistic) == ("a", 1)
    assert row.p_value == pytest.approx(stats.binom.sf(0, 4, 0.5))
    assert compared(outputs, test="sign", alternative="two-sided").p_value[0] == pytest.approx(2 * 5 / 16)


def test_many_pairs_in_parts_are_each_pair(monkeypatch: pytest.MonkeyPatch, tagged: Outputs) -> None:
    whole = {test: compared(tagged, test=test, unit="item") for test in PAIRED}
    monkeypatch.setattr("simstudy.engines.classical_tests._TOGETHER", 150)
    for test, expected in whole.items():
        pd.testing.assert_frame_equal(compared(tagged, test=test, unit="item"), expected)


@pytest.mark.parametrize("metric", ["precision", "recall", "accuracy", "error rate"])
def test_proportions_are_two_by_two_tables(metric: str, guesses: Outputs, rng: np.random.Generator) -> None:
    """Chi-square as scipy has it, z by its formula, and z squared is chi-square."""
    if metric in ("precision", "recall"):
        outputs = guesses.with_metric(metric)
        right, of = outputs.statistics.sum(axis=1)[:, 0], outputs.statistics.sum(axis=1)[:, 1 + (metric == "recall")]
    else:
        total = rng.integers(1, 9, size=50)
        counted = rng.binomial(total, [[0.5], [0.6], [0.62]])
        statistics = np.stack([counted, np.broadcast_to(total, counted.shape)], axis=-1)
        outputs = Outputs.from_statistics(statistics, ERROR_RATE if metric == "error rate" else metric, list("abc"))
        right, of = statistics.sum(axis=1).T
        right = of - right if metric == "error rate" else right
    chi = compared(outputs, test="chi_square")
    one_sided, both = (compared(outputs, test="two_proportions", alternative=a) for a in ("greater", "two-sided"))
    for k, row in enumerate(chi.itertuples()):
        i, j = (outputs.names.index(name) for name in (row.system_a, row.system_b))
        table = [[right[i], of[i] - right[i]], [right[j], of[j] - right[j]]]
        expected = stats.chi2_contingency(table, correction=False)
        assert row.statistic == pytest.approx(expected.statistic, rel=1e-9, abs=0)
        assert row.p_value == pytest.approx(expected.pvalue, rel=1e-9, abs=0)
        pooled = (right[i] + right[j]) / (of[i] + of[j])
        z = (right[i] / of[i] - right[j] / of[j]) / np.sqrt(pooled * (1 - pooled) * (1 / of[i] + 1 / of[j]))
        assert one_sided.statistic[k] == pytest.approx(z, rel=1e-9, abs=0)
        assert one_sided.p_value[k] == pytest.approx(stats.norm.sf(z), rel=1e-9, abs=0)
        assert both.statistic[k] ** 2 == pytest.approx(row.statistic, rel=1e-9, abs=0)
        assert both.p_value[k] == pytest.approx(row.p_value, rel=1e-9, abs=0)


def test_yehs_chi_square_for_precision() -> None:
    """Section 2.2: 47 right of 95 and 25 of 39 give 2.38, "a 10 % to 20 % chance"; the randomization test below 4 %."""
    gold = [f"gold {k}" for k in range(103)]
    first = [*gold[:47], *(f"spurious {k}" for k in range(48))]
    second = [*gold[:19], *gold[47:53], *(f"spurious {k}" for k in range(5)), *(f"other {k}" for k in range(9))]
    outputs = Outputs.from_responses(gold, {"I": first, "II": second}, "precision")
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
def test_a_system_without_a_guess_shows_nothing(test: str, guesses: Outputs) -> None:
    """No guesses, no proportion: z and chi-square are 0, and no warning is raised."""
    silent = guesses.statistics.copy()
    silent[3, :, :2] = 0
    pairs = compared(Outputs.from_statistics(silent, "precision", list("abcd")), test=test)
    assert (pairs.loc[pairs["system_b"] == "d", "statistic"] == 0).all()
    assert (pairs.loc[pairs["system_b"] != "d", "statistic"] > 0).all()
    nobody = np.zeros_like(silent)
    nobody[..., 2] = 1
    assert (compared(Outputs.from_statistics(nobody, "precision"), test=test)["p_value"] == 1).all()
