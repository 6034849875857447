"""How much memory a comparison will take, said before it begins."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from simstudy.validation import InputError

# Measured: bytes for each pair of systems (its row of Comparisons, and what the row is made of; all analyses of them,
# as `simstudy compare` makes them), and copies of the statistics that are held together, 8 bytes a number.
_OF_PAIR, _OF_PAIR_ANALYSED, _COPIES = 650, 850, 5

# Measured for tests of flips: bytes for each unit of a system of what all units contribute, and of right and wrong
# answers, of which one system's contributions are held at a time.
_OF_CONTRIBUTION, _OF_ANSWER, _OF_ANSWERS = 120, 3, 80

# What a thread's tiles of resamples and sums take, and what is read in late.
_OF_THREAD, _OF_PYTHON = 64 * 2**20, 100 * 2**20

_GIB = 2**30

# Where the limits of control groups are (version 2).
_GROUPS = Path("/sys/fs/cgroup")


def needed(
    n_systems: int,
    n_units: int,
    n_statistics: int,
    n_pairs: int,
    n_jobs: int = 1,
    *,
    analysed: bool = False,
    of_unit: float | None = None,
) -> int:
    """Bytes that a comparison takes at its peak, beside its Outputs; also with all that is made of it (`analysed`).

    `of_unit` are bytes for each unit of a system, as `bytes_of_unit` tells; None: of any test.
    """
    of_pair = _OF_PAIR_ANALYSED if analysed else _OF_PAIR
    of_unit = 8 * _COPIES * n_statistics if of_unit is None else of_unit
    return int(_OF_PYTHON + _OF_THREAD * n_jobs + of_pair * n_pairs + of_unit * n_systems * n_units)


def bytes_of_unit(test: str, shape: Sequence[int], *, answers: bool) -> float:
    """Bytes that a test holds for each unit of a system, given the shape (K, n, S); `answers` are right or wrong."""
    if answers and test in ("sign_flips", "skew_corrected", "randomization"):
        return _OF_ANSWER + _OF_ANSWERS / shape[0]
    of_any = 8 * _COPIES * shape[2]
    return min(_OF_CONTRIBUTION, of_any) if test in ("sign_flips", "skew_corrected") else of_any


def check_memory(
    test: str,
    shape: Sequence[int],
    n_pairs: int,
    n_jobs: int = 1,
    *,
    analysed: bool = False,
    of_unit: float | None = None,
) -> None:
    """Raise a ValueError where a comparison of this shape (K systems, n units, S) would not fit into memory."""
    k, n, s = shape
    bytes_needed, there = needed(k, n, s, n_pairs, n_jobs, analysed=analysed, of_unit=of_unit), available()
    if there is None or bytes_needed <= there:
        return
    raise InputError(
        "outputs",
        f"must fit into memory: test '{test}' of {n_pairs:,} pairs of {k:,} systems on {n:,} units needs about "
        f"{bytes_needed / _GIB:.1f} GiB, and {there / _GIB:.1f} GiB are available; select fewer systems (half of "
        f"them are a quarter of the pairs){', take fewer items' if n > k else ''} or use a machine with more memory",
    )


def taken() -> int:
    """Bytes that this process takes; 0 where the operating system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, AttributeError):
        return 0


def available() -> int | None:
    """Bytes that this process may still take: what the machine has left, or less where a limit is set; None: unknown.

    Limits are those of the process (`ulimit -v`) and of its control groups of version 2 (containers, clusters).
    """
    found = [left for left in (_of_machine(), _of_process(), _of_groups()) if left is not None]
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


def _of_groups(process: Path = Path("/proc/self/cgroup"), mounted: Path = _GROUPS) -> int | None:
    """What the control groups leave that this process is in: its own, and those that hold it, up to the top."""
    try:
        lines = process.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError):
        return None
    # In a container the path may be of the machine outside: then the top is the container's own group.
    parts = [part for line in lines if line.startswith("0::") for part in line[3:].split("/") if part]
    found = [_left(Path(mounted, *parts[:end])) for end in range(len(parts) + 1)]
    return min((left for left in found if left is not None), default=None)


def _left(folder: Path) -> int | None:
    """What one control group leaves; None where it has no limit, or is not there."""
    try:
        most, now, told = (
            (folder / name).read_text(encoding="ascii").strip()
            for name in ("memory.max", "memory.current", "memory.stat")
        )
        if not most.isdigit():
            return None
        # What of files is kept in memory is given back when it is needed.
        told_of = dict(line.split() for line in told.splitlines())
        back = sum(int(told_of.get(name, 0)) for name in ("inactive_file", "active_file"))
        return max(int(most) - int(now) + back, 0)
    except (OSError, ValueError):
        return None
