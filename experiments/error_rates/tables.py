"""The tables: shares with intervals from the counts of all batches, and what they say of each test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import simstudy as ss
from simstudy.studies import clopper_pearson

from .settings import DEFAULT_TEST, DEPENDENT_UNITS, NAMED, ONE_SIDED, TWO_SIDED, Aims, Settings

_KEYS = ["condition", "unit", "n_units", "test", "alternative", "alpha"]

# Tests whose p-values are exact where results could be exchanged: computed, or of resamples that count themselves.
_EXACT = ("randomization", "sign", "wilcoxon", "mcnemar")


def error_rates(decided: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Shares of rejected test sets where scores are equal: a row a condition, unit, size, test, way to count, alpha."""
    sums = _summed(decided[_null(decided, study)], _KEYS)
    named = sums[sums["alternative"] == ONE_SIDED].assign(alternative=NAMED, n_rejected=sums["n_rejected_first"])
    table = with_shares(pd.concat([sums, named], ignore_index=True), "n_rejected", study)
    counts = ["n_sets", "n_rejected", "share", "low", "high", "n_undefined", "n_rejected_undefined", "breaks"]
    # One-sided rates of other levels would double the table.
    return table.loc[(table["alternative"] == TWO_SIDED) | (table["alpha"] == study.alpha), [*_KEYS, *counts]]


def power(decided: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """What tests find where the first system is truly better: a row a condition, size, test, alternative and alpha.

    share (with low and high) is the power: p <= alpha, and the better score is the truly better system's; wrong is the
    share of test sets with p <= alpha where it is the other one's (type III), with its own interval. Of the
    significant test sets: type_s is the share with the wrong winner, type_m the mean observed gain of the winner over
    the true gain, with a normal 95 % interval; both only where 20 are significant.
    """
    sums = _summed(decided[~_null(decided, study)], _KEYS)
    true = np.array([study.conditions[name].pair.true_gain for name in sums["condition"]])
    found = sums["n_rejected_first"].where(true > 0, sums["n_rejected"] - sums["n_rejected_first"])
    sums = sums.assign(n_correct=found, n_wrong=sums["n_rejected"] - found, true_gain=true)
    table = with_shares(sums, "n_correct", study)
    n, enough = table["n_rejected"], table["n_rejected"] >= 20
    wrong_low, wrong_high = _ends(table["n_wrong"], table["n_sets"])
    size = table["true_gain"].abs()
    mean = table["sum_gain"] / n.where(enough)
    spread = np.sqrt((table["sum_square"] / n.where(enough) - mean**2).clip(lower=0) / n.where(enough))
    z = stats.norm.ppf(0.975)
    table = table.assign(
        wrong=table["n_wrong"] / table["n_sets"],
        wrong_low=wrong_low,
        wrong_high=wrong_high,
        type_s=table["n_wrong"] / n.where(enough),
        type_m=mean / size,
        type_m_low=((mean - z * spread) / size).round(4),
        type_m_high=((mean + z * spread) / size).round(4),
    )
    counts = ["n_sets", "n_rejected", "n_wrong", "share", "low", "high", "wrong", "wrong_low", "wrong_high"]
    columns = ["condition", "true_gain", *_KEYS[1:], *counts, "type_s", "type_m", "type_m_low", "type_m_high"]
    return table.loc[(table["alternative"] == TWO_SIDED) | (table["alpha"] == study.alpha), columns]


def quantiles(counted: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """How many p-values are at or below a level, where results could be exchanged: a row a level.

    excess is the share less the level: 0 where p-values are uniform.
    """
    keys = ["condition", "unit", "n_units", "test", "alpha"]
    table = with_shares(_summed(counted, keys), "n_rejected", study)
    table = table.assign(excess=table["share"] - table["alpha"])
    columns = [key for key in keys if key != "unit"]
    return table.loc[table["breaks"] == "", [*columns, "n_sets", "share", "excess"]].reset_index(drop=True)


def coverage(counted: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Shares of the intervals that hold the true gain, their mean width, and how many test sets have none.

    cautioned is the share of all test sets with a caution.
    """
    keys = ["condition", "unit", "n_units", "interval"]
    table = with_shares(_summed(counted, keys).assign(test=DEFAULT_TEST, level=0.95), "n_covered", study)
    table = table.assign(
        true_gain=[study.conditions[name].pair.true_gain for name in table["condition"]],
        mean_width=table["sum_width"] / table["n_sets"].where(table["n_sets"] > 0),
        undefined=table["n_undefined"] / (table["n_sets"] + table["n_undefined"]),
        cautioned=table["n_cautioned"] / (table["n_sets"] + table["n_undefined"]),
    )
    of_condition = ["condition", "metric", "unit", "n_units", "true_gain", "interval", "level"]
    counts = ["n_sets", "n_covered", "share", "low", "high", "n_undefined", "mean_width", "undefined", "breaks"]
    return table[[*of_condition, *counts, "n_cautioned", "cautioned"]]


def with_shares(table: pd.DataFrame, count: str, study: Settings) -> pd.DataFrame:
    """Shares of a count with 95 % intervals, and what is known of each condition; conditions as they are listed."""
    low, high = _ends(table[count], table["n_sets"])
    known = [study.conditions[name] for name in table["condition"]]
    places = {name: k for k, name in enumerate([*study.conditions, "cluster", "item"])}
    return table.assign(
        metric=[condition.pair.metric for condition in known],
        share=table[count] / table["n_sets"].where(table["n_sets"] > 0),
        low=low,
        high=high,
        breaks=[c.breaks(test, unit) for c, test, unit in zip(known, table["test"], table["unit"], strict=True)],
    ).sort_values(["condition", "unit"], key=lambda column: column.map(places), kind="stable", ignore_index=True)


def _ends(counts: pd.Series[int], n_sets: pd.Series[int]) -> Any:
    """The ends of the intervals of shares, to 1e-5: more digits of 10,000 test sets say nothing."""
    return np.round(clopper_pearson(counts, n_sets.clip(lower=1)), 5)


def by_test(rates: pd.DataFrame, aims: Aims) -> pd.DataFrame:
    """How each test does over all conditions of independent units, and over those that do not break it.

    Of two-sided rates at one level: n_within and n_liberal count the rates from so many units on that are within the
    ranges, out of n_rates. lowest and highest are their range; highest_fewer is the highest rate on fewer units.
    """
    rates = rates[rates["breaks"] != DEPENDENT_UNITS]
    rows = []
    for test in [name for name in ss.TESTS if name in set(rates["test"])]:
        of_test = rates[rates["test"] == test]
        for scope, of_scope in (("equal scores", of_test), ("its own hypothesis", of_test[of_test["breaks"] == ""])):
            enough = of_scope["n_units"] >= aims.from_units
            many, few = of_scope.loc[enough, "share"], of_scope.loc[~enough, "share"]
            within, liberal = (int(many.between(*bounds).sum()) for bounds in (aims.target, aims.liberal))
            n_conditions = of_scope["condition"].nunique()
            rows.append((test, scope, n_conditions, len(many), within, liberal, many.min(), many.max(), few.max()))
    columns = ["test", "null", "n_conditions", "n_rates", "n_within", "n_liberal", "lowest", "highest", "highest_fewer"]
    return pd.DataFrame(rows, columns=columns)


def exact(rates: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Whether exact tests keep their level where results could be exchanged: a row a test and alpha.

    n_above counts the two-sided rates that are above alpha beyond Monte Carlo error: binomial p-values, one-sided,
    corrected by Holm over all rates of all tests in this table at 5 %. highest_sd is the largest excess in standard
    deviations of the count.
    """
    exchangeable = rates["condition"].map({name: c.pair.exchangeable for name, c in study.conditions.items()})
    ours = rates[rates["test"].isin(_EXACT) & exchangeable & (rates["breaks"] == "")]
    ours = ours[ours["alternative"] == TWO_SIDED]
    if ours.empty:
        return pd.DataFrame(columns=["test", "alpha", "n_conditions", "n_rates", "highest", "highest_sd", "n_above"])
    tails = stats.binom.sf(ours["n_rejected"] - 1, ours["n_sets"], ours["alpha"])
    sd = np.sqrt(ours["alpha"] * (1 - ours["alpha"]) / ours["n_sets"])
    above = ss.comparisons.corrected(pd.DataFrame({"p_value": tails}))["p_holm"].to_numpy() <= 0.05
    ours = ours.assign(above=above, sds=(ours["share"] - ours["alpha"]) / sd)
    table = ours.groupby(["test", "alpha"], sort=False).agg(
        n_conditions=("condition", "nunique"),
        n_rates=("share", "size"),
        highest=("share", "max"),
        highest_sd=("sds", "max"),
        n_above=("above", "sum"),
    )
    return table.reset_index()


def few_units(rates: pd.DataFrame, covered: pd.DataFrame, below: int) -> pd.DataFrame:
    """The default test and the interval on few independent units, in the conditions without a gain; at one alpha."""
    both = at_one_level(rates, covered).rename(columns={"undefined": "no_interval"})
    errors, shares = (["_".join([what, end]) for end in ("low", "high")] for what in ("error", "coverage"))
    columns = ["condition", "unit", "n_units", "n_sets", "error_rate", *errors, "coverage", *shares, "no_interval"]
    return both.loc[both["n_units"] < below, columns].reset_index(drop=True)


def at_one_level(rates: pd.DataFrame, covered: pd.DataFrame) -> pd.DataFrame:
    """The default test's error rates on independent units, and beside them the coverage of the interval."""
    default = rates[(rates["test"] == DEFAULT_TEST) & (rates["alternative"] == TWO_SIDED) & (rates["breaks"] == "")]
    both = default.merge(covered, on=["condition", "unit", "n_units"], suffixes=("", "_covered"))
    names = {"share": "error_rate", "low": "error_low", "high": "error_high"}
    names |= {"share_covered": "coverage", "low_covered": "coverage_low", "high_covered": "coverage_high"}
    return both.rename(columns=names)


def conditions(study: Settings) -> pd.DataFrame:
    """What is drawn."""
    rows = []
    for name, c in study.conditions.items():
        # A sum that is 0 but for rounding is shown as 0, on every machine.
        scores = [round(float(value), 12) + 0.0 for value in (*c.pair.scores(), c.pair.true_gain)]
        about = (name, c.title, c.situation, c.pair.metric, c.systems, *scores)
        rows.append((*about, c.pair.exchangeable, c.pair.independent))
    columns = ["condition", "title", "situation", "metric", "systems", "score_1", "score_2", "true_gain"]
    return pd.DataFrame(rows, columns=[*columns, "exchangeable", "independent"])


def _null(counted: pd.DataFrame, study: Settings) -> Any:
    return counted["condition"].map({name: condition.null for name, condition in study.conditions.items()})


def _summed(counted: pd.DataFrame, keys: Sequence[str]) -> pd.DataFrame:
    return counted.groupby(list(keys), sort=False).sum().reset_index()
