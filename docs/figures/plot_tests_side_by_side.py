"""
All tests on the same pairs
===========================

The share of pairs that each test rejects, and how often tests by item and by cluster reject equal systems.
"""

import pandas as pd
from scipy.stats import binomtest

import simstudy as ss

outputs = ss.truth.correlated_accuracies([0.60 + k / 100 for k in range(15)], n_items=400)
tests = ("sign_flips", "bootstrap", "t_paired", "z_independent", "chi_square")
pairs = pd.concat([ss.compare(outputs, test=test, n_resamples=None).frame for test in tests])
ss.plot.rejections(ss.comparisons.agreement(pairs, reference="sign_flips"))

# %%
# Equal systems on items in clusters. Tests by item reject more often, the more the items of a cluster depend on
# each other.

rows = []
for within in (0.0, 0.2, 0.4):
    for unit in ("item", "cluster"):
        sets = [ss.truth.clustered_accuracies([0.7, 0.7], 30, 10, within=within, seed=seed) for seed in range(60)]
        count = sum(ss.compare(one, unit=unit)["p_value"].item() <= 0.05 for one in sets)
        low, high = binomtest(count, 60).proportion_ci()
        rows.append({"within": within, "unit": unit, "alpha": 0.05, "share": count / 60, "low": low, "high": high})
ss.plot.type_1_errors(pd.DataFrame(rows))
