"""Our tests beside others', on one thread in the same run; ratios are what counts.

- sacrebleu's paired bootstrap and approximate randomization (on made-up sentences, without counting n-grams); ours on
  BLEU statistics of the same numbers of systems and segments.
- scipy.stats.bootstrap and permutation_test: one pair of systems.

    python benchmarks/peers.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from all_pairs import bleu_like, f1, seconds
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats

import simstudy as ss


def sentences(n: int, rng: random.Random) -> list[str]:
    words = [f"w{k}" for k in range(400)]
    return [" ".join(rng.choices(words, k=rng.randint(8, 40))) for _ in range(n)]


def by_sacrebleu(kind: str, n_systems: int, n_segments: int, n_resamples: int) -> float:
    """Seconds to test all systems against the first."""
    rng = random.Random(0)
    reference = sentences(n_segments, rng)
    noisy = [
        [" ".join(w if rng.random() < 0.8 else "x" for w in s.split()) for s in reference] for _ in range(n_systems)
    ]
    named = [(f"s{k}", hypotheses) for k, hypotheses in enumerate(noisy)]

    def run(n_samples: int) -> float:
        test = PairedTest(named, {"BLEU": BLEU(references=[reference])}, None, test_type=kind, n_samples=n_samples)
        start = time.perf_counter()
        test()
        return time.perf_counter() - start

    # A test counts n-grams first, which is no part of ours.
    return run(n_resamples) - run(1)


def ours(outputs: ss.Outputs, n_resamples: int, test: str) -> float:
    """Seconds to test all pairs by resampling."""
    ss.compare(outputs, test=test, n_resamples=64, monte_carlo=True)
    return seconds(lambda: ss.compare(outputs, test=test, n_resamples=n_resamples, monte_carlo=True, n_jobs=1))


def row(what: str, theirs: float, fast: float) -> None:
    print(f"| {what} | {theirs:.3g} | {fast:.3g} | {theirs / fast:.3g} |", flush=True)


def against_sacrebleu(n_systems: int, n_segments: int, n_resamples: int) -> None:
    outputs = bleu_like(n_systems, n_segments)
    work = f"{n_systems} systems x {n_segments:,} segments, {n_resamples:,}"
    row(
        f"sacrebleu paired bootstrap, {work} resamples, a system",
        by_sacrebleu("bs", n_systems, n_segments, n_resamples) / n_systems,
        ours(outputs, n_resamples, "bootstrap") / n_systems,
    )
    row(
        f"sacrebleu approximate randomization, {work} shuffles, a pair",
        by_sacrebleu("ar", n_systems, n_segments, n_resamples) / (n_systems - 1),
        ours(outputs, n_resamples, "randomization") / (n_systems * (n_systems - 1) / 2),
    )


def against_scipy_bootstrap(n_items: int, n_resamples: int) -> None:
    rng = np.random.default_rng(0)
    scores = pd.DataFrame({"a": rng.random(n_items), "b": rng.random(n_items)})
    a, b = scores["a"].to_numpy(), scores["b"].to_numpy()

    def theirs() -> object:
        return stats.bootstrap(
            (a, b), lambda x, y, axis: (x - y).mean(axis), paired=True, n_resamples=n_resamples, method="percentile",
            vectorized=True, batch=500, rng=np.random.default_rng(0),
        )  # fmt: skip

    fast = ours(ss.Outputs.from_scores(scores), n_resamples, "bootstrap")
    row(f"scipy.stats.bootstrap, mean, one pair, {n_items:,} items, {n_resamples:,} resamples", seconds(theirs), fast)


def against_scipy_permutations(n_systems: int, n_items: int, n_resamples: int) -> None:
    """Theirs for one pair of a table, ours for all."""

    def permutations(a: Any, b: Any, gain: Callable[..., Any]) -> float:
        return seconds(
            lambda: stats.permutation_test(
                (a, b), gain, permutation_type="samples", n_resamples=n_resamples, vectorized=True, batch=500,
                rng=np.random.default_rng(0),
            ), 1,
        )  # fmt: skip

    pairs = n_systems * (n_systems - 1) / 2
    work = f"{n_systems} systems x {n_items:,} items, {n_resamples:,} shuffles, a pair"
    scores = np.random.default_rng(0).random((n_items, n_systems))
    row(
        f"scipy.stats.permutation_test, mean, {work}",
        permutations(*scores.T[:2], lambda x, y, axis: (x - y).mean(axis)),
        ours(ss.Outputs.from_scores(pd.DataFrame(scores)), n_resamples, "randomization") / pairs,
    )
    outputs = f1(n_systems, n_items)
    correct, guessed, gold = outputs.statistics[:2].reshape(-1, 3).T.astype(np.float64)

    def f(items: Any, axis: int) -> Any:
        return 2 * correct[items].sum(axis) / (guessed[items] + gold[items]).sum(axis)

    row(
        f"scipy.stats.permutation_test, F1, {work}",
        permutations(*np.arange(2 * n_items).reshape(2, -1), lambda x, y, axis: f(x, axis) - f(y, axis)),
        ours(outputs, n_resamples, "randomization") / pairs,
    )


if __name__ == "__main__":
    print("| the same work, one thread | theirs, s | ours, s | ratio |")
    print("|---|---|---|---|")
    against_sacrebleu(10, 2034, 1_000)
    against_sacrebleu(4, 2034, 10_000)
    against_scipy_bootstrap(500, 10_000)
    against_scipy_bootstrap(2034, 10_000)
    against_scipy_permutations(2, 2034, 10_000)
    against_scipy_permutations(15, 2034, 10_000)
