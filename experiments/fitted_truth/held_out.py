"""A model fitted to one half of the items, compared with the other half."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.studies import derived_seed, halves
from simstudy.truth import fit

#: Measures of test sets: the median correlation of two systems' item scores, the share of pairs with
#: p <= 0.05 (a fraction), the 95th percentile of gains of pairs with p from 0.04 to 0.06 (metric's scale), and the
#: mean distance of gain-confidence curves (a fraction).
COMPARED = ("r12", "significant", "threshold", "curve")

# A percentile of fewer gains says nothing.
_LEAST_WINDOW = 20

# Two curves are compared at so many quantiles of the gains whose confidence is below this.
_POINTS, _CERTAIN = 25, 0.995

# Test sets that are compared with the real half, and the prefix of their distance.
_OTHERS = {"fitted": "fitted", "halves": "training"}


@dataclass(frozen=True)
class Split:
    """Distances of a fitted test set, and of the half that the model learned from, from the held-out half.

    Attributes
    ----------
    table
        A row for each measure of `COMPARED`: draw, measure, real (the held-out half), training (the other real half),
        fitted; fitted_error = fitted - real and halves_error = training - real. "curve" has only the last two, as mean
        absolute distances. NaN where a test set has too few pairs.
    curves
        part ("real", "training", "fitted"), gain (metric's scale), confidence (a fraction): of all pairs.
    """

    table: pd.DataFrame
    curves: pd.DataFrame


def held_out_split(outputs: ss.Outputs, draw: int, *, n_resamples: int, seed: int) -> Split:
    """Random split number `draw`: a model is fitted to one half of the items.

    A test set as large as the other half is drawn from the model. Significance is that of `simstudy.compare`, by its
    default test and unit, with p-values from `n_resamples` drawn resamples: to compute them would take several times
    as long. The draws of one test set are not independent of each other.
    """
    training, real = halves(outputs, draw, seed=seed)
    drawn = fit(training).model.outputs(real.n_items, seed=derived_seed(seed, "fitted half", draw) % 2**64)
    parts = {"real": real, "training": training, "fitted": drawn}
    measured = {part: _measured(test_set, n_resamples, seed) for part, test_set in parts.items()}
    lines = {part: line for part, (_, line) in measured.items()}
    table = pd.DataFrame({part: numbers for part, (numbers, _) in measured.items()}, index=list(COMPARED))
    for name, part in _OTHERS.items():
        table[f"{name}_error"] = table[part] - table["real"]
        table.loc["curve", f"{name}_error"] = distance(lines["real"], lines[part])
    table = table.rename_axis("measure").reset_index()
    table.insert(0, "draw", draw)
    curves = [line[["gain", "confidence"]].assign(part=part) for part, line in lines.items()]
    return Split(table, pd.concat(curves, ignore_index=True)[["part", "gain", "confidence"]])


def _measured(outputs: ss.Outputs, n_resamples: int, seed: int) -> tuple[dict[str, float], pd.DataFrame]:
    """Numbers of a test set by measure, and its curve."""
    compared = ss.compare(outputs, n_resamples=n_resamples, monte_carlo=True, seed=seed)
    pairs = compared.frame.assign(relation="all pairs")
    gains = pairs["gain"][pairs["p_value"].between(0.04, 0.06)]
    numbers = {
        "r12": float(ss.comparisons.correlation(outputs)["r12"].median()),
        "significant": float((pairs["p_value"] <= 0.05).mean()),
        "threshold": float(np.percentile(gains, 95)) if gains.size >= _LEAST_WINDOW else np.nan,
    }
    return numbers, ss.comparisons.curve(pairs)


def distance(real: pd.DataFrame, other: pd.DataFrame) -> float:
    """The mean absolute distance of two curves at gains that both have, up to the real one's end."""
    if real.empty or other.empty:
        return np.nan
    rising = real[real["confidence"] < _CERTAIN]
    low = max(real["gain"].min(), other["gain"].min())
    high = min(rising["gain"].max(), other["gain"].max()) if len(rising) else low
    if not low < high:
        return np.nan
    at = np.quantile(rising["gain"], np.linspace(0, 1, _POINTS))
    at = at[(at >= low) & (at <= high)]
    return float(np.abs(_confidence(real, at) - _confidence(other, at)).mean())


def _confidence(line: pd.DataFrame, gains: np.ndarray) -> np.ndarray:
    ordered = line.sort_values("gain")
    return np.asarray(np.interp(gains, ordered["gain"].to_numpy(), ordered["confidence"].to_numpy()))
