"""Several tasks: a table for each, their averages, and two null hypotheses about these averages.

Read `averages` first: weights of tasks, and the test sets that an average is reduced to. `comparing` has `across_tasks`
and its tables, and `harness_groups` reads the groups of tasks that lm-evaluation-harness defines.
"""

from simstudy.suites.averages import LIKE_THESE, THESE, TaskGroup
from simstudy.suites.comparing import AcrossTasks, across_tasks

__all__ = ["LIKE_THESE", "THESE", "AcrossTasks", "TaskGroup", "across_tasks"]
