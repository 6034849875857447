"""Natural comparisons on the curve of resampled ones (Berg-Kirkpatrick et al. 2012, figures 5 and 6).

They stand apart from studies without any, whose results then do not depend on how such files are read.
"""

from __future__ import annotations

from functools import partial

import pandas as pd

from simstudy.comparisons.curves import overlay
from simstudy.comparisons.duplicates import distinct
from simstudy.comparisons.thresholds import thresholds
from simstudy.files.datasets import folder_at_hand, registry
from simstudy.outputs import Outputs
from simstudy.pairs import ALL_PAIRS
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.context import Findings, RunContext
from simstudy.studies.figures import plotted_pairs
from simstudy.studies.natural.definition import NaturalTestSet
from simstudy.studies.natural.sources import read_all
from simstudy.studies.problems import Problems
from simstudy.studies.resampling import study as resampling
from simstudy.studies.resampling.definition import ResamplingStudy

# Points drawn from each collection of pairs.
_POINTS = 400


class OverlaidStudy(ResamplingStudy):
    """Training-set resampling, its curves, thresholds and calibration (Berg-Kirkpatrick et al. 2012)."""

    natural: NaturalTestSet
    """Outputs that others made of the home test set, or of one like it, to lay over the resampled ones' curve."""

    def check_first_metric(self, metric: str, problems: Problems) -> None:
        """Natural outputs have the metric of the figures."""
        if self.natural.metrics != [metric]:
            named = ", ".join(self.natural.metrics)
            problems.add("natural.metric", f"it must be the study's first metric, {metric}, alone, not {named}")


def run(study: OverlaidStudy, context: RunContext) -> Findings:
    """Train, compare and analyse, and lay what others made over the curve."""
    with context.clock("data of others"):
        natural, hashes, note = natural_outputs(study, context)
    overlay = None if natural is None else partial(overlaid, study, natural, context)
    found = resampling.run(study, context, overlay, natural)
    found.facts["Natural comparisons"] = note
    found.data["files"] |= hashes
    return found


def natural_outputs(study: OverlaidStudy, context: RunContext) -> tuple[Outputs | None, dict[str, str], str]:
    """What others made, the SHA-256 of its files, and a note: what it is, or why it is not there.

    Such outputs may have no public address; the study goes on without files that are not at hand.
    """
    name, folders = study.natural.name, [context.home, folder_at_hand(context.data_dir)]
    files = [*study.natural.paths, *study.natural.references]
    wanted = [file.replace("{}", study.natural.each[0]).replace("{metric}", study.natural.written[0]) for file in files]
    at_hand = {path for path in wanted if any(folder and (folder / path).exists() for folder in folders)}
    if absent := [path for path in wanted if path not in registry() and path not in at_hand]:
        return None, {}, f"{name} is left out: {', '.join(absent)} has no public address and is not at hand"
    (found,), hashes = read_all(
        study.name,
        [study.natural],
        context.data_dir,
        lambda _: None,
        allow_outside=context.allow_outside,
        home=context.home,
    )
    outputs, _ = distinct(found.outputs, found.duplicates)
    note = f"{outputs.n_systems} systems on {name}, {outputs.n_items:,} items"
    return outputs, hashes, "; ".join([note, *found.notes])


def overlaid(
    study: OverlaidStudy, natural: Outputs, context: RunContext, resampled: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Tables of the natural pairs on the resampled ones' curve, both by the same units: distances and points."""
    setting = study.comparison.model_copy(update={"unit": resampled["unit"].iloc[0]})
    (pairs,) = run_comparisons("natural comparisons", [setting.on(natural, study.seed)], context)
    pairs = pairs.assign(relation=ALL_PAIRS)
    table = overlay(pairs, resampled, seed=study.seed)
    (row,) = thresholds(pairs, seed=study.seed).to_dict("records")
    own = {f"threshold_{name}" if name != "threshold" else name: row[name] for name in ("threshold", "low", "high")}
    table = table.assign(**own, n_window=row["n_window"])
    shown = [
        plotted_pairs(members, _POINTS).assign(relation=relation)
        for relation, members in [*resampled.groupby("relation", sort=False), (natural.test_set, pairs)]
    ]
    columns = ["test_set", "n_items", "metric", "relation", "alternative", "gain", "p_value"]
    return {"overlay": table, "overlay_points": pd.concat(shown)[columns].reset_index(drop=True)}
