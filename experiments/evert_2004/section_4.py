"""Section 4 anew: evaluations repeated on disjoint parts of a corpus, and on simulated candidates of known truth."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

from simstudy.studies import Cell, RunContext, clopper_pearson, derived_seed

from .n_best_lists import ranking_differences
from .particles import particle_sets
from .repetitions import binomial_check, common_threshold, repetitions
from .settings import Parts, Simulated
from .simulated import simulated_candidates

# Simulated experiments of a cell: finished work that a kill does not lose. What rejects the binomial in one of them.
TOGETHER, REJECTING = 25, ("ks", "dispersion", "missed_test")


def parts_of_corpus(documents: Sequence[Any], settings: Parts, seed: int) -> dict[str, pd.DataFrame]:
    """Each part's precision, the check of the binomial, and the parts themselves, for each way to cut the corpus."""
    found: dict[str, list[pd.DataFrame]] = {"repetitions": [], "check": [], "parts": []}
    for arrangement in settings.arrangements:
        for n_parts in settings.n_parts:
            sets = particle_sets(
                documents, n_parts, floor=settings.floor, arrangement=arrangement, measures=settings.rankings, seed=seed
            )
            wanted = settings.share_accepted * sum(part.n_candidates for part in sets) / n_parts
            table = repetitions(sets, {name: common_threshold(sets, name, wanted) for name in settings.rankings})
            size = [(part.test_set, part.n_candidates, part.baseline) for part in sets]
            sizes = pd.DataFrame(size, columns=["test_set", "n_candidates", "baseline"])
            for tables, rows in zip(found.values(), (table, binomial_check(table), sizes), strict=True):
                rows.insert(0, "arrangement", arrangement)
                rows.insert(1, "n_parts", n_parts)
                tables.append(rows)
    return {name: pd.concat(tables, ignore_index=True) for name, tables in found.items()}


def simulated_check(settings: Simulated, alpha: float, seed: int, context: RunContext) -> pd.DataFrame:
    """Many experiments of many evaluations each, for each dependence of the candidates.

    ratio and ratio_sd are mean and standard deviation of s / sigma. Shares have 95 % intervals: missed are the
    evaluations' intervals that miss the average precision, fisher the evaluations in which the test tells two scoring
    functions apart that are equally good, the others experiments that reject the binomial model.
    """
    evaluations = settings.only("n_sets", "n_candidates", "share_true", "separation", "correlation", "n_accepted")
    cells = [
        Cell(
            label=f"simulated evaluations, clusters of {size}, correlation {within:g}, experiments from {first + 1}",
            arguments=(
                evaluations,
                size,
                within,
                alpha,
                seed,
                range(first, min(first + TOGETHER, settings.n_experiments)),
            ),
        )
        for size, within in settings.clusters
        for first in range(0, settings.n_experiments, TOGETHER)
    ]
    found = pd.concat(context.run("simulated evaluations", experiments, cells))
    rows = []
    for (size, within), of_one in found.groupby(["cluster_size", "within"], sort=False):
        row = {"cluster_size": size, "within": within, "n_experiments": len(of_one)}
        row |= {"ratio": of_one["ratio"].mean(), "ratio_sd": of_one["ratio"].std(ddof=1)}
        for name, of in (("missed", settings.n_sets), ("fisher", settings.n_sets), *((test, 1) for test in REJECTING)):
            hits, tried = int(of_one[name].sum()), of * len(of_one)
            low, high = clopper_pearson(hits, tried)
            row |= {name: hits / tried, f"{name}_low": float(low), f"{name}_high": float(high)}
        rows.append(row)
    return pd.DataFrame(rows)


def experiments(
    settings: Simulated, cluster_size: int, within: float, alpha: float, seed: int, numbers: Iterable[int]
) -> pd.DataFrame:
    """One cell: a row for each experiment of these numbers."""
    rows = []
    for k in numbers:
        sets = simulated_candidates(
            settings.n_sets,
            n_candidates=settings.n_candidates,
            share_true=settings.share_true,
            separations={"g1": settings.separation, "g2": settings.separation},
            correlation=settings.correlation,
            cluster_size=cluster_size,
            within=within,
            seed=derived_seed(seed, "simulated", cluster_size, within, k) % 2**64,
        )
        table = repetitions(sets, {"g1": common_threshold(sets, "g1", settings.n_accepted)})
        check = binomial_check(table).iloc[0]
        n_best = [min(settings.n_accepted, evaluation.n_candidates) for evaluation in sets]
        p_values = [ranking_differences(one, [n])["p_value"].iloc[0] for one, n in zip(sets, n_best, strict=True)]
        rows.append(
            {
                "cluster_size": cluster_size,
                "within": within,
                "ratio": check["ratio"],
                "missed": check["n_missed"],
                "fisher": sum(p <= alpha for p in p_values),
                "ks": check["ks_p"] <= alpha,
                "dispersion": check["dispersion_p"] <= alpha,
                "missed_test": check["missed_p"] <= alpha,
            }
        )
    return pd.DataFrame(rows)
