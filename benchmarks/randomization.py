"""What shuffles cost, and what exact p-values cost instead; ratios in one run are what counts.

- The test of MUC-4 (Chinchor 1992), which "takes about eight hours on a Sun SPARCstation": all pairs of 17 systems on
  100 messages, 9,999 shuffles, five metrics.
- All pairs of 150 systems, for a linear metric, for F and for others, whose shuffles are scored by `Metric.score`; with
  fewer shuffles where those take long, and the time for 2^17 in proportion.
- Computed p-values against shuffles, flips or resamples of the same pairs.

    python benchmarks/randomization.py [--jobs 2] [--parts muc systems exact]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from all_pairs import Most, Shape, accuracy, add_most, bleu_like, f1, in_the_product, rates, seconds

from simstudy.comparisons.comparing import compare
from simstudy.engines.exact_distributions import joint_tails
from simstudy.engines.kernels import Ratio, Tail
from simstudy.engines.question import Question
from simstudy.engines.randomization import randomization
from simstudy.outputs import Outputs
from simstudy.running.program_files import load_program, shipped_folder

muc_like = load_program(shipped_folder() / "chinchor_1992" / "muc_like.py").muc_like

# Those of MUC-4.
MESSAGES, MUC_SHUFFLES = 100, 9_999

MUC_METRICS = ("muc_recall", "muc_precision", "muc_f", "muc_f_2p", "muc_f_2r")
FULL = 2**17


def chrf_like(n_systems: int, n_items: int) -> Outputs:
    rng = np.random.default_rng(0)
    text, wanted = (rng.integers(20, 200, size=(k, n_items, 1)) - np.arange(6) for k in (n_systems, 1))
    wanted = np.broadcast_to(wanted, text.shape)
    share = np.linspace(0.8, 0.3, 6) + rng.normal(0, 0.005, size=(n_systems, 1, 1))
    match = rng.binomial(np.minimum(text, wanted), share)
    return Outputs.from_statistics(np.concatenate([match, text, wanted], axis=-1), "chrf")


def shuffled(outputs: Outputs, n_shuffles: int, n_jobs: int) -> tuple[float, float, Shape]:
    """Wall time of the shuffles alone, seconds in the product on each core, and the product's shape."""
    ranked = outputs.best_first()
    bounds = np.array([0, ranked.n_items])

    def work(n: int) -> object:
        return randomization(
            Question(
                ranked.statistics, ranked.metric, ranked.names, "item", bounds, "two-sided", monte_carlo=True,
                n_resamples=n, n_jobs=n_jobs,
            )
        )  # fmt: skip

    return in_the_product(work, n_shuffles, n_jobs)


#: Name, maker, shuffles that are timed.
METRICS: tuple[tuple[str, Callable[[int, int], Outputs], int], ...] = (
    ("accuracy (linear)", accuracy, FULL),
    ("F1 (own denominators)", f1, FULL),
    ("BLEU", bleu_like, 2**11),
    ("chrF", chrf_like, 2**11),
)


def muc(n_jobs: int, most: Most) -> None:
    n_systems, n_messages, shuffles = most.of(17, MESSAGES, MUC_SHUFFLES)
    tables = [muc_like(n_systems, n_messages).with_metric(name) for name in MUC_METRICS]
    pairs = n_pairs(n_systems)

    def work(jobs: int) -> None:
        for table in tables:
            compare(table, test="randomization", convention="chinchor1992", n_resamples=shuffles, n_jobs=jobs)

    print(
        f"\n| {n_systems} systems x {n_messages} messages, {pairs} pairs, {shuffles:,} shuffles, {len(tables)} metrics "
        "| s | ns a pair, shuffle |"
    )
    print("|---|---|---|")
    for jobs in sorted({1, n_jobs}):
        wall = seconds(partial(work, jobs))
        print(f"| threads: {jobs} | {wall:.3g} | {1e9 * wall / (pairs * shuffles * len(tables)):.3g} |", flush=True)


def n_pairs(n_systems: int) -> int:
    return n_systems * (n_systems - 1) // 2


def many_systems(n_jobs: int, most: Most) -> None:
    (n_systems,) = most.of(150)
    pairs = n_pairs(n_systems)
    print(f"\n| {pairs:,} pairs of {n_systems} systems | shuffles | s | s for 2^17 | ns a pair, shuffle "
          "| in the product | product rate / plain matmul |")  # fmt: skip
    print("|---|---|---|---|---|---|---|")
    for name, make, at_most in METRICS:
        n_shuffles = min(at_most, most.resamples)
        for n_items in sorted({min(n, most.items) for n in (100, 2_000)}):
            outputs = make(n_systems, n_items)
            wall, product, shape = shuffled(outputs, n_shuffles, n_jobs)
            rate, plain = rates(shape, n_shuffles, product, n_jobs)
            print(
                f"| {name}, {n_items:,} items | {n_shuffles:,} | {wall:.3g} | {wall * FULL / n_shuffles:,.1f} "
                f"| {1e9 * wall / pairs / n_shuffles:.3g} | {product / wall:.0%} "
                f"| {rate:.3g} / {plain:.3g} Gflop/s = {rate / plain:.0%} |",
                flush=True,
            )


def exact_or_drawn(what: str, outputs: Outputs, n_resamples: int, n_jobs: int, **options: Any) -> None:
    """One row: all pairs of a table, computed and by resampling."""
    pairs = n_pairs(outputs.n_systems)
    exact = seconds(lambda: compare(outputs, n_jobs=n_jobs, **options))
    resampled = seconds(
        lambda: compare(outputs, monte_carlo=True, n_resamples=n_resamples, n_jobs=n_jobs, **options), 2
    )
    print(
        f"| {pairs:,} pairs, {outputs.n_items:,} items, {what} | {exact:.4g} | {1e6 * exact / pairs:,.0f} "
        f"| {n_resamples:,} | {resampled:.4g} | {resampled / exact:.2g} |",
        flush=True,
    )


def yeh() -> Outputs:
    """The example of Yeh (2000, section 3.3): relations found, by who found them, and spurious ones."""
    item = np.arange(103 + 57)
    gold = item < 103
    first = (item < 47) | ((item >= 103) & (item < 151))
    second = (item < 19) | ((item >= 47) & (item < 53)) | ((item >= 103) & (item < 108)) | (item >= 151)
    counts = [np.stack([given & gold, given, gold], axis=-1) for given in (first, second)]
    return Outputs.from_statistics(counts, "f1", ["I", "II"])


def exact(n_jobs: int, most: Most) -> None:
    full = min(FULL, most.resamples)
    print("\n| computed p-values | s | µs a pair | resamples | s | ratio |")
    print("|---|---|---|---|---|---|")
    right = accuracy(*most.of(123, 500))
    for test in ("bootstrap", "randomization"):
        exact_or_drawn(f"accuracy, {test}", right, min(100_000, most.resamples), n_jobs, test=test)
    for name, make in (("BLEU", bleu_like), ("F1", f1)):
        exact_or_drawn(f"{name}, sign_flips", make(*most.of(150, 2_034)), full, n_jobs, test="sign_flips")
    shuffled: dict[str, Any] = {"test": "randomization", "alternative": "two-sided"}
    exact_or_drawn("Yeh's example, F1", yeh(), full, n_jobs, **shuffled)
    filled = muc_like(*most.of(17, MESSAGES))
    for name in ("muc_recall", "muc_f"):
        exact_or_drawn(name, filled.with_metric(name), full, n_jobs, **shuffled)
    ranked = yeh().best_first()
    question = Question(ranked.statistics, ranked.metric, ranked.names, "item", np.array([0, ranked.n_items]))
    assert question.ratio is not None
    p_value = np.empty(1)
    sides, tail = Ratio(*question.ratio), Tail(two_sided=True, strict=False)
    kernel = seconds(lambda: joint_tails(sides, question.pairs, tail, p_value), 20)
    print(f"\nYeh's example, the distribution alone: {1e6 * kernel:.0f} µs (p = {p_value[0]:.6f})")
    for name in MUC_METRICS:
        pairs = compare(filled.with_metric(name), n_resamples=1, **shuffled)
        print(f"{name}: {(pairs['computation'] == 'exact').sum()} of {len(pairs)} p-values are exact")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parts = {"muc": muc, "systems": many_systems, "exact": exact}
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--parts", nargs="+", choices=parts, default=[*parts])
    add_most(parser)
    options = parser.parse_args()
    for part in options.parts:
        parts[part](options.jobs, Most(options.systems, options.items, options.resamples))


if __name__ == "__main__":
    main()
