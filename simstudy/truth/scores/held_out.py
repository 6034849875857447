"""Whether a fitted model is like the real thing: fitted on one half of the items, compared on the other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from simstudy.comparisons.comparing import compare
from simstudy.comparisons.correlation import correlation
from simstudy.comparisons.curves import curve
from simstudy.metrics.base import FloatArray
from simstudy.outputs import Outputs
from simstudy.running.fingerprints import derived_seed
from simstudy.statistics.decisions import Decision, prefers_better
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.redrawn import halves
from simstudy.truth.scores.fitted import Fitted, fit

#: What test sets are compared by: the median correlation of two systems' item scores, the share of pairs with
#: p <= 0.05 (a fraction), the 95th percentile of gains of pairs with p from 0.04 to 0.06 (metric's scale), and the
#: mean distance of gain-confidence curves (a fraction).
MEASURES = ("r12", "significant", "threshold", "curve")

# A percentile of fewer gains says nothing.
_LEAST_WINDOW = 20

# Where two curves are compared: at so many quantiles of the gains where the confidence is not yet this.
_POINTS, _CERTAIN = 25, 0.995

# What is compared with the real half, and the prefix of its distance.
_OTHERS = {"fitted": "fitted", "halves": "training"}


@dataclass(frozen=True, eq=False)
class Split(FieldsMixin):
    """What a model that is fitted on one half of the items gets wrong of the other, beside what the halves differ by.

    Attributes
    ----------
    table
        A row for each measure of `MEASURES`: draw, measure, real (the held-out half), training (the other real half),
        fitted; fitted_error = fitted - real and halves_error = training - real. "curve" has only the last two, as mean
        absolute distances. NaN where a test set has too few pairs.
    curves
        part ("real", "training", "fitted"), gain (metric's scale), confidence (a fraction): of all pairs.
    fitted
        What was learned of the training half.
    """

    table: pd.DataFrame
    curves: pd.DataFrame
    fitted: Fitted


def held_out_split(
    outputs: Outputs,
    draw: int,
    *,
    n_resamples: int = 2000,
    seed: int = 0,
    fitting: Callable[[Outputs], Fitted] = fit,
) -> Split:
    """Random split number `draw` (`simstudy.truth.redrawn.halves`): a model is fitted to one half of the items.

    A test set as large as the other half is drawn from the model. Significance is that of `simstudy.compare`, by its
    default test and unit, with p-values from `n_resamples` drawn resamples: to compute them would take several times
    as long. The draws of one test set are not independent of each other. Of less than twenty items and some tens of
    systems there are neither curves nor thresholds.

    Examples
    --------
    >>> import simstudy as ss
    >>> split = held_out_split(ss.truth.correlated_accuracies([0.6, 0.7, 0.8], 200), 0, n_resamples=99)
    >>> split.table["measure"].tolist(), len(split.curves)
    (['r12', 'significant', 'threshold', 'curve'], 0)
    """
    training, real = halves(outputs, draw, seed=seed)
    of_draw = derived_seed(seed, "fitted half", draw) % 2**64
    fitted = fitting(training)
    parts = {"real": real, "training": training, "fitted": fitted.model.outputs(real.n_items, seed=of_draw)}
    measured = {part: _measured(one, n_resamples, seed) for part, one in parts.items()}
    lines = {part: line for part, (_, line) in measured.items()}
    table = pd.DataFrame({part: found for part, (found, _) in measured.items()}, index=list(MEASURES))
    for name, part in _OTHERS.items():
        table[f"{name}_error"] = table[part] - table["real"]
        table.loc["curve", f"{name}_error"] = _apart(lines["real"], lines[part])
    table = table.rename_axis("measure").reset_index()
    table.insert(0, "draw", draw)
    drawn = [line[["gain", "confidence"]].assign(part=part) for part, line in lines.items()]
    curves = pd.concat(drawn, ignore_index=True)[["part", "gain", "confidence"]]
    return Split(table, curves, fitted)


def held_out_summary(table: pd.DataFrame) -> pd.DataFrame:
    """The tables of several splits, one under the other, by measure.

    Returns
    -------
    summary
        measure; real, training, fitted (means); bias (mean fitted_error); fitted_error and halves_error (root mean
        squares) and their ratio. Two real halves differ by the noise of two samples. A test set drawn from a model has
        that noise too, and the noise of the half from which the model was learned. If the model's kind is right and
        fitting passes on all noise of that half, the ratio is about sqrt(3 / 2) = 1.22. In the study ``fitted_truth``
        correct models had a median ratio of 1.08 to 1.18, by measure.

    Examples
    --------
    >>> table = pd.DataFrame({"measure": "r12", "real": [0.5, 0.6], "training": [0.6, 0.5], "fitted": [0.5, 0.4],
    ...                       "fitted_error": [0.0, -0.2], "halves_error": [0.1, -0.1]})
    >>> held_out_summary(table)[["bias", "ratio"]].round(3).values.tolist()
    [[-0.1, 1.414]]
    """
    rows = []
    for measure, members in table.groupby("measure", sort=False):
        means = members[["real", "training", "fitted"]].mean()
        off = {name: float(np.sqrt((members[name] ** 2).mean())) for name in ("fitted_error", "halves_error")}
        # Two halves that agree but for rounding, as percentiles of few gains may, are no noise to measure by.
        told = off["halves_error"] > 1e-9 * max(float(means.abs().fillna(0).max()), off["fitted_error"])
        ratio = off["fitted_error"] / off["halves_error"] if told else np.nan
        rows.append({"measure": measure, **means, "bias": members["fitted_error"].mean(), **off, "ratio": ratio})
    return pd.DataFrame(rows)


def _measured(outputs: Outputs, n_resamples: int, seed: int) -> tuple[dict[str, float], pd.DataFrame]:
    pairs = compare(outputs, n_resamples=n_resamples, monte_carlo=True, seed=seed).frame.assign(relation="all pairs")
    window = pairs["p_value"].between(0.04, 0.06).to_numpy() & prefers_better(pairs)
    gains = pairs["gain"].to_numpy()[window]
    found = {
        "r12": float(correlation(outputs)["r12"].median()),
        "significant": float(Decision().significant(pairs).mean()),
        "threshold": float(np.percentile(gains, 95)) if gains.size >= _LEAST_WINDOW else np.nan,
    }
    return found, curve(pairs)


def _apart(real: pd.DataFrame, other: pd.DataFrame) -> float:
    """The mean absolute distance of two curves, where both are and the real one has not yet come to its end."""
    if real.empty or other.empty:
        return np.nan
    rising = real[real["confidence"] < _CERTAIN]
    low = max(real["gain"].min(), other["gain"].min())
    high = min(rising["gain"].max(), other["gain"].max()) if len(rising) else low
    if not low < high:
        return np.nan
    at = np.quantile(rising["gain"], np.linspace(0, 1, _POINTS))
    at = at[(at >= low) & (at <= high)]
    return float(np.abs(_at(real, at) - _at(other, at)).mean())


def _at(line: pd.DataFrame, gains: FloatArray) -> FloatArray:
    ordered = line.sort_values("gain")
    return np.asarray(np.interp(gains, ordered["gain"].to_numpy(), ordered["confidence"].to_numpy()))
