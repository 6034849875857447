"""Our bootstrap beside others', for the same work in the same run; ratios are what counts.

- sacrebleu's paired bootstrap (its own implementation, on made-up sentences): seconds per system and 1,000
  resamples; ours on BLEU's formula with the same numbers of systems and segments.
- scipy.stats.bootstrap: one pair of systems, item scores, 10,000 resamples.

    python benchmarks/peers.py
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from all_pairs import bleu_like
from sacrebleu.metrics import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats

import simstudy as ss


def seconds(work: Callable[[], object], repeats: int = 3) -> float:
    best = float("inf")
    for _ in range(repeats):
        start = time.perf_counter()
        work()
        best = min(best, time.perf_counter() - start)
    return best


def sentences(n: int, rng: random.Random) -> list[str]:
    words = [f"w{k}" for k in range(400)]
    return [" ".join(rng.choices(words, k=rng.randint(8, 40))) for _ in range(n)]


def against_sacrebleu(n_systems: int, n_segments: int, n_resamples: int) -> None:
    rng = random.Random(0)
    reference = sentences(n_segments, rng)
    noisy = [
        [" ".join(w if rng.random() < 0.8 else "x" for w in s.split()) for s in reference] for _ in range(n_systems)
    ]
    named = [(f"s{k}", hypotheses) for k, hypotheses in enumerate(noisy)]
    # Its constructor extracts the statistics; only the test is timed, as only the test is timed for us.
    test = PairedTest(
        named, {"BLEU": BLEU(references=[reference])}, references=None, test_type="bs", n_samples=n_resamples
    )
    start = time.perf_counter()
    test()
    theirs = time.perf_counter() - start
    outputs = bleu_like(n_systems, n_segments)
    ss.compare(outputs, n_resamples=64)
    ours = seconds(lambda: ss.compare(outputs, n_resamples=n_resamples, n_jobs=1))
    per = 1000 / n_resamples / n_systems
    print(
        f"sacrebleu paired bootstrap, {n_systems} systems x {n_segments} segments, per system and 1,000 resamples: "
        f"{theirs * per:.3g} s, ours (all pairs, one thread) {ours * per:.3g} s, ratio {theirs / ours:.0f}"
    )


def against_scipy(n_items: int, n_resamples: int) -> None:
    rng = np.random.default_rng(0)
    scores = pd.DataFrame({"a": rng.random(n_items), "b": rng.random(n_items)})
    a, b = scores["a"].to_numpy(), scores["b"].to_numpy()

    def theirs() -> object:
        return stats.bootstrap(
            (a, b), lambda x, y, axis: (x - y).mean(axis), paired=True, n_resamples=n_resamples, method="percentile",
            vectorized=True, batch=500, rng=np.random.default_rng(0),
        )  # fmt: skip

    outputs = ss.Outputs.from_scores(scores)
    ss.compare(outputs, n_resamples=64)
    slow = seconds(theirs)
    fast = seconds(lambda: ss.compare(outputs, n_resamples=n_resamples, n_jobs=1))
    print(
        f"scipy.stats.bootstrap, one pair, {n_items} items, {n_resamples:,} resamples: {slow:.3g} s, "
        f"ours (one thread) {fast:.3g} s, ratio {slow / fast:.1f}"
    )


if __name__ == "__main__":
    against_sacrebleu(n_systems=10, n_segments=2034, n_resamples=1000)
    against_sacrebleu(n_systems=4, n_segments=2034, n_resamples=10_000)
    against_scipy(500, 10_000)
    against_scipy(2034, 10_000)
