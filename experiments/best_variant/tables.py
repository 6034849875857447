"""The probability for independent test sets, beside the simulated shares."""

from __future__ import annotations

from typing import Any

import pandas as pd


def summarise(study: Any, tables: dict[str, pd.DataFrame], context: Any) -> dict[str, pd.DataFrame]:
    """The kind's tables, with 1 - (1 - q)^m for m variants that are as good as the baseline.

    By mistake a variant is significantly better with probability alpha in a one-sided test, and with half of it in a
    two-sided one.
    """
    alpha = study.fixed["alpha"]
    algebra = pd.DataFrame(
        [
            {
                "n_variants": n_variants,
                "variants": "independent",
                "method": f"{side}, algebra",
                "quantity": "significant",
                "share": 1 - (1 - q) ** n_variants,
            }
            for side, q in (("two-sided", alpha / 2), ("one-sided", alpha))
            for n_variants in study.factors["n_variants"]
        ]
    )
    counts = dict.fromkeys(["n_sets", "n_missing", "count"], "Int64")
    return tables | {"rates": pd.concat([tables["rates"].astype(counts), algebra], ignore_index=True)}
