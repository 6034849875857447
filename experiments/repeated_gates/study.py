"""Gates that are asked again and again: error rates at any look, and what tests that hold their level cost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from simstudy.studies import Cell, Findings, RunContext, ShippedTables, Shown, clopper_pearson

from . import commits, growing
from .page import CLOSING, sections, summary
from .settings import Condition, Settings


def run(study: Settings, context: RunContext) -> Findings:
    """Draw all blocks and count."""
    grown = [
        _cell("growing", growing_settings(study, name), (name,), block, size)
        for name in study.conditions
        for block, size in blocks(study.growing.sets, study.growing.block)
    ]
    priced = [
        _cell("cost", cost_settings(study, name), (name, gain), block, size)
        for name, condition in study.conditions.items()
        for gain in condition.gains
        for block, size in blocks(study.growing.sets, study.growing.block)
    ]
    tried = [
        _cell("commits", commit_settings(study), (truth,), block, size)
        for truth in commits.TRUTHS
        for block, size in blocks(study.commits.sets, study.commits.block)
    ]
    with context.clock("growing test sets"):
        rejected = context.run("looks while items arrive", growing.look_again, grown)
        costs = context.run("items until the end", growing.cost, priced, amount=lambda cell: cell.arguments[2] ** -2)
    with context.clock("commits"):
        passed = context.run("commits", commits.examine, tried)
    tables = {
        "growing": rates(gathered(grown, ["condition"], rejected), "n_rejected"),
        "cost": cost_table(study, priced, costs),
        "commits": commit_table(study, gathered(tried, ["truth"], passed)),
        "conditions": conditions(study),
    }
    facts = {
        "Sets": f"{study.growing.sets:,} of each condition, {study.commits.sets:,} of commits",
        "Seed": str(study.seed),
    }
    return Findings(tables=tables, facts=facts)


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(sections=sections(tables, study), closing=CLOSING, summary=summary(tables))


def growing_settings(study: Settings, name: str) -> Settings:
    """The settings that looks at a growing test set depend on."""
    return study.only(
        "alpha", "seed", conditions=drawn_condition(study, name), growing=study.growing.only("step", "n_looks")
    )


def cost_settings(study: Settings, name: str) -> Settings:
    """The settings that numbers of items until the end depend on."""
    return study.only(
        "alpha", "power", "seed", conditions=drawn_condition(study, name), growing=study.growing.only("most")
    )


def commit_settings(study: Settings) -> Settings:
    """The settings that tests of commits depend on."""
    drawn = ("n_items", "n_commits", "score", "differ", "changed", "better_every", "n_looks")
    return study.only("alpha", "power", "seed", commits=study.commits.only(*drawn))


def drawn_condition(study: Settings, name: str) -> dict[str, Condition]:
    """A condition by its name, with what its items depend on."""
    return {name: study.conditions[name].only("kind", "differ", "width", "by_topic")}


def _cell(kind: str, settings: Settings, which: tuple[Any, ...], block: int, size: int) -> Cell:
    return Cell(f"{kind} {' '.join(map(str, which))}, block {block}", (settings, *which, block, size))


def blocks(n_sets: int, block: int) -> list[tuple[int, int]]:
    """Number and size of the blocks that so many sets are drawn in."""
    return [(first // block, min(block, n_sets - first)) for first in range(0, n_sets, block)]


def gathered(cells: list[Cell], names: list[str], found: list[list[dict[str, Any]]]) -> pd.DataFrame:
    """The blocks' counts added up."""
    rows = [
        dict(zip(names, cell.arguments[1:], strict=False)) | row
        for cell, of_cell in zip(cells, found, strict=True)
        for row in of_cell
    ]
    table = pd.DataFrame(rows)
    counts = [name for name in map(str, table) if name.startswith("n_") and name != "n_looks"]
    keys = [name for name in table if name not in counts]
    return table.groupby(keys, sort=False, as_index=False)[counts].sum(min_count=1)


def rates(table: pd.DataFrame, count: str) -> pd.DataFrame:
    """Shares of sets with their intervals."""
    low, high = clopper_pearson(table[count], table["n_sets"])
    return table.assign(share=table[count] / table["n_sets"], low=low, high=high)


def cost_table(study: Settings, cells: list[Cell], found: list[list[float]]) -> pd.DataFrame:
    """Items until the sequential test rejects, over those of a plan; sets without an end count as the most."""
    rows = []
    for name, condition in study.conditions.items():
        for gain in condition.gains:
            own = [(cell, of) for cell, of in zip(cells, found, strict=True) if cell.arguments[1:3] == (name, gain)]
            items = np.concatenate([of[1:] for _, of in own])
            ended = np.minimum(items, study.growing.most)
            rows.append(
                {
                    "condition": name, "gain": gain, "n_planned": growing.planned_items(study, condition, gain),
                    "n_sets": len(items),
                    "power_usual": np.average([of[0] for _, of in own], weights=[len(of) - 1 for _, of in own]),
                    "mean_items": ended.mean(), "mean_items_se": ended.std() / np.sqrt(len(ended)),
                    "median_items": quantile(items, 0.5), "items_of_power": quantile(items, study.power),
                    "ended_by_plan": (items <= 1).mean(), "no_end": np.isinf(items).mean(),
                }
            )  # fmt: skip
    return pd.DataFrame(rows)


def quantile(items: np.ndarray, share: float) -> float:
    """The quantile of numbers that may be infinite, interpolated linearly."""
    low, high = (float(np.quantile(items, share, method=of)) for of in ("lower", "higher"))
    # numpy interpolates with infinity even if the quantile is one of the numbers, and 0 times infinity is NaN.
    return high if low == high or np.isinf(high) else float(np.quantile(items, share))


def commit_table(study: Settings, table: pd.DataFrame) -> pd.DataFrame:
    """False passes by each look, true gains that pass at it, and how many more items that level needs."""
    found = rates(table, "n_false")
    levels = [commits.share(study, rule, n) for rule, n in zip(found["rule"], found["n_looks"], strict=True)]
    return found.assign(
        power=found["n_found"] / found["n_sets"],
        level=levels,
        times_items=[commits.times_items(study, level) for level in levels],
    )


def conditions(study: Settings) -> pd.DataFrame:
    """The conditions that are drawn."""
    rows = [
        {"condition": name, "title": of.title, "kind": of.kind, "sd": np.sqrt(of.variance(0.0))}
        for name, of in study.conditions.items()
    ]
    return pd.DataFrame(rows)
