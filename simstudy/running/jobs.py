"""How many workers there are to be: cores, and what arguments ask for."""

from __future__ import annotations

import os
import sys
from concurrent.futures import Executor

from simstudy.validation import TOO_MANY, InputError, check_whole


def n_workers(n_jobs: int | None, otherwise: int = -1) -> int:
    """The number of workers that `n_jobs` asks for; -1 is all cores, None what `joblib.parallel_config` says.

    If that says nothing either it is `otherwise`. A ValueError for numbers that are neither positive nor -1.
    """
    # Nobody has configured what nobody has imported, and its import takes a tenth of a second.
    joblib = sys.modules.get("joblib")
    if n_jobs is None:
        n_jobs = (joblib and joblib.parallel.get_active_backend()[1]) or otherwise
    if isinstance(n_jobs, int) and n_jobs == -1:
        # Only joblib knows what a container's share of the cores is: processes are counted by it, threads may not be.
        if joblib:
            return int(joblib.cpu_count())
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    check_whole("n_jobs", n_jobs, -TOO_MANY)
    if n_jobs < 1:
        raise InputError("n_jobs", "must be at least 1, or -1 for all cores", n_jobs)
    return int(n_jobs)


def check_executor(executor: object) -> None:
    """Raise a ValueError for what is neither an executor nor None."""
    if executor is not None and not isinstance(executor, Executor):
        rule = "must be a concurrent.futures.Executor (dask: client.get_executor(pure=False)), or None"
        raise InputError("executor", rule, executor)
