"""Published answers to how large a test set must be, beside ours, and what known benchmarks are like.

The table of benchmarks is shipped inside the package, where plans take their defaults from it.
"""

from __future__ import annotations

from simstudy.studies import Cell, Findings, RunContext, ShippedTables, Shown

from .benchmarks import benchmarks
from .checks import few_gains, few_items, simulated_power
from .page import CLOSING, sections, summary
from .published import Anchor, anchors, installed, of_statsmodels
from .settings import Settings
from .tables import beside, by_root, ranges


def run(study: Settings, context: RunContext) -> Findings:
    """Describe the benchmarks, and set published numbers beside ours."""
    with context.clock("benchmarks"):
        table, quantiles, hashes = benchmarks(study, context)
    with context.clock("published numbers"):
        said = [*anchors(study.simulated), *of_statsmodels()]
        cells = [
            Cell(
                label=f"{one.source}, {one.name}",
                description={
                    "case": [one.source, one.name, one.n, one.gain, repr(one.difference), repr(one.level)],
                    **study.model_dump(include={"simulated", "seed"}),
                },
                arguments=(one, study.simulated, study.seed),
            )
            for one in said
        ]
        simulated = [done["power"] for done in context.run("test sets of published cases", simulate, cells)]
    tables = {
        "benchmarks": table,
        "law": by_root(table),
        "ranges": ranges(table, quantiles),
        "anchors": beside(said, simulated),
        "few_items": few_items(study.few, study.agreement, study.few_gain),
        "few_gains": few_gains(study.few, study.agreement),
        "pair_quantiles": quantiles,
    }
    facts = {
        "Benchmarks": f"{table['test_set'].nunique()} test sets of {table['study'].nunique()} studies; a relation with "
        f"fewer than {study.min_pairs} close pairs is left out",
        "Published cases": f"{len(said)}, each drawn {study.simulated:,} times",
        "Seed": str(study.seed),
    }
    if not installed():
        facts["Not installed"] = "statsmodels: pip install 'simstudy[tools]'"
    return Findings(
        tables=tables,
        facts=facts,
        data={"files": hashes},
    )


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(sections=sections(tables, study), closing=CLOSING, summary=summary(tables))


def simulate(anchor: Anchor, sets: int, seed: int) -> dict[str, float]:
    """One cell: the power of a published case."""
    return {"power": simulated_power(anchor, sets, seed)}
