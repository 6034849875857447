"""The page: how often the best variant is significant, and the gain that is reported."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pandas as pd

from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies import Shown, rates_figure

CLOSING = (
    "Intervals are 95 % Monte Carlo intervals, for shares by Clopper and Pearson and for means by Student's t. All "
    "numbers of variants and all methods see the same test sets. Shares are fractions."
)
AT = {"variants": "{title}", "m": "{n_variants}"}


def show(study: Any, tables: Mapping[str, pd.DataFrame]) -> Shown:
    """The page of the tables, and what a terminal shows."""
    rates, means = (
        tables[name]
        .assign(title=[study.title_of("variants", level) for level in tables[name]["variants"]])
        .merge(tables["conditions"][["variants", "n_variants", "truth"]])
        for name in ("rates", "means")
    )
    equal = rates[rates["truth"] == 0]
    return Shown(
        sections=[best_variant(study, equal), gains(rates, means)],
        closing=CLOSING,
        summary={"The best variant is significant": Table(equal, AT, across="method", cell="{share:.3f}")},
    )


def best_variant(study: Any, equal: pd.DataFrame) -> Section:
    """How often the best variant is significant, and a figure without corrections."""
    replicates = study.replicates
    parts = equal["method"].str.split(", ", expand=True)
    lines = equal["title"].where(parts[1] != "algebra", "independent, by algebra")
    drawn = equal.assign(variants=lines, method=parts[0])[parts[1].isin(["none", "algebra"])]
    return Section(
        "The best variant",
        "The share of test sets in which the best of m variants is significantly better than the baseline (p ≤ "
        f"{study.fixed['alpha']:g}), though none is better. In the table, r is the latent correlation of two systems, "
        "and the number in brackets that of two variants. Algebra is 1 - (1 - q)^m, the probability for independent "
        "test sets. Here q is the level (one-sided) or half of it (two-sided). The dashed line is the level. "
        f"Romano-Wolf has {replicates.of['stepdown']:,} of the {replicates.most:,} test sets.",
        figure=Figure("best_variant", partial(rates_figure, drawn, study, "n_variants", "method")),
        table=Table(equal, AT, across="method", cell="{share:.3f}[ ({low:.3f} – {high:.3f})]"),
    )


def gains(rates: pd.DataFrame, means: pd.DataFrame) -> Section:
    """The gain of the best variant, whether it is significant or not, and the gain that is reported."""
    at = ["variants", "n_variants"]
    best = means[means["quantity"] == "estimate"].rename(columns={"mean": "best"})
    reported = means.loc[means["quantity"] == "reported gain", [*at, "method", "mean", "mean_low", "mean_high"]]
    shown = rates.merge(best[[*at, "best"]], on=at).merge(reported, on=[*at, "method"], how="left")
    return Section(
        "Reported gains",
        "The mean gain of the best variant, on the metric's scale. Best: whether it is significant or not. The next "
        "columns are two-sided, without a correction and with Holm's. They have the share of test sets in which the "
        "best variant is significantly better, then its mean gain in these test sets.",
        table=Table(
            shown[shown["method"].isin(["two-sided, none", "two-sided, Holm"])],
            AT | {"true gain": "{truth:g}", "best": "{best:.2f}"},
            across="method",
            cell="{share:.3f}[: {mean:.2f} ({mean_low:.2f} – {mean_high:.2f})]",
        ),
    )
