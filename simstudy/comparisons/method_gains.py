"""Gains of methods, each trained with several seeds: seeds are units, and so are the items of the test set.

A test of two systems is about these two, as they were trained. A claim about a method is about other seeds too.
"""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pandas as pd
import scipy

from simstudy.metrics.base import FloatArray, IntArray
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
    between items of the test set. Use it where a claim is about a method, `compare` where it is about one trained
    system.

    Parameters
    ----------
    outputs
        At least two systems of at least two methods, trained independently (no seed or training set is shared on
        purpose).
    by
        The column of the systems that names the method. None: the name without an ending such as ``/seed1`` or
        ``_run2``, where two systems have one; else ``family``.
    unit
        What is drawn independently of the test set, as for `compare`.
    level
        Of the intervals, a fraction.

    Returns
    -------
    table
        A row a pair, the better method first: method_a, method_b, seeds_a, seeds_b, score_a, score_b, gain, se_seeds
        (what other seeds would change on these items), se_items (what other items would change of the mean of these
        seeds), se (both), df (degrees of freedom, Welch and Satterthwaite), gain_low, gain_high, p_value (two-sided t).

    Raises
    ------
    ValueError
        For outputs with fewer than two methods of two systems, and a column that is not there.

    Notes
    -----
    variance of the gain = sum over both methods of (variance between seeds / seeds) + max(items - both, 0)

    Here "items" is the variance of the mean difference over items, and "both" is the part of it that each seed has of
    its own, which the variance between seeds has too. The degrees of freedom are Satterthwaite's, of these three terms,
    with seeds - 1 of each method and items - 1. Tests of one system of each method rejected 6 to 50 % of equal methods,
    the more the seeds vary.

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
    places = {name: np.flatnonzero(methods == name) for name in dict.fromkeys(methods)}
    several = {str(name): own.astype(np.int64) for name, own in places.items() if len(own) > 1}
    if len(several) < 2:
        raise InputError(
            "outputs", "must have at least two methods of two systems each", len(several), " (by= names their column)"
        )
    units = in_units(outputs, unit)
    parts = deviations(contributions(units.statistics, units.metric))
    sign = outputs.metric.sign
    scores = outputs.scores()
    rows = [
        _row(several, a, b, sign=sign, scores=scores, parts=parts, level=level) for a, b in combinations(several, 2)
    ]
    return pd.DataFrame(rows).sort_values("p_value", kind="stable").reset_index(drop=True)


def _methods(outputs: Outputs, by: str | None) -> np.ndarray[tuple[int], np.dtype[np.str_]]:
    """The method of each system."""
    if by is not None:
        if by not in outputs.systems:
            known = ", ".join(map(str, outputs.systems.columns))
            raise InputError("by", f"must be a column of the systems ({known})", by)
        return outputs.systems[by].astype(str).to_numpy(dtype=str)
    named = np.array([_SEED.sub("", name) for name in outputs.names])
    if len(set(named)) < len(named) and any(name != own for name, own in zip(outputs.names, named, strict=True)):
        return named
    return outputs.systems["family"].astype(str).to_numpy(dtype=str)


def _row(
    places: dict[str, IntArray], a: str, b: str, *, sign: int, scores: FloatArray, parts: FloatArray, level: float
) -> dict[str, object]:
    if sign * (scores[places[a]].mean() - scores[places[b]].mean()) < 0:
        a, b = b, a
    own = {name: places[name] for name in (a, b)}
    gain = sign * (scores[own[a]].mean() - scores[own[b]].mean())
    # Between seeds, on these items: over other seeds and the items' part that is a seed's own.
    of_seeds = np.array([scores[at].var(ddof=1) / len(at) for at in own.values()])
    mean = parts[own[a]].mean(axis=0) - parts[own[b]].mean(axis=0)
    of_items = float((mean**2).sum())
    # What a seed does to an item beside what it does to all: in both of the above.
    together = sum(
        float(((parts[at] - parts[at].mean(axis=0)) ** 2).sum()) / (len(at) - 1) / len(at) for at in own.values()
    )
    added = np.array([*of_seeds, max(of_items - together, 0.0)])
    bottom = float((added**2 / [*(len(at) - 1 for at in own.values()), len(mean) - 1]).sum())
    variance = float(added.sum())
    df = variance**2 / bottom if bottom > 0 else np.inf
    se = float(np.sqrt(variance))
    reach = float(scipy.stats.t.ppf((1 + level) / 2, df)) * se
    return {
        "method_a": a, "method_b": b, "seeds_a": len(own[a]), "seeds_b": len(own[b]), "score_a": scores[own[a]].mean(),
        "score_b": scores[own[b]].mean(), "gain": gain, "se_seeds": np.sqrt(of_seeds.sum()),
        "se_items": np.sqrt(of_items), "se": se, "df": df, "gain_low": gain - reach, "gain_high": gain + reach,
        "p_value": float(2 * scipy.stats.t.sf(abs(gain) / se, df)) if se > 0 else np.nan,
    }  # fmt: skip
