"""What real benchmarks are like: how correlated systems are, how much they differ on a unit, what that can tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.studies import Cell, Level, RunContext, close_pairs, minimum_detectable_gain, of_pairs, outputs_of

from .settings import Benchmarks, Settings

VARIANTS, UNLIKE = "same family", "different families"

# Of pairs, in percent: what lies below, between and above.
_ENDS = {"_10": 10, "": 50, "_90": 90}


def benchmarks(study: Settings, context: RunContext) -> tuple[pd.DataFrame, pd.DataFrame, dict[str, dict[str, str]]]:
    """A row for each test set, metric and relation; quantiles of the pairs of each; hashes of the files by study."""
    rows: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    hashes: dict[str, dict[str, str]] = {}
    for part in study.benchmarks:
        test_sets, read = outputs_of(part.study, context, test_sets=part.test_sets, metrics=part.metrics)
        hashes[part.study] = hashes.get(part.study, {}) | read
        cells = [
            Cell(
                label=f"{one.name}, {one.metric}",
                arguments=(one.outputs, one.by if part.related else (), study.alpha, study.min_pairs),
            )
            for one in ordered(part, test_sets)
        ]
        for cell, done in zip(cells, context.run(f"{part.kind} of {part.study}", describe, cells), strict=True):
            own = {"study": part.study, "test_set": cell.arguments[0].test_set, "kind": part.kind}
            rows += [own | row for row in done["rows"]]
            pairs += [own | row for row in done["pairs"]]
    return pd.DataFrame(rows), pd.DataFrame(pairs), hashes


def ordered(part: Benchmarks, test_sets: dict[tuple[str, str], ss.TestSet]) -> Iterator[ss.TestSet]:
    """The test sets in the order of study.toml."""
    for name in part.test_sets:
        for metric in part.metrics:
            if (name, metric) in test_sets:
                yield test_sets[name, metric]


def describe(outputs: ss.Outputs, by: tuple[str, ...], alpha: float, min_pairs: int) -> dict[str, list[dict[str, Any]]]:
    """One cell: what a benchmark is like, by relation, and the close pairs that say so."""
    # Only standard errors are asked for: no test, so one resample is enough.
    pairs = ss.compare(outputs, n_resamples=1, monte_carlo=True, alternative="two-sided").frame
    same = np.zeros(len(pairs), dtype=bool)
    for column in by:
        same |= ss.comparisons.related(pairs, outputs.systems, column)["relation"].str.startswith("same ").to_numpy()
    pairs = pairs.assign(relation=np.where(same, VARIANTS, UNLIKE)).merge(
        unit_correlations(outputs), on=["system_a", "system_b"], validate="1:1"
    )
    pairs["sd"] = pairs["gain_se"] * np.sqrt(pairs["n_units"])
    found = ss.comparisons.significant_gains(pairs, alpha=alpha, min_pairs=min_pairs)
    found = found[found["pairs"] == "close pairs"].set_index("relation")
    close = pairs[close_pairs(pairs, alpha)]
    scores = pd.Series(outputs.scores(), outputs.names)
    rows, kept = [], []
    for relation in (VARIANTS, UNLIKE):
        own = close[close["relation"] == relation]
        if len(own) < min_pairs:
            continue
        gains = detectable(own, found.loc[relation].to_dict(), outputs.metric.scale, alpha)
        names = sorted({*own["system_a"], *own["system_b"]})
        first = own.iloc[0]
        rows.append(
            {
                **{column: first[column] for column in ("metric", "metric_unit", "unit")},
                "right_or_wrong": bool((own["interval"] == "score").all()),
                "n_items": int(first["n_items"]),
                "n_units": int(first["n_units"]),
                "relation": relation,
                "n_systems": len(names),
                "n_pairs": len(own),
                "score": float(scores[names].median()),
                **spread(own["r12"], "r12"),
                **spread(own["sd"], "sd"),
                **dict(
                    zip(
                        ("minimum_detectable_gain", "minimum_detectable_gain_low", "minimum_detectable_gain_high"),
                        gains,
                        strict=True,
                    )
                ),
            }
        )
        kept += quantiles(own, relation)
    return {"rows": rows, "pairs": kept}


def detectable(pairs: pd.DataFrame, by_errors: dict[Any, Any], scale: float, alpha: float) -> list[float]:
    """The minimum detectable gain of these pairs, by the power of the default test as plans have it, with its interval.

    The interval is as wide, relatively, as that of the gain by standard errors (`Comparisons.significant_gains`).
    """
    n = int(pairs["n_units"].iloc[0])
    answers = bool((pairs["interval"] == "score").all())
    spreads = ((pairs["wins"] + pairs["losses"]) / n if answers else pairs["sd"]).to_numpy(dtype=np.float64)
    found = minimum_detectable_gain(of_pairs(spreads, scale if answers else None), n, power=0.8, level=Level(alpha))
    low, middle, high = (float(by_errors[f"true_80{end}"]) for end in ("_low", "", "_high"))
    return [found, found * low / middle, found * high / middle]


def unit_correlations(outputs: ss.Outputs) -> pd.DataFrame:
    """The correlation of each two systems' contributions of a unit: an item, or a document where these are known."""
    return ss.comparisons.correlation(outputs)[["system_a", "system_b", "r12"]]


def spread(values: pd.Series[float], name: str) -> dict[str, float]:
    """Percentiles of the pairs."""
    return {f"{name}{end}": float(np.nanpercentile(values, percent)) for end, percent in _ENDS.items()}


def quantiles(pairs: pd.DataFrame, relation: str, steps: int = 20) -> list[dict[str, Any]]:
    """r12 and sd at evenly spread shares of the pairs: what a range of them is held against."""
    shares = (np.arange(steps) + 0.5) / steps
    found = {name: np.nanquantile(pairs[name], shares) for name in ("r12", "sd")}
    metric = pairs["metric"].iloc[0]
    return [
        {"metric": metric, "relation": relation, "share": share, "r12": float(r12), "sd": float(sd)}
        for share, r12, sd in zip(shares.tolist(), found["r12"], found["sd"], strict=True)
    ]
