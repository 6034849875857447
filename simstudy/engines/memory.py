"""How much memory a comparison will take, by its size, said before it begins."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from simstudy.validation import InputError

# Measured: bytes for each pair of systems (its row of Comparisons, and what the row is made of; all analyses of them,
# as `simstudy compare` makes them), and copies of the statistics that are held together, 8 bytes a number.
_OF_PAIR, _OF_PAIR_ANALYSED, _COPIES = 650, 850, 5

# Measured: bytes for each pair while it is tested, and for each column that is asked for.
_OF_PAIR_TESTED, _OF_COLUMN = 200, 24

# Measured for tests of flips: bytes for each unit of a system of what all units contribute, and of right and wrong
# answers, of which one system's contributions are held at a time.
_OF_CONTRIBUTION, _OF_ANSWER, _OF_ANSWERS = 120, 3, 80

# What a thread's tiles of resamples and sums take, and what is read in late.
_OF_THREAD, _OF_PYTHON = 64 * 2**20, 100 * 2**20

_GIB = 2**30


def needed(
    test: str,
    shape: Sequence[int],
    n_pairs: int,
    n_jobs: int,
    *,
    answers: bool = False,
    analysed: bool = False,
    n_columns: int | None = None,
) -> int:
    """Bytes that a comparison of this shape (K systems, n units, S) takes at its peak, beside its Outputs.

    `answers` are right or wrong; `analysed` is with all that is made of the comparison; `n_columns` are those that are
    asked for, None for all.
    """
    k, n, s = shape
    of_unit: float = 8 * _COPIES * s
    if test in ("sign_flips", "skew_corrected", "randomization") and answers:
        of_unit = _OF_ANSWER + _OF_ANSWERS / k
    elif test in ("sign_flips", "skew_corrected"):
        of_unit = min(_OF_CONTRIBUTION, of_unit)
    of_pair = _OF_PAIR_ANALYSED if analysed else _OF_PAIR
    if n_columns is not None:
        of_pair = min(_OF_PAIR_TESTED + _OF_COLUMN * n_columns, of_pair)
    return int(_OF_PYTHON + _OF_THREAD * n_jobs + of_pair * n_pairs + of_unit * k * n)


def check_memory(test: str, shape: Sequence[int], n_pairs: int, n_jobs: int, **options: Any) -> None:
    """Raise a ValueError where a comparison of this shape (K systems, n units, S) would not fit into memory."""
    k, n, _ = shape
    total, free = needed(test, shape, n_pairs, n_jobs, **options), available()
    if total > free:
        raise InputError(
            "outputs",
            f"must fit into memory: test '{test}' of {n_pairs:,} pairs of {k:,} systems on {n:,} units needs about "
            f"{total / _GIB:.1f} GiB, and {free / _GIB:.1f} GiB are free; select fewer systems (half of "
            f"them are a quarter of the pairs), ask for fewer columns{', take fewer items' if n > k else ''} or use a "
            "larger machine",
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
