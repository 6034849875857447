"""Plans held against real test sets: one half predicts the other, and one benchmark another one."""

from __future__ import annotations

from typing import Any

import pandas as pd

import simstudy as ss
from simstudy.studies import Cell, Findings, RunContext, ShippedTables, Shown, outputs_of

from .halves import beside, n_units, outcome, split
from .margins import GOALS, shown
from .page import CLOSING, headline, sections
from .settings import Settings
from .tables import calibration, errors, judged

Named = dict[tuple[str, str], ss.Outputs]


def run(study: Settings, context: RunContext) -> Findings:
    """Halve all sets, plan the targets from their sources, and set predictions beside outcomes."""
    sets, kinds, hashes = _read(study, context)
    draws = list(range(study.splits))
    cells = [
        Cell(
            label=f"{name}, splits {batch[0]} - {batch[-1]}",
            arguments=(outputs, batch, study.pilots, study.n_draws, study.n_resamples, study.seed),
        )
        for (name, _), outputs in sets.items()
        for batch in (draws[first : first + study.at_once] for first in range(0, len(draws), study.at_once))
    ]  # fmt: skip
    with context.clock("halves"):
        done = context.run("test sets in halves", split, cells, amount=lambda cell: len(cell.arguments[1]))
    rows = [
        {"test_set": cell.arguments[0].test_set, "metric": cell.arguments[0].metric.name, **row}
        for cell, found in zip(cells, done, strict=True)
        for row in found
    ]
    predictions = judged(pd.DataFrame(rows))
    transfers = _transfers(study, context, hashes)
    about = pd.DataFrame(
        [
            {
                "test_set": name, "kind": kinds[name, metric], "metric": metric, "n_systems": outputs.n_systems,
                "n_items": outputs.n_items, "unit": outputs.natural_unit, "n_units": n_units(outputs),
            }
            for (name, metric), outputs in sets.items()
        ]
    )  # fmt: skip
    tables = {
        "calibration": calibration(predictions),
        "errors": errors(predictions),
        "sets": about,
        "transfers": transfers,
        "margins": _margins(study, context),
    }
    return Findings(
        tables=tables,
        facts={
            "Real sets": f"{len(sets)}, each halved {study.splits} times, by documents where they are known",
            "Predictions": f"{study.n_draws} drawn test sets each",
            "Seed": str(study.seed),
        },
        data={"files": hashes},
    )


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(
        sections=sections(tables, study),
        closing=CLOSING,
        summary={"How many outcomes prediction intervals hold": headline(tables["calibration"])},
    )


def _read(study: Settings, context: RunContext) -> tuple[Named, dict[tuple[str, str], str], dict[str, Any]]:
    sets: Named = {}
    kinds: dict[tuple[str, str], str] = {}
    hashes: dict[str, Any] = {}
    for part in study.sets:
        found, read = outputs_of(part.study, context, test_sets=part.test_sets, metrics=part.metrics)
        hashes[part.study] = hashes.get(part.study, {}) | read
        for key, one in found.items():
            if one.outputs.n_items >= study.least_items and one.outputs.n_systems >= 3:
                sets[key], kinds[key] = one.outputs, part.kind
    return sets, kinds, hashes


def _margins(study: Settings, context: RunContext) -> pd.DataFrame:
    cells = [
        Cell(
            label=f"{margin.title}, {goal}",
            arguments=(
                name, margin.only("model", "parameters", "margin", "population"), goal, study.margin_sets, study.seed,
            ),
        )
        for name, margin in study.margins.items()
        for goal in GOALS
    ]  # fmt: skip
    if not cells:
        return pd.DataFrame()
    with context.clock("margins"):
        found = context.run("plans with a margin", shown, cells)
    titles = [study.margins[cell.arguments[0]].title for cell in cells]
    return pd.DataFrame([{"condition": title, **row} for title, row in zip(titles, found, strict=True)])


def _transfers(study: Settings, context: RunContext, hashes: dict[str, Any]) -> pd.DataFrame:
    """Each target from its sources; the hashes of the files that were read for it join the others."""
    cells = []
    for part in study.transfers:
        names = [*dict.fromkeys([*part.sources, *part.targets])]
        found, read = outputs_of(part.study, context, test_sets=names, metrics=[part.metric])
        hashes[part.study] = hashes.get(part.study, {}) | read
        outputs = {name: found[name, part.metric].outputs for name in names}
        cells += [
            Cell(
                label=f"{target} from others",
                arguments=(
                    study.n_draws, study.n_resamples, study.seed, outputs[target],
                    *(outputs[source] for source in part.sources if source != target),
                ),
            )
            for target in part.targets
        ]  # fmt: skip
    if not cells:
        return pd.DataFrame()
    with context.clock("transfers"):
        done = context.run("one test set from another", transfer, cells, amount=lambda cell: len(cell.arguments) - 4)
    return judged(pd.DataFrame([row for rows in done for row in rows]))


def transfer(
    n_draws: int, n_resamples: int, seed: int, target: ss.Outputs, *sources: ss.Outputs
) -> list[dict[str, Any]]:
    """What sources predict of a target, beside what it shows: test sets of as many items, whatever their units are."""
    shown = outcome(target, n_resamples)
    rows = []
    for source in sources:
        units = max(2, round(target.n_items * n_units(source) / source.n_items))
        for row in beside(source, {target.test_set: (units, shown)}, n_draws, seed):
            rows.append({"source": source.test_set, "metric": target.metric.name, **row})
    return rows
