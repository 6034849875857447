"""What shuffles cost, and what exact p-values cost instead; ratios in one run are what counts.

- The test of MUC-4 (Chinchor 1992), which "takes about eight hours on a Sun SPARCstation": all pairs of 17 systems on
  100 messages, 9,999 shuffles, five metrics.
- All pairs of 150 systems, for a linear metric, for F and for others; with fewer shuffles than 2^20 where those take
  long, and the time for 2^20 in proportion. Without quick gains all shuffles are scored by `Metric.score`.
- Exact p-values against shuffles or resamples of the same pairs.

    python benchmarks/randomization.py [--jobs 2]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import numpy as np
from all_pairs import accuracy, bleu_like, f1, in_the_product, rates, seconds

from simstudy.comparisons.comparing import compare
from simstudy.engines.exact_kernels import swapped_ratio_tails
from simstudy.engines.kernels import Ratio
from simstudy.engines.question import Question
from simstudy.engines.randomization import by_coins
from simstudy.engines.swap_kernels import Tail
from simstudy.engines.swap_tallies import make_swap_tally
from simstudy.outputs import Outputs
from simstudy.truth.muc_like import muc_like

MUC_METRICS = ("muc_recall", "muc_precision", "muc_f", "muc_f_2p", "muc_f_2r")
FULL = 2**20


def chrf_like(n_systems: int, n_items: int) -> Outputs:
    rng = np.random.default_rng(0)
    text, wanted = (rng.integers(20, 200, size=(k, n_items, 1)) - np.arange(6) for k in (n_systems, 1))
    wanted = np.broadcast_to(wanted, text.shape)
    share = np.linspace(0.8, 0.3, 6) + rng.normal(0, 0.005, size=(n_systems, 1, 1))
    match = rng.binomial(np.minimum(text, wanted), share)
    return Outputs.from_statistics(np.concatenate([match, text, wanted], axis=-1), "chrf")


def shuffled(outputs: Outputs, n_shuffles: int, n_jobs: int) -> tuple[float, float, Any]:
    """Wall time of the shuffles alone, seconds in the product on each core, and the product's shape."""
    ranked = outputs.best_first()
    bounds = np.array([0, ranked.n_items])
    asked = Question(ranked.statistics, ranked.metric, ranked.names, "item", bounds, "two-sided", n_jobs=n_jobs)

    def work(n: int) -> object:
        return by_coins(make_swap_tally(asked), replace(asked, n_resamples=n))

    return in_the_product(work, n_shuffles, n_jobs)


def without_quick_gains(outputs: Outputs, n_shuffles: int, n_jobs: int) -> float:
    """Seconds of shuffles that are all scored; NaN where they are not scored at all."""
    if outputs.metric.quick is None:
        return np.nan
    with mock.patch.object(type(outputs.metric), "quick", None):
        return shuffled(outputs, n_shuffles, n_jobs)[0]


#: Name, maker, shuffles that are timed.
METRICS: tuple[tuple[str, Callable[[int, int], Outputs], int], ...] = (
    ("accuracy (linear)", accuracy, FULL),
    ("F1 (own denominators)", f1, 2**18),
    ("BLEU (quick gains)", bleu_like, 2**14),
    ("chrF (quick gains)", chrf_like, 2**14),
)


def muc(n_jobs: int) -> None:
    tables = [muc_like().with_metric(name) for name in MUC_METRICS]

    def work(jobs: int) -> None:
        for table in tables:
            compare(table, test="randomization", convention="chinchor1992", n_jobs=jobs)

    print("\n| 17 systems x 100 messages, 136 pairs, 9,999 shuffles, 5 metrics | s | ns a pair, shuffle |")
    print("|---|---|---|")
    for jobs in sorted({1, n_jobs}):
        wall = seconds(partial(work, jobs))
        print(f"| threads: {jobs} | {wall:.3f} | {1e9 * wall / (136 * 9_999 * len(tables)):.1f} |", flush=True)


def many_systems(n_jobs: int, n_systems: int = 150) -> None:
    pairs = n_systems * (n_systems - 1) // 2
    print(f"\n| {pairs:,} pairs of {n_systems} systems | shuffles | s | s for 2^20 | ns a pair, shuffle "
          "| in the product | product rate / plain matmul | time without quick gains / with |")  # fmt: skip
    print("|---|---|---|---|---|---|---|---|")
    for name, make, n_shuffles in METRICS:
        for n_items in (100, 2_000):
            outputs = make(n_systems, n_items)
            wall, product, shape = shuffled(outputs, n_shuffles, n_jobs)
            scored = 16 * without_quick_gains(outputs, n_shuffles // 16, n_jobs)
            rate, plain = rates(shape, n_shuffles, product, n_jobs)
            print(
                f"| {name}, {n_items:,} items | {n_shuffles:,} | {wall:.2f} | {wall * FULL / n_shuffles:,.1f} "
                f"| {1e9 * wall / pairs / n_shuffles:.2f} | {product / wall:.0%} "
                f"| {rate:.0f} / {plain:.0f} Gflop/s = {rate / plain:.0%} | {scored / wall:.1f} |",
                flush=True,
            )


def exact_or_drawn(what: str, outputs: Outputs, n_resamples: int, n_jobs: int, **options: Any) -> None:
    """One row: all pairs of a table, exactly and by resampling."""
    pairs = outputs.n_systems * (outputs.n_systems - 1) // 2
    exact = seconds(lambda: compare(outputs, monte_carlo=False, n_jobs=n_jobs, **options))
    drawn = seconds(lambda: compare(outputs, monte_carlo=True, n_resamples=n_resamples, n_jobs=n_jobs, **options), 2)
    print(
        f"| {what} | {exact:.4g} | {1e6 * exact / pairs:,.0f} | {n_resamples:,} | {drawn:.4g} | {drawn / exact:.2g} |",
        flush=True,
    )


def yeh() -> Outputs:
    """The example of Yeh (2000, section 3.3): relations found, by who found them, and spurious ones."""
    gold = [f"relation {k}" for k in range(103)]
    both, only_1, only_2 = gold[:19], gold[19:47], gold[47:53]
    wrong = [f"spurious {k}" for k in range(57)]
    return Outputs.from_responses(gold, {"I": both + only_1 + wrong[:48], "II": both + only_2 + wrong[43:]})


def exact(n_jobs: int) -> None:
    print("\n| exact p-values | s | µs a pair | resamples | s | ratio |")
    print("|---|---|---|---|---|---|")
    right = accuracy(123, 500)
    for test in ("bootstrap", "randomization"):
        exact_or_drawn(f"7,503 pairs, 500 items, accuracy, {test}", right, 100_000, n_jobs, test=test)
    shuffled: dict[str, Any] = {"test": "randomization", "alternative": "two-sided"}
    exact_or_drawn("Yeh's example, F1", yeh(), FULL, n_jobs, **shuffled)
    for name in ("muc_recall", "muc_f"):
        exact_or_drawn(f"136 pairs, 100 messages, {name}", muc_like().with_metric(name), FULL, n_jobs, **shuffled)
    ranked = yeh().best_first()
    question = Question(ranked.statistics, ranked.metric, ranked.names, "item", np.array([0, ranked.n_items]))
    p_value = np.empty(1)
    sides, tail = Ratio(*question.ratio), Tail(two_sided=True, strict=False)
    kernel = seconds(lambda: swapped_ratio_tails(sides, question.pairs, tail, p_value), 20)
    print(f"\nYeh's example, the distribution alone: {1e6 * kernel:.0f} µs (p = {p_value[0]:.6f})")
    for name in MUC_METRICS:
        pairs = compare(muc_like().with_metric(name), n_resamples=1, **shuffled)
        print(f"{name}: {(~pairs['monte_carlo']).sum()} of {len(pairs)} p-values are computed under monte_carlo='auto'")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    muc(options.jobs)
    many_systems(options.jobs)
    exact(options.jobs)


if __name__ == "__main__":
    main()
