"""Outputs of systems on a test set, as numbers: collections of them, their parts, and the files that keep them.

`Outputs` is `base` (numbers), `parts` (taken out, joined and saved) and `outputs` (how it is made).
"""

from simstudy.outputs.checks import check_outputs, require_outputs
from simstudy.outputs.outputs import Outputs
from simstudy.outputs.test_set import TestSet

__all__ = ["Outputs", "TestSet", "check_outputs", "require_outputs"]
