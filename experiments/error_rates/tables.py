"""The tables: error rates, power and coverage by condition, and what follows from them for each test."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import simstudy as ss
from simstudy.studies import RunContext, Simulation, clopper_pearson

from .models import model

# One-sided tests ask whether the system with the better score is better, or one that was named beforehand.
TWO_SIDED, ONE_SIDED, NAMED = "two-sided", "greater", "greater, named beforehand"
_ALTERNATIVES = {"p_value": TWO_SIDED, "p_value, greater": ONE_SIDED}

# What a condition may break, in the column breaks.
NULL, DEPENDENT_UNITS, DEPENDENT_SYSTEMS = "null hypothesis", "independent units", "independent systems"

# The null hypothesis of these is that systems are exchangeable, or follows from it. The p-values of the second ones are
# then exact.
_OF_EXCHANGEABLE = ("randomization", "sign", "wilcoxon")
_EXACT = (*_OF_EXCHANGEABLE, "mcnemar")

DEFAULT_TEST = "sign_flips"

# The tests whose power and p-values are drawn.
EVEN = ("sign_flips", "randomization", "bootstrap", "t_paired", "wilcoxon", "sign")

# What a test is worth in a situation, and the difference in power that Monte Carlo error may explain.
FIRST, KEEPS, NEARLY, FAILS = "first choice", "keeps its level", "nearly", "wrong too often"
_AS_GOOD = 0.01

# An error rate above the first is wrong. With fewer units than the second a comparison has another remark.
HIGHEST, _LEAST_UNITS = 0.07, 20

_UNITS = ["condition", "unit", "n_units"]
_KEYS = [*_UNITS, "test", "alternative", "alpha"]

Tables = Mapping[str, pd.DataFrame]


def summarise(study: Simulation, tables: Tables, context: RunContext) -> dict[str, pd.DataFrame]:
    """The tables of the study, from those of its kind."""
    systems = conditions(study)
    if systems["true_gain"].eq(0).nunique() < 2:
        raise ValueError("factors.condition must have conditions without a gain, and conditions with one")
    asked, covered = test_rows(tables["rates"], systems), coverage(tables, systems)
    rates, powers = error_rates(asked, study), power(asked, study)
    at_alpha = two_sided(rates, study)
    return {
        "choices": choices(at_alpha, two_sided(powers, study), systems, study),
        "tests": by_test(at_alpha, study.page["aims"]),
        "rates": rates,
        "exact": exact(rates),
        "few_units": few_units(at_alpha, covered, study.page["aims"]["from_units"]),
        "cautions": cautions(at_alpha, covered, study.page["aims"]["coverage"][0]),
        "quantiles": quantiles(asked, study),
        "power": powers,
        "coverage": covered,
        "conditions": systems,
    }


def two_sided(table: pd.DataFrame, study: Simulation) -> pd.DataFrame:
    """The two-sided rows at the first level."""
    return table[(table["alternative"] == TWO_SIDED) & (table["alpha"] == study.alphas[0])]


def conditions(study: Simulation) -> pd.DataFrame:
    """The systems of each condition."""
    situations = {name: situation for situation, names in study.page["situations"].items() for name in names}
    rows = []
    for name, level in study.factors["condition"].items():
        pair = model(level)
        # A sum that is 0 but for rounding is 0 on every machine.
        scores = [round(float(value), 9) + 0.0 for value in (*pair.scores(), pair.true_gain)]
        texts = (study.title_of("condition", name), situations[name], pair.metric.name, study.page["systems"][name])
        rows.append((name, *texts, *scores, pair.exchangeable, pair.independent))
    columns = ["condition", "title", "situation", "metric", "systems", "score_1", "score_2", "true_gain"]
    return pd.DataFrame(rows, columns=[*columns, "exchangeable", "independent"])


def test_rows(rates: pd.DataFrame, systems: pd.DataFrame) -> pd.DataFrame:
    """The rates of rejection, with the systems of each condition and what it breaks."""
    asked = rates[rates["quantity"].isin(_ALTERNATIVES)]
    names = {"method": "test", "count": "n_rejected", "n_missing": "n_undefined"}
    return with_systems(asked.assign(alternative=asked["quantity"].map(_ALTERNATIVES)).rename(columns=names), systems)


def with_systems(table: pd.DataFrame, systems: pd.DataFrame) -> pd.DataFrame:
    """Rows of tests with the systems of their condition and what it breaks, by condition and unit.

    Items of clusters show what it does to take them for independent units. Rows by item therefore have no gain, and no
    test that takes systems to be independent too.
    """
    of_conditions = systems.drop(columns=["title", "situation", "systems"]).assign(place=np.arange(len(systems)))
    table = table.merge(of_conditions, on="condition")
    clustered = table["condition"].isin(table.loc[table["unit"] == "cluster", "condition"])
    by_item = clustered & (table["unit"] == "item")
    of_independent = table["test"].map(assumes_independence)
    broken = {
        DEPENDENT_UNITS: by_item,
        NULL: table["test"].isin(_OF_EXCHANGEABLE) & ~table["exchangeable"],
        DEPENDENT_SYSTEMS: of_independent & ~table["independent"],
    }
    table["breaks"] = np.select(list(broken.values()), list(broken), "")
    return _in_order(table[~by_item | ((table["true_gain"] == 0) & ~of_independent)])


def _in_order(table: pd.DataFrame) -> pd.DataFrame:
    """The rows by condition, as the study lists them, and unit."""
    return table.sort_values(["place", "unit"], kind="stable", ignore_index=True)


def assumes_independence(test: str) -> bool:
    """Whether a test takes the two systems' results to be independent of each other."""
    return "independent of each other" in ss.TESTS[test].assumes


def error_rates(asked: pd.DataFrame, study: Simulation) -> pd.DataFrame:
    """Shares of rejected test sets if scores are equal: a row a condition, unit, size, test, alternative and alpha."""
    nulls = _kept(asked[asked["true_gain"] == 0], study)
    named = nulls[nulls["alternative"] == ONE_SIDED]
    # The test of the first system rejects where that system has the better score, too.
    named = named.assign(alternative=NAMED, n_rejected=named["n_first"].astype(int))
    table = with_shares(_in_order(pd.concat([nulls, named])), "n_rejected")
    return table[[*_KEYS, "n_sets", "n_rejected", "share", "low", "high", "n_undefined", "breaks"]]


def power(asked: pd.DataFrame, study: Simulation) -> pd.DataFrame:
    """Power and errors where one system is truly better: a row a condition, size, test, alternative and alpha.

    share (with low and high) is the power: p <= alpha, and the truly better system has the better score. wrong is the
    share of test sets with p <= alpha in which the other one has it (type III). Among the significant test sets,
    type_s is the share with the wrong winner, and type_m the mean observed gain over the true gain.
    """
    gains = _kept(asked[asked["true_gain"] != 0], study)
    table = with_shares(gains.assign(n_correct=gains["n_rejected"] - gains["n_wrong"]), "n_correct")
    table = with_shares(table, "n_wrong", "wrong", "wrong_low", "wrong_high").astype({"n_wrong": int})
    counts = ["n_sets", "n_rejected", "n_wrong", "share", "low", "high", "wrong", "wrong_low", "wrong_high"]
    return table[["condition", "true_gain", *_KEYS[1:], *counts, "type_s", "type_m", "type_m_low", "type_m_high"]]


def _kept(asked: pd.DataFrame, study: Simulation) -> pd.DataFrame:
    """The rows of the tables: one-sided ones only as far as the page shows them."""
    shown = (asked["alpha"] == study.alphas[0]) & asked["n_units"].isin(study.page["shown"])
    in_tables = asked["alpha"].isin(study.alphas[: study.page["levels"]])
    return asked[np.where(asked["alternative"] == TWO_SIDED, in_tables, shown)]


def with_shares(
    table: pd.DataFrame, count: str, share: str = "share", low: str = "low", high: str = "high"
) -> pd.DataFrame:
    """Shares of a count of test sets with 95 % intervals, to 1e-5: more digits of 10,000 test sets say nothing."""
    ends = np.round(clopper_pearson(table[count], table["n_sets"].clip(lower=1)), 5)
    return table.assign(
        **{share: table[count] / table["n_sets"].where(table["n_sets"] > 0), low: ends[0], high: ends[1]}
    )


def quantiles(asked: pd.DataFrame, study: Simulation) -> pd.DataFrame:
    """Shares of p-values up to a level for exchangeable systems: a row a condition, test and level.

    excess is the share minus the level: 0 if p-values are uniform.
    """
    even = asked["exchangeable"] & (asked["breaks"] == "") & asked["test"].isin(EVEN)
    even &= (asked["alternative"] == TWO_SIDED) & (asked["n_units"] == study.page["shown"][0])
    even &= ~asked["alpha"].isin(study.alphas[: study.page["levels"]])
    table = asked[even].assign(excess=asked["share"] - asked["alpha"])
    kept: pd.DataFrame = table[["condition", "n_units", "test", "alpha", "n_sets", "share", "excess"]]
    return kept.reset_index(drop=True)


def coverage(tables: Tables, systems: pd.DataFrame) -> pd.DataFrame:
    """Shares of the 95 % intervals with the true gain, their mean width, and the test sets without an interval.

    cautioned is the share of all test sets with a caution.
    """
    rates = tables["rates"]
    cautioned = rates.loc[rates["quantity"] == "caution", [*_UNITS, "count"]].rename(columns={"count": "n_cautioned"})
    table = tables["coverage"].rename(columns={"count": "n_covered", "n_missing": "n_undefined"})
    table = with_shares(table.merge(cautioned, on=_UNITS), "n_covered")
    n_all = table["n_sets"] + table["n_undefined"]
    table = table.assign(
        interval=table["method"].str.removesuffix(" interval"),
        level=0.95,
        undefined=table["n_undefined"] / n_all,
        cautioned=table["n_cautioned"] / n_all,
        test=DEFAULT_TEST,
    )
    of_condition = ["condition", "metric", "unit", "n_units", "true_gain", "interval", "level"]
    counts = ["n_sets", "n_covered", "share", "low", "high", "n_undefined", "mean_width", "undefined", "breaks"]
    return with_systems(table, systems)[[*of_condition, *counts, "n_cautioned", "cautioned"]]


def by_test(rates: pd.DataFrame, aims: Mapping[str, Any]) -> pd.DataFrame:
    """How each test does in all conditions of independent units, and in those that do not break it.

    Of two-sided rates at one level: n_within and n_liberal count the rates with enough units that are within the
    ranges, out of n_rates. lowest and highest are their range, and highest_fewer the highest rate with fewer units.
    """
    rates = rates[rates["breaks"] != DEPENDENT_UNITS]
    rows = []
    for test in [name for name in ss.TESTS if name in set(rates["test"])]:
        of_test = rates[rates["test"] == test]
        for scope, of_scope in (("equal scores", of_test), ("its own hypothesis", of_test[of_test["breaks"] == ""])):
            enough = of_scope["n_units"] >= aims["from_units"]
            many, few = of_scope.loc[enough, "share"], of_scope.loc[~enough, "share"]
            within, liberal = (int(many.between(*aims[name]).sum()) for name in ("target", "liberal"))
            n_conditions = of_scope["condition"].nunique()
            rows.append((test, scope, n_conditions, len(many), within, liberal, many.min(), many.max(), few.max()))
    columns = ["test", "null", "n_conditions", "n_rates", "n_within", "n_liberal", "lowest", "highest", "highest_fewer"]
    return pd.DataFrame(rows, columns=columns)


def exact(rates: pd.DataFrame) -> pd.DataFrame:
    """Whether exact tests keep their level if systems are exchangeable: a row a test and alpha.

    n_above counts the two-sided rates that are above alpha beyond Monte Carlo error: binomial p-values, one-sided,
    corrected by Holm over all rates of this table at 5 %. highest_sd is the largest excess in standard deviations of
    the count.
    """
    table = rates[rates["test"].isin(_EXACT) & (rates["breaks"] == "") & (rates["alternative"] == TWO_SIDED)]
    tails = stats.binom.sf(table["n_rejected"] - 1, table["n_sets"], table["alpha"])
    sd = np.sqrt(table["alpha"] * (1 - table["alpha"]) / table["n_sets"])
    above = ss.comparisons.corrected(pd.DataFrame({"p_value": tails}))["p_holm"].to_numpy() <= 0.05
    table = table.assign(above=above, sds=(table["share"] - table["alpha"]) / sd)
    table = table.groupby(["test", "alpha"], sort=False).agg(
        n_conditions=("condition", "nunique"),
        n_rates=("share", "size"),
        highest=("share", "max"),
        highest_sd=("sds", "max"),
        n_above=("above", "sum"),
    )
    return table.reset_index()


def few_units(rates: pd.DataFrame, covered: pd.DataFrame, below: int) -> pd.DataFrame:
    """The default test and the interval on few independent units, in the conditions without a gain."""
    both = default_test(rates, covered).rename(columns={"undefined": "no_interval"})
    ends = ["error_low", "error_high", "coverage", "coverage_low", "coverage_high", "no_interval"]
    return both.loc[both["n_units"] < below, [*_UNITS, "n_sets", "error_rate", *ends]].reset_index(drop=True)


def default_test(rates: pd.DataFrame, covered: pd.DataFrame) -> pd.DataFrame:
    """The default test's error rates on independent units, and beside them the coverage of the interval."""
    default = rates[(rates["test"] == DEFAULT_TEST) & (rates["breaks"] == "")]
    both = default.merge(covered, on=_UNITS, suffixes=("", "_covered"))
    names = {"share": "error_rate", "low": "error_low", "high": "error_high"}
    names |= {"share_covered": "coverage", "low_covered": "coverage_low", "high_covered": "coverage_high"}
    return both.rename(columns=names)


def cautions(rates: pd.DataFrame, covered: pd.DataFrame, least: float) -> pd.DataFrame:
    """Error rate, coverage and the share of cautions of each condition without a gain, from 20 units on.

    Right and wrong answers have no cautions, and are left out. A row is off_level if the default test's error rate is
    above 0.07, or coverage below `least`.
    """
    both = default_test(rates, covered)
    both = both[(both["n_units"] >= _LEAST_UNITS) & (both["interval"] == "jackknife")]
    off = (both["error_rate"] > HIGHEST) | (both["coverage"] < least)
    return both.assign(off_level=off)[[*_UNITS, "error_rate", "coverage", "cautioned", "off_level"]].reset_index(
        drop=True
    )


def choices(rates: pd.DataFrame, power: pd.DataFrame, systems: pd.DataFrame, study: Simulation) -> pd.DataFrame:
    """Tests by situation and band of sizes, from two-sided rates and power at one level.

    worst is the highest error rate in the situation's conditions without a gain (worst_condition) and the sizes of the
    band, whatever a test's null hypothesis is. power is the mean over its conditions with a gain and these sizes. A
    test keeps its level if worst is at most the upper end of the target, nearly up to that of Bradley's range. First
    choices are, among the tests that keep it (or, if none does, nearly) and whose null hypothesis is about the scores,
    the one with the most power and those within 0.01 of it. Tests that take the systems to be independent, or do not
    apply to all conditions of a situation, are left out.
    """
    situations = systems.set_index("condition")["situation"]
    independent = rates[rates["breaks"] != DEPENDENT_UNITS]
    errors, gains = (table.assign(situation=table["condition"].map(situations)) for table in (independent, power))
    rows = []
    for situation, (low, high) in product(situations.unique(), study.page["bands"]):
        of_nulls, of_gains = (
            table[(table["situation"] == situation) & table["n_units"].between(low, high)] for table in (errors, gains)
        )
        for test in [name for name in ss.TESTS if name in set(of_nulls["test"]) and not assumes_independence(name)]:
            of_test = of_nulls[of_nulls["test"] == test]
            if of_test["condition"].nunique() < of_nulls["condition"].nunique():
                continue
            worst = of_test.loc[of_test["share"].idxmax()]
            mean = of_gains.loc[of_gains["test"] == test, "share"].mean()
            at = (situation, f"{low:,} - {high:,}", test)
            rows.append((*at, worst["share"], worst["condition"], worst["n_units"], mean))
    columns = ["situation", "sizes", "test", "worst", "worst_condition", "worst_units", "power"]
    table = pd.DataFrame(rows, columns=columns)
    (_, target), (_, liberal) = study.page["aims"]["target"], study.page["aims"]["liberal"]
    table["verdict"] = np.select([table["worst"] <= target, table["worst"] <= liberal], [KEEPS, NEARLY], FAILS)
    for _, members in table.groupby(["situation", "sizes"], sort=False):
        members = members[[ss.TESTS[test].of_scores for test in members["test"]]]
        able = members[members["verdict"] == (KEEPS if KEEPS in set(members["verdict"]) else NEARLY)]
        table.loc[able.index[able["power"] >= able["power"].max() - _AS_GOOD], "verdict"] = FIRST
    return table
