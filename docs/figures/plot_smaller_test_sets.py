"""
What is significant on the first items of a test set
=====================================================

Eight systems compared again on the first three quarters, half, third, … of 1,600 items.
"""

import simstudy as ss

found = ss.examine(ss.truth.correlated_accuracies([0.6, 0.62, 0.64, 0.66, 0.68, 0.7, 0.72, 0.74], 1600))
ss.plot.smaller_test_sets(found.sizes)
