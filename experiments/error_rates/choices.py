"""Which test when: the one that keeps its level in a situation and finds most."""

from __future__ import annotations

import pandas as pd

import simstudy as ss

from .settings import DEPENDENT_UNITS, TWO_SIDED, Settings, assumes_independence

# Tests whose power differs by less are equally good: what Monte Carlo error leaves of a mean of some rates.
_AS_GOOD = 0.01

FIRST, KEEPS, NEARLY, FAILS = "first choice", "keeps its level", "nearly", "wrong too often"


def choices(rates: pd.DataFrame, power: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Tests by situation and band of sizes, two-sided at the level that the page speaks of.

    worst is the highest error rate over the situation's conditions with equal scores (worst_condition) and the sizes
    of the band, whatever a test's own null hypothesis is; power the mean over its conditions with a gain and these
    sizes. A test keeps its level where worst is at most the upper end of the range that is aimed at, nearly so up to
    Bradley's. First choice are, of those that keep it (or, where none does, nearly) and whose null hypothesis is about
    the scores, the test with the most power and those within 0.01 of it. Tests that take the systems to be independent,
    or do not apply to all conditions of a situation, are left out.
    """
    rows = []
    situations = {name: condition.situation for name, condition in study.conditions.items()}
    for situation in dict.fromkeys(situations.values()):
        null, gain = (_of(table, situations, situation, study) for table in (rates, power))
        for low, high in study.bands:
            errors = null[null["n_units"].between(low, high)]
            found = gain[gain["n_units"].between(low, high)]
            if errors.empty:
                continue
            sizes = f"{low:,} - {high:,}"
            for test in [name for name in ss.TESTS if name in set(errors["test"]) and not assumes_independence(name)]:
                of_test = errors[errors["test"] == test]
                if of_test["condition"].nunique() < errors["condition"].nunique():
                    continue
                (worst,) = of_test.nlargest(1, "share").to_dict("records")
                mean = found.loc[found["test"] == test, "share"].mean()
                rows.append((situation, sizes, test, worst["share"], worst["condition"], worst["n_units"], mean))
    columns = ["situation", "sizes", "test", "worst", "worst_condition", "worst_units", "power"]
    table = pd.DataFrame(rows, columns=columns)
    table["verdict"] = FAILS
    table.loc[table["worst"] <= study.aims.liberal[1], "verdict"] = NEARLY
    table.loc[table["worst"] <= study.aims.target[1], "verdict"] = KEEPS
    for _, members in table.groupby(["situation", "sizes"], sort=False):
        for verdict in (KEEPS, NEARLY):
            able = members[members["verdict"] == verdict]
            able = able[[ss.TESTS[test].of_scores for test in able["test"]]]
            if len(able):
                table.loc[able.index[able["power"] >= able["power"].max() - _AS_GOOD], "verdict"] = FIRST
                break
    return table


def _of(table: pd.DataFrame, situations: dict[str, str], situation: str, study: Settings) -> pd.DataFrame:
    """Two-sided rows of a situation by independent units."""
    ours = table["condition"].map(situations) == situation
    if "breaks" in table:
        ours &= table["breaks"] != DEPENDENT_UNITS
    return table[ours & (table["alternative"] == TWO_SIDED) & (table["alpha"] == study.alpha)]
