"""Training-set resampling: tasks (data, base systems, metrics, test sets), and many variants of their systems.

A task that is no classification is made of `Examples`, base systems that learn from them, and a function that counts
each metric's statistics; `experiments/dependency_parsing/task.py` is one.
"""

from simstudy.training.base import Task
from simstudy.training.classification import Classifier, Rows, count_correct
from simstudy.training.examples import BaseSystem, Count, Examples, mixed_order
from simstudy.training.named import load_task, task_names
from simstudy.training.resampling import resample_training

__all__ = [
    "BaseSystem",
    "Classifier",
    "Count",
    "Examples",
    "Rows",
    "Task",
    "count_correct",
    "load_task",
    "mixed_order",
    "resample_training",
    "task_names",
]
