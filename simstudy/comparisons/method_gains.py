"""Gains of methods that were trained with several seeds: over new seeds and new items."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pandas as pd
import scipy
from numpy.typing import NDArray

from simstudy.metrics.base import FloatArray
from simstudy.metrics.influence import contributions, deviations
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.units import in_units
from simstudy.validation import InputError, check_fraction, check_text

# The end of a system's name that says which run of a method it is.
_SEED = re.compile(r"[/_. -](?:seed|run|rep|replicate)[_=-]?\d+$", re.IGNORECASE)


def method_gains(
    outputs: Outputs, *, by: str | None = None, unit: str | None = None, level: float = 0.95
) -> pd.DataFrame:
    """The gain of each pair of methods, over new seeds and new items, with interval and p-value.

    A method's score is the mean over its systems (seeds, replicates). Two noises are estimated: between seeds, and
    between items of the test set. Use it for claims about methods, and `compare` for claims about trained systems.

    Parameters
    ----------
    outputs
        At least two systems of at least two methods, trained independently (no seed or training set is shared on
        purpose).
    by
        The column of the systems that names the method. None: the name without an ending such as ``/seed1`` or
        ``_run2``, if two systems then have one name; else ``family``.
    unit
        The resampling unit, as for `compare`.
    level
        Confidence of the intervals, a fraction.

    Returns
    -------
    table
        A row a pair, the better method first: method_a, method_b, seeds_a, seeds_b, score_a, score_b, gain, se_seeds
        (standard error over seeds, on these items), se_items (over items, of the mean of these seeds), se (over both),
        df (degrees of freedom, Welch and Satterthwaite), gain_low, gain_high, p_value (two-sided t).

    Raises
    ------
    ValueError
        For outputs with fewer than two methods of two systems, and a column that is not there.

    Notes
    -----
    variance of the gain = sum over both methods of (variance between seeds / seeds) + max(items - both, 0)

    Here "items" is the variance of the mean difference over items, and "both" the part of it from the interaction of
    seeds and items, which the variance between seeds has too. The degrees of freedom are Satterthwaite's for these
    three terms, with seeds - 1 of each method and items - 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> skill = np.repeat([0.0, 0.5], 5) + 0.1 * rng.normal(size=10)
    >>> scores = rng.normal(size=(200, 1)) + skill + rng.normal(size=(200, 10))
    >>> names = [f"{method}/seed{k}" for method in ("old", "new") for k in range(5)]
    >>> row = method_gains(Outputs.from_scores(pd.DataFrame(scores, columns=names))).iloc[0]
    >>> row["method_a"], int(row["seeds_a"]), bool(row["p_value"] < 0.01)
    ('new', 5, True)
    """
    require_outputs(outputs)
    check_text("by", by, "the name of a column of the systems", or_none=True)
    check_fraction("level", level)
    methods = _methods(outputs, by)
    places = {str(name): np.flatnonzero(methods == name) for name in dict.fromkeys(methods)}
    several = [name for name, systems in places.items() if len(systems) > 1]
    if len(several) < 2:
        raise InputError(
            "outputs", "must have at least two methods of two systems each", len(several), " (by= names their column)"
        )
    units = in_units(outputs, unit)
    parts = deviations(contributions(units.statistics, units.metric))
    scores, sign, rows = outputs.scores(), outputs.metric.sign, []
    for pair in combinations(several, 2):
        a, b = sorted(pair, key=lambda name: -sign * scores[places[name]].mean())
        first, second = scores[places[a]], scores[places[b]]
        names = {"method_a": a, "method_b": b, "seeds_a": len(first), "seeds_b": len(second)}
        means = {"score_a": first.mean(), "score_b": second.mean(), "gain": sign * (first.mean() - second.mean())}
        errors = _errors([first, second], [parts[places[a]], parts[places[b]]])
        se, df, gain = errors["se"], errors["df"], means["gain"]
        reach = float(scipy.stats.t.ppf((1 + level) / 2, df)) * se
        p_value = float(2 * scipy.stats.t.sf(abs(gain) / se, df)) if se > 0 else np.nan
        bounds = {"gain_low": gain - reach, "gain_high": gain + reach}
        rows.append({**names, **means, **errors, **bounds, "p_value": p_value})
    return pd.DataFrame(rows).sort_values("p_value", kind="stable").reset_index(drop=True)


def _methods(outputs: Outputs, by: str | None) -> NDArray[np.str_]:
    """The method of each system."""
    if by is not None:
        if by not in outputs.systems:
            columns = ", ".join(map(str, outputs.systems.columns))
            raise InputError("by", f"must be a column of the systems ({columns})", by)
        return outputs.systems[by].astype(str).to_numpy(dtype=str)
    methods = [_SEED.sub("", name) for name in outputs.names]
    if len(set(methods)) < len(methods) and methods != list(outputs.names):
        return np.array(methods)
    return outputs.systems["family"].astype(str).to_numpy(dtype=str)


def _errors(scores: list[FloatArray], parts: list[FloatArray]) -> dict[str, float]:
    """Standard errors and degrees of freedom of a gain, from two methods' scores (R,) and parts by unit (R, n)."""
    by_seeds = [values.var(ddof=1) / len(values) for values in scores]
    mean = parts[0].mean(axis=0) - parts[1].mean(axis=0)
    by_items = float((mean**2).sum())
    # The interaction of seeds and items is in both of the above.
    both = sum(float(((rows - rows.mean(axis=0)) ** 2).sum()) / (len(rows) - 1) / len(rows) for rows in parts)
    terms = np.array([*by_seeds, max(by_items - both, 0.0)])
    variance = float(terms.sum())
    below = float((terms**2 / [*(len(values) - 1 for values in scores), len(mean) - 1]).sum())
    df = variance**2 / below if below > 0 else np.inf
    errors = {"se_seeds": np.sqrt(sum(by_seeds)), "se_items": np.sqrt(by_items), "se": np.sqrt(variance)}
    return {**errors, "df": df}
