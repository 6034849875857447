"""The tools on one bench: significance tests that people use, beside ours, on the same drawn data sets.

Two systems are equal exactly, or one is better by a known gain. What is counted is how often each tool rejects.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterable, Sequence
from importlib import metadata
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.studies import Cell, DrawnPairs, Findings, RunContext, ShippedTables, Shown, clopper_pearson

from .adapters import ADAPTERS, Answer, by_p
from .data_sets import DataSet, blocks
from .page import CLOSING, sections, short
from .settings import Sets, Settings

#: How a row says that a tool's package is missing, and what installs all of them.
NOT_INSTALLED, INSTALL = "not installed", "pip install 'simstudy[tools]'"


def run(study: Settings, context: RunContext) -> Findings:
    """Ask every tool that is installed, count, and set them beside each other."""
    asked = [
        (tool, condition)
        for tool in study.tools
        for condition in study.conditions
        if study.applies(tool, condition) and study.tools[tool].version and drawable(study, condition)
    ]
    cells = [cell for tool, condition in asked for cell in cells_of(study, tool, condition)]
    with context.clock("data sets"):
        found = context.run("data sets", examine, cells, amount=lambda cell: len(cell.arguments[4]))
    with context.clock("identical systems"):
        edges = context.run("identical systems", at_the_edge, [edge_of(study, *each) for each in asked])
    where = [dict(zip(("name", "condition", "gain"), cell.arguments[1:4], strict=True)) for cell in cells]
    rates = rates_of([at | row for at, rows in zip(where, found, strict=True) for row in rows], study)
    tables = {
        "bench": bench(rates, dict(zip(asked, edges, strict=True)), study),
        "rates": rates,
        "conditions": conditions(study),
    }
    facts = {
        "Data sets of equal systems": by_pace(study.sets),
        "Data sets of each gain": by_pace(study.sets_with_gain),
        "Resamples of our tests": f"{study.n_resamples:,}, for tests that draw them",
        "Seed": str(study.seed),
    }
    if missing := study.missing():
        facts["Not installed"] = f"{', '.join(missing)}: {INSTALL}"
    return Findings(tables=tables, facts=facts)


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(sections=sections(tables, study), closing=CLOSING, summary={"Type I errors": short(tables["bench"])})


def by_pace(sets: Sets) -> str:
    """Numbers of data sets as text."""
    return ", ".join(f"{n:,} for {pace} tools" for pace, n in sets.model_dump().items())


def drawable(study: Settings, condition: str) -> bool:
    """Whether the data sets of a condition can be drawn: summaries are scored by rouge-score."""
    scored = study.conditions[condition].kind == "summaries"
    return not scored or all(tool.version for tool in study.tools.values() if tool.distribution == "rouge-score")


def cells_of(study: Settings, tool: str, condition: str) -> list[Cell]:
    """A tool's data sets in a condition: the first blocks of each gain, so many as its pace allows."""
    packages = versions(study, tool, condition)
    return [
        Cell(
            label=f"{tool}, {condition}, gain {gain}, blocks {first} …",
            arguments=(asked(study, tool, condition, gain), tool, condition, gain, which, packages),
        )
        for gain in range(study.conditions[condition].n_gains)
        for n_blocks in [study.n_sets(tool, gain) // study.block]
        for first in range(0, n_blocks, study.blocks)
        for which in [range(first, min(first + study.blocks, n_blocks))]
    ]


def edge_of(study: Settings, tool: str, condition: str) -> Cell:
    """A tool, asked of identical systems."""
    return Cell(
        label=f"{tool}, {condition}, identical",
        arguments=(asked(study, tool, condition, 0), tool, condition, versions(study, tool, condition)),
    )


def asked(study: Settings, tool: str, condition: str, gain: int) -> Settings:
    """The settings that the answers of a tool in a condition depend on: gains up to this one."""
    drawn = study.conditions[condition]
    resamples = ["n_resamples"] if study.tools[tool].ours else []
    return study.only(
        "levels", "block", "seed", *resamples, tools={tool: study.tools[tool].only("ours")},
        conditions={
            condition: drawn.only(
                "kind", "n_items", "model", parameters=drawn.parameters[: gain + 1],
                exchanged=drawn.exchanged[: gain + 1],
            )
        },
    )  # fmt: skip


def versions(study: Settings, tool: str, condition: str) -> list[str]:
    """The packages, with their versions, that data sets and answers depend on beside simstudy."""
    of, scored = study.tools[tool], study.conditions[condition].kind == "summaries"
    packages = dict.fromkeys([*([] if of.ours else [of.distribution]), *(["rouge-score"] if scored else [])])
    return [f"{package} {metadata.version(package)}" for package in packages if package]


def examine(
    study: Settings, tool: str, condition: str, gain: int, which: Iterable[int], versions: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """One cell: how often a tool rejects at each level, and how long it takes.

    `versions` are not read: they are arguments because other versions of the packages may give other answers.
    """
    counts = {level: {"n_sets": 0, "n_rejected": 0, "n_undefined": 0, "n_silent": 0} for level in study.levels}
    seconds, warm = 0.0, False

    def answers(data: list[DataSet], seed: int) -> list[dict[str, int]]:
        if study.tools[tool].ours:
            return of_ours(study, tool, condition, data, seed)
        said = [ask(tool, each, study, seed + k) for k, each in enumerate(data)]
        return [counted([(p, rejects[k]) for p, rejects in said]) for k in range(len(study.levels))]

    for seed, data in blocks(study.conditions[condition], condition, gain, list(which), study.block, study.seed):
        if not warm:
            # What is imported and compiled at the first call is not a pair's time.
            answers(data[:1], seed)
            warm = True
        start = time.process_time()
        block = answers(data, seed)
        seconds += time.process_time() - start
        for level, row in zip(study.levels, block, strict=True):
            counts[level] = {name: n + row[name] for name, n in counts[level].items()}
    return [{"level": level, **row, "seconds": seconds} for level, row in counts.items()]


def ask(tool: str, data: DataSet, study: Settings, seed: int) -> Answer:
    """What a tool says of a data set; what it warns of is in its answer."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return ADAPTERS[tool](data, study.levels, seed)


def counted(answers: list[tuple[float | None, bool | None]]) -> dict[str, int]:
    """Counts of answers at one level: a p-value that is no number rejects nothing."""
    return {
        "n_sets": len(answers),
        "n_rejected": sum(rejects is True for _, rejects in answers),
        "n_undefined": sum(p is not None and bool(np.isnan(p)) for p, _ in answers),
        "n_silent": sum(rejects is None for _, rejects in answers),
    }


def of_ours(study: Settings, tool: str, condition: str, data: list[DataSet], seed: int) -> list[dict[str, int]]:
    """The counts of one of our tests, which takes a block at once, at each level."""
    statistics, metric = np.stack([each.statistics for each in data]), study.conditions[condition].metric
    drawn = DrawnPairs(statistics, metric, n_resamples=study.n_resamples, seed=seed)
    rows = drawn.decisions([str(study.tools[tool].ours)], study.levels)[: len(study.levels)]
    assert all(row["alternative"] == "two-sided" for row in rows)
    return [
        {"n_sets": len(data), "n_rejected": int(row["n_rejected"]), "n_undefined": int(row["n_undefined"]),
         "n_silent": 0}
        for row in rows
    ]  # fmt: skip


def at_the_edge(study: Settings, tool: str, condition: str, versions: Sequence[str] = ()) -> dict[str, Any]:
    """A tool's p-value for a system against itself, and where one item is another system's.

    `versions` are those of `examine`.
    """
    ((seed, (data, *_)),) = blocks(study.conditions[condition], condition, 0, [0], study.block, study.seed)
    found: dict[str, Any] = {}
    for edge, changed in (("identical", []), ("one_item", [data.first_difference()])):
        pair = data.against_itself(changed)
        if ours := study.tools[tool].ours:
            outputs = ss.Outputs.from_statistics(pair.statistics, study.conditions[condition].metric, ["one", "other"])
            known = float(ss.compare(outputs, test=ours, alternative="two-sided")["p_value"].iloc[0])
            p, rejects = by_p(lambda *_, known=known: known)(pair, study.levels, seed)
        else:
            p, rejects = ask(tool, pair, study, seed)
        # A p-value that is no number says so; a rule has none.
        found |= {f"{edge}_p": "none" if p is None else str(p), f"{edge}_rejected": bool(rejects[0])}
    return found


def rates_of(counted_cells: list[dict[str, Any]], study: Settings) -> pd.DataFrame:
    """Shares of rejected data sets with their 95 % intervals: a row a tool, condition, gain and level."""
    keys = ["name", "condition", "gain", "level"]
    if not counted_cells:
        return pd.DataFrame(columns=[*keys, "true_gain", "n_sets", "n_rejected", "share", "low", "high", "seconds"])
    table = pd.DataFrame(counted_cells).groupby(keys, sort=False).sum().reset_index()
    low, high = clopper_pearson(table["n_rejected"], table["n_sets"])
    gains = {name: condition.true_gains() for name, condition in study.conditions.items() if drawable(study, name)}
    table = table.assign(
        share=table["n_rejected"] / table["n_sets"],
        low=low,
        high=high,
        true_gain=[gains[c][g] for c, g in zip(table["condition"], table["gain"], strict=True)],
        seconds=table["seconds"] / table["n_sets"],
    )
    # A rule that is of one level says nothing at another.
    table.loc[table["n_silent"] > 0, ["share", "low", "high"]] = np.nan
    counts = ["n_sets", "n_rejected", "share", "low", "high", "n_undefined", "seconds"]
    return table[[*keys[:3], "true_gain", "level", *counts]]


def bench(rates: pd.DataFrame, edges: dict[tuple[str, str], dict[str, Any]], study: Settings) -> pd.DataFrame:
    """One row a tool, test and condition, with all that there is to say of it."""
    rows: list[dict[str, Any]] = []
    for name, tool in study.tools.items():
        for condition in study.conditions:
            if not study.applies(name, condition):
                continue
            row: dict[str, Any] = {"tool": tool.tool, "test": tool.test, "name": name, "condition": condition}
            row["status"] = "" if (name, condition) in edges else NOT_INSTALLED
            of = rates[(rates["name"] == name) & (rates["condition"] == condition)]
            for k, level in enumerate(study.levels, 1):
                null = of[(of["gain"] == 0) & (of["level"] == level)]
                row |= {f"type_1_{k}{end}": first(null[column]) for end, column in ENDS.items()}
            for gain in (1, 2):
                better = of[(of["gain"] == gain) & (of["level"] == study.levels[0])]
                row |= {f"power_{gain}{end}": first(better[column]) for end, column in ENDS.items()}
                row[f"gain_{gain}"] = first(better["true_gain"])
            row |= edges.get((name, condition), dict.fromkeys(EDGES))
            row |= {"n_sets": first(of["n_sets"]), "n_sets_with_gain": first(of[of["gain"] > 0]["n_sets"])}
            row["seconds"] = first(of["seconds"])
            said = tool.model_dump(include={"call", "null", "claim", "source", "note"})
            rows.append(row | {"version": tool.version or NOT_INSTALLED} | said)
    return pd.DataFrame(rows)


ENDS = {"": "share", "_low": "low", "_high": "high"}
EDGES = ("identical_p", "identical_rejected", "one_item_p", "one_item_rejected")


def first(values: pd.Series) -> float:
    """The first value; NaN where there is none."""
    return float(values.iloc[0]) if len(values) else float("nan")


def conditions(study: Settings) -> pd.DataFrame:
    """What is drawn."""
    rows = [
        (name, c.title, c.kind, c.metric, c.n_items, c.systems, gain, true)
        for name, c in study.conditions.items()
        for gain, true in enumerate(c.true_gains() if drawable(study, name) else [])
    ]
    return pd.DataFrame(
        rows, columns=["condition", "title", "kind", "metric", "n_items", "systems", "gain", "true_gain"]
    )
