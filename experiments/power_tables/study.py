"""Published answers to how large a test set must be, beside ours, and what known benchmarks are like."""

from __future__ import annotations

from simstudy.studies import Findings, RunContext

from .benchmarks import benchmarks
from .settings import Settings


def run(study: Settings, context: RunContext) -> Findings:
    """Describe the benchmarks."""
    with context.clock("benchmarks"):
        table, pairs, hashes = benchmarks(study, context)
    return Findings({"benchmarks": table, "pair_quantiles": pairs}, [], {}, "", {}, {"files": hashes})
