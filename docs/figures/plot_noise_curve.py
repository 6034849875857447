"""
The standard error against the number of samples
================================================

The standard error of an accuracy with more and more samples of each of 500 questions. It falls to a floor, which more
questions would lower.
"""

import numpy as np
import pandas as pd

import simstudy as ss

rng = np.random.default_rng(0)
chance = rng.beta(2, 2, size=500)
rows = pd.DataFrame({"item": np.repeat(np.arange(500), 8), "sample": np.tile(np.arange(8), 500)})
for system, more in (("base", 0.0), ("new", 0.08)):
    rows[system] = rng.binomial(1, np.clip(chance + more, 0, 1).repeat(8))
outputs = ss.load(rows, "accuracy").outputs
ss.plot.noise_curve(ss.comparisons.noise_curve(ss.comparisons.noises(outputs)))
