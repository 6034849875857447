"""How much memory a comparison will take, by its size, said before it begins."""

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


def needed(n_systems: int, n_units: int, n_pairs: int, n_jobs: int, of_unit: float, *, analysed: bool = False) -> int:
    """Bytes that a comparison takes at its peak, beside its Outputs; also with all that is made of it (`analysed`)."""
    of_pair = _OF_PAIR_ANALYSED if analysed else _OF_PAIR
    return int(_OF_PYTHON + _OF_THREAD * n_jobs + of_pair * n_pairs + of_unit * n_systems * n_units)


def bytes_of_unit(test: str, shape: Sequence[int], *, answers: bool) -> float:
    """Bytes that a test holds for each unit of a system, given the shape (K, n, S); `answers` are right or wrong."""
    if answers and test in ("sign_flips", "skew_corrected", "randomization"):
        return _OF_ANSWER + _OF_ANSWERS / shape[0]
    of_any = 8 * _COPIES * shape[2]
    return min(_OF_CONTRIBUTION, of_any) if test in ("sign_flips", "skew_corrected") else of_any


def check_memory(
    test: str, shape: Sequence[int], n_pairs: int, n_jobs: int = 1, *, answers: bool = False, analysed: bool = False
) -> None:
    """Raise a ValueError where a comparison of this shape (K systems, n units, S) would not fit into memory."""
    k, n, _ = shape
    of_unit = bytes_of_unit(test, shape, answers=answers)
    bytes_needed, free = needed(k, n, n_pairs, n_jobs, of_unit, analysed=analysed), available()
    if bytes_needed > free:
        raise InputError(
            "outputs",
            f"must fit into memory: test '{test}' of {n_pairs:,} pairs of {k:,} systems on {n:,} units needs about "
            f"{bytes_needed / _GIB:.1f} GiB, and {free / _GIB:.1f} GiB are free; select fewer systems (half of "
            f"them are a quarter of the pairs){', take fewer items' if n > k else ''} or use a larger machine",
        )


def available() -> float:
    """Bytes of memory that are free; infinite where the operating system does not tell."""
    try:
        for line in Path("/proc/meminfo").read_text(encoding="ascii").splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return float("inf")


def taken() -> int:
    """Bytes that this process takes; 0 where the operating system does not tell."""
    try:
        return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
