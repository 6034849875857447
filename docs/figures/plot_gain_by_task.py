"""
The gain on each of several tasks
=================================

The gain of one pair on each task, and its averages below. Blue: these tasks. Vermilion: tasks like these.
"""

import numpy as np
import pandas as pd

import simstudy as ss

sizes = {"law": 40, "code": 60, "maths": 100, "science": 250, "reading": 600, "trivia": 900}
outputs = ss.truth.correlated_accuracies([0.62, 0.66], n_items=sum(sizes.values()))
items = pd.DataFrame({"id": outputs.items["id"], "domain": np.repeat(list(sizes), list(sizes.values()))})
outputs = ss.Outputs.from_statistics(outputs.statistics, "accuracy", outputs.systems, items)
ss.plot.gain_by_task(ss.across_tasks(outputs).gains())
