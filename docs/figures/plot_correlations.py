"""
How alike two systems answer
============================

The correlation of two systems' results on the same items, by relation class. Variants of one model correlate more.
"""

import simstudy as ss
from simstudy.studies.side_by_side import correlation_shares

task = ss.training.load_task("digits")
outputs = ss.training.resample_training(task, fractions=[1.0], replicates=[6])["test"]
ss.plot.correlations(correlation_shares(ss.comparisons.correlation(outputs)))
