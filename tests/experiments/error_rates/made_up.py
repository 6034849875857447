"""A run of the study of error rates on made-up counts, in which hardly two numbers are the same."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pandas as pd

from simstudy.studies import Cell, Findings
from tests.experiments.error_rates.small import study
from tests.experiments.programs import told

GAINS = ["accuracy_gain", "turned"]
NULLS = ["skewed_means", "accuracy", "clusters"]
TESTS = ["sign_flips", "sign", "z_independent", "wilcoxon"]
UNITS, SHOWN, ALPHAS = [20, 5, 40, 30], [40, 5], [0.01, 0.2]
COUNTED = ["n_sets", "n_rejected", "n_rejected_first", "sum_gain", "sum_square", "n_undefined", "n_rejected_undefined"]


def asked(name: str, n: int) -> list[tuple[str, str, str, float]]:
    """The unit, test, alternative and alpha of each row of a cell."""
    units = ["cluster", "item"] if name == "clusters" else ["item"]
    return list(itertools.product(units, TESTS, ["two-sided", "greater"] if n in SHOWN else ["two-sided"], ALPHAS))


def made_up(name: str, n: int, batch: int) -> dict[str, list[dict[str, Any]]]:
    """Counts of a cell, in which hardly two numbers are the same; of few clusters no test set has two scores."""
    rng = np.random.default_rng([len(name), n, batch])
    rows, none = [], name == "clusters" and n == 5
    for key in asked(name, n):
        n_sets, n_rejected = (0, 0) if none else (int(rng.integers(40, 50)), int(rng.integers(0, 25)))
        sums = rng.uniform(3.5, 4.5) * n_rejected, rng.uniform(20, 30) * n_rejected
        counts = [n_sets, n_rejected, int(rng.integers(0, n_rejected + 1)), *sums, 50 - n_sets, (50 - n_sets) // 2]
        at = dict(zip(("unit", "test", "alternative", "alpha"), key, strict=True))
        rows.append(at | dict(zip(COUNTED, counts, strict=True)))
    even = [{"unit": "item", "test": test, "alpha": alpha, "n_sets": 45, "n_rejected": int(rng.integers(1, 40))}
            for test in ("wilcoxon", "sign_flips") for alpha in (0.1, 0.002)]  # fmt: skip
    covered = []
    for unit in dict.fromkeys(row["unit"] for row in rows):
        n_sets = 0 if none else int(rng.integers(40, 50))
        sums_of = {"n_sets": n_sets, "n_covered": n_sets - int(rng.integers(0, 9)) if n_sets else 0,
                  "sum_width": rng.uniform(1, 2) * n_sets, "n_undefined": 50 - n_sets,
                  "n_cautioned": int(rng.integers(0, 50))}  # fmt: skip
        covered.append({"unit": unit, "interval": "score" if name == "accuracy" else "jackknife", **sums_of})
    return {"decisions": rows, "quantiles": even if n == SHOWN[0] else [], "coverage": covered}


@cache
def settings() -> Any:
    made: Any = study(
        conditions=["skewed_means", "accuracy_gain", "accuracy", "clusters"], n_units=UNITS, shown=SHOWN, batches=3,
        many_units=40, batches_of_many=2, sets=50, n_resamples=19, alpha=0.2, alphas=ALPHAS, tests=TESTS, seed=5,
        bands=[[5, 20], [40, 50]],
        aims={"target": [0.1, 0.22], "liberal": [0.05, 0.3], "coverage": [0.9, 0.99], "from_units": 20},
    )  # fmt: skip
    turned = made.conditions["accuracy_gain"].model_copy(update={"title": "turned", "batches": 1})
    turned = turned.model_copy(update={"parameters": {"accuracies": [0.8, 0.83], "between": 0.5}})
    order = ["skewed_means", "accuracy_gain", "accuracy", "turned", "clusters"]
    return made.model_copy(
        update={"conditions": {name: (made.conditions | {"turned": turned})[name] for name in order}}
    )


@cache
def ran() -> tuple[Findings, list[Cell]]:
    found, (cells,) = told("error_rates", settings(), lambda cell: made_up(*cell.arguments[1:4]))
    return found, cells


def of(table: pd.DataFrame, **at: Any) -> pd.DataFrame:
    for name, value in at.items():
        table = table[table[name].isin(value if isinstance(value, list) else [value])]
    return table
