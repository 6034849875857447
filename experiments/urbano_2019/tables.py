"""The study's tables, from those of all simulations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pandas as pd

from simstudy.studies import Findings, RunContext, Simulation

from .published import LEVEL, SIGN_WITH_TIES, published

#: The condition with a true gain.
GAIN = "gain"

_KEYS = ["measure", "condition", "n_topics", "gain", "test", "alternative"]


def summarise(study: Simulation, tables: Mapping[str, pd.DataFrame], context: RunContext) -> Findings:
    """Rates without and with a gain, beside the published ones, and how differences are distributed."""
    within = study.replicates.within or 1
    rates = error_rates(tables["rates"], within)
    is_gain = rates["condition"] == GAIN
    null = rates[~is_gain].drop(columns=["gain", "n_wrong", "wrong"])
    n_sets = study.replicates.most
    return Findings(
        tables={
            "published": beside_published(rates),
            "rates": null,
            "gains": rates[is_gain & (rates["alpha"] == LEVEL)].drop(columns="condition").astype({"n_wrong": int}),
            "shapes": shapes(tables, null, within),
            "families": families(tables["rates"], within),
        },
        facts={
            "Runs": f"of TREC collections, the worst {study.fixed['dropped']:.0%} and equal ones left out",
            "Test sets": f"{n_sets:,} for each measure, null hypothesis and number of topics, of {n_sets // within:,} "
            "pairs of runs",
        },
    )


def error_rates(rates: pd.DataFrame, within: int) -> pd.DataFrame:
    """Shares of rejected test sets, and of those rejected for the worse system, under the paper's names."""
    rows = rates[rates["quantity"].str.startswith("p_value")]
    sides = rows["quantity"].map({"p_value": "two-sided", "p_value, greater": "greater"})
    rows = rows.rename(columns={"method": "test", "count": "n_rejected"})
    # Without a gain the second system is the worse one.
    n_wrong = rows["n_wrong"].fillna(rows["n_rejected"] - rows["n_first"])
    pairs = rows["n_sets"] // within
    rows = rows.assign(alternative=sides, n_pairs=pairs, n_wrong=n_wrong, wrong=n_wrong / rows["n_sets"])
    columns = ["alpha", "n_pairs", "n_sets", "n_rejected", "share", "low", "high", "n_wrong", "wrong"]
    return rows[[*_KEYS, *columns]]


def beside_published(rates: pd.DataFrame) -> pd.DataFrame:
    """The rates that the authors publish, beside those of the paper's own condition here."""
    ours = rates[(rates["alpha"] == LEVEL) & rates["condition"].isin(["fitted", GAIN])]
    both = published().merge(ours, on=[name for name in _KEYS if name != "condition"])
    inside = (both["low"] <= both["published"]) & (both["published"] <= both["high"])
    columns = ["n_pairs", "n_sets", "share", "low", "high", "published", "inside", "wrong", "published_wrong"]
    return both.assign(inside=inside)[["measure", "n_topics", "gain", "alternative", "test", *columns]]


def shapes(tables: Mapping[str, pd.DataFrame], null: pd.DataFrame, within: int) -> pd.DataFrame:
    """How differences of scores are distributed under each null hypothesis, and what follows of it for the sign test.

    balance is the root mean square over pairs of P(D > 0) - P(D < 0). predicted is the sign test's rate that the
    balance of each pair alone would give, sign the rate that was counted.
    """
    at = ["measure", "condition"]
    means, rates = (table[table["condition"] != GAIN] for table in (tables["means"], tables["rates"]))
    means = means[means["method"] == "differences"]
    signs = null[(null["test"] == SIGN_WITH_TIES) & (null["alternative"] == "two-sided") & (null["alpha"] == LEVEL)]
    numbers = means.pivot_table("mean", at, ["quantity", "n_topics"], sort=False)
    counted = signs.pivot_table("share", at, "n_topics", sort=False)
    asymmetric = rates[rates["quantity"] == "asymmetric"].pivot_table("share", at, "n_topics", sort=False)
    last = counted.columns[-1]
    table = pd.DataFrame({"n_pairs": means.groupby(at, sort=False)["n_sets"].max() // within})
    for end in ("", "_beyond_ties"):
        table[f"balance{end}"] = np.sqrt(numbers[f"balance_square{end}", last].clip(lower=0))
        table[f"unequal{end}"] = numbers[f"unequal{end}", last]
    table = table.assign(skewness=numbers["skewness", last], asymmetric=asymmetric[last])
    for n in counted:
        table[f"predicted_{n}"], table[f"sign_{n}"] = numbers["predicted", n], counted[n]
    return table.reset_index()


def families(rates: pd.DataFrame, within: int) -> pd.DataFrame:
    """How often each family of copulas was chosen."""
    rows = rates[rates["quantity"].str.startswith("family ") & (rates["condition"] != GAIN) & (rates["count"] > 0)]
    # Pairs are the same for every number of topics.
    rows = rows[rows["n_topics"] == rows["n_topics"].max()]
    table = rows.assign(family=rows["quantity"].str.removeprefix("family "), n_pairs=rows["count"] // within)
    columns = ["measure", "condition", "family", "n_pairs"]
    order = ["measure", "condition", "n_pairs"]
    return pd.DataFrame(table[columns].sort_values(order, ascending=[True, True, False], ignore_index=True))
