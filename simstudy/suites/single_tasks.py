"""Single tasks of a suite: every pair on each of them, and what the average is without each."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from simstudy.comparisons.comparing import compare
from simstudy.metrics.base import FloatArray
from simstudy.outputs import Outputs
from simstudy.readers.logs import SCORED_BY
from simstudy.running.progress import doing
from simstudy.statistics.proportions import tango
from simstudy.suites.averages import Average
from simstudy.suites.contributions import Suite, reach

# What Comparisons say of a pair on one task.
_COLUMNS = (
    *("system_a", "system_b", "score_a", "score_b", "gain", "gain_se", "gain_low", "gain_high", "p_value", "n_items"),
    *("unit", "n_units", "wins", "losses", "ties", "computation", "exact_level", "n_resamples", "caution"),
)


def task_scores(suite: Suite) -> pd.DataFrame:
    """Each system's score on each task."""
    rows = [
        {"task": name, "system": system, "metric": suite.metric.name, "score": score, "n_items": of.n_items,
         "n_units": suite.units[name].n_items}
        for name, of in suite.tasks.items()
        for system, score in zip(of.names, of.scores(), strict=True)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def by_task(suite: Suite, pairs: Any, how: Mapping[str, Any], level: float) -> pd.DataFrame:
    """Every pair on each task, a gain below 0 where the second system of the pair is ahead there.

    Intervals have this level, like those of averages.
    Where tasks have scores of several names, ``scored_by`` says which one a task has.
    """
    found = []
    with doing("comparing on each task", len(suite.tasks)) as advance:
        for name, of in suite.tasks.items():
            pair_rows = at_level(along(compare(of, unit=suite.unit, **how).frame, pairs), suite.metric.scale, level)
            found.append(pair_rows[list(_COLUMNS)].assign(task=name))
            advance(1)
    table = pd.concat(found, ignore_index=True).assign(metric=suite.metric.name, metric_unit=suite.metric.unit)
    named = {task: score_names(of) for task, of in suite.tasks.items()}
    if len(set(named.values())) > 1:
        table = table.assign(scored_by=table["task"].map(named))
    return table[["task", "metric", "metric_unit", *_COLUMNS, *(["scored_by"] if "scored_by" in table else [])]]


def at_level(frame: pd.DataFrame, scale: float, level: float) -> pd.DataFrame:
    """Comparisons with the same kind of interval (`simstudy.engines.intervals`) at this level."""
    half = reach(frame["gain_se"].to_numpy(), frame["df"].to_numpy(dtype=np.float64), level)
    low, high = tango(frame["wins"], frame["losses"], frame["n_units"], level)
    by_score = frame["interval"] == "score"
    return frame.assign(
        gain_low=np.where(by_score, scale * low, frame["gain"] - half),
        gain_high=np.where(by_score, scale * high, frame["gain"] + half),
    )


def score_names(of: Outputs) -> str:
    """What the logs call the scores of a task; empty where they do not say, or all have one name."""
    return "+".join(of.items[SCORED_BY].astype(str).unique()) if SCORED_BY in of.items else ""


def left_out(suite: Suite, average: Average, pairs: Any, alpha: float) -> pd.DataFrame:
    """The gain of each pair without each task, with its interval for these tasks.

    `change` is by how much the gain is larger with the task. The task that `drives` the gain changes it most.
    """
    i, j = (pd.Index(suite.outputs.names).get_indexer(side) for side in pairs)
    turned = suite.metric.sign

    def gains(of: Average) -> tuple[Any, Any]:
        scores = suite.averaged(of)
        gain = rounded(turned * (scores[i] - scores[j]), scores)
        return gain, reach(*suite.gain_spread(of, i, j), 1 - alpha)

    if len(average.tasks) < 2:
        return pd.DataFrame()
    whole, half = gains(average)
    rows = []
    for task in average.tasks:
        gain, own = gains(average.without(task))
        rows.append(
            pd.DataFrame(
                {
                    "task": task,
                    "metric": suite.metric.name,
                    "metric_unit": suite.metric.unit,
                    "system_a": pairs[0],
                    "system_b": pairs[1],
                    "gain": gain,
                    "gain_low": gain - own,
                    "gain_high": gain + own,
                    "change": whole - gain,
                    "sign_changes": np.sign(gain) != np.sign(whole),
                    "significance_changes": (np.abs(gain) > own) != (np.abs(whole) > half),
                }
            )  # fmt: skip
        )
    table = pd.concat(rows, ignore_index=True)
    size = table["change"].abs()
    most = size.groupby([table["system_a"], table["system_b"]]).transform("max")
    # Equal changes differ by rounding, which depends on the processor.
    return table.assign(drives=np.isclose(size, most, rtol=1e-9, atol=0) & (size > 0))


def along(frame: pd.DataFrame, pairs: tuple[NDArray[np.object_], NDArray[np.object_]]) -> pd.DataFrame:
    """Comparisons in this order of pairs, their gains turned where the pair is the other way round."""
    rows = {pair: row for row, pair in enumerate(zip(frame["system_a"], frame["system_b"], strict=True))}
    both = list(zip(*pairs, strict=True))
    turned = np.array([pair not in rows for pair in both])
    found = frame.iloc[[rows.get((a, b), rows.get((b, a), -1)) for a, b in both]].reset_index(drop=True)
    low, high = found["gain_low"], found["gain_high"]
    swapped = {
        "gain": found["gain"].where(~turned, -found["gain"]),
        "gain_low": low.where(~turned, -high),
        "gain_high": high.where(~turned, -low),
    }
    for one, other in (("score_a", "score_b"), ("wins", "losses")):
        swapped |= {one: found[one].where(~turned, found[other]), other: found[other].where(~turned, found[one])}
    return found.assign(**swapped, system_a=pairs[0], system_b=pairs[1])


def rounded(gains: FloatArray, scores: FloatArray) -> FloatArray:
    """Gains without what rounding leaves of none."""
    return np.asarray(np.where(np.abs(gains) > 1e-12 * np.abs(scores).max(initial=0), gains, 0.0))
