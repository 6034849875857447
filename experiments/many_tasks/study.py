"""Several tasks: error rates and coverage of tests of averages over tasks, and real suites beside them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from simstudy.studies import Cell, Findings, RunContext, ShippedTables, Shown, clopper_pearson

from .methods import METHODS, WON, examine
from .page import CLOSING, sections, summary
from .settings import DIFFERENT, DRAWN, FIXED, GAIN, NO_GAIN, SKEWED, Settings
from .suites import disagreements, read_suites

KEYS = ["sizes", "agreement", "n_tasks", "truth", "redrawn"]

#: What is true of which redrawn suites. No gain on any task is no gain of tasks like these either.
QUESTIONS = ((NO_GAIN, FIXED), (DIFFERENT, FIXED), (GAIN, FIXED), (DIFFERENT, DRAWN), (SKEWED, DRAWN), (GAIN, DRAWN))


def run(study: Settings, context: RunContext) -> Findings:
    """Draw all blocks, count, and compare the real suites."""
    cells = list(blocks(study))
    with context.clock("suites"):
        found = context.run("suites of tasks", examine, cells, amount=lambda cell: cell.arguments[3])
    rows = [
        dict(zip(KEYS, cell.arguments[1:], strict=False)) | row
        for cell, of_cell in zip(cells, found, strict=True)
        for row in of_cell
    ]
    with context.clock("real suites"):
        suites, hashes = read_suites(study, context)
        real = disagreements(suites, study.alpha)
    tables = {"rates": rates(pd.DataFrame(rows), study), "suites": real}
    facts = {"Suites": f"{study.n_sets:,} of each condition, truth and number of tasks", "Seed": str(study.seed)}
    return Findings(tables=tables, facts=facts, data={"files": hashes})


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(sections=sections(tables, study), closing=CLOSING, summary=summary(tables))


def blocks(study: Settings) -> Iterator[Cell]:
    """A cell for each condition, number of tasks, question and block of suites."""
    for sizes, of_sizes in study.sizes.items():
        for agreement, of_pairs in study.agreement.items():
            for n_tasks in study.n_tasks:
                for truth, redrawn in QUESTIONS:
                    for block in range(-(-study.n_sets // study.block)):
                        n_sets = min(study.block, study.n_sets - block * study.block)
                        yield Cell(
                            label=f"{sizes}, {agreement}, {n_tasks} tasks, {truth}, {redrawn} redrawn, block {block}",
                            arguments=(
                                study.only(
                                    "alpha", "n_flips", "least", "most", "spread", "gain", "seed",
                                    sizes={sizes: of_sizes.only("least", "most")},
                                    agreement={agreement: of_pairs.only("correlation")},
                                ),
                                sizes, agreement, n_tasks, truth, redrawn, block, n_sets,
                            ),
                        )  # fmt: skip


def rates(counts: pd.DataFrame, study: Settings) -> pd.DataFrame:
    """Shares of suites that each method finds a gain in, and coverage of its intervals, with their own intervals."""
    table = counts.groupby([*KEYS, "method"], sort=False, as_index=False).sum()
    # Rows in the order in which conditions and questions are asked, whichever block was first.
    places: dict[str, Any] = {"method": METHODS, "sizes": list(study.sizes), "agreement": list(study.agreement)}
    for name, values in places.items():
        table[name] = pd.Categorical(table[name], values)
    asked = [QUESTIONS.index(key) for key in zip(table["truth"], table["redrawn"], strict=True)]
    order = ["sizes", "agreement", "asked", "n_tasks", "method"]
    table = table.assign(asked=asked).sort_values(order, kind="stable").drop(columns="asked")
    table = table.astype(dict.fromkeys(places, str)).reset_index(drop=True)
    n: Any = table["n_sets"]
    low, high = clopper_pearson(table["n_significant"], n)
    cover_low, cover_high = clopper_pearson(table["n_covered"], n)
    none = table["method"] == WON
    # Whether the null hypothesis of an equal macro average is true.
    null = table["truth"] != GAIN
    return table.assign(
        null=null,
        alpha=study.alpha,
        true_gain=100 * table["sum_true"] / n,
        share=table["n_significant"] / n,
        low=low,
        high=high,
        coverage=np.where(none, np.nan, table["n_covered"] / n),
        coverage_low=np.where(none, np.nan, cover_low),
        coverage_high=np.where(none, np.nan, cover_high),
        half_width=np.where(none, np.nan, 100 * table["sum_half"] / table["n_intervals"].where(~none)),
    ).drop(columns=["sum_true", "sum_half"])
