"""
A leaderboard with confidence sets for ranks
============================================

Left: each system's score with its 95 % interval. Right: the ranks that the system may have. Pale bars hold for all
systems at once, strong bars for one system that was chosen beforehand. Orange systems may be the best.
"""

import simstudy as ss

outputs = ss.truth.correlated_accuracies([0.60, 0.66, 0.67, 0.68, 0.75, 0.76], n_items=500)

# %%
# Wide bars overlap: the test set does not tell the order of these systems.

ss.plot.leaderboard(ss.leaderboard(outputs))
