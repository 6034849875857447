"""Natural comparisons on the curve of resampled ones (Berg-Kirkpatrick et al. 2012, figures 5 and 6).

They stand apart from studies without any, whose results then do not depend on how such files are read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import scipy

from simstudy.comparisons.curves import nearest_gains
from simstudy.comparisons.duplicates import distinct
from simstudy.comparisons.other_systems import other_systems, weighted_percentile
from simstudy.comparisons.relation_classes import confidence, relation_classes
from simstudy.comparisons.thresholds import thresholds
from simstudy.files.datasets import folder_at_hand, registry
from simstudy.metrics.base import FloatArray, IntArray
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
from simstudy.tables import TEST_SET

# Points drawn from each collection of pairs.
_POINTS = 400

# A distance needs as many pairs of either collection.
_LEAST_PAIRS = 20

# From the gain on at which the other pairs' median confidence is so high, both collections are sure.
_SURE = 0.99

# Gains at which running medians are taken; between them they are interpolated.
_CENTRES = 40


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
    table = curve_distances(pairs, resampled, seed=study.seed)
    (row,) = thresholds(pairs, seed=study.seed).to_dict("records")
    own = {f"threshold_{name}" if name != "threshold" else name: row[name] for name in ("threshold", "low", "high")}
    table = table.assign(**own, n_window=row["n_window"])
    shown = [
        plotted_pairs(members, _POINTS).assign(relation=relation)
        for relation, members in [*resampled.groupby("relation", sort=False), (natural.test_set, pairs)]
    ]
    columns = ["test_set", "n_items", "metric", "relation", "alternative", "gain", "p_value"]
    return {"overlay": table, "overlay_points": pd.concat(shown)[columns].reset_index(drop=True)}


def curve_distances(
    pairs: pd.DataFrame, others: pd.DataFrame, *, n_bootstrap: int = 1000, seed: int = 0
) -> pd.DataFrame:
    """Distances of pairs from the running medians of other pairs at equal gain, by relation class of both.

    Berg-Kirkpatrick et al. judge by eye. Here each pair is compared with the running median of the twentieth of the
    other pairs (at least 15) whose gains are nearest, up to the gain `gain_to` at which their median confidence reaches
    0.99. `difference` is the median difference in confidence, `gain_ratio` the median ratio of standard errors, and so
    of the gains that are equally significant. Their 95 % intervals resample the families, or systems, of either
    collection. Measured coverage, of 26 natural systems over 25 variants each of three base models on 300 items (120
    collections, standard error 0.02): 0.96 of the difference, 0.93 of the ratio.
    """
    rows = []
    for key, members in relation_classes(pairs):
        for other_key, reference in relation_classes(others):
            rows.append(
                {
                    **{column: key[column] for column in (*TEST_SET, "relation")},
                    **{f"others_{column}": other_key[column] for column in ("test_set", "n_items", "relation")},
                    **_distances(members, reference, n_bootstrap, seed),
                }
            )
    return pd.DataFrame(rows)


def _distances(pairs: pd.DataFrame, others: pd.DataFrame, n_bootstrap: int, seed: int) -> dict[str, object]:
    numbers = ("gain_to", "difference", "low", "high", "gain_ratio", "ratio_low", "ratio_high")
    row: dict[str, object] = {"n_pairs": 0, "n_others": len(others), **dict.fromkeys(numbers, np.nan)}
    row |= {"interval_for": "", "others_interval_for": "", "note": ""}
    if len(others) < _LEAST_PAIRS:
        return row | {"note": f"too few other pairs: {len(others)}, not {_LEAST_PAIRS}"}
    running = _RunningMedians(others)
    gain_to = running.sure_from(confidence(others))
    inside = ((pairs["gain"] <= gain_to) & (pairs["gain_se"] > 0)).to_numpy()
    row |= {"n_pairs": int(inside.sum()), "gain_to": gain_to}
    if inside.sum() < _LEAST_PAIRS:
        return row | {"note": f"too few pairs up to a gain of {gain_to:.3g}: {inside.sum()}, not {_LEAST_PAIRS}"}
    ours, theirs = other_systems(pairs), other_systems(others)
    row |= {"interval_for": ours.interval_for, "others_interval_for": theirs.interval_for}
    row["note"] = ours.note or theirs.note
    gains = pairs["gain"].to_numpy()[inside]
    errors, other_errors = (table["gain_se"].to_numpy() for table in (pairs[inside], others))
    log_errors = np.log(errors), np.log(np.maximum(other_errors, np.finfo(float).tiny))
    measures: list[tuple[tuple[str, str, str], FloatArray, FloatArray, Callable[[float], float]]] = [
        (("difference", "low", "high"), confidence(pairs)[inside], confidence(others), float),
        (("gain_ratio", "ratio_low", "ratio_high"), *log_errors, np.exp),
    ]
    for names, values, other_values, scale in measures:
        distances = values - running.medians(gains, other_values)
        estimate, half = float(np.median(distances)), np.nan
        if ours.interval_for and theirs.interval_for:
            # Both collections are samples of systems: one is resampled at a time.
            redrawn = [weighted_percentile(distances, w, 50) for w in ours.redrawn(inside, n_bootstrap, seed)]
            everything = np.ones(len(others), dtype=np.bool_)
            others_redrawn = [
                np.median(values - running.medians(gains, other_values, weights), axis=1)
                for weights in theirs.redrawn(everything, n_bootstrap, seed + 1)
            ]
            spread = np.hypot(ours.spread(np.concatenate(redrawn)), theirs.spread(np.concatenate(others_redrawn)))
            half = float(scipy.stats.t.isf(0.025, min(ours.df, theirs.df)) * spread)
        row |= {name: float(scale(estimate + k * half)) for name, k in zip(names[1:], (-1, 1), strict=True)}
        row[names[0]] = float(scale(estimate))
    return row


class _RunningMedians:
    """Running medians over pairs by their gains."""

    def __init__(self, pairs: pd.DataFrame) -> None:
        gain = pairs["gain"].to_numpy()
        order = np.argsort(gain, kind="stable")
        centres = np.unique(np.quantile(gain, np.linspace(0, 1, _CENTRES)))
        windows = [np.sort(order[nearest_gains(gain[order], centre)]) for centre in centres]
        # Near the ends several centres share one window.
        self.means, kept = np.unique([gain[window].mean() for window in windows], return_index=True)
        self.windows = [windows[k] for k in kept]

    def sure_from(self, confidences: FloatArray) -> float:
        """The gain from which on pairs are sure, so that there is nothing to compare."""
        medians = np.array([np.median(confidences[window]) for window in self.windows])
        above = np.flatnonzero(medians >= _SURE)
        return float(self.means[above[0]] if len(above) else self.means[-1])

    def medians(self, gains: FloatArray, values: FloatArray, weights: IntArray | None = None) -> FloatArray:
        """Medians of the values of pairs near these gains: (N,), or (R, N) for pairs weighted (R, P)."""
        if weights is None:
            return np.asarray(np.interp(gains, self.means, [np.median(values[window]) for window in self.windows]))
        medians = np.stack([weighted_percentile(values[w], weights[:, w], 50) for w in self.windows], axis=1)
        # A window without any resampled pair takes the median of all windows of that resample.
        medians = np.where(np.isnan(medians), np.nanmedian(medians, axis=1, keepdims=True), medians)
        return np.stack([np.interp(gains, self.means, row) for row in medians])
