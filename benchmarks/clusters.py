"""Variants of the digit classifiers are trained by the workers of a cluster on this machine, and by processes.

Each time is that on the clock, from the first variant to the last. Workers and processes have started before, and have
trained some variants. Efficiency is the time with the first number of workers, by worker, over the time with n, by
worker.

    python benchmarks/clusters.py [--workers 1 2] [--replicates 20] [--on cluster processes]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

from simstudy.running.parallel import cluster
from simstudy.training.named import load_task
from simstudy.training.resampling import resample_training


@contextmanager
def processes(n: int) -> Iterator[Executor]:
    """Python's own processes."""
    with ProcessPoolExecutor(n, mp_context=get_context("spawn")) as executor:
        yield executor


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--replicates", type=int, default=20)
    parser.add_argument("--on", nargs="+", choices=["cluster", "processes"], default=["cluster", "processes"])
    asked = parser.parse_args()
    task = load_task("digits")
    first: dict[str, float] = {}
    for name in asked.on:
        for n in asked.workers:
            with cluster(f"local:{n}") if name == "cluster" else processes(n) as executor:
                resample_training(task, fractions=[1.0], replicates=[2 * n], executor=executor)
                begin = time.perf_counter()
                outputs = resample_training(task, fractions=[0.5], replicates=[asked.replicates], executor=executor)
                taken = time.perf_counter() - begin
            share = first.setdefault(name, taken * n) / (n * taken)
            n_variants = len(next(iter(outputs.values())).names)
            print(f"{name}, {n} workers: {n_variants} variants in {taken:.1f} s, efficiency {share:.0%}", flush=True)


if __name__ == "__main__":
    main()
