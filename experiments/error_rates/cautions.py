"""Cautions: whether they come where the default test's level, or the interval's coverage, is off."""

from __future__ import annotations

import pandas as pd

from simstudy.pages.sections import Section, Table

from .settings import DEFAULT_TEST, Settings
from .tables import at_one_level

# Error rates above this are off; fewer units have a remark of their own in verdicts.
_HIGHEST, _LEAST_UNITS = 0.07, 20

# The two kinds of conditions and sizes: whether error rate or coverage is wrong.
_WHERE = {"if level or coverage is wrong": True, "if neither is": False}


def cautions(rates: pd.DataFrame, covered: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Error rate, coverage and the share of cautions of each condition with equal scores, from 20 units on.

    Both are of independent units and of scores that are no right and wrong answers, which have no cautions. A row is
    off_level where the default test's two-sided error rate is above 0.07, or coverage below what is aimed at.
    """
    both = at_one_level(rates, covered)
    both = both[(both["n_units"] >= _LEAST_UNITS) & (both["interval"] == "jackknife")]
    off = (both["error_rate"] > _HIGHEST) | (both["coverage"] < study.aims.coverage[0])
    columns = ["condition", "unit", "n_units", "error_rate", "coverage", "cautioned", "off_level"]
    return both.assign(off_level=off)[columns].reset_index(drop=True)


def caution_section(table: pd.DataFrame, study: Settings) -> Section:
    """How often cautions are right."""
    shares = {where: table.loc[table["off_level"] == off, "cautioned"] for where, off in _WHERE.items()}
    found = [f"{of.mean():.0%} {where} ({len(of):,} cells)" for where, of in shares.items() if len(of)]
    return Section(
        "Cautions",
        "Column caution of a comparison says that p-value and interval rest on few effective units or on skewed "
        "differences. A cell has the two-sided type I error rate, the coverage and the share of test sets with a "
        f"caution. ▲ marks a wrong level or coverage: {DEFAULT_TEST} rejects more than {_HIGHEST:g}, or the interval "
        f"covers less than {study.aims.coverage[0]:g}. Mean share of test sets with a caution: {'; '.join(found)}.",
        table=Table(
            table.assign(
                size=table["n_units"].map("{:,} units".format),
                title=[study.conditions[name].title for name in table["condition"]],
                mark=table["off_level"].map({True: " ▲", False: ""}),
            ),
            {"condition": "{title}"},
            across="size",
            cell="{error_rate:.3f} / {coverage:.3f} / {cautioned:.0%}{mark}",
        ),
    )
