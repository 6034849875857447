"""What one part of a test set predicts, and what another part shows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.planning import predict
from simstudy.studies import Decision, derived_seed

#: What is predicted with prediction intervals, by its column of `predict`.
MEASURES = ("share_significant", "threshold", "separated", "separated_corrected", "ranks")
#: The true gain that is detected with power 0.8; with a 95 % interval for other systems and items of the same time.
DETECTABLE = "minimum_detectable_gain"
#: From what a prediction was made, and of what.
HALF, PART = "half", "half of it"


def split(
    outputs: ss.Outputs, draws: list[int], pilots: list[int], n_draws: int, n_resamples: int, seed: int
) -> list[dict[str, Any]]:
    """Rows of predictions beside outcomes, of some ways to halve a test set."""
    rows: list[dict[str, Any]] = []
    for draw in draws:
        rng = np.random.default_rng(derived_seed(seed, "halves", draw))
        first, second = halves(outputs, rng)
        part, _ = halves(second, rng)
        shown = {HALF: outcome(second, n_resamples), PART: outcome(part, n_resamples)}
        sizes = {HALF: n_units(second), PART: n_units(part)}
        sources = {HALF: first} | {f"{n} units": taken(first, n, rng) for n in pilots if 2 * n <= n_units(first)}
        for name, source in sources.items():
            wanted = sizes if name == HALF else {HALF: sizes[HALF]}
            for row in beside(source, {of: (sizes[of], shown[of]) for of in wanted}, n_draws, seed):
                rows.append({"draw": draw, "source": name, "units_of_source": n_units(source), **row})
    return rows


def beside(
    source: ss.Outputs, targets: dict[str, tuple[int, dict[str, float]]], n_draws: int, seed: int
) -> list[dict[str, Any]]:
    """Predictions from the source beside what targets of so many units show."""
    predicted = predict(source, [n for n, _ in targets.values()], n_draws=n_draws, seed=seed)
    whole = predicted[predicted["relation"] == "all pairs"].set_index("n_units")
    rows: list[dict[str, Any]] = []
    for of, (n, shown) in targets.items():
        row = whole.loc[n]
        for measure in MEASURES:
            rows.append(
                {
                    "target": of, "n_units": n, "measure": measure,
                    "predicted": row[measure], "observed": shown[measure],
                    **{end: row[f"{measure}_{end}"] for end in ("low80", "high80", "low95", "high95")},
                }
            )  # fmt: skip
        found = detectable(source, n)
        rows.append(
            {
                "target": of, "n_units": n, "measure": DETECTABLE, "predicted": found["minimum_detectable_gain"],
                "observed": shown[DETECTABLE], "low80": np.nan, "high80": np.nan,
                **_ends(found, shown),
            }
        )  # fmt: skip
    return rows


def _ends(found: dict[str, float], shown: dict[str, float]) -> dict[str, float]:
    """An interval for what a target shows, which is a sample too: the errors of both, on the logarithm."""
    reach = np.hypot(
        *(
            np.log(one["minimum_detectable_gain_high"] / one["minimum_detectable_gain_low"]) / 2
            for one in (found, shown)
        )
    )
    return {
        "low95": found["minimum_detectable_gain"] * np.exp(-reach),
        "high95": found["minimum_detectable_gain"] * np.exp(reach),
    }


def outcome(outputs: ss.Outputs, n_resamples: int) -> dict[str, float]:
    """What a test set shows, as the default test and the project's analyses say."""
    pairs = ss.compare(outputs, n_resamples=n_resamples).frame
    ranked = ss.comparisons.ranks(pairs).iloc[0]
    limits = ss.comparisons.thresholds(pairs.assign(relation="all pairs"), n_bootstrap=10)
    threshold = limits.loc[limits["relation"] == "all pairs", "threshold"]
    groups = ss.comparisons.groups(pairs, rule="greedy", p="p_value")
    return {
        "share_significant": float(Decision().significant(pairs).mean()),
        "threshold": float(threshold.iloc[0]) if len(threshold) else np.nan,
        "separated": float(ranked["n_significant"]),
        "separated_corrected": float(ranked["n_significant_holm"]),
        "ranks": float(groups["group"].max()),
        **detectable(outputs, n_units(outputs)),
    }


def detectable(outputs: ss.Outputs, units: int) -> dict[str, float]:
    """The gain that so many units detect, planned from these outputs, with its interval."""
    size = outputs.n_items / n_units(outputs)
    plan = ss.plan(
        ss.Pilot(outputs, duplicates="keep", n_sets=0, n_draws=0), n_items=max(2, round(units * size)), sizes=[]
    )
    row: Any = plan.answers.set_index("relation").loc["all pairs"]
    return {
        f"minimum_detectable_gain{end}": float(row[f"minimum_detectable_gain{end}"]) for end in ("", "_low", "_high")
    }


def n_units(outputs: ss.Outputs) -> int:
    """Of documents where they are known, else items."""
    return outputs.n_items if outputs.natural_unit == "item" else int(outputs.items[outputs.natural_unit].nunique())


def halves(outputs: ss.Outputs, rng: np.random.Generator) -> tuple[ss.Outputs, ss.Outputs]:
    """Two halves of the units, at random."""
    order = rng.permutation(n_units(outputs))
    middle = len(order) // 2
    return _of(outputs, order[:middle]), _of(outputs, order[middle:])


def taken(outputs: ss.Outputs, n: int, rng: np.random.Generator) -> ss.Outputs:
    """Some of the units, at random."""
    return _of(outputs, rng.permutation(n_units(outputs))[:n])


def _of(outputs: ss.Outputs, units: Any) -> ss.Outputs:
    if outputs.natural_unit == "item":
        return outputs.take(np.sort(units))
    codes = pd.factorize(outputs.items[outputs.natural_unit])[0]
    return outputs.take(np.flatnonzero(np.isin(codes, units)))
