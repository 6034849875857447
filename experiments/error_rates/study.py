"""Error rates and coverage: two systems of known scores, drawn many times, asked every test that applies.

Where the two systems have equal scores in the population, each rejection is an error, whatever hypothesis a test has of
its own. What a condition breaks of a test's assumptions is said beside its rates.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

import simstudy as ss
from simstudy.studies import Cell, Findings, RunContext, clopper_pearson

from .conditions import DEFAULT_TEST, DEPENDENT_UNITS, NAMED, ONE_SIDED, TWO_SIDED, Aims, Settings, examine
from .page import CLOSING, coverage_sections, intervals, rate_sections, verdicts


def run(study: Settings, context: RunContext) -> Findings:
    """Draw all batches, count, and set the tests beside each other."""
    cells = [
        Cell(
            label=f"{name}, {n} units, batch {batch}",
            description={
                "condition": [name, condition.model_dump(include={"model", "parameters"})],
                "n_units": n,
                "batch": batch,
                **study.model_dump(include={"tests", "sets", "n_resamples", "alpha", "seed"}),
            },
            arguments=(study, name, n, batch),
        )
        for name, condition in study.conditions.items()
        for n in study.n_units
        for batch in range(study.batches)
    ]
    with context.clock("batches"):
        found = context.run("test sets", examine, cells, amount=lambda cell: cell.arguments[2])
    where = [{"condition": cell.arguments[1], "n_units": cell.arguments[2]} for cell in cells]
    rejected, covered = (
        [at | row for at, batch in zip(where, found, strict=True) for row in batch[kind]]
        for kind in ("rejections", "coverage")
    )
    tables = {"coverage": coverage(covered, study), "conditions": conditions(study)}
    if rejected:
        rates = error_rates(rejected, study)
        few = few_units(rates, tables["coverage"], study.aims.from_units)
        tables = {"tests": by_test(rates, study.aims), "rates": rates, "few_units": few} | tables
        summary = {"Two-sided error rates where scores are equal": verdicts(tables["tests"])}
    else:
        summary = {"Coverage": intervals(tables["coverage"], study)}
    n_sets = study.batches * study.sets
    return Findings(
        tables,
        [*(rate_sections(tables, study) if rejected else []), *coverage_sections(tables, study)],
        {
            "Test sets": f"{n_sets:,} for each condition and number of units, in {study.batches} batches",
            "Resamples": f"{study.n_resamples:,} of each test set, where p-values are not computed",
            "Seed": str(study.seed),
        },
        CLOSING,
        summary,
    )


def error_rates(counted: Sequence[dict[str, Any]], study: Settings) -> pd.DataFrame:
    """Shares of rejected test sets from the batches' counts: a row a condition, unit, size, test and way to count."""
    keys = ["condition", "unit", "n_units", "test", "alternative"]
    sums = pd.DataFrame(counted).groupby(keys, sort=False).sum().reset_index()
    named = sums[sums["alternative"] == ONE_SIDED].assign(alternative=NAMED, n_rejected=sums["n_rejected_first"])
    table = with_shares(pd.concat([sums, named], ignore_index=True).assign(alpha=study.alpha), "n_rejected", study)
    counts = ["n_sets", "n_rejected", "share", "low", "high", "n_undefined", "n_rejected_undefined", "breaks"]
    return table[["condition", "metric", *keys[1:], "alpha", *counts]]


def coverage(counted: Sequence[dict[str, Any]], study: Settings) -> pd.DataFrame:
    """Shares of the intervals that hold the true gain, their mean width, and how many test sets have none."""
    keys = ["condition", "unit", "n_units", "interval"]
    table = pd.DataFrame(counted).groupby(keys, sort=False).sum().reset_index()
    table = with_shares(table.assign(test=DEFAULT_TEST, level=0.95), "n_covered", study)
    table = table.assign(
        true_gain=[study.conditions[name].pair.true_gain for name in table["condition"]],
        mean_width=table["sum_width"] / table["n_sets"].where(table["n_sets"] > 0),
        undefined=table["n_undefined"] / (table["n_sets"] + table["n_undefined"]),
    )
    counts = ["n_sets", "n_covered", "share", "low", "high", "n_undefined", "mean_width", "undefined", "breaks"]
    return table[["condition", "metric", "unit", "n_units", "true_gain", "interval", "level", *counts]]


def with_shares(table: pd.DataFrame, count: str, study: Settings) -> pd.DataFrame:
    """Shares of a count with 95 % intervals, and what is known of each condition; conditions as they are listed."""
    low, high = clopper_pearson(table[count], table["n_sets"].clip(lower=1))
    known = [study.conditions[name] for name in table["condition"]]
    places = {name: k for k, name in enumerate([*study.conditions, "cluster", "item"])}
    return table.assign(
        metric=[condition.pair.metric for condition in known],
        share=table[count] / table["n_sets"].where(table["n_sets"] > 0),
        low=low,
        high=high,
        breaks=[c.breaks(test, unit) for c, test, unit in zip(known, table["test"], table["unit"], strict=True)],
    ).sort_values(["condition", "unit"], key=lambda column: column.map(places), kind="stable", ignore_index=True)


def by_test(rates: pd.DataFrame, aims: Aims) -> pd.DataFrame:
    """How each test does over all conditions of independent units, two-sided, and over those that do not break it.

    n_within and n_liberal count the rates from so many units on that are within the ranges, of n_rates; least and most
    are the lowest and highest of these, most_fewer is the highest rate on fewer units.
    """
    two_sided = rates[(rates["alternative"] == TWO_SIDED) & (rates["breaks"] != DEPENDENT_UNITS)]
    rows = []
    for test in [name for name in ss.TESTS if name in set(two_sided["test"])]:
        of_test = two_sided[two_sided["test"] == test]
        for scope, of_scope in (("equal scores", of_test), ("its own hypothesis", of_test[of_test["breaks"] == ""])):
            enough = of_scope["n_units"] >= aims.from_units
            many, few = of_scope.loc[enough, "share"], of_scope.loc[~enough, "share"]
            within, liberal = (int(many.between(*bounds).sum()) for bounds in (aims.target, aims.liberal))
            n_conditions = of_scope["condition"].nunique()
            rows.append((test, scope, n_conditions, len(many), within, liberal, many.min(), many.max(), few.max()))
    columns = ["test", "where", "n_conditions", "n_rates", "n_within", "n_liberal", "least", "most", "most_fewer"]
    return pd.DataFrame(rows, columns=columns)


def few_units(rates: pd.DataFrame, covered: pd.DataFrame, below: int) -> pd.DataFrame:
    """The default test and the interval on few independent units, in the conditions without a gain."""
    keys = ["condition", "unit", "n_units"]
    default = rates[(rates["test"] == DEFAULT_TEST) & (rates["alternative"] == TWO_SIDED) & (rates["breaks"] == "")]
    both = default[default["n_units"] < below].merge(covered, on=keys, suffixes=("", "_covered"))
    names = {"share": "error_rate", "low": "error_low", "high": "error_high"}
    names |= {"share_covered": "coverage", "low_covered": "coverage_low", "high_covered": "coverage_high"}
    return both[[*keys, "n_sets", *names, "undefined"]].rename(columns=names | {"undefined": "no_interval"})


def conditions(study: Settings) -> pd.DataFrame:
    """What is drawn."""
    rows = [
        (name, c.title, c.pair.metric, c.systems, *c.pair.scores(), c.pair.true_gain, c.exchangeable, c.independent)
        for name, c in study.conditions.items()
    ]
    columns = ["condition", "title", "metric", "systems", "score_1", "score_2", "true_gain"]
    return pd.DataFrame(rows, columns=[*columns, "exchangeable", "independent"])
