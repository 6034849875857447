"""Fisher's test of difference regions beside bootstrap, randomization and chi-square, on the same precision at n."""

from __future__ import annotations

import pandas as pd

from simstudy.analyses.agreement import agreement
from simstudy.engines.registry import TESTS
from simstudy.rankings.candidates import Candidates
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.definition import Comparison
from simstudy.studies.evert_2004.definition import Beside
from simstudy.studies.findings import RunContext
from simstudy.studies.problems import Problems
from simstudy.studies.stand_ins import check_comparison

# As the paper has it: nobody said beforehand which of two rankings should be better (section 3.3).
_ALTERNATIVE = "two-sided"


def tests_by_length(candidates: Candidates, settings: Beside, seed: int, context: RunContext) -> pd.DataFrame:
    """Comparisons of all pairs of rankings by each test for each length, two-sided; a column n says which."""
    asked = [(n, test) for n in settings.lengths for test in settings.tests]
    pairs = run_comparisons(
        "tests by length",
        [candidates.outputs(n) for n, _ in asked],
        [_asked(test, settings) for _, test in asked],
        [seed] * len(asked),
        context,
    )
    return pd.concat([table.assign(n=n) for table, (n, _) in zip(pairs, asked, strict=True)], ignore_index=True)


def check_tests(candidates: Candidates, settings: Beside, problems: Problems) -> None:
    """Find the tests that do not apply to n-best lists of these lengths."""
    for n in settings.lengths:
        for test in settings.tests:
            with problems.at(f"tests.tests (n = {n})"):
                check_comparison(candidates.outputs(n), _asked(test, settings))


def _asked(test: str, settings: Beside) -> Comparison:
    drawn = settings.n_resamples if TESTS[test].n_resamples else None
    return Comparison(test=test, alternative=_ALTERNATIVE, n_resamples=drawn)


def agreement_by_length(pairs: pd.DataFrame, alpha: float, seed: int) -> pd.DataFrame:
    """How each test decides beside Fisher's, over all pairs, for each length."""
    kept = ["test", "n_pairs", "n_rejected", "only_test", "only_reference", "median_ratio"]
    tables = []
    for n, of_length in pairs.groupby("n", sort=True):
        table = agreement(of_length, alpha=alpha, reference="fisher", seed=seed)[kept]
        table.insert(0, "n", n)
        tables.append(table)
    return pd.concat(tables, ignore_index=True)
