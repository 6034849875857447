"""
A figure for a paper
====================

Inside ``for_a_paper`` figures are as wide as a column (84 mm), have small letters and no titles. ``save`` writes a PDF
with embedded fonts: ``ss.plot.save(figure, "leaderboard", formats=["pdf"])``.
"""

import simstudy as ss

outputs = ss.truth.correlated_accuracies([0.60, 0.66, 0.67, 0.68, 0.75, 0.76], n_items=500)
with ss.plot.for_a_paper():
    ss.plot.leaderboard(ss.leaderboard(outputs))

# %%
# On a page, a line below says what the data are.

figure = ss.plot.groups(ss.compare(outputs).groups()).figure
ss.plot.say_below(figure, "simulated answers, accuracy, 500 items")
