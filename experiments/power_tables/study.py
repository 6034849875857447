"""What known benchmarks are like, and what they can tell.

The table of benchmarks is shipped inside the package, where plans take their defaults from it.
"""

from __future__ import annotations

from simstudy.studies import Findings, RunContext, ShippedTables, Shown

from .benchmarks import benchmarks
from .page import CLOSING, sections, summary
from .settings import Settings
from .tables import by_root, ranges


def run(study: Settings, context: RunContext) -> Findings:
    """Describe the benchmarks."""
    with context.clock("benchmarks"):
        table, quantiles, hashes = benchmarks(study, context)
    tables = {
        "benchmarks": table,
        "law": by_root(table),
        "ranges": ranges(table, quantiles),
        "pair_quantiles": quantiles,
    }
    facts = {
        "Benchmarks": f"{table['test_set'].nunique()} test sets of {table['study'].nunique()} studies; a relation with "
        f"fewer than {study.min_pairs} close pairs is left out",
        "Seed": str(study.seed),
    }
    return Findings(tables=tables, facts=facts, data={"files": hashes})


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables."""
    return Shown(sections=sections(tables, study), closing=CLOSING, summary=summary(tables))
