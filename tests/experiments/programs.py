"""Shipped experiments: their programs, and their studies with other values."""

from __future__ import annotations

import sys
from typing import Any

from simstudy.running.program_files import load_program, shipped_folder
from simstudy.studies import Study, load_study, make_study


def program(name: str, part: str = "study") -> Any:
    """The module that an experiment's study.py is, or another one of its folder."""
    study = type(load_study(name)).__module__.partition(".")[0]
    return sys.modules[study if part == "study" else f"{study}.{part}"]


def task_of(name: str) -> Any:
    """The module that an experiment's task.py is."""
    return load_program(shipped_folder() / name / "task.py")


def small(name: str, **changes: Any) -> Study:
    """An experiment's study with some keys changed, called "small"."""
    shipped = load_study(name)
    return make_study({**shipped.model_dump(), "name": "small", **changes}, "here", type(shipped))
