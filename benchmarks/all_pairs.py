"""How fast the all-pairs bootstrap is, as shares and ratios measured in one run.

For each case: wall time, the share of it that the matrix product takes, the product's rate against a plain
numpy.matmul of the same shapes on the same cores, and the peak memory at a tenth of the resamples and at all.

    python benchmarks/all_pairs.py [--resamples 1000000] [--jobs 2] [--cases bleu accuracy f1 many-items]
"""

from __future__ import annotations

import argparse
import multiprocessing
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import numpy as np
from threadpoolctl import threadpool_info, threadpool_limits

from simstudy.comparisons.comparing import compare
from simstudy.engines import resampling
from simstudy.outputs import Outputs

# Products that are timed by themselves: as many as 2e11 operations are, and no more than these.
OPERATIONS, MOST_PRODUCTS = 2e11, 2_000

Shape = tuple[int, int, int]
Result = TypeVar("Result")


def bleu_like(n_systems: int, n_items: int) -> Outputs:
    rng = np.random.default_rng(0)
    total = rng.integers(8, 60, size=(n_systems, n_items, 1)) - np.arange(4)
    match = rng.binomial(total, np.array([0.6, 0.35, 0.22, 0.14]) + rng.normal(0, 0.005, size=(n_systems, 1, 1)))
    # A reference length for each system, so that no column is shared: ten columns a system are multiplied.
    reference = rng.integers(5, 60, size=(n_systems, n_items, 1))
    return Outputs.from_statistics(np.concatenate([match, total, total[..., :1], reference], axis=-1), "bleu")


def accuracy(n_systems: int, n_items: int) -> Outputs:
    rng = np.random.default_rng(0)
    right = rng.random((n_systems, n_items)) < rng.uniform(0.3, 0.7, size=(n_systems, 1))
    return Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1).astype(np.int8), "accuracy")


def f1(n_systems: int, n_items: int) -> Outputs:
    rng = np.random.default_rng(0)
    gold = np.broadcast_to(rng.integers(0, 5, n_items), (n_systems, n_items))
    correct = rng.binomial(gold, rng.uniform(0.6, 0.8, size=(n_systems, 1)))
    return Outputs.from_statistics(np.stack([correct, correct + rng.poisson(0.5, correct.shape), gold], -1), "f1")


#: What is scored, maker, systems, items.
CASES: dict[str, tuple[str, Callable[[int, int], Outputs], int, int]] = {
    "bleu": ("BLEU of 10 statistics", bleu_like, 150, 2034),
    "accuracy": ("accuracy", accuracy, 123, 500),
    "f1": ("F1", f1, 100, 2000),
    "many-items": ("accuracy", accuracy, 34, 50_000),
}


@dataclass(frozen=True)
class Most:
    """Sizes are no larger than these."""

    systems: int = 10**9
    items: int = 10**9
    resamples: int = 10**9

    def of(self, *sizes: int) -> tuple[int, ...]:
        """Systems, items and resamples, or the first of them."""
        return tuple(map(min, sizes, (self.systems, self.items, self.resamples)))


def add_most(parser: argparse.ArgumentParser) -> None:
    """Options for the fields of Most."""
    for field in fields(Most):
        parser.add_argument(f"--{field.name}", type=int, default=field.default, help="at most so many")


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The best of some runs, of which the first may compile."""
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)


def profile(outputs: Outputs, n_resamples: int, n_jobs: int) -> tuple[float, float, Shape]:
    """Wall time of a comparison by the bootstrap, seconds in the product on each core, and the product's shape."""

    def work(n: int) -> object:
        return compare(outputs, test="bootstrap", monte_carlo=True, n_jobs=n_jobs, n_resamples=n)

    return in_the_product(work, n_resamples, n_jobs)


def in_the_product(work: Callable[[int], object], n_resamples: int, n_jobs: int) -> tuple[float, float, Shape]:
    """Wall time of so many resamples, seconds in the product on each core, and the product's shape."""
    work(64)  # compile
    spent, lock = [0.0], threading.Lock()
    shapes: set[Shape] = set()
    plain = resampling._multiply

    def timed(columns: Any, counts: Any, sums: Any) -> None:
        start = time.perf_counter()
        plain(columns, counts, sums)
        with lock:
            spent[0] += time.perf_counter() - start
            shapes.add((len(columns), *counts.shape))

    with mock.patch.object(resampling, "_multiply", timed):
        start = time.perf_counter()
        work(n_resamples)
        wall = time.perf_counter() - start
    if not shapes:
        raise RuntimeError("there was no product: these resamples are not drawn")
    return wall, spent[0] / n_jobs, max(shapes, key=lambda shape: shape[1])


def measure(
    make: Callable[[int, int], Outputs], sizes: tuple[int, int], n_resamples: int, n_jobs: int
) -> tuple[float, float, Shape, float]:
    """The profile and the peak memory of one case, in this process."""
    return *profile(make(*sizes), n_resamples, n_jobs), peak_memory()


def peak_memory() -> float:
    """Peak resident memory of this process, in MiB (ru_maxrss would begin with the parent's)."""
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def forget_peak() -> None:
    """From now on the peak is at least what this process holds now."""
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")


def in_a_fresh_process(work: Callable[..., Result], *arguments: Any) -> Result:
    """What the work returns: peak memory is a process's own."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(work, *arguments).result()


def plain_rate(shape: Shape, n_jobs: int) -> float:
    """The best rate, in Gflop/s, of plain single-precision numpy.matmul on these shapes: BLAS threads or ours."""
    columns, tile, n_items = shape
    a = np.random.default_rng(0).integers(0, 9, (columns, n_items)).astype(np.float32)
    b = [np.random.default_rng(k).poisson(1, (tile, n_items)).astype(np.float32) for k in range(n_jobs)]
    sums = np.empty((n_jobs, columns, tile), np.float32)
    work, rates = 2 * columns * tile * n_items, []
    repeats = min(max(3, int(OPERATIONS / work)), MOST_PRODUCTS)
    with threadpool_limits(n_jobs, user_api="blas"):
        np.matmul(a, b[0].T, out=sums[0])
        start = time.perf_counter()
        for _ in range(repeats):
            np.matmul(a, b[0].T, out=sums[0])
        rates.append(work * repeats / (time.perf_counter() - start))
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(n_jobs) as threads:
        start = time.perf_counter()
        list(threads.map(lambda k: [np.matmul(a, b[k].T, out=sums[k]) for _ in range(repeats)], range(n_jobs)))
        rates.append(work * repeats * n_jobs / (time.perf_counter() - start))
    return max(rates) / 1e9


def rates(shape: Shape, n_resamples: int, product: float, n_jobs: int) -> tuple[float, float]:
    """Gflop/s of our product, which took so many seconds, and of plain numpy.matmul."""
    return 2 * shape[0] * shape[2] * n_resamples / product / 1e9, plain_rate(shape, n_jobs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cases", nargs="+", choices=CASES, default=[*CASES])
    add_most(parser)
    options = parser.parse_args()
    most = Most(options.systems, options.items, options.resamples)
    kernels = {pool["architecture"] for pool in threadpool_info() if pool["user_api"] == "blas"}
    print(f"BLAS kernels for {', '.join(sorted(kernels))}; {options.jobs} cores")
    print("| case | wall, s | in the product | product rate / plain matmul | ns a pair, resample | peak MiB, B/10, B |")
    print("|---|---|---|---|---|---|")
    for case in options.cases:
        what, make, n_systems, n_items = CASES[case]
        n_systems, n_items, n_resamples = most.of(n_systems, n_items, 1_000_000)
        sizes = n_systems, n_items
        *_, least = in_a_fresh_process(measure, make, sizes, n_resamples // 10, options.jobs)
        wall, product, shape, peak = in_a_fresh_process(measure, make, sizes, n_resamples, options.jobs)
        rate, plain = rates(shape, n_resamples, product, options.jobs)
        pairs = n_systems * (n_systems - 1) / 2
        print(
            f"| {n_systems} systems x {n_items:,} items, {what} | {wall:.3g} | {product / wall:.0%} "
            f"| {rate:.3g} / {plain:.3g} Gflop/s = {rate / plain:.0%} "
            f"| {1e9 * wall / pairs / n_resamples:.3g} | {least:.0f}, {peak:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
