"""The tools, called as their documentation says; each is imported where it is used.

An adapter takes a data set, the levels and a seed, and returns a p-value, or None where the tool gives none, and
whether it rejects at each level, None where the tool does not say.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from .data_sets import DataSet, Floats

Answer = tuple[float | None, list[bool | None]]
Adapter = Callable[[DataSet, Sequence[float], int], Answer]


def by_p(p_value: Callable[[DataSet, int], Any]) -> Adapter:
    """The adapter of a test that gives a p-value: it rejects where p is at most the level; NaN rejects nothing."""

    def answer(data: DataSet, levels: Sequence[float], seed: int) -> Answer:
        p = float(p_value(data, seed))
        return p, [p <= level for level in levels]

    return answer


def _table(data: DataSet) -> list[list[int]]:
    """Items on which both are right, only the first, only the second, none."""
    first, second = data.scores.astype(int)
    right, wrong = (first == 1), (first == 0)
    return [[int((right & (second == 1)).sum()), int((right & (second == 0)).sum())],
            [int((wrong & (second == 1)).sum()), int((wrong & (second == 0)).sum())]]  # fmt: skip


def _gain_of_means(first: Any, second: Any, axis: int) -> Any:
    return np.mean(first, axis=axis) - np.mean(second, axis=axis)


# scipy


def scipy_t(data: DataSet, seed: int) -> Any:
    """The paired t test."""
    return stats.ttest_rel(data.scores[0], data.scores[1]).pvalue


def scipy_wilcoxon(data: DataSet, seed: int) -> Any:
    """Wilcoxon's signed-rank test."""
    return stats.wilcoxon(data.scores[0], data.scores[1]).pvalue


def scipy_permutation(data: DataSet, seed: int) -> Any:
    """Results on an item change places."""
    return stats.permutation_test(
        (data.scores[0], data.scores[1]), _gain_of_means, permutation_type="samples", vectorized=True,
        rng=np.random.default_rng(seed),
    ).pvalue  # fmt: skip


def scipy_bootstrap(data: DataSet, levels: Sequence[float], seed: int) -> Answer:
    """Intervals of each level, from one set of resamples; scipy has no p-value here."""
    both, found, rejects = (data.scores[0], data.scores[1]), None, []
    for level in levels:
        found = stats.bootstrap(
            both, _gain_of_means, paired=True, vectorized=True, confidence_level=1 - level,
            n_resamples=9999 if found is None else 0, bootstrap_result=found, rng=np.random.default_rng(seed),
        )  # fmt: skip
        low, high = found.confidence_interval
        rejects.append(bool(low > 0 or high < 0))
    return None, list(rejects)


# statsmodels


def statsmodels_mcnemar_exact(data: DataSet, seed: int) -> Any:
    """McNemar's test by the binomial distribution."""
    from statsmodels.stats.contingency_tables import mcnemar

    return mcnemar(_table(data), exact=True).pvalue


def statsmodels_mcnemar_corrected(data: DataSet, seed: int) -> Any:
    """McNemar's test by chi-square, corrected."""
    from statsmodels.stats.contingency_tables import mcnemar

    return mcnemar(_table(data), exact=False, correction=True).pvalue


def statsmodels_t(data: DataSet, seed: int) -> Any:
    """The t test of differences."""
    from statsmodels.stats.weightstats import DescrStatsW

    return DescrStatsW(data.scores[0] - data.scores[1]).ttest_mean(0)[1]


def statsmodels_t_independent(data: DataSet, seed: int) -> Any:
    """The t test of independent samples."""
    from statsmodels.stats.weightstats import ttest_ind

    return ttest_ind(data.scores[0], data.scores[1])[1]


# mlxtend


def _mlxtend_mcnemar(data: DataSet, **options: bool) -> Any:
    from mlxtend.evaluate import mcnemar, mcnemar_table

    first, second = data.scores.astype(int)
    return mcnemar(mcnemar_table(np.ones_like(first), first, second), **options)[1]


def mlxtend_mcnemar(data: DataSet, seed: int) -> Any:
    """McNemar's test as it is by default: chi-square, corrected."""
    return _mlxtend_mcnemar(data)


def mlxtend_mcnemar_exact(data: DataSet, seed: int) -> Any:
    """McNemar's test by the binomial distribution."""
    return _mlxtend_mcnemar(data, exact=True)


def mlxtend_permutation(data: DataSet, seed: int) -> Any:
    """Results on an item change places."""
    from mlxtend.evaluate import permutation_test

    return permutation_test(data.scores[0], data.scores[1], method="approximate", seed=seed, paired=True)


def mlxtend_permutation_unpaired(data: DataSet, seed: int) -> Any:
    """All results are shuffled, its default."""
    from mlxtend.evaluate import permutation_test

    return permutation_test(data.scores[0], data.scores[1], method="approximate", seed=seed)


# ranx


def _ranx(data: DataSet, test: str, **options: int) -> Any:
    from ranx import Qrels, Run, compare

    def judged(value: Callable[[int, int], float]) -> dict[str, dict[str, float]]:
        return {f"q{q}": {f"d{k}": value(k, rank) for k, rank in enumerate(found)} for q, found in enumerate(ranks)}

    runs = []
    for name, ranks in zip("AB", data.outputs, strict=True):
        run = judged(lambda _, rank: -float(rank))
        for q, found in enumerate(ranks):
            # The documents that are not relevant stand at the other ranks.
            others = sorted(set(range(1, max(found) + 1)) - set(found))
            run[f"q{q}"] |= {f"x{rank}": -float(rank) for rank in others}
        runs.append(Run(run, name=name))
    qrels = Qrels({q: {d: 1 for d in found} for q, found in judged(lambda k, rank: 1).items()})
    report = compare(qrels, runs=runs, metrics=["map"], stat_test=test, **options)
    return report.comparisons[frozenset(["A", "B"])]["map"]["p_value"]


def ranx_student(data: DataSet, seed: int) -> Any:
    """The paired t test."""
    return _ranx(data, "student")


def ranx_fisher(data: DataSet, seed: int) -> Any:
    """Fisher's randomization test, in one thread: in several the same two runs get another p in each call."""
    from .one_thread import one_seeded_thread

    # The default of its random_seed, which seeds the thread that calls.
    with one_seeded_thread(42):
        return _ranx(data, "fisher", threads=1)


def ranx_tukey(data: DataSet, seed: int) -> Any:
    """Tukey's test."""
    return _ranx(data, "tukey")


# sacrebleu


def _sacrebleu(data: DataSet, test: str) -> Any:
    from sacrebleu.metrics.bleu import BLEU
    from sacrebleu.significance import PairedTest

    systems: list[tuple[str, Sequence[str]]] = [("baseline", list(data.outputs[1])), ("system", list(data.outputs[0]))]
    _, scores = PairedTest(systems, {"BLEU": BLEU()}, [list(data.references)], test_type=test)()
    return scores["BLEU"][1].p_value  # type: ignore[union-attr]


def sacrebleu_bootstrap(data: DataSet, seed: int) -> Any:
    """What ``--paired-bs`` runs."""
    return _sacrebleu(data, "bs")


def sacrebleu_randomization(data: DataSet, seed: int) -> Any:
    """What ``--paired-ar`` runs."""
    return _sacrebleu(data, "ar")


# rouge-score, evalstats


def rouge_t(data: DataSet, seed: int) -> Any:
    """ROUGE-L of each text, and scipy's paired t test."""
    from rouge_score.rouge_scorer import RougeScorer

    scorer = RougeScorer(["rougeL"], use_stemmer=True)
    first, second = (
        [scorer.score(reference, text)["rougeL"].fmeasure for reference, text in zip(data.references, s, strict=True)]
        for s in data.outputs
    )
    return stats.ttest_rel(first, second).pvalue


def evalstats_compare(data: DataSet, seed: int) -> Any:
    """What ``compare`` chooses."""
    import evalstats
    import pandas as pd

    n = data.scores.shape[1]
    items = [f"q{k}" for k in range(n)]
    table = pd.DataFrame({"model": ["A"] * n + ["B"] * n, "item": items * 2, "score": data.scores.ravel()})
    (pair,) = evalstats.compare(evalstats.load_from(table), factors="model", rng=seed).to_dict()["pairwise"]
    p = pair["p_value"]
    return math.nan if p is None else p


# Rules


def standard_error(scores: Floats) -> float:
    """Of a mean: lm_eval/api/metrics.py, sample_stddev (n - 1 below the sum of squares) and mean_stderr."""
    n = len(scores)
    return math.sqrt(float(((scores - scores.mean()) ** 2).sum()) / (n - 1)) / math.sqrt(n)


def no_overlap(data: DataSet, levels: Sequence[float], seed: int) -> Answer:
    """Whether the two systems' own intervals lie apart."""
    gain = abs(data.scores[0].mean() - data.scores[1].mean())
    reach = standard_error(data.scores[0]) + standard_error(data.scores[1])
    return None, [bool(gain > stats.norm.isf(level / 2) * reach) for level in levels]


def two_standard_errors(data: DataSet, levels: Sequence[float], seed: int) -> Answer:
    """Whether the gain is above two standard errors of a difference of independent means; it has no other level."""
    gain = abs(data.scores[0].mean() - data.scores[1].mean())
    rejects = bool(gain > 2 * math.hypot(standard_error(data.scores[0]), standard_error(data.scores[1])))
    return None, [rejects if level == 0.05 else None for level in levels]


_BY_P = {
    "evalstats_compare": evalstats_compare,
    "mlxtend_mcnemar": mlxtend_mcnemar,
    "mlxtend_mcnemar_exact": mlxtend_mcnemar_exact,
    "mlxtend_permutation": mlxtend_permutation,
    "mlxtend_permutation_unpaired": mlxtend_permutation_unpaired,
    "ranx_fisher": ranx_fisher,
    "ranx_student": ranx_student,
    "ranx_tukey": ranx_tukey,
    "rouge_t": rouge_t,
    "sacrebleu_bootstrap": sacrebleu_bootstrap,
    "sacrebleu_randomization": sacrebleu_randomization,
    "scipy_permutation": scipy_permutation,
    "scipy_t": scipy_t,
    "scipy_wilcoxon": scipy_wilcoxon,
    "statsmodels_mcnemar_corrected": statsmodels_mcnemar_corrected,
    "statsmodels_mcnemar_exact": statsmodels_mcnemar_exact,
    "statsmodels_t": statsmodels_t,
    "statsmodels_t_independent": statsmodels_t_independent,
}

#: The adapter of each tool and test of study.toml, beside our own tests.
ADAPTERS: dict[str, Adapter] = {name: by_p(test) for name, test in _BY_P.items()} | {
    "no_overlap": no_overlap,
    "scipy_bootstrap": scipy_bootstrap,
    "two_standard_errors": two_standard_errors,
}
