"""What the check of the binomial model says where the model is true, and where candidates depend on each other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tests.experiments.programs import program
from tests.oracles import average_precision

REPETITIONS = program("evert_2004", "repetitions")
binomial_check, repetitions = REPETITIONS.binomial_check, REPETITIONS.repetitions
simulated_candidates = program("evert_2004", "simulated").simulated_candidates

pytestmark = pytest.mark.statistical

FALSE_ALARM = 1e-6
N_EXPERIMENTS, N_SETS = 25, 20
SHARE, SEPARATION, THRESHOLD = 0.3, 1.0, 1.0


def experiments(cluster_size: int, within: float) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The sets of all experiments, and the check of each; about 65 of 250 candidates are accepted."""
    sets = simulated_candidates(
        N_EXPERIMENTS * N_SETS, n_candidates=250, share_true=SHARE, separations={"g": SEPARATION},
        correlation=0.5, cluster_size=cluster_size, within=within, seed=1,
    )  # fmt: skip
    tables = [repetitions(sets[i : i + N_SETS], {"g": THRESHOLD}) for i in range(0, len(sets), N_SETS)]
    return pd.concat(tables), pd.concat([binomial_check(table) for table in tables])


def missed_truth(table: pd.DataFrame) -> int:
    """Intervals that do not have the true average precision, which is known here."""
    pi = average_precision(SHARE, SEPARATION, THRESHOLD)
    return int(((pi < table["low"]) | (pi > table["high"])).sum())


def test_where_the_model_is_true_the_check_finds_what_it_should() -> None:
    """Clusters of independent candidates leave equation 2 as it is."""
    table, check = experiments(cluster_size=10, within=0.0)
    assert stats.kstest(check["dispersion_p"], "uniform").pvalue > FALSE_ALARM
    assert stats.binom.sf(missed_truth(table) - 1, len(table), 0.05) > FALSE_ALARM
    # (n - 1) ratio^2 is chi-square, but for sigma's taking the mean of N: mean(1 / N) mean(N) is a little above 1.
    n = table["n_accepted"]
    df = N_EXPERIMENTS * (N_SETS - 1)
    variance = df * (check["ratio"] ** 2).mean() / (n.mean() * (1 / n).mean())
    assert min(stats.chi2.cdf(variance, df), stats.chi2.sf(variance, df)) > FALSE_ALARM
    # The interval of the ratio has 1 as often as it says, and the test of the missed intervals is conservative.
    outside = int(((check["ratio_low"] > 1) | (check["ratio_high"] < 1)).sum())
    assert stats.binom.sf(outside - 1, N_EXPERIMENTS, 0.05) > FALSE_ALARM
    rejected = int((check["missed_p"] <= 0.05).sum())
    assert stats.binom.sf(rejected - 1, N_EXPERIMENTS, 0.05) > FALSE_ALARM
    # The mean of a set's precision is the true one.
    pi = average_precision(SHARE, SEPARATION, THRESHOLD)
    error = table["precision"].std() / np.sqrt(len(table))
    assert abs(table["precision"].mean() - pi) / error < stats.norm.isf(FALSE_ALARM / 2)


def test_where_candidates_depend_on_each_other_it_finds_more_variation() -> None:
    table, check = experiments(cluster_size=10, within=0.6)
    assert stats.binom.sf(missed_truth(table) - 1, len(table), 0.05) < FALSE_ALARM
    df = N_EXPERIMENTS * (N_SETS - 1)
    assert stats.chi2.sf(df * (check["ratio"] ** 2).mean(), df) < FALSE_ALARM
    for p_value in ("dispersion_p", "missed_p"):
        assert stats.binom.sf((check[p_value] <= 0.05).sum() - 1, N_EXPERIMENTS, 0.05) < FALSE_ALARM
