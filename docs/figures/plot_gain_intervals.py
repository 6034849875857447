"""
Gains with their intervals
==========================

Each pair's gain with its 95 % interval. Significant gains are blue.
"""

import simstudy as ss

outputs = ss.truth.correlated_accuracies([0.60, 0.66, 0.67, 0.68, 0.75, 0.76], n_items=500)
ss.plot.gain_intervals(ss.compare(outputs))
