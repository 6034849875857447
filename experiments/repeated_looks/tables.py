"""Published shares beside the simulated ones."""

from __future__ import annotations

from typing import Any

import pandas as pd

# Share of significance at 0.05, two-sided, at any look at normal data (Armitage, McPherson and Rowe 1969, table 2).
ARMITAGE = {1: 0.050, 2: 0.083, 3: 0.107, 4: 0.126, 5: 0.142, 10: 0.193, 20: 0.248, 50: 0.320}


def summarise(study: Any, tables: dict[str, pd.DataFrame], context: Any) -> dict[str, pd.DataFrame]:
    """The kind's tables, with a published share after each of ours."""
    rates = tables["rates"].astype(dict.fromkeys(["n_sets", "n_missing", "count"], "Int64"))
    published = rates[["condition", "n_looks", "quantity"]].assign(
        method="published, normal data", share=rates["n_looks"].map(ARMITAGE)
    )
    return tables | {"rates": pd.concat([rates, published]).sort_index(kind="stable")}
