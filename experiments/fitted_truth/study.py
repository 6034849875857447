"""Fitted truth beside real sets: a model fitted to one half of the items, compared with the other half.

Two real halves differ by the noise of two samples; a test set that is drawn from a model has the noise of its draw and
of the half that the model learned from. What ratio a model of the right kind would have is found by doing the same with
test sets that are drawn from the model fitted to the whole real set.
"""

from __future__ import annotations

from typing import Any

import pandas as pd

import simstudy as ss
from simstudy.studies import Cell, Findings, RunContext, ShippedTables, Shown, derived_seed

from .held_out import held_out_split
from .page import CLOSING, headline, sections
from .sets import Files, fitted_to_all, found, read
from .settings import RealSet, Settings
from .tables import beside_null, ratios


def run(study: Settings, context: RunContext) -> Findings:
    """Split all real sets and all replicates of them, and set their ratios beside each other."""
    files = {name: found(of, context) for name, of in study.sets.items()}
    # A replicate's number; none: the real set.
    batches: list[list[int]] = [[]] + [
        list(range(first, min(first + study.at_once, study.replicates)))
        for first in range(0, study.replicates, study.at_once)
    ]
    cells = [
        Cell(
            label=f"{name}, {'real' if not batch else f'replicates {batch[0]} - {batch[-1]}'}",
            arguments=(
                of.model_copy(update={"title": "", "kind": ""}), files[name], batch, study.splits, study.n_resamples,
                study.seed,
            ),
        )
        for name, of in study.sets.items()
        for batch in batches
    ]  # fmt: skip
    with context.clock("splits"):
        done = context.run("test sets in halves", split, cells, amount=lambda cell: max(1, len(cell.arguments[2])))
    names = [name for name in study.sets for _ in batches]
    gathered = {
        kind: pd.DataFrame(
            [{"set": name, **row} for name, cell in zip(names, done, strict=True) for row in cell.get(kind, [])]
        )
        for kind in ("sets", "splits", "curves")
    }
    for place, words in enumerate(("title", "kind"), start=1):
        own = [getattr(study.sets[name], words) for name in gathered["sets"]["set"]]
        gathered["sets"].insert(place, words, own)
    real = gathered["splits"][gathered["splits"]["replicate"] < 0]
    replicates = ratios(gathered["splits"])
    tables = {
        "ratios": beside_null(replicates, real, study),
        "sets": gathered["sets"],
        "splits": real.drop(columns="replicate"),
        "replicates": replicates[replicates["replicate"] >= 0].reset_index(drop=True),
        "curves": gathered["curves"],
    }
    return Findings(
        tables=tables,
        facts={
            "Real sets": f"{len(study.sets)}, each halved {study.splits} times, by documents where they are known",
            "Replicates": f"{study.replicates} test sets from the model fitted to each whole set, halved as often",
            "Resamples": f"{study.n_resamples:,} of each comparison",
            "Seed": str(study.seed),
        },
        data={"files": {name: of.hashes for name, of in files.items()}},
    )


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(
        sections=sections(tables, study),
        closing=CLOSING,
        summary={"Ratio of the fitted sets' distance to the halves'": headline(tables["ratios"], study)},
    )


def split(of: RealSet, files: Files, batch: list[int], splits: int, n_resamples: int, seed: int) -> dict[str, Any]:
    """The splits of the real set, or those of replicates of it: rows of the tables."""
    real = read(of, files)
    if not batch:
        return _about(of, files, real) | _splits(real, -1, splits, n_resamples, seed, curves=True)
    model = fitted_to_all(of, files).model
    rows: list[dict[str, Any]] = []
    for replicate in batch:
        drawn = model.outputs(real.n_items, seed=derived_seed(seed, "replicate", replicate) % 2**64)
        rows += _splits(drawn, replicate, splits, n_resamples, seed)["splits"]
    return {"splits": rows}


def _splits(
    outputs: ss.Outputs, replicate: int, splits: int, n_resamples: int, seed: int, *, curves: bool = False
) -> dict[str, Any]:
    done = [held_out_split(outputs, draw, n_resamples=n_resamples, seed=seed) for draw in range(splits)]
    rows = pd.concat([one.table for one in done]).assign(replicate=replicate)
    lines = [one.curves.assign(draw=draw) for draw, one in enumerate(done)] if curves else []
    return {"splits": rows.to_dict("records"), "curves": pd.concat(lines).to_dict("records") if lines else []}


def _about(of: RealSet, files: Files, real: ss.Outputs) -> dict[str, Any]:
    whole = fitted_to_all(of, files)
    row = {
        "metric": real.metric.name,
        "n_systems": real.n_systems,
        "n_items": real.n_items,
        "unit": real.natural_unit,
        "n_units": real.n_items if real.natural_unit == "item" else real.items[real.natural_unit].nunique(),
        "shrinkage": whole.shrinkage,
        "distance": whole.distance / max(1, real.n_systems),
        "notes": "; ".join(whole.notes),
    }
    return {"sets": [row]}
