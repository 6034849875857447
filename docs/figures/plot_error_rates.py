"""
Error rates, power and coverage of tests
========================================

Simulated test sets with known truth: how often each test rejects equal systems, how often it detects a gain, and
how often the interval holds the true gain. The bands mark what is right.
"""

import pandas as pd
from scipy.stats import binomtest

import simstudy as ss
from simstudy.truth import Beta, GaussianCopula, ScoreModel

N_SETS = 60
equal = ScoreModel([Beta(0.25, 2.5), Beta(0.25, 2.5)], GaussianCopula(0.6), metric="ap")


def counted(model: ScoreModel, true_gain: float) -> pd.DataFrame:
    """A row for each test and number of items: rejections, and intervals that hold the true gain."""
    rows = []
    for n in (10, 40):
        for test in ("t_paired", "wilcoxon"):
            found = pd.concat([ss.compare(model.outputs(n, seed=seed), test=test).frame for seed in range(N_SETS)])
            hits = int((found["p_value"] <= 0.05).sum())
            sign = (found["system_a"] == found["system_a"].min()).map({True: 1, False: -1})
            held = int(((found["gain_low"] <= sign * true_gain) & (sign * true_gain <= found["gain_high"])).sum())
            for kind, count in (("rejected", hits), ("held", held)):
                low, high = binomtest(count, N_SETS).proportion_ci()
                row = {"kind": kind, "test": test, "n_units": n, "alpha": 0.05, "level": 0.95, "title": "AP"}
                rows.append(row | {"share": count / N_SETS, "low": low, "high": high})
    return pd.DataFrame(rows)


null = counted(equal, 0.0)
ss.plot.error_rates(null[null["kind"] == "rejected"])

# %%
# The power to detect a true gain of 0.08.

gain = counted(equal.with_gain(0.08), 0.08)
ss.plot.power_curves(gain[gain["kind"] == "rejected"])

# %%
# The interval does not depend on the test.

ss.plot.coverage(null[(null["kind"] == "held") & (null["test"] == "t_paired")])
