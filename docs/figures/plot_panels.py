"""
Several panels, and files
=========================

``panels`` makes a grid in the house style, ``single`` one panel with a title, and ``save`` writes a figure as PNG
and SVG.
"""

import simstudy as ss

accuracies = [0.60 + k / 100 for k in range(12)]
small = ss.truth.correlated_accuracies(accuracies, n_items=100)
large = ss.truth.correlated_accuracies(accuracies, n_items=1000)
figure, axes = ss.plot.panels(["100 items", "1,000 items"])
for ax, outputs in zip(axes, (small, large), strict=True):
    ss.plot.curve(ss.compare(outputs), ax=ax)

# %%
# One panel with a title.

ss.plot.single(ss.plot.curve, ss.compare(large), title="twelve systems, 1,000 items")
