"""Fisher's test of difference regions beside bootstrap, randomization and chi-square, on the same precision at n."""

from __future__ import annotations

import pandas as pd

from simstudy.analyses.agreement import agreement
from simstudy.engines.comparisons import compare
from simstudy.rankings.candidates import Candidates
from simstudy.runner import Cell, progress_bar, run_cells
from simstudy.studies.evert_2004.definition import Beside
from simstudy.studies.findings import RunContext

# As the paper has it: nobody said beforehand which of two rankings should be better (section 3.3).
_ALTERNATIVE = "two-sided"


def tests_by_length(candidates: Candidates, settings: Beside, seed: int, context: RunContext) -> pd.DataFrame:
    """Comparisons of all pairs of rankings by each test for each length, two-sided; a column n says which."""
    cells = [
        Cell(
            label=f"{test} on the {n}-best lists",
            description={
                "kind": "tests by length",
                "candidates": candidates.fingerprint(),
                "test": test,
                "n": n,
                "n_resamples": settings.n_resamples,
                "seed": seed,
            },
            arguments=(test, n),
        )
        for n in settings.lengths
        for test in settings.tests
    ]

    def run(test: str, n: int) -> pd.DataFrame:
        pairs = compare(
            candidates.outputs(n),
            test=test,
            alternative=_ALTERNATIVE,
            n_resamples=settings.n_resamples,
            seed=seed,
            n_jobs=context.n_jobs,
        )
        return pairs.assign(n=n)

    with progress_bar("tests by length", len(cells)) as advance:
        found: list[pd.DataFrame] = run_cells(run, cells, cache=context.cells, finished=lambda _: advance(1))
    return pd.concat(found, ignore_index=True)


def agreement_by_length(pairs: pd.DataFrame, alpha: float, seed: int) -> pd.DataFrame:
    """How each test decides beside Fisher's, over all pairs, for each length."""
    kept = ["test", "n_pairs", "n_rejected", "only_test", "only_reference", "median_ratio"]
    tables = []
    for n, of_length in pairs.groupby("n", sort=True):
        table = agreement(of_length, alpha=alpha, reference="fisher", seed=seed)[kept]
        table.insert(0, "n", n)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
