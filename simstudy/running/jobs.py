"""How many workers there are to be: cores, and what arguments ask for."""

from __future__ import annotations

import math
import os
import sys
from concurrent.futures import Executor
from contextlib import suppress
from pathlib import Path

from simstudy.validation import brief, check_whole

_CONTROL_GROUP = Path("/sys/fs/cgroup")


def n_workers(n_jobs: int | None, otherwise: int = -1) -> int:
    """The number of workers that `n_jobs` asks for; -1 is all cores, None what `joblib.parallel_config` says.

    If that says nothing either it is `otherwise`. A ValueError for numbers that are neither positive nor -1.
    """
    if n_jobs is None:
        # Nobody has configured what nobody has imported.
        joblib = sys.modules.get("joblib")
        n_jobs = (joblib and joblib.parallel.get_active_backend()[1]) or otherwise
    if isinstance(n_jobs, int) and n_jobs == -1:
        return cores()
    check_whole("n_jobs (-1: all cores)", n_jobs, 1)
    return int(n_jobs)


def cores() -> int:
    """The number of cores of this process, or of a container's share of time; `joblib.cpu_count` without its import."""
    allowed = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return max(1, min(allowed, math.ceil(_share_of_container(allowed))))


def _share_of_container(otherwise: float) -> float:
    """Cores that the control group of the process may use, by either version of control groups."""
    with suppress(OSError, ValueError):
        quota, period = (_CONTROL_GROUP / "cpu.max").read_text(encoding="ascii").split()
        return int(quota) / int(period)
    with suppress(OSError, ValueError):
        quota, period = ((_CONTROL_GROUP / f"cpu/cpu.cfs_{part}_us").read_text() for part in ("quota", "period"))
        return int(quota) / int(period) if int(quota) > 0 else otherwise
    return otherwise


def check_executor(executor: object) -> None:
    """Raise a ValueError for what is neither an executor nor None."""
    if executor is not None and not isinstance(executor, Executor):
        raise ValueError(
            "executor must be a concurrent.futures.Executor (dask: client.get_executor(pure=False)), or None, "
            f"not {brief(executor)}"
        )
