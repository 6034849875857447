"""How large a test set must be, and what one can tell: plans from guesses, from pilot outputs and from last year's."""

from simstudy.planning.plans import plan
from simstudy.planning.sheet import Plan

__all__ = ["Plan", "plan"]
