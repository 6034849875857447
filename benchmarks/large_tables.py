"""Processor time and peak memory of some columns of large tables of pairs, of simulated scores.

Each comparison runs in a fresh process by one thread. The time is that of `simstudy.compare` alone, and the memory that
of the whole process with the scores.

    python benchmarks/large_tables.py [--cases many-systems many-items] [--systems 100] [--items 1000]
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
from all_pairs import in_a_fresh_process, peak_memory
from numpy.typing import NDArray

import simstudy as ss

#: Systems and items of each table.
CASES: dict[str, tuple[int, int]] = {
    "many-systems": (5000, 1000), "many-items": (20, 10_000_000), "few-items": (2000, 100), "decimals": (150, 2000),
}  # fmt: skip

COLUMNS = ["system_a", "system_b", "gain", "gain_low", "gain_high", "p_value", "p_holm"]


def simulated(case: str, k: int, n: int) -> ss.Outputs:
    """Right or wrong answers, a byte each, or decimals."""
    rng = np.random.default_rng(0)
    hard = rng.normal(size=n)
    scores: NDArray[Any] = np.empty((k, n), dtype=np.float64 if case == "decimals" else np.int8)
    for row, ability in zip(scores, np.linspace(-0.6, 0.6, k), strict=True):
        ease = ability - hard + 0.7 * rng.normal(size=n)
        row[:] = ease if case == "decimals" else ease > 0
    statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
    return ss.Outputs.from_statistics(statistics, "mean" if case == "decimals" else "accuracy")


def measured(case: str, k: int, n: int) -> str:
    outputs = simulated(case, k, n)
    begin = time.process_time()
    table = ss.compare(outputs, columns=COLUMNS)
    seconds = time.process_time() - begin
    return f"| {case} | {k:,} x {n:,} | {len(table):,} | {seconds:.1f} s | {peak_memory() / 2**10:.2f} GiB |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=[*CASES])
    parser.add_argument("--systems", type=int, default=10**9, help="at most so many")
    parser.add_argument("--items", type=int, default=10**9, help="at most so many")
    options = parser.parse_args()
    for case in options.cases:
        k, n = (min(both) for both in zip(CASES[case], (options.systems, options.items), strict=True))
        print(in_a_fresh_process(measured, case, k, n), flush=True)


if __name__ == "__main__":
    main()
