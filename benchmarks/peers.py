"""Our tests beside others', on one thread in the same run; ratios are what counts.

- sacrebleu's paired bootstrap and approximate randomization (on made-up sentences, without counting n-grams); ours on
  BLEU statistics of the same numbers of systems and segments.
- scipy.stats.bootstrap and permutation_test: one pair of systems.
- evalstats.compare: its bootstrap and its sign flips of all pairs, with its intervals and ranks, and the test that it
  chooses for two systems. ranx, mlxtend: randomization of the means of one pair. statsmodels: the t test and McNemar's
  exact test of one pair. `pip install 'simstudy[tools]'` installs them; what is not there is skipped.
- The exact randomization of F1 of Zmigrod, Vieira and Cotterell (2022), where a folder has their code
  (https://github.com/rycolab/paired-perm-test), with the difference of the p-values. Theirs leaves out sums whose
  probability is below 1e-6, which are many where items are. 500 items take it 3 GiB.

Our times are those of the whole table of all pairs, with intervals, over the number of pairs; where others resample we
do, as often, and nothing is computed instead.

    python benchmarks/peers.py [--tools sacrebleu scipy evalstats ranx mlxtend statsmodels] [--zmigrod FOLDER]
"""

from __future__ import annotations

import argparse
import importlib
import random
import sys
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from all_pairs import Most, accuracy, add_most, bleu_like, f1, seconds
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.significance import PairedTest
from scipy import stats
from threadpoolctl import threadpool_limits

import simstudy as ss
from simstudy.metrics.base import FloatArray


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
    named: list[tuple[str, Sequence[str]]] = [(f"s{k}", hypotheses) for k, hypotheses in enumerate(noisy)]
    test = PairedTest(named, {"BLEU": BLEU(references=[reference])}, None, test_type=kind, n_samples=n_resamples)
    counting, plain = [0.0], BLEU._extract_corpus_statistics

    def timed(*given: Any) -> Any:
        start = time.perf_counter()
        found = plain(*given)
        counting[0] += time.perf_counter() - start
        return found

    with mock.patch.object(BLEU, "_extract_corpus_statistics", timed):
        start = time.perf_counter()
        test()
        wall = time.perf_counter() - start
    if not counting[0]:
        raise RuntimeError("sacrebleu counts n-grams elsewhere")
    # A test counts n-grams first, which is no part of ours.
    return wall - counting[0]


def ours(outputs: ss.Outputs, n_resamples: int, test: str) -> float:
    """Seconds to test all pairs by resampling."""
    ss.compare(outputs, test=test, n_resamples=64, monte_carlo=True)
    return seconds(lambda: ss.compare(outputs, test=test, n_resamples=n_resamples, monte_carlo=True, n_jobs=1))


def of_pairs(outputs: ss.Outputs) -> float:
    """How many pairs there are."""
    return outputs.n_systems * (outputs.n_systems - 1) / 2


def row(what: str, theirs: float, fast: float) -> None:
    print(f"| {what} | {theirs:.3g} | {fast:.3g} | {theirs / fast:.3g} |", flush=True)


def against_sacrebleu(most: Most) -> None:
    for sizes in ((10, 2034, 1_000), (4, 2034, 10_000)):
        n_systems, n_segments, n_resamples = most.of(*sizes)
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
            ours(outputs, n_resamples, "randomization") / of_pairs(outputs),
        )


def against_scipy(most: Most) -> None:
    for n_items in (500, 2034):
        _, n_items, n_resamples = most.of(2, n_items, 10_000)
        against_scipy_bootstrap(n_items, n_resamples)
    for n_systems in (2, 15):
        against_scipy_permutations(*most.of(n_systems, 2034, 10_000))


def scored(n_systems: int, n_items: int) -> ss.Outputs:
    """Scores between 0 and 1, whose mean is compared."""
    values = np.random.default_rng(0).random((n_items, n_systems))
    return ss.Outputs.from_scores(pd.DataFrame(values).add_prefix("system "))


def scores_of(outputs: ss.Outputs) -> FloatArray:
    """(K, n) scores."""
    return outputs.statistics[..., 0].astype(np.float64)


def against_scipy_bootstrap(n_items: int, n_resamples: int) -> None:
    outputs = scored(2, n_items)
    a, b = scores_of(outputs)

    def theirs() -> object:
        return stats.bootstrap(
            (a, b), lambda x, y, axis: (x - y).mean(axis), paired=True, n_resamples=n_resamples, method="percentile",
            vectorized=True, batch=500, rng=np.random.default_rng(0),
        )  # fmt: skip

    fast = ours(outputs, n_resamples, "bootstrap")
    row(f"scipy.stats.bootstrap, mean, one pair, {n_items:,} items, {n_resamples:,} resamples", seconds(theirs), fast)


def against_scipy_permutations(n_systems: int, n_items: int, n_resamples: int) -> None:
    """Theirs for one pair of a table, ours for all."""

    def permutations(pair: Any, gain: Callable[..., Any]) -> float:
        return seconds(
            lambda: stats.permutation_test(
                tuple(pair), gain, permutation_type="samples", n_resamples=n_resamples, vectorized=True, batch=500,
                rng=np.random.default_rng(0),
            ), 1,
        )  # fmt: skip

    work = f"{n_systems} systems x {n_items:,} items, {n_resamples:,} shuffles, a pair"
    outputs = scored(n_systems, n_items)
    row(
        f"scipy.stats.permutation_test, mean, {work}",
        permutations(scores_of(outputs)[:2], lambda x, y, axis: (x - y).mean(axis)),
        ours(outputs, n_resamples, "randomization") / of_pairs(outputs),
    )
    outputs = f1(n_systems, n_items)
    correct, guessed, gold = outputs.statistics[:2].reshape(-1, 3).T.astype(np.float64)

    def f(items: Any, axis: int) -> Any:
        return 2 * correct[items].sum(axis) / (guessed[items] + gold[items]).sum(axis)

    row(
        f"scipy.stats.permutation_test, F1, {work}",
        permutations(np.arange(2 * n_items).reshape(2, -1), lambda x, y, axis: f(x, axis) - f(y, axis)),
        ours(outputs, n_resamples, "randomization") / of_pairs(outputs),
    )


def against_evalstats(most: Most) -> None:
    import evalstats

    def theirs(outputs: ss.Outputs, **options: Any) -> float:
        k, n = outputs.n_systems, outputs.n_items
        columns = {"model": np.repeat(outputs.names, n), "item": [f"q{i}" for i in range(n)] * k}
        table = pd.DataFrame({**columns, "score": scores_of(outputs).ravel()})
        with warnings.catch_warnings():
            # It says by which test and in which range of scores.
            warnings.simplefilter("ignore")
            given = evalstats.load_from(table)
            return seconds(lambda: evalstats.compare(given, factors="model", rng=0, **options), 1)

    n_systems, n_items, n_resamples = most.of(10, 500, 10_000)
    outputs = scored(n_systems, n_items)
    work = f"mean, {n_systems} systems x {n_items:,} items, {n_resamples:,}"
    by_their_own: dict[str, Any] = {
        "n_bootstrap": n_resamples, "pairwise_test": "bootstrap", "correction": "none", "simultaneous_ci": False,
        "omnibus": False,
    }  # fmt: skip
    for method, test, what in (
        ("bootstrap", "bootstrap", "resamples"),
        ("permutation", "sign_flips", "sign flips, and as many resamples for its interval"),
    ):
        row(
            f"evalstats.compare, {method}, {work} {what}, a pair",
            theirs(outputs, method=method, **by_their_own) / of_pairs(outputs),
            ours(outputs, n_resamples, test) / of_pairs(outputs),
        )
    two = outputs.select(outputs.names[:2])
    row(
        f"evalstats.compare as it chooses (Wilcoxon's test), one pair, {n_items:,} items",
        theirs(two),
        seconds(lambda: ss.compare(two, test="wilcoxon", n_jobs=1)),
    )


def against_ranx(most: Most) -> None:
    import numba
    from ranx.statistical_tests import fisher_randomization_test, paired_student_t_test

    n_systems, n_items, n_resamples = most.of(10, 500, 10_000)
    outputs = scored(n_systems, n_items)
    work = f"mean, {n_systems} systems x {n_items:,} items"
    first, second = scores_of(outputs)[:2]
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        fisher_randomization_test(first, second, 64)  # compile
        theirs = seconds(lambda: fisher_randomization_test(first, second, n_resamples))
    finally:
        numba.set_num_threads(threads)
    fast = ours(outputs, n_resamples, "randomization") / of_pairs(outputs)
    row(f"ranx Fisher's randomization test, {work}, {n_resamples:,} shuffles, a pair", theirs, fast)
    theirs = seconds(lambda: paired_student_t_test(first, second))
    row(f"ranx Student's t test, {work}, a pair", theirs, without_resampling(outputs, "t_paired"))


def without_resampling(outputs: ss.Outputs, test: str) -> float:
    """Seconds a pair of a test that draws nothing."""
    return seconds(lambda: ss.compare(outputs, test=test, n_jobs=1)) / of_pairs(outputs)


def against_mlxtend(most: Most) -> None:
    from mlxtend.evaluate import permutation_test

    n_systems, n_items, n_resamples = most.of(10, 500, 10_000)
    outputs = scored(n_systems, n_items)
    first, second = scores_of(outputs)[:2]
    options: dict[str, Any] = {"method": "approximate", "num_rounds": n_resamples, "seed": 0, "paired": True}
    row(
        f"mlxtend permutation_test, mean, {n_systems} systems x {n_items:,} items, {n_resamples:,} shuffles, a pair",
        seconds(lambda: permutation_test(first, second, **options), 1),
        ours(outputs, n_resamples, "randomization") / of_pairs(outputs),
    )


def against_statsmodels(most: Most) -> None:
    from statsmodels.stats.contingency_tables import mcnemar
    from statsmodels.stats.weightstats import DescrStatsW

    n_systems, n_items, _ = most.of(10, 500, 1)
    work = f"{n_systems} systems x {n_items:,} items, a pair"
    outputs = scored(n_systems, n_items)
    first, second = scores_of(outputs)[:2]
    theirs = seconds(lambda: DescrStatsW(first - second).ttest_mean(0))
    row(f"statsmodels t test of differences, mean, {work}", theirs, without_resampling(outputs, "t_paired"))
    answers = accuracy(n_systems, n_items)
    one, other = scores_of(answers)[:2] > 0

    def exact() -> object:
        return mcnemar([[(one & other).sum(), (one & ~other).sum()], [(~one & other).sum(), (~one & ~other).sum()]])

    row(f"statsmodels McNemar's exact test, {work}", seconds(exact), without_resampling(answers, "mcnemar"))


def counted(n_items: int) -> ss.Outputs:
    """Two systems that find some of few things, and spurious ones."""
    rng = np.random.default_rng(1)
    gold = np.broadcast_to(rng.integers(0, 2, n_items), (2, n_items))
    correct = rng.binomial(gold, [[0.75], [0.65]])
    return ss.Outputs.from_statistics(np.stack([correct, correct + rng.poisson(0.2, correct.shape), gold], -1), "f1")


def against_zmigrod(folder: Path, most: Most) -> None:
    """The exact test of F1; theirs counts what is right, and what is spurious or missing."""
    sys.path.insert(0, str(folder))
    theirs = importlib.import_module("pairedpermtest.f1")
    told, plain = [], theirs.pmf
    for n_items in sorted({min(n, most.items) for n in (100, 200)}):
        outputs = counted(n_items)
        correct, guessed, gold = np.moveaxis(outputs.statistics.astype(np.int64), -1, 0)
        states = [
            [theirs.f1state(int(right), int(wrong)) for right, wrong in zip(*system, strict=True)]
            for system in zip(correct, guessed + gold - 2 * correct, strict=True)
        ]
        kept: list[Any] = []
        p_values: list[float] = []

        def distribution(*given: Any, kept: list[Any] = kept) -> Any:
            kept[:] = [plain(*given)]
            return kept[0]

        def tested(states: Any = states, p_values: list[float] = p_values) -> None:
            p_values[:] = [float(theirs.perm_test(*states))]

        with mock.patch.object(theirs, "pmf", distribution):
            wall = seconds(tested, 1)
        exact = partial(ss.compare, outputs, test="randomization", n_jobs=1)
        row(f"Zmigrod et al. (2022), exact, F1, one pair, {n_items:,} items", wall, seconds(exact))
        p_value, fast = p_values[0], float(exact()["p_value"].iloc[0])
        left_out = 1 - sum(kept[0].pmf().values())
        told.append(
            f"Exact test of F1, {n_items:,} items: theirs p = {p_value:.10g}, ours {fast:.10g}, difference "
            f"{p_value - fast:.1e}; theirs leaves out {left_out:.1e} of the probability"
        )
    print("", *told, sep="\n")


#: What our tests are put beside, by the name of its package.
TOOLS: dict[str, Callable[[Most], None]] = {
    "sacrebleu": against_sacrebleu,
    "scipy": against_scipy,
    "evalstats": against_evalstats,
    "ranx": against_ranx,
    "mlxtend": against_mlxtend,
    "statsmodels": against_statsmodels,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tools", nargs="+", choices=TOOLS, default=[*TOOLS])
    parser.add_argument("--zmigrod", type=Path, metavar="FOLDER", help="that has the package pairedpermtest")
    add_most(parser)
    options = parser.parse_args()
    most = Most(options.systems, options.items, options.resamples)
    print("| the same work, one thread | theirs, s | ours, s | ratio |")
    print("|---|---|---|---|")
    with threadpool_limits(1):
        for tool in options.tools:
            if find_spec(tool) is None:
                print(f"| {tool}: skipped, it is not installed | | | |", flush=True)
                continue
            TOOLS[tool](most)
        if options.zmigrod:
            against_zmigrod(options.zmigrod, most)


if __name__ == "__main__":
    main()
