"""The page: false claims by the number of looks, and the items that the sequential test needs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies import Shown, lines_figure

CLOSING = (
    "Data are simulated. Intervals are 95 % Monte Carlo intervals: those of shares by Clopper and Pearson, those of "
    "means by Student's t, those of quantiles by order statistics. Tests are two-sided. Differences of scores are "
    "parts of the width of the range that a score may have."
)


def show(study: Any, tables: Mapping[str, pd.DataFrame]) -> Shown:
    """Level and cost of the sequential test beside the usual one."""
    fixed, false = study.fixed, false_claims(study, tables["rates"])
    random = false[false["scores"] != "by_topic"]
    label, looks = "test sets with a false claim", {"scores": "{scores}", "looks": "{looks}"}
    titled = {**looks, "scores": "{title}"}
    return Shown(
        sections=[
            Section(
                "False claims about equally good systems",
                f"The share of test sets on which a test has been significant at {fixed['alpha']:g} by the given look, "
                f"although the two systems are equally good. The usual test looks after every {fixed['step']} items: "
                "McNemar's exact test for right or wrong answers, and the paired t test for other scores. The "
                "sequential test looks after every item. It keeps its level for items in random order. Items in the "
                "order of two topics break this assumption: one system is better on the first topic, and the other "
                "one on the second. The figure leaves them out. Its dashed line is the level.",
                figure=Figure(
                    "false_claims",
                    lambda: lines_figure(
                        random, "looks", "title", "method", label=label, level=fixed["alpha"], shared=True
                    ),
                ),
                table=Table(false, titled, across="method", cell="{share:.4f} ({low:.4f} – {high:.4f})"),
            ),
            Section(
                "Items that the sequential test needs",
                "Items until the sequential test is significant, if there is a true gain, over the planned items. The "
                f"planned items give the usual test power {fixed['power']:g}, by the normal approximation. The next "
                "column has the measured power of the usual test. A test set without a significant result after "
                f"{fixed['most']} times the planned items counts as {fixed['most']} in the mean. For the same power: "
                f"the multiple within which {100 * fixed['power']:g} % of the test sets are significant. The last two "
                "columns are shares of test sets.",
                table=Table(
                    cost_table(study, tables),
                    {
                        "scores": "{title}",
                        "true gain": "{gain:.3f}",
                        "planned items": "{planned:,.0f}",
                        "power of the usual test": "{power:.3f}",
                        "sequential test, items / planned: mean": "{mean:.2f} ({mean_low:.2f} – {mean_high:.2f})",
                        "median": "{quantile_50:.2f}",
                        "for the same power": "{quantile_80:.2f} ({quantile_80_low:.2f} – {quantile_80_high:.2f})",
                        "significant by the planned items": "{ended:.3f}",
                        f"not significant after {fixed['most']} times": "{no_end:.4f}",
                    },
                ),
            ),
        ],
        closing=CLOSING,
        summary={"False claims by each look": Table(false, looks, across="method", cell="{share:.3f}")},
    )


def false_claims(study: Any, rates: pd.DataFrame) -> pd.DataFrame:
    """The rates without a gain, with the number of looks and the title of the scores."""
    rows = rates[rates["gain"] == 0]
    looks = rows["quantity"].str.removeprefix("p_value by look ").astype(int)
    return rows.assign(looks=looks, title=[study.title_of("scores", name) for name in rows["scores"]])


def cost_table(study: Any, tables: Mapping[str, pd.DataFrame]) -> pd.DataFrame:
    """A row for each true gain: planned items, power, and the items of the sequential test."""
    usual, sequential = "usual test at each look", "sequential test"

    def rows_of(name: str, method: str, quantity: str) -> pd.DataFrame:
        table = tables[name]
        is_asked = (table["method"] == method) & (table["quantity"] == quantity)
        return table[is_asked].set_index(["scores", "gain"])

    rows = rows_of("means", sequential, "items / planned items").assign(
        planned=rows_of("means", sequential, "planned items")["mean"],
        power=rows_of("rates", usual, "p_value, planned items")["share"],
        ended=rows_of("rates", sequential, "p_value, planned items")["share"],
        no_end=1 - rows_of("rates", sequential, "p_value, all items")["share"],
    )
    return rows.reset_index().assign(title=[study.title_of("scores", name) for name, _ in rows.index])
