"""The page: false passes by the number of looks, and what shares of the level cost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from simstudy.pages.sections import Figure, Section, Table
from simstudy.studies import Shown, lines_figure

CLOSING = (
    "Data are simulated. Shares are fractions of simulated test sets, with 95 % intervals (Clopper-Pearson). Tests are "
    "two-sided and not corrected, apart from the shares of the level."
)


def show(study: Any, tables: Mapping[str, pd.DataFrame]) -> Shown:
    """False passes and power of each rule."""
    fixed = study.fixed
    (_, better, _), rates = study.factors["commits"], tables["rates"]
    rates = rates.assign(look=rates["quantity"].str.extract(r"(\d+)$", expand=False).astype(int), rule=rates["method"])
    is_false = rates["quantity"].str.startswith("false pass")
    false, power = rates[is_false], rates[~is_false].merge(tables["looks"], on=["rule", "look"])
    shown = false[false["commits"] != better]
    label, columns = "test sets with a false pass", {"commits": "{commits}", "look": "{look}"}
    return Shown(
        sections=[
            Section(
                "False passes",
                "The share of test sets on which a gate has passed a commit that is no better than the baseline, by "
                "the given look. A look compares a new commit with one baseline by McNemar's exact test. All commits "
                f"are tested on the same {fixed['n_items']:,} items. A commit passes if it is ahead and p is at most "
                f"the level of look k: alpha = {fixed['alpha']:g}, or a share of it. With shares, a look that passes "
                "hands its level on to the next one. In the last rows, each change that raises the score on these "
                "items is kept, though it is no better on other items. No share of the level repairs that. The dashed "
                "line is alpha.",
                figure=Figure(
                    "false_passes",
                    lambda: lines_figure(
                        shown, "look", "rule", "commits", label=label, level=fixed["alpha"], shared=True
                    ),
                ),
                table=Table(false, columns, across="rule", cell="{share:.4f} ({low:.4f} – {high:.4f})"),
            ),
            Section(
                "Cost of shares of the level",
                "Power is the share of test sets on which a commit with a true gain passes at its look. One commit in "
                f"{fixed['better_every']} has such a gain, and the usual test detects it with power "
                f"{fixed['power']:g} by the normal approximation. Times the items: so many times as many items give a "
                "test at the level of this look the same power.",
                table=Table(
                    power,
                    {
                        "rule": "{rule}",
                        "look": "{look}",
                        "level of the look": "{level:.2g}",
                        "power": "{share:.3f} ({low:.3f} – {high:.3f})",
                        "times the items": "{times_items:.2f}",
                    },
                ),
            ),
        ],
        closing=CLOSING,
        summary={"False passes by each look": Table(false, columns, across="rule", cell="{share:.3f}")},
    )
