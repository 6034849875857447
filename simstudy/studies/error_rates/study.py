"""The study of error rates: two systems of known scores, drawn many times, asked every test that applies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from simstudy.engines.intervals import LEVEL
from simstudy.engines.registry import DEFAULT_TEST, TESTS
from simstudy.pvalues import clopper_pearson
from simstudy.runner import progress_bar, run_cells
from simstudy.studies.error_rates import page
from simstudy.studies.error_rates.batch import Batch, cells, examine
from simstudy.studies.error_rates.conditions import CONDITIONS
from simstudy.studies.error_rates.definition import Aims, ErrorRates
from simstudy.studies.findings import Findings, RunContext

#: How rejections are counted: two-sided; one-sided for the system that the data say is the better; and one-sided for a
#: system that was named before.
TWO_SIDED, ONE_SIDED, NAMED = "two-sided", "greater", "greater, named beforehand"


def run(study: ErrorRates, context: RunContext) -> Findings:
    """Draw all batches, count, and set the tests beside each other."""
    todo = cells(study)
    with context.clock("batches"), progress_bar("test sets", sum(cell.arguments[2] for cell in todo)) as advance:
        found: list[Batch] = run_cells(
            examine,
            todo,
            n_jobs=context.n_jobs,
            cache=context.cells,
            finished=lambda cell: advance(cell.description["n_units"]),
        )
    where = [{"condition": cell.arguments[1], "n_units": cell.arguments[2]} for cell in todo]
    covered = coverage([at | row for at, batch in zip(where, found, strict=True) for row in batch["coverage"]], study)
    tables = {"coverage": covered, "conditions": conditions(study.conditions)}
    counted = [at | row for at, batch in zip(where, found, strict=True) for row in batch["rejections"]]
    if counted:
        rates = error_rates(counted, study)
        few = few_units(rates, covered, study.aims.from_units)
        tables = {"tests": by_test(rates, study.aims), "rates": rates, "few_units": few} | tables
    return Findings(
        tables,
        page.sections(tables, study),
        {
            "Test sets": f"{study.n_sets:,} for each condition and number of units, in {study.batches} batches",
            "Resamples": f"{study.n_resamples:,} of each test set, where p-values are not computed",
            "Seed": str(study.seed),
        },
        page.CLOSING,
        page.summary(tables, study),
    )


def error_rates(counted: Sequence[dict[str, Any]], study: ErrorRates) -> pd.DataFrame:
    """Shares of rejected test sets from the batches' counts: a row a condition, unit, size, test and way to count."""
    columns = ["condition", "unit", "n_units", "test", "alternative"]
    sums = pd.DataFrame(counted).groupby(columns, sort=False).sum().reset_index()
    named = sums[sums["alternative"] == ONE_SIDED].assign(alternative=NAMED)
    named["n_rejected"] = named["n_rejected_first"]
    table = pd.concat([sums, named], ignore_index=True).drop(columns="n_rejected_first")
    table.insert(1, "metric", [CONDITIONS[name].model.metric for name in table["condition"]])
    table.insert(6, "alpha", study.alpha)
    table["breaks"] = [
        CONDITIONS[name].breaks(test, unit)
        for name, test, unit in zip(table["condition"], table["test"], table["unit"], strict=True)
    ]
    table = _with_share(table, "n_rejected", "n_sets", before="n_undefined")
    return table.sort_values(["condition", "unit"], key=_order(study.conditions), kind="stable", ignore_index=True)


def coverage(counted: Sequence[dict[str, Any]], study: ErrorRates) -> pd.DataFrame:
    """Shares of the intervals that hold the true gain, their mean width, and how many test sets have none."""
    columns = ["condition", "unit", "n_units", "interval"]
    table = pd.DataFrame(counted).groupby(columns, sort=False).sum().reset_index()
    models = [CONDITIONS[name].model for name in table["condition"]]
    table.insert(1, "metric", [model.metric for model in models])
    table.insert(4, "true_gain", [model.true_gain for model in models])
    table.insert(6, "level", LEVEL)
    table = _with_share(table, "n_covered", "n_sets", before="sum_width")
    table["mean_width"] = table.pop("sum_width") / table["n_sets"].where(table["n_sets"] > 0)
    table["undefined"] = table["n_undefined"] / (table["n_sets"] + table["n_undefined"])
    table["breaks"] = [
        CONDITIONS[name].breaks(DEFAULT_TEST, unit)
        for name, unit in zip(table["condition"], table["unit"], strict=True)
    ]
    return table.sort_values(["condition", "unit"], key=_order(study.conditions), kind="stable", ignore_index=True)


def by_test(rates: pd.DataFrame, aims: Aims) -> pd.DataFrame:
    """How each test does over all conditions of independent units, two-sided, and over those that do not break it.

    n_within and n_liberal count the rates from so many units on that are within the ranges, of n_rates; least and most
    are the lowest and highest of these, most_fewer is the highest rate on fewer units.
    """
    two_sided = rates[rates["alternative"] == TWO_SIDED]
    independent = [CONDITIONS[c].model.units[0] == u for c, u in zip(rates["condition"], rates["unit"], strict=True)]
    two_sided = two_sided[pd.Series(independent, index=rates.index).loc[two_sided.index].astype(bool)]
    rows = []
    for test in [name for name in TESTS if name in set(two_sided["test"])]:
        of_test = two_sided[two_sided["test"] == test]
        for scope, of_scope in (("equal scores", of_test), ("its own hypothesis", of_test[of_test["breaks"] == ""])):
            many = of_scope[of_scope["n_units"] >= aims.from_units]
            few = of_scope[of_scope["n_units"] < aims.from_units]
            rows.append(
                {
                    "test": test,
                    "where": scope,
                    "n_conditions": of_scope["condition"].nunique(),
                    "n_rates": len(many),
                    "n_within": int(many["share"].between(*aims.target).sum()),
                    "n_liberal": int(many["share"].between(*aims.liberal).sum()),
                    "least": many["share"].min(),
                    "most": many["share"].max(),
                    "most_fewer": few["share"].max(),
                }
            )
    return pd.DataFrame(rows)


def few_units(rates: pd.DataFrame, covered: pd.DataFrame, below: int) -> pd.DataFrame:
    """The default test and the interval on few independent units, in the conditions without a gain."""
    columns = ["condition", "unit", "n_units"]
    default = rates[(rates["test"] == DEFAULT_TEST) & (rates["alternative"] == TWO_SIDED) & (rates["breaks"] == "")]
    both = default.merge(covered, on=columns, suffixes=("", "_covered"))
    both = both[both["n_units"] < below]
    names = {"share": "error_rate", "low": "error_low", "high": "error_high"}
    names |= {"share_covered": "coverage", "low_covered": "coverage_low", "high_covered": "coverage_high"}
    kept = [*columns, "n_sets", *names, "undefined"]
    return both[kept].rename(columns=names | {"undefined": "no_interval"}).reset_index(drop=True)


def conditions(names: Sequence[str]) -> pd.DataFrame:
    """What is drawn."""
    return pd.DataFrame(
        [
            {
                "condition": name,
                "title": CONDITIONS[name].title,
                "metric": CONDITIONS[name].model.metric,
                "systems": CONDITIONS[name].systems,
                "score_1": CONDITIONS[name].model.scores()[0],
                "score_2": CONDITIONS[name].model.scores()[1],
                "true_gain": CONDITIONS[name].model.true_gain,
                "exchangeable": CONDITIONS[name].exchangeable,
                "independent": CONDITIONS[name].independent,
            }
            for name in names
        ]
    )


def _with_share(table: pd.DataFrame, count: str, of: str, *, before: str) -> pd.DataFrame:
    low, high = clopper_pearson(table[count], table[of].clip(lower=1))
    at = list(table.columns).index(before)
    share = table[count] / table[of].where(table[of] > 0)
    columns = {"share": share, "low": pd.Series(low, table.index), "high": pd.Series(high, table.index)}
    for k, (name, values) in enumerate(columns.items()):
        table.insert(at + k, name, values)
    return table


def _order(names: Sequence[str]) -> Any:
    """A key that sorts conditions as they are listed, and clusters before items."""
    places = {name: k for k, name in enumerate([*names, "cluster", "item"])}
    return lambda column: column.map(places)
