"""
Significant gains are too large
===============================

The mean significant gain over the true gain (type M error), by the power of the test. With little power it is
large.
"""

import pandas as pd

import simstudy as ss

rows = []
for score in (60, 80, 90):
    guess = ss.Guess(score=score, agreement=0.85)
    sizes = ss.plan(metric="accuracy", gain=3, guess=guess, sizes=[100, 200, 400, 800, 1600]).sizes
    rows.append(sizes.assign(view=f"accuracy of {score} %"))
table = pd.concat(rows).rename(columns={"power": "share", "exaggeration": "type_m"})
ss.plot.exaggeration(table.assign(type_m_low=table["type_m"], type_m_high=table["type_m"]))
