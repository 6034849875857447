"""Section 4 of the paper: precision of repeated evaluations against the binomial, on real parts and simulated ones."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from simstudy.analyses.ranking_differences import ranking_differences
from simstudy.analyses.repetitions import binomial_check, common_threshold, repetitions
from simstudy.cells import Cell
from simstudy.fingerprints import derived_seed
from simstudy.generators.candidates import simulated_candidates
from simstudy.loaders.tagged import TaggedDocument
from simstudy.pvalues import clopper_pearson
from simstudy.rankings.candidates import Candidates
from simstudy.runner import progress_bar, run_cells
from simstudy.studies.evert_2004.definition import Parts, Simulated
from simstudy.studies.evert_2004.particles import particle_sets
from simstudy.studies.findings import RunContext

# Experiments of a cell: finished work that a kill does not lose.
_TOGETHER = 25

# What rejects the binomial model in an experiment.
_TESTS = ("ks", "dispersion", "missed_test")


def parts_of_corpus(documents: Sequence[TaggedDocument], settings: Parts, seed: int) -> tuple[pd.DataFrame, ...]:
    """Each part's precision, the check of the binomial, and the parts themselves, for each way to cut the corpus.

    Returns
    -------
    repeated, check, parts
        What `repetitions` and `binomial_check` made, and a row for each part (number of candidates, baseline); all
        with the columns arrangement and n_parts.
    """
    repeated, checks, sizes = [], [], []
    for arrangement in settings.arrangements:
        for n_parts in settings.n_parts:
            sets = particle_sets(documents, n_parts, settings.floor, arrangement, settings.rankings, seed)
            wanted = settings.share_accepted * sum(part.n_candidates for part in sets) / n_parts
            table = repetitions(sets, {name: common_threshold(sets, name, wanted) for name in settings.rankings})
            key = {"arrangement": arrangement, "n_parts": n_parts}
            size = [(part.test_set, part.n_candidates, part.baseline) for part in sets]
            repeated.append(_keyed(table, key))
            checks.append(_keyed(binomial_check(table), key))
            sizes.append(_keyed(pd.DataFrame(size, columns=["test_set", "n_candidates", "baseline"]), key))
    return tuple(pd.concat(tables, ignore_index=True) for tables in (repeated, checks, sizes))


def simulated_check(settings: Simulated, alpha: float, seed: int, context: RunContext) -> pd.DataFrame:
    """Many experiments of many evaluations each, for each dependence of the candidates.

    Returns
    -------
    table
        A row for each cluster_size and correlation within: n_experiments; ratio and ratio_sd (mean and standard
        deviation of s / sigma); shares with 95 % intervals (_low, _high): missed (of the evaluations' intervals, those
        that miss the average precision), fisher (of the evaluations, those in which the test tells two scoring
        functions apart that are equally good), ks, dispersion, missed_test (of the experiments, those that reject the
        binomial model).
    """
    firsts = range(0, settings.n_experiments, _TOGETHER)
    cells = [
        Cell(
            label=f"simulated evaluations, clusters of {size}, correlation {within:g}, experiments from {first + 1}",
            description={
                "kind": "simulated evaluations",
                "settings": settings.model_dump(),
                "cluster_size": size,
                "within": within,
                "first": first,
                "alpha": alpha,
                "seed": seed,
            },
            arguments=(settings, size, within, alpha, seed, first),
        )
        for size, within in settings.clusters
        for first in firsts
    ]
    with progress_bar("simulated evaluations", len(cells)) as advance:
        found = run_cells(
            _experiments, cells, n_jobs=context.n_jobs, cache=context.cells, finished=lambda _: advance(1)
        )
    rows = []
    for (size, within), of_one in pd.concat(found).groupby(["cluster_size", "within"], sort=False):
        row = {"cluster_size": size, "within": within, "n_experiments": len(of_one), "ratio": of_one["ratio"].mean()}
        row["ratio_sd"] = of_one["ratio"].std(ddof=1)
        for name, of in (("missed", settings.n_sets), ("fisher", settings.n_sets), *((test, 1) for test in _TESTS)):
            hits, tried = int(of_one[name].sum()), of * len(of_one)
            low, high = clopper_pearson(hits, tried)
            row |= {name: hits / tried, f"{name}_low": float(low), f"{name}_high": float(high)}
        rows.append(row)
    return pd.DataFrame(rows)


def _experiments(
    settings: Simulated, cluster_size: int, within: float, alpha: float, seed: int, first: int
) -> pd.DataFrame:
    """One row an experiment, from number `first` on."""
    name, other = "g1", "g2"
    rows = []
    for k in range(first, min(first + _TOGETHER, settings.n_experiments)):
        sets = simulated_candidates(
            settings.n_sets,
            n_candidates=settings.n_candidates,
            share_true=settings.share_true,
            separations={name: settings.separation, other: settings.separation},
            correlation=settings.correlation,
            cluster_size=cluster_size,
            within=within,
            seed=derived_seed(seed, "simulated", cluster_size, within, k) % 2**64,
        )
        table = repetitions(sets, {name: common_threshold(sets, name, settings.n_accepted)})
        check = binomial_check(table).iloc[0]
        told_apart = sum(_p_value(evaluation, settings.n_accepted) <= alpha for evaluation in sets)
        rows.append(
            {
                "cluster_size": cluster_size,
                "within": within,
                "ratio": check["ratio"],
                "missed": check["n_missed"],
                "fisher": told_apart,
                "ks": check["ks_p"] <= alpha,
                "dispersion": check["dispersion_p"] <= alpha,
                "missed_test": check["missed_p"] <= alpha,
            }
        )
    return pd.DataFrame(rows)


def _p_value(evaluation: Candidates, n: int) -> float:
    return float(ranking_differences(evaluation, [min(n, evaluation.n_candidates)])["p_value"].iloc[0])


def _keyed(table: pd.DataFrame, key: dict[str, object]) -> pd.DataFrame:
    """The table with these columns first."""
    return pd.concat([pd.DataFrame(key, index=table.index), table], axis=1)
