"""
Gain threshold against test size
================================

The 95th percentile of the gains of pairs with p near 0.05, on nested initial segments of a test set. The line is c
/ sqrt(n).
"""

import pandas as pd

import simstudy as ss

accuracies = [0.60 + k / 200 for k in range(40)]
outputs = ss.truth.correlated_accuracies(accuracies, n_items=1600)
pairs = pd.concat([ss.compare(outputs.head(n), alternative="greater").frame for n in (100, 200, 400, 800, 1600)])

# %%
# A test set of four times the size halves the threshold.

table = ss.comparisons.size_fit(pairs.thresholds())
ss.plot.thresholds(table)
