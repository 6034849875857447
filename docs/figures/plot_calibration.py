"""
Do winners win elsewhere?
=========================

The share of pairs whose winner on one test set also wins on another one, by the p-value at home. Triangles mark
what a model expects.
"""

import simstudy as ss

outputs = ss.truth.correlated_accuracies([0.60 + k / 200 for k in range(30)], n_items=1200)
home, elsewhere = outputs.head(600), outputs.take(range(600, 1200))

# %%
# Small p-values predict the winner. With p near 0.5 a winner is nearly a guess.

table = ss.calibration(ss.compare(home), {"the other half": elsewhere})
ss.plot.calibration(table)
