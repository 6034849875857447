"""
Precision of rankings
=====================

The precision of n-best lists over n (Evert 2004, figures 1 to 3). Bands are 95 % intervals. Triangles mark
significant differences.
"""

from sklearn.datasets import load_breast_cancer

import simstudy as ss

tumours = load_breast_cancer(as_frame=True)
scores = tumours.data[["worst radius", "mean texture"]]
candidates = ss.rankings.Candidates.from_scores(scores, tumours.target == 0)
curves = ss.rankings.precision_curve(candidates, range(10, 301))
differences = ss.rankings.ranking_differences(candidates, range(10, 301))
ss.plot.precision_curve(curves, differences)
