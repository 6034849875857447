"""Error rates, power and coverage: two systems of known scores, drawn many times, asked every test that applies.

Where the two systems have equal scores in the population, each rejection is an error, whatever hypothesis a test has of
its own. What a condition breaks of a test's assumptions is said beside its rates.
"""

from __future__ import annotations

import pandas as pd

from simstudy.pages.sections import Section, Table
from simstudy.studies import Cell, Findings, RunContext, ShippedTables, Shown

from .cautions import caution_section, cautions
from .choices import choices
from .conditions import examine
from .page import CLOSING, chosen, coverage_sections, exact_sections, intervals, power_sections, rate_sections, verdicts
from .settings import TWO_SIDED, Settings
from .tables import by_test, conditions, coverage, error_rates, exact, few_units, power, quantiles


def run(study: Settings, context: RunContext) -> Findings:
    """Draw all batches, count, and set the tests beside each other."""
    cells = [
        Cell(
            label=f"{name}, {n} units, batch {batch}",
            arguments=(
                study.only(
                    "tests", "sets", "n_resamples", "alphas", "seed",
                    conditions={name: condition.only("model", "parameters")},
                ),
                name, n, batch, n in study.shown, n == study.shown[0],
            ),
        )
        for name, condition in study.conditions.items()
        for n in study.n_units
        for batch in range(study.batches_of(name, n))
    ]  # fmt: skip
    with context.clock("batches"):
        found = context.run("test sets", examine, cells, amount=lambda cell: cell.arguments[2])
    where = [{"condition": cell.arguments[1], "n_units": cell.arguments[2]} for cell in cells]
    counted = {
        kind: pd.DataFrame([at | row for at, batch in zip(where, found, strict=True) for row in batch[kind]])
        for kind in ("decisions", "quantiles", "coverage")
    }
    decided, covered = counted["decisions"], coverage(counted["coverage"], study)
    nulls = [name for name, condition in study.conditions.items() if condition.null]
    tables: dict[str, pd.DataFrame] = {}
    if nulls:
        rates = error_rates(decided, study)
        at_alpha = rates[rates["alpha"] == study.alpha]
        tables |= {
            "tests": by_test(at_alpha[at_alpha["alternative"] == TWO_SIDED], study.aims),
            "rates": rates,
            "exact": exact(rates, study),
            "few_units": few_units(at_alpha, covered, study.aims.from_units),
            "cautions": cautions(at_alpha, covered, study),
        }
        if len(counted["quantiles"]):
            tables["quantiles"] = quantiles(counted["quantiles"], study)
    if len(nulls) < len(study.conditions):
        tables["power"] = power(decided, study)
    if {"rates", "power"} <= set(tables):
        tables = {"choices": choices(tables["rates"], tables["power"], study)} | tables
    tables |= {"coverage": covered, "conditions": conditions(study)}
    n_many, n_few = (study.sets * batches for batches in (study.batches_of_many, study.batches))
    slow = [f"{c.title}: {study.sets * c.batches:,} at most" for c in study.conditions.values() if c.batches]
    return Findings(
        tables=tables,
        facts={
            "Test sets": f"{n_few:,} for each condition and number of units, {n_many:,} from {study.many_units:,} "
            f"units on, in batches of {study.sets:,}" + "".join(f"; {fewer}" for fewer in slow),
            "Resamples": f"{study.n_resamples:,} of each test set, for tests that draw them",
            "Seed": str(study.seed),
        },
    )


def show(study: Settings, tables: ShippedTables) -> Shown:
    """Error rates, exact tests, cautions, power and coverage, as far as there are conditions for them."""
    sections: list[Section] = []
    summary: dict[str, Table] = {}
    if "choices" in tables:
        summary["Which test when"] = chosen(tables["choices"])
    if "rates" in tables:
        summary["Two-sided type I error rates, equal scores"] = verdicts(tables["tests"])
        sections += [*rate_sections(tables, study), *exact_sections(tables, study)]
        if len(tables["cautions"]):
            sections.append(caution_section(tables["cautions"], study))
    if "power" in tables:
        sections += power_sections(tables, study)
    return Shown(
        sections=[*sections, *coverage_sections(tables, study)],
        closing=CLOSING,
        summary=summary or {"Coverage": intervals(tables["coverage"], study)},
    )
