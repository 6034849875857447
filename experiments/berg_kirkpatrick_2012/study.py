"""Berg-Kirkpatrick, Burkett and Klein, "An empirical investigation of statistical significance in NLP", 2012.

The studies of single tasks do the work; here their tables are laid beside the paper's figures and numbers.
"""

from __future__ import annotations

from simstudy.pages.sections import Table
from simstudy.studies import Findings, RunContext, ShippedTables, Shown, hashes_of, tables_of

from .comparing import (
    beside_published,
    by_test,
    confidence_models,
    families,
    natural_thresholds,
    near_level,
    overlays,
    small_enough,
    training,
)
from .page import THRESHOLDS, sections
from .settings import Settings


def run(study: Settings, context: RunContext) -> Findings:
    """Find the tables of all studies, run those that are not there, and compare."""
    parts = {}
    for name in study.others:
        with context.clock(name):
            parts[name] = tables_of(name, context)
    synthetic = {part.study: parts[part.study] for part in study.synthetic}
    tables = {
        "thresholds": beside_published(synthetic, {part.study: part.task for part in study.synthetic}),
        "natural_thresholds": natural_thresholds(study.natural, parts),
        "families": families(synthetic),
        "overlay": overlays(synthetic),
        "same_distribution": near_level(synthetic, "identical"),
        "across_domains": near_level(synthetic, "domains"),
        "small_enough": small_enough(synthetic),
        "by_test": by_test(synthetic),
        "confidence_models": confidence_models(synthetic),
        "training": training(synthetic),
    }
    return Findings(
        tables=tables,
        facts={"Studies": ", ".join(parts)},
        data={"studies": {name: hashes_of(name, context) for name in parts}},
    )


def show(study: Settings, tables: ShippedTables) -> Shown:
    """The page of the tables, with figures of those of the other studies."""
    parts = {name: tables.beside(name) for name in study.others}
    return Shown(
        sections=sections(study, parts, tables),
        closing="No p-value here is corrected for the number of pairs. Gains and thresholds are on the metric's scale; "
        "confidences and shares are fractions.",
        summary={
            "Gains from which on a difference is usually significant, the paper's and ours": Table(
                tables["thresholds"], THRESHOLDS
            )
        },
    )
