"""How large a test set must be, and what one can tell: plans from guesses, from pilot outputs and from last year's."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from simstudy.planning.plans import plan
from simstudy.planning.sheet import Plan

if TYPE_CHECKING:
    from simstudy.planning.leaderboards import predict as predict

__all__ = ["Plan", "plan", "predict"]


def __getattr__(name: str) -> Any:
    # Predictions need the engines, for which guesses do not wait.
    if name == "predict":
        return import_module("simstudy.planning.leaderboards").predict
    raise AttributeError(f"module 'simstudy.planning' has no attribute '{name}'")
