"""How much memory a comparison will take, said before it begins."""

from __future__ import annotations

import os
from pathlib import Path

from simstudy.engines.question import Question

# Measured: bytes for each pair of systems (its row of Comparisons, and what the row is made of), and copies of the
# statistics that are held together, 8 bytes a number.
_OF_PAIR, _COPIES = 1100, 5

# What a thread's tiles of resamples and sums take, and Python with its packages.
_OF_THREAD, _OF_PYTHON = 64 * 2**20, 100 * 2**20

_GIB = 2**30


def needed(n_systems: int, n_units: int, n_statistics: int, n_pairs: int, n_jobs: int = 1) -> int:
    """Bytes that a comparison takes at its peak, beside its Outputs.

    Examples
    --------
    >>> round(needed(1000, 1000, 2, 499_500) / 2**30, 1)
    0.7
    """
    return _OF_PYTHON + _OF_THREAD * n_jobs + _OF_PAIR * n_pairs + 8 * _COPIES * n_systems * n_units * n_statistics


def check_memory(question: Question, test: str) -> None:
    """Raise a ValueError where a comparison would take more memory than there is, and say what would fit."""
    k, n, s = question.statistics.shape
    bytes_needed, there = needed(k, n, s, question.n_pairs, question.n_jobs), available()
    if there is None or bytes_needed <= there:
        return
    raise ValueError(
        f"outputs must fit into memory: test '{test}' of {question.n_pairs:,} pairs of {k:,} systems on {n:,} units "
        f"needs about {bytes_needed / _GIB:.1f} GiB, and {there / _GIB:.1f} GiB are available; select fewer systems "
        f"(Outputs.select; half of them are a quarter of the pairs){', take fewer items' if n > k else ''} or use a "
        "machine with more memory"
    )


def available() -> int | None:
    """Bytes that this process may still take: what the machine has left, or less where a limit is set; None: unknown.

    Limits are those of the process (`ulimit -v`) and of its control group (containers, clusters).
    """
    found = [left for left in (_of_machine(), _of_process(), _of_group()) if left is not None]
    return min(found) if found else None


def _of_machine() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (OSError, ValueError, AttributeError):
        # Other systems do not tell: there the operating system has the last word.
        return None


def _of_process() -> int | None:
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_AS)[0]
        if limit == resource.RLIM_INFINITY:
            return None
        taken = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * os.sysconf("SC_PAGE_SIZE")
    except (ImportError, OSError, ValueError, AttributeError):
        return None
    return max(limit - taken, 0)


def _of_group() -> int | None:
    folder = Path("/sys/fs/cgroup")
    for limit, taken, statistics, cached in (
        ("memory.max", "memory.current", "memory.stat", "inactive_file"),
        ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes", "memory/memory.stat", "total_inactive_file"),
    ):
        try:
            most, now, told = ((folder / name).read_text(encoding="ascii") for name in (limit, taken, statistics))
            # What of files is kept in memory is given back when it is needed.
            files = dict(line.split() for line in told.splitlines()).get(cached, "0")
            if not most.strip().isdigit() or int(most) >= 2**60:
                return None
            return max(int(most) - int(now) + int(files), 0)
        except (OSError, ValueError):
            continue
    return None
