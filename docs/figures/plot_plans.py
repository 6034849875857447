"""
Plans of test sets
==================

The power to detect a gain, and the minimum detectable gain, by the number of items. Bands follow from the range of
the guess.
"""

import simstudy as ss

plan = ss.plan(metric="accuracy", gain=2, guess=ss.Guess(score=80, agreement=(0.85, 0.95)))
ss.plot.planned_power(plan.power_curve(), plan.answers)

# %%
# The minimum detectable gain falls with the square root of the number of items.

ss.plot.planned_gains(plan.sizes)
