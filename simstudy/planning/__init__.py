"""How large a test set must be, and what one can tell: plans from guesses, from pilot outputs and from last year's."""

from __future__ import annotations

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from simstudy.planning.arguments import Clusters as Clusters
    from simstudy.planning.arguments import Costs as Costs
    from simstudy.planning.arguments import Guess as Guess
    from simstudy.planning.arguments import Judge as Judge
    from simstudy.planning.arguments import Pilot as Pilot
    from simstudy.planning.leaderboards import predict as predict
    from simstudy.planning.level import Level as Level
    from simstudy.planning.plans import plan as plan
    from simstudy.planning.results import Plan as Plan

# The command reads its options from the nouns, and guesses do not need the engines: both are imported when first used.
_HOMES = {name: "arguments" for name in ("Clusters", "Costs", "Guess", "Judge", "Pilot")}
_HOMES |= {"plan": "plans", "predict": "leaderboards", "Level": "level", "Plan": "results"}

__all__ = ["Clusters", "Costs", "Guess", "Judge", "Level", "Pilot", "Plan", "plan", "predict"]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f"simstudy.planning.{_HOMES[name]}"), name)
    raise AttributeError(f"module 'simstudy.planning' has no attribute '{name}'")
