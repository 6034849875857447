"""Outputs of systems on a test set, as numbers.

Read `outputs` first: the class, its parts and how it is made. `frames` has the tables that go in, `statistics` the
arrays, `samples` several samples of a question, `units` what tests resample, `test_set` how systems are compared.
"""

from simstudy.outputs.outputs import Outputs, check_outputs, require_outputs
from simstudy.outputs.test_set import TestSet

__all__ = ["Outputs", "TestSet", "check_outputs", "require_outputs"]
