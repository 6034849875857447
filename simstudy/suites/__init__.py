"""Several tasks: a table for each, their averages, and two null hypotheses about these averages.

Read `asking.py` first. `averages` has the weights of tasks, `contributions` the two test sets that an average is
reduced to, and `harness_groups` reads the groups of tasks that lm-evaluation-harness defines.
"""

from simstudy.suites.across import AcrossTasks
from simstudy.suites.asking import across_tasks
from simstudy.suites.averages import TaskGroup
from simstudy.suites.contributions import LIKE_THESE, THESE

__all__ = ["LIKE_THESE", "THESE", "AcrossTasks", "TaskGroup", "across_tasks"]
