"""Training-set resampling: tasks (data, base systems, metrics, test sets), and many variants of their systems."""

from simstudy.learners.examples import Examples
from simstudy.training.base import Task
from simstudy.training.known import TASKS, load_task
from simstudy.training.resampling import resample_training

__all__ = ["TASKS", "Examples", "Task", "load_task", "resample_training"]
