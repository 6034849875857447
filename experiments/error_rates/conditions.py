"""One cell of the study: a batch of test sets of a condition, with the decisions of every test and the coverage."""

from __future__ import annotations

from typing import Any

import numpy as np

from simstudy.studies import DrawnPairs, derived_seed

from .settings import EVEN, ONE_SIDED, QUANTILES, TWO_SIDED, Settings, assumes_independence


def examine(
    study: Settings, name: str, n_units: int, batch: int, shown: bool, first_shown: bool
) -> dict[str, list[dict[str, Any]]]:
    """One cell: a batch of test sets.

    Tests are one-sided as well if the page shows this number of units, and p-values are counted on the first shown one.
    """
    condition, pair = study.conditions[name], study.conditions[name].pair
    rng = np.random.default_rng(derived_seed(study.seed, "test sets", name, n_units, batch))
    seed = derived_seed(study.seed, "resamples", name, n_units, batch) % 2**64
    statistics = pair.draw(study.sets, n_units, rng)
    found: dict[str, list[dict[str, Any]]] = {"decisions": [], "quantiles": [], "coverage": []}
    # Items of clusters are looked at for what is wrong with taking them as units, which power is not.
    for unit in pair.units if condition.null else pair.units[:1]:
        drawn = DrawnPairs(statistics.by(unit), pair.metric, n_resamples=study.n_resamples, seed=seed)
        found["coverage"].append({"unit": unit, **drawn.coverage(pair.true_gain)})
        # Of tests that take systems to be independent it is enough to see what that does.
        tests = [test for test in study.tests if unit == pair.units[0] or not assumes_independence(test)]
        exact = unit == pair.units[0] and pair.exchangeable and first_shown
        sides = (TWO_SIDED, ONE_SIDED) if shown else (TWO_SIDED,)
        rows = drawn.decisions(tests, [*study.alphas, *(QUANTILES if exact else ())], sides)
        n_alphas = len(study.alphas) + (len(QUANTILES) if exact else 0)
        for k, row in enumerate(rows):
            if k % n_alphas < len(study.alphas):
                found["decisions"].append({"unit": unit, **row})
            elif row["alternative"] == TWO_SIDED and row["test"] in EVEN:
                kept = {key: row[key] for key in ("test", "alpha", "n_sets", "n_rejected")}
                found["quantiles"].append({"unit": unit, **kept})
    return found
