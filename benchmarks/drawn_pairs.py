"""Our tests on many drawn test sets at once beside scipy's, on one thread in the same run; ratios are what counts.

A study of error rates asks a test of 10,000 test sets and more, each with one pair of systems. scipy's t test and
Wilcoxon take all of them in one call as well; its permutation test and bootstrap are called with all of them along an
axis, with 999 resamples. Our bootstrap draws as many; our sign flips and randomization of means are computed.

    python benchmarks/drawn_pairs.py [--sets 10000] [--units 20 100 1000]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.metrics.base import FloatArray
from simstudy.truth import MODELS

N_RESAMPLES = 999


def seconds(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    start = time.process_time()
    work()
    return time.process_time() - start


def scipys(scores: FloatArray, some: int) -> dict[str, tuple[Callable[[], object], float]]:
    """By our tests' names: what scipy does, and which share of the test sets it does it for."""
    first, second = scores[:, 0], scores[:, 1]
    fewer = scores[:some]

    def mean(difference: FloatArray, axis: int = -1) -> FloatArray:
        return np.asarray(difference.mean(axis=axis))

    def permuted() -> object:
        difference = fewer[:, 0] - fewer[:, 1]
        return stats.permutation_test(
            (difference,), mean, permutation_type="samples", vectorized=True, n_resamples=N_RESAMPLES, axis=1, batch=20
        )

    def resampled() -> object:
        difference = fewer[:, 0] - fewer[:, 1]
        return stats.bootstrap(
            (difference,), mean, n_resamples=N_RESAMPLES, axis=1, batch=20, method="basic", vectorized=True
        )

    share = len(fewer) / len(scores)
    return {
        "t_paired": (lambda: stats.ttest_rel(first, second, axis=1), 1.0),
        "wilcoxon": (lambda: stats.wilcoxon(first, second, axis=1, method="asymptotic", keepdims=True), 1.0),
        "randomization": (permuted, share),
        "sign_flips": (permuted, share),
        "bootstrap": (resampled, share),
    }


def table(n_sets: int, n_units: int) -> None:
    """Rows of seconds."""
    margin = {"kind": "LogNormal", "average": 1.0, "spread": 0.8}
    dependence = {"kind": "GaussianCopula", "correlation": 0.5}
    model = MODELS["Scores"]([margin, margin], dependence)
    drawing = seconds(lambda: model.draw(n_sets, n_units, np.random.default_rng(0)))
    statistics = model.draw(n_sets, n_units, np.random.default_rng(0)).by("item")

    def asked() -> DrawnPairs:
        return DrawnPairs(statistics, "mean", n_resamples=N_RESAMPLES)

    total = seconds(asked)
    print(
        f"\n{n_sets:,} test sets of {n_units:,} units, drawn in {drawing:.2g} s and made ready for all of ours in "
        f"{total:.2g} s; {N_RESAMPLES} resamples\n"
    )
    print("| test | scipy, s | ours, s | scipy / ours |")
    print("|---|---|---|---|")
    for test, (theirs, share) in scipys(statistics[..., 0], min(n_sets, 200)).items():
        # What compiles does so before. It is the same work, since little is done without compiled code.
        asked().decisions([test], alternatives=["two-sided"])
        ours = seconds(partial(asked().decisions, [test], alternatives=["two-sided"]))
        scipy = seconds(theirs) / share
        total += ours
        print(f"| {test} | {scipy:.3g} | {ours:.3g} | {scipy / ours:.2g} |", flush=True)
    print(f"\nAll of ours: {total:.2g} s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=int, default=10_000)
    parser.add_argument("--units", type=int, nargs="*", default=[20, 100, 1000])
    given = parser.parse_args()
    with threadpool_limits(1):
        for units in given.units:
            table(given.sets, units)


if __name__ == "__main__":
    main()
