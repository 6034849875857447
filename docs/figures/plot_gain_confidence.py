"""
Gain against confidence
=======================

A point for each pair of systems. The confidence is 1 - p. Lines are running medians, and bands hold 5 to 95 % of
the pairs.
"""

import simstudy as ss

task = ss.training.load_task("digits")
outputs = ss.training.resample_training(task, fractions=[1.0, 0.5], replicates=[5, 5])["test"]
pairs = ss.compare(outputs)

# %%
# Pairs within a family are significant at smaller gains: variants of one model answer alike.

ss.plot.curve(pairs, pairs.curve())
