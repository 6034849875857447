"""Real suites: how often the two hypotheses, and the pooled items, lead to different claims about pairs of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.studies import Findings, RunContext, outputs_of


def summarise(study: Any, tables: dict[str, pd.DataFrame], context: RunContext) -> Findings:
    """The kind's tables, and one of the real suites."""
    with context.clock("real suites"):
        suites, hashes = read_suites(study.page["suites"], context)
        tables["suites"] = disagreements(suites, study.alphas[0])
    return Findings(tables=tables, data={"files": hashes})


def read_suites(
    suites: Sequence[Mapping[str, Any]], context: RunContext
) -> tuple[dict[str, ss.Outputs], dict[str, dict[str, str]]]:
    """Outputs of each real suite, whose items have their task as domain; hashes of the files by study."""
    outputs_by_suite: dict[str, ss.Outputs] = {}
    hashes: dict[str, dict[str, str]] = {}
    for suite in suites:
        sets, files = outputs_of(suite["study"], context, test_sets=suite["test_sets"], metrics=["accuracy"])
        hashes[suite["study"]] = hashes.get(suite["study"], {}) | files
        parts = [test_set.outputs for test_set in sets.values()]
        outputs_by_suite[suite["name"]] = parts[0] if len(parts) == 1 else joined(suite["name"], parts)
    return outputs_by_suite, hashes


def joined(name: str, parts: list[ss.Outputs]) -> ss.Outputs:
    """Test sets as the tasks of one, with the systems that all of them have."""
    names = [system for system in parts[0].names if all(system in part.names for part in parts)]
    parts = [part.select(names) for part in parts]
    items = [
        pd.DataFrame({"id": part.test_set + "/" + part.items["id"].astype(str), "domain": part.test_set})
        for part in parts
    ]
    return ss.Outputs.from_statistics(
        np.concatenate([part.statistics for part in parts], axis=1),
        "accuracy",
        parts[0].systems,
        pd.concat(items, ignore_index=True),
        test_set=name,
    )


def disagreements(suites: dict[str, ss.Outputs], alpha: float) -> pd.DataFrame:
    """For each suite, of its pairs, how many each way finds significant, and where ways disagree."""
    rows = []
    for name, outputs in suites.items():
        across = ss.across_tasks(outputs, alpha=alpha)
        by = {
            (average, hypothesis): rows.reset_index(drop=True)
            for (average, hypothesis), rows in across.averages.groupby(["average", "hypothesis"], sort=False)
        }
        macro, like = by["macro", "these tasks"], by["macro", "tasks like these"]
        micro = by["micro", "these tasks"]
        these, pooled = (average["p_value"] <= alpha for average in (macro, micro))
        flips, t = like["p_value"] <= alpha, like["p_t"] <= alpha
        driven = across.without[across.without["drives"]]
        rows.append(
            {
                "suite": name,
                "n_systems": outputs.n_systems,
                "n_tasks": across.n_tasks,
                "n_items": outputs.n_items,
                "n_pairs": len(macro),
                "n_these": int(these.sum()),
                "n_like_flips": int(flips.sum()),
                "n_like_t": int(t.sum()),
                "n_pooled": int(pooled.sum()),
                "n_these_not_like": int((these & ~flips).sum()),
                "n_these_not_pooled": int((these & ~pooled).sum()),
                "n_pooled_not_these": int((pooled & ~these).sum()),
                "n_other_order": int((macro["gain"] * micro["gain"] < 0).sum()),
                "n_significance_by_one": int(driven["significance_changes"].sum()),
            }
        )
    return pd.DataFrame(rows)
