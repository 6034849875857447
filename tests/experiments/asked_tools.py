"""The study of tools: a data set of a condition, and what a tool answers."""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.experiments.programs import program, small

STUDY = program("tools_bench")
ADAPTERS, DATA = program("tools_bench", "adapters"), program("tools_bench", "data_sets")
SHIPPED: Any = small("tools_bench")
LEVELS = SHIPPED.levels


def data_set(condition: str, seed: int = 5, gain: int = 0) -> Any:
    (data,) = SHIPPED.conditions[condition].draw(gain, 1, np.random.default_rng(seed))
    return data


def answer(tool: str, data: Any, seed: int = 1) -> Any:
    return STUDY.ask(tool, data, SHIPPED, seed)
