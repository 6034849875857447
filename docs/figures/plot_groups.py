"""
Significance groups and the matrix of p-values
==============================================

Systems of one group do not differ significantly (Chinchor 1992, figures 3 to 11). The matrix has each pair once,
best systems first.
"""

import simstudy as ss

outputs = ss.truth.correlated_accuracies([0.60, 0.66, 0.67, 0.68, 0.75, 0.76], n_items=500)
pairs = ss.compare(outputs)
ss.plot.groups(pairs.groups())

# %%
# Groups overlap, because significance is not transitive.

ss.plot.matrix(pairs)
