"""
The gain that is usually significant
====================================

By test set: the observed gain that is significant for half and for 95 % of the pairs, and the true gain that is
detected with power 0.8.
"""

import pandas as pd

import simstudy as ss

accuracies = [0.60 + k / 100 for k in range(12)]
sets = [
    ss.truth.correlated_accuracies(accuracies, n_items=n, test_set=f"test set of {n}")
    for n in (100, 200, 400, 800, 1600)
]
pairs = pd.concat([ss.compare(outputs).frame for outputs in sets])
gains = pairs.significant_gains()
gains = gains[gains["pairs"] == "all pairs"]
ss.plot.gains_by_test_set(gains)

# %%
# Against test size. The line is c / sqrt(n) with the median c of the test sets.

ss.plot.gains_by_size(gains)
