"""Scores on a large offset, such as times since 1970: gains, intervals and p-values are those of the differences."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.engines.registry import TESTS
from tests.oracles import compared

N = 57
RNG = np.random.default_rng(8)
# Differences of many sizes, none twice, in 1024ths: the sums of two such numbers are exact up to 2^42.
GAIN = RNG.permutation(np.arange(1, N + 1) ** 2 - 500) / 1024
BASE = RNG.permutation(3 * N)[:N] * 7 / 16


def _outputs(offset: np.ndarray | float, *, lower_is_better: bool = False, clusters: bool = False) -> ss.Outputs:
    items = pd.DataFrame({"id": [str(i) for i in range(N)], "cluster": [str(i // 4) for i in range(N)]})
    frame = pd.DataFrame({"new": BASE + GAIN + offset, "old": BASE + offset})
    frame.index = pd.Index(items["id"])
    outputs = ss.Outputs.from_scores(frame, lower_is_better=lower_is_better)
    if not clusters:
        return outputs
    return ss.Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.systems, items)


@pytest.mark.parametrize("offset", [1e12, -1e12, 3.5e12], ids=str)
@pytest.mark.parametrize("test", ["sign_flips", "bootstrap", "randomization", "t_paired", "sign", "wilcoxon"])
def test_a_large_offset_changes_nothing(offset: float, test: str) -> None:
    """Gain, standard error and t of the differences by scipy; everything else as without the offset."""
    options = {"n_resamples": 999} if TESTS[test].n_resamples else {}
    plain, far = (compared(_outputs(of), test=test, **options).iloc[0] for of in (0.0, offset))  # type: ignore[arg-type]
    sign = 1 if GAIN.mean() > 0 else -1
    assert far["gain"] == pytest.approx(sign * GAIN.mean(), rel=1e-9)
    assert far["gain_se"] == pytest.approx(stats.sem(GAIN), rel=1e-9)
    low, high = stats.ttest_1samp(sign * GAIN, 0).confidence_interval()
    assert (far["gain_low"], far["gain_high"]) == pytest.approx((low, high), rel=1e-9)
    if test == "t_paired":
        assert far["p_value"] == pytest.approx(stats.ttest_1samp(GAIN, 0).pvalue, rel=1e-9)
    same = ["system_a", "better", "wins", "losses", "ties", "p_value", "n_extreme"]
    assert far[same].tolist() == plain[same].tolist()


def test_whole_numbers_of_any_size_keep_their_differences() -> None:
    """Times in ns since 1970 as whole numbers, of which neighbours are 256 apart as doubles."""
    start = 1.7e18
    differences = 256.0 * RNG.permutation(np.arange(-20, 37))
    frame = pd.DataFrame({"new": start + differences, "old": np.full(N, start)})
    row = compared(ss.Outputs.from_scores(frame), test="t_paired").iloc[0]
    assert row["gain"] == pytest.approx(differences.mean(), rel=1e-12)
    assert row["p_value"] == pytest.approx(stats.ttest_1samp(differences, 0).pvalue, rel=1e-9)
    assert (row["wins"], row["losses"], row["ties"]) == (36, 20, 1)


def test_items_may_lie_far_apart() -> None:
    """Each item has an offset of its own, of which no single one comes near: 1e9 … 1e12, in whole seconds."""
    offset = np.rint(np.geomspace(1e9, 1e12, N))
    row = compared(_outputs(offset, lower_is_better=True), test="t_paired").iloc[0]
    assert (row["system_a"] == "old") == (GAIN.mean() > 0)
    assert row["gain"] == pytest.approx(abs(GAIN.mean()), rel=1e-9)
    assert row["p_value"] == pytest.approx(stats.ttest_1samp(GAIN, 0).pvalue, rel=1e-9)


def test_clusters_keep_their_sums() -> None:
    """Clusters of four items and one of one: the weighted mean's own jackknife, written out."""
    row = compared(_outputs(1e12, clusters=True), test="sign_flips", n_resamples=99).iloc[0]
    codes = np.arange(N) // 4
    without = np.array([GAIN[codes != c].mean() for c in range(codes[-1] + 1)])
    n = without.size
    se = np.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
    assert row["gain"] == pytest.approx(abs(GAIN.mean()), rel=1e-9)
    assert row["gain_se"] == pytest.approx(se, rel=1e-6)


@pytest.mark.parametrize("test", ["t_two_sample", "z_independent"])
def test_tests_of_independent_systems_keep_each_systems_own_spread(test: str) -> None:
    """The two-sample t by scipy, and z by its formula, of scores without the offset."""
    row = compared(_outputs(1e12), test=test).iloc[0]
    new, old = BASE + GAIN, BASE
    z = (new.mean() - old.mean()) / np.sqrt(stats.sem(new) ** 2 + stats.sem(old) ** 2)
    expected = {"t_two_sample": stats.ttest_ind(new, old).pvalue, "z_independent": 2 * stats.norm.sf(abs(z))}
    assert row["p_value"] == pytest.approx(expected[test], rel=1e-6)
