"""What a verdict says beside its numbers: for whom a test speaks, few units, disagreement, and margins."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons.paper import counted_significant
from simstudy.comparisons.verdict import FEW_UNITS, verdict
from simstudy.outputs import Outputs
from simstudy.statistics.multiplicity import corrected
from tests.examination.rows import only_new_is_right, pair, scores
from tests.oracles import compared
from tests.statistics.test_proportions import by_quartic

# For whom a test speaks

A_FEW_WIDE = ([0.9] * 3 + [0.1] * 20, [0.1] * 3 + [0.15] * 20)


@pytest.mark.parametrize(
    ("test", "p"),
    [("sign", stats.binomtest(3, 23).pvalue), ("wilcoxon", stats.wilcoxon([-0.8] * 3 + [0.05] * 20).pvalue)],
)
def test_a_test_may_prefer_the_system_with_the_lower_score(test: str, p: float) -> None:
    """New wins three items by 0.8 and loses twenty by 0.05: it leads by (2.4 - 1) / 23, and loses most."""
    outputs = scores(*A_FEW_WIDE)
    row = compared(outputs, test=test).iloc[0]
    assert row["p_value"] == pytest.approx(p, rel=0.3)
    said = verdict(row)
    assert said.splitlines()[1].startswith(f"new scores 0.2043 on average, {1.4 / 23:.4f} more than old (0.1435).")
    assert "Wins, losses and ties of new: 3, 20 and 0 of " in said
    null = {"sign": "either system is as likely to win a unit", "wilcoxon": "the units' differences are symmetric"}[
        test
    ]
    assert "The test prefers old, not new. Its null hypothesis is not that the scores are equal, but that" in said
    assert null in said
    assert "The gain is not significant." in said
    assert "the gain is significant" not in said
    assert "disagree" not in said
    one_sided = verdict(compared(outputs, test=test, alternative="greater").iloc[0])
    assert "The two-sided test prefers old, not new. " in one_sided
    assert "the gain is significant" not in one_sided
    for of_scores in ("sign_flips", "bootstrap", "t_paired"):
        said = verdict(compared(outputs, test=of_scores, n_resamples=2000).iloc[0])
        assert "The gain of new over old is not significant at 0.05. " in said
        assert "prefers" not in said


def test_equal_scores_are_no_gain_whomever_the_test_prefers() -> None:
    """Nine items won by 1 and one lost by 9."""
    for new, old, winner in (([1.0] * 9 + [0], [0.0] * 9 + [9], "new"), ([0.0] * 9 + [9], [1.0] * 9 + [0], "old")):
        row = compared(scores(new, old), test="sign").iloc[0]
        assert row["p_value"] == pytest.approx(22 / 1024)
        said = verdict(row)
        assert said.splitlines()[1].startswith("new and old have the same score (0.9000 on average).")
        assert f"The test prefers {winner}. Its null hypothesis is not that the scores are equal, but that" in said
        assert "There is no gain." in said
        assert "significant" not in said


# Few units


@pytest.mark.parametrize("n", [2, 3])
@pytest.mark.parametrize("alternative", ["two-sided", "greater"])
def test_all_of_two_or_three_items_are_not_enough_whatever_a_test_says(n: int, alternative: str) -> None:
    """Of 2^n swaps one, or two, are as extreme: 0.25 and 0.125 one-sided."""
    floor = 2.0**-n * (2 if alternative == "two-sided" else 1)
    for test in ("bootstrap", "t_paired", "z_paired"):
        row = compared(only_new_is_right(n, 0), test=test, alternative=alternative).iloc[0]
        assert row["p_value"] < 1e-9
        said = verdict(row)
        assert "the gain is significant" not in said
        assert (
            "The gain of new over old is not significant at 0.05, and cannot be: too few units differ. "
            f"Swapping them gives no p-value below {floor:.3f}."
        ) in said
        assert f"With {n} items test and interval are rough." in said
        assert "exact" not in said
    resampled = compared(
        only_new_is_right(n, 0), test="bootstrap", alternative=alternative, n_resamples=5000, monte_carlo=True
    ).iloc[0]
    said = verdict(resampled)
    assert ", 5,000 resamples; " in said
    assert ", 95 % Monte Carlo interval 0 to 0.00" in said
    assert "is not significant at 0.05, and cannot be" in said
    assert "may decide otherwise" not in said


def test_five_documents_are_not_enough_although_the_interval_is_above_zero() -> None:
    """All five prefer new: 2 / 2^5 two-sided. That the interval leaves 0 out is then no disagreement."""
    right = np.ones((2, 40), dtype=int)
    right[1, ::8] = right[1, 1:24:8] = 0
    items = pd.DataFrame({"id": range(40), "cluster": np.repeat(range(5), 8).astype(str)})
    outputs = Outputs.from_statistics(
        np.stack([right, np.ones_like(right)], axis=-1), "accuracy", ["new", "old"], items
    )
    row = compared(outputs).iloc[0]
    assert row["gain_low"] > 0
    assert row["p_value"] == pytest.approx(2 / 2**5)
    said = verdict(row)
    assert "and cannot be: too few units differ. Swapping them gives no p-value below 0.062" in said
    assert "disagree" not in said
    assert "too few units" not in verdict(row, alpha=0.1)


def test_few_units_make_rough_what_is_rough() -> None:
    """The sign test's level holds for any number of units."""
    few, enough = only_new_is_right(2, FEW_UNITS - 3), only_new_is_right(2, FEW_UNITS - 2)
    assert f"With {FEW_UNITS - 1} items the interval is rough." in verdict(compared(few, test="sign").iloc[0])
    assert f"With {FEW_UNITS - 1} items test and interval are rough." in verdict(compared(few, test="t_paired").iloc[0])
    assert "rough" not in verdict(compared(enough, test="t_paired").iloc[0])
    values = np.linspace(0, 1, 5)
    assert "With 5 items the test is rough." in verdict(compared(scores(values, values), test="bootstrap").iloc[0])


def by_document(n_documents: int, of: int) -> Outputs:
    rng = np.random.default_rng(3)
    right = rng.random((2, n_documents * of)) < [[0.7], [0.6]]
    items = pd.DataFrame({"id": range(n_documents * of), "cluster": np.repeat(range(n_documents), of).astype(str)})
    return Outputs.from_statistics(
        np.stack([right, np.ones_like(right)], axis=-1).astype(int), "accuracy", ["new", "old"], items
    )


def test_documents_are_named_as_units() -> None:
    outputs = by_document(60, 5)
    row = compared(outputs).iloc[0]
    sums = outputs.statistics[:, :, 0].reshape(2, 60, 5).sum(axis=2)
    better, worse = int((sums[0] > sums[1]).sum()), int((sums[0] < sums[1]).sum())
    counts = f"Wins, losses and ties of new: {better}, {worse} and {60 - better - worse} of "
    assert f"{counts}60 clusters with 300 items in all." in verdict(row)
    assert " of 300 items." in verdict(compared(outputs, unit="item").iloc[0])
    said = verdict(compared(by_document(8, 20), test="bootstrap").iloc[0])
    assert " of 8 clusters with 160 items in all." in said
    assert "With 8 clusters test and interval are rough." in said


# Interval and p-value


def test_where_interval_and_p_value_disagree_it_is_said() -> None:
    """Nine of eleven: Tango's interval leaves out 0 (7 / sqrt(11) > 1.96), and the sign test has 134 / 2048."""
    right = np.ones((2, 20), dtype=int)
    right[1, :9] = right[0, 9:11] = 0
    outputs = Outputs.from_statistics(np.stack([right, np.ones_like(right)], axis=-1), "accuracy", ["new", "old"])
    row = compared(outputs, test="sign").iloc[0]
    assert row["p_value"] == pytest.approx(134 / 2048)
    assert row["gain_low"] > 0
    why = (
        "disagree about 0: the interval is approximate, an exact p-value is on the safe side, and the test asks "
        "whether either system is as likely to win a unit."
    )
    assert verdict(row).endswith(f"Interval and p-value {why}")
    one_sided = compared(outputs, test="sign", alternative="greater").iloc[0]
    assert one_sided["p_value"] == pytest.approx(67 / 2048)
    assert verdict(one_sided).endswith(f"Interval and two-sided p-value {why}")
    exchanged = pair(gain_low=-0.2, test="randomization")
    assert "the interval is approximate, and the test asks whether on every unit the two systems' results could be" in (
        verdict(exchanged)
    )
    assert verdict(pair(gain_low=-0.2)).endswith("disagree about 0: the interval is approximate.")
    assert verdict(pair(gain_low=-0.2, exact_level=False)).endswith("disagree about 0: both are approximate.")
    cautious = pair(p_value=0.06, p_low=0.06, p_high=0.06, p_two_sided=0.06)
    assert verdict(cautious).endswith("the interval is approximate, an exact p-value is on the safe side.")
    for computation in ("approximated", "resampled"):
        computed = cautious.replace("exact", computation)
        assert verdict(computed).endswith("disagree about 0: the interval is approximate.")
    rough = pair(p_value=0.06, p_low=0.06, p_high=0.06, p_two_sided=0.06, exact_level=False)
    assert verdict(rough).endswith("disagree about 0: both are approximate.")


def test_where_they_agree_nothing_is_said() -> None:
    assert "disagree" not in verdict(pair())
    assert "disagree" not in verdict(pair(gain_low=-1.0, p_value=0.2, p_low=0.2, p_high=0.2, p_two_sided=0.2))
    one_sided = pair(alternative="greater", p_two_sided=0.062, gain_low=-0.2)
    assert "disagree" not in verdict(one_sided), "the interval is two-sided"
    seldom = pair(p_value=0.07, p_low=0.07, p_high=0.07, p_two_sided=0.07, gain_low=-0.2)
    assert "disagree" not in verdict(seldom, alpha=0.1), "it is the interval of 95 %"
    assert "disagree" not in verdict(pair(gain_low=np.nan, gain_high=np.nan))


def test_a_decision_at_another_level_than_the_intervals_is_told_where_it_looks_otherwise() -> None:
    p = dict.fromkeys(("p_value", "p_low", "p_high", "p_two_sided"), 0.03)
    assert verdict(pair(**p), alpha=0.01).endswith("The interval has 95 %, and the decision is at 0.01.")
    assert "The interval has 95 %" not in verdict(pair(**p), alpha=0.04)
    assert "The interval has 95 %" not in verdict(pair(gain_low=-0.2, **p), alpha=0.01)
    # Here they disagree at 0.05 too.
    assert "disagree about 0: the interval is approximate." in verdict(pair(gain_low=-0.2, **p), alpha=0.1)
    p = dict.fromkeys(p, 0.07)
    assert verdict(pair(gain_low=-0.2, **p), alpha=0.1).endswith("The interval has 95 %, and the decision is at 0.1.")


# Margins


@pytest.mark.parametrize(
    ("b", "c", "margin", "said"),
    [
        (
            20, 1, 5,
            "the gain is significant at 0.05. It is larger than the margin of 5 points (one-sided test at 0.025).",
        ),
        (20, 1, 12, "the gain is significant at 0.05. Whether it exceeds the margin of 12 points is not decided."),
        (
            10, 0, 20,
            "the gain is significant at 0.05. But it is smaller than the margin of 20 points: the two are equivalent "
            "(two one-sided tests at 0.025).",
        ),
        (
            4, 2, 10,
            "is not significant at 0.05. new is not worse than old by 10 points or more (one-sided test at "
            "0.025). The two are equivalent: the true gain is within 10 points either way (two one-sided tests at "
            "0.025).",
        ),
        (
            15, 10, 6,
            "is not significant at 0.05. new is not "
            "worse than old by 6 points or more (one-sided test at 0.025). The two are not shown to be equivalent: old "
            "may be worse by 6 points.",
        ),
        (
            15, 10, 1,
            "is not significant at 0.05. Neither "
            "non-inferiority nor equivalence is shown for a margin of 1 point.",
        ),
    ],
)  # fmt: skip
def test_what_a_margin_adds(b: int, c: int, margin: float, said: str) -> None:
    """Where the limits of 100 items are by the quartic, and McNemar's p-value by the binomial distribution."""
    new, old = np.zeros((2, 100))
    new[:b] = old[b : b + c] = 1
    outputs = Outputs.from_scores(pd.DataFrame({"new": new, "old": old}), "accuracy")
    low, high = (100 * limit for limit in by_quartic(b, c, 100, 0.95))
    significant = 2 * stats.binom.cdf(c, b + c, 0.5) <= 0.05
    assert ("the gain is significant" in said) == significant
    assert ("are equivalent" in said) == (high < margin and low > -margin)
    assert ("is not worse than" in said) == (low > -margin and not significant)
    assert ("It is larger than the margin" in said) == (low > margin)
    row = compared(outputs, test="mcnemar").iloc[0]
    better = "new is better than old: " if significant else "The gain of new over old "
    assert verdict(row, margin=margin).splitlines()[0] == better + said
    assert "margin" not in verdict(row)


@pytest.mark.parametrize("alpha", [0.002, 0.02, 0.1, 0.4])
def test_a_margin_is_tested_at_the_level_that_is_asked_for(alpha: float) -> None:
    """Each side at half of it: by the limits of the quartic, for margins on both sides of them."""
    b, c = 8, 6
    new, old = np.zeros((2, 100))
    new[:b] = old[b : b + c] = 1
    row = compared(Outputs.from_scores(pd.DataFrame({"new": new, "old": old}), "accuracy"), test="mcnemar").iloc[0]
    low, high = (100 * limit for limit in by_quartic(b, c, 100, 1 - alpha))
    for margin in (0.99 * -low, 1.01 * -low, 0.99 * high, 1.01 * high):
        said = verdict(row, margin=margin, alpha=alpha)
        assert ("is not worse than" in said) == (low > -margin), margin
        assert ("are equivalent" in said) == (high < margin and low > -margin), margin
        assert f"at {alpha / 2:g}" in said or low < -margin


@pytest.mark.parametrize(("n_systems", "none_can"), [(8, True), (7, False)])
def test_where_no_pair_can_be_significant_it_is_said(n_systems: int, none_can: bool) -> None:
    """The first is right on all 10 items and the last on none: p >= 2 / 2^10, 0.0547 for 28 pairs and 0.041 for 21."""
    right = pd.DataFrame({f"s{k}": np.arange(10) < 10 * k / (n_systems - 1) for k in range(n_systems)})
    pairs = corrected(compared(Outputs.from_scores(right, "accuracy")))
    said = counted_significant(pairs, 0.05)
    n = n_systems * (n_systems - 1) // 2
    assert said.startswith(f"{0 if none_can else 1} of {n} pairs differ significantly at 0.05 (two-sided, Holm).")
    why = (
        "None can: too few units differ. Swapping them gives no p-value below 0.00195, and Holm's correction multiplies"
    )
    assert said.endswith(f" {why} the smallest by {n}.") == none_can
    # Of a part of them, which was corrected for all, it is not said by how much.
    assert counted_significant(pairs[:3], 0.05).endswith("of 3 pairs differ significantly at 0.05 (two-sided, Holm).")
