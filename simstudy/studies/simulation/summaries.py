"""From the numbers of replicates to rows of tables: rates, coverage and means with 95 % Monte Carlo intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from simstudy.metrics.base import Array, FloatArray
from simstudy.statistics.pvalues import clopper_pearson
from simstudy.studies.simulation.analyses import OBSERVED, Outcome, missing

#: A type I error rate is in the range of Bradley (1978) from half to one and a half times its level.
BRADLEY = (0.5, 1.5)

#: With a larger share of missing p-values there is no verdict: the others are a selection.
MOST_MISSING = 0.01

# Type S and type M are of at least so many significant results.
_LEAST_SIGNIFICANT = 20

# How many failed replicates of a condition and analysis are named.
_NAMED = 5

# Widths of a 95 % interval in standard errors.
_WIDTH = 2 * float(stats.norm.ppf(0.975))

Row = dict[str, Any]


def summarised(
    outcomes: Mapping[str, Outcome], truth: float, alphas: Sequence[float], shares: Sequence[float] = ()
) -> dict[str, list[Row]]:
    """Rows of all tables for one condition, from the outcome of each analysis.

    A quantity that begins with p_value gives rates of p <= alpha, yes and no gives a rate, low and high give coverage,
    and any other number a mean and the quantiles of these shares. ``estimate`` has a bias too.
    """
    rows: dict[str, list[Row]] = {"conditions": [], "rates": [], "coverage": [], "means": [], "failures": []}
    for analysis, outcome in outcomes.items():
        shared = outcome["values"].get(OBSERVED, {})
        for method, quantities in outcome["values"].items():
            estimate = quantities.get("estimate", shared.get("estimate"))
            for quantity, numbers in quantities.items():
                at = {"method": method, "quantity": quantity}
                if quantity.startswith("p_value"):
                    rows["rates"] += [at | rejections(numbers, alpha, truth, estimate) for alpha in alphas]
                elif numbers.dtype == np.int8:
                    rows["rates"].append(at | rate(numbers == 1, missing(numbers)))
                elif quantity not in ("low", "high"):
                    row = mean(numbers) | quantiles(numbers, shares)
                    if quantity == "estimate":
                        row |= {f"bias{end}": row[f"mean{end}"] - truth for end in ("", "_low", "_high")}
                    rows["means"].append(at | row)
            if {"low", "high"} <= quantities.keys() and not np.isnan(truth):
                rows["coverage"].append({"method": method} | coverage(quantities["low"], quantities["high"], truth))
        rows["failures"] += [
            {"analysis": analysis, "replicate": k, "failure": failure} for k, failure in outcome["failures"][:_NAMED]
        ]
    n_failed = sum(len(outcome["failures"]) for outcome in outcomes.values())
    replicates = max(outcome["n"] for outcome in outcomes.values())
    rows["conditions"] = [{"truth": truth, "replicates": replicates, "n_failed": n_failed}]
    return rows


def rejections(p_values: FloatArray, alpha: float, truth: float, estimate: FloatArray | None) -> Row:
    """The rate of p <= alpha: without a gain its verdict, with a gain the shares and sizes of wrong claims."""
    row = {"alpha": alpha} | rate(p_values <= alpha, np.isnan(p_values))
    if truth == 0:
        return row | {"verdict": verdict(row, alpha)}
    if estimate is None or np.isnan(truth):
        return row
    return row | exaggeration(estimate[p_values <= alpha] / truth)


def verdict(row: Row, alpha: float) -> str:
    """Where the interval of a type I error rate lies beside Bradley's range; none with more missing than 1 %."""
    least, most = (alpha * factor for factor in BRADLEY)
    if row["n_missing"] > MOST_MISSING * (row["n_sets"] + row["n_missing"]):
        return "no verdict"
    if row["low"] > most:
        return "above"
    if row["high"] < least:
        return "below"
    return "inside" if least <= row["low"] and row["high"] <= most else "unclear"


def exaggeration(ratios: FloatArray) -> Row:
    """Type S and type M errors from the significant gains over the true gain; empty where these are few."""
    n_wrong = int((ratios < 0).sum())
    if len(ratios) < _LEAST_SIGNIFICANT:
        return {"n_wrong": n_wrong}
    low, high = clopper_pearson(n_wrong, len(ratios))
    sizes = mean(np.abs(ratios))
    return {
        "n_wrong": n_wrong,
        "type_s": n_wrong / len(ratios),
        "type_s_low": float(low),
        "type_s_high": float(high),
        "type_m": sizes["mean"],
        "type_m_low": sizes["mean_low"],
        "type_m_high": sizes["mean_high"],
    }


def coverage(low: FloatArray, high: FloatArray, truth: float) -> Row:
    """The share of intervals that hold the truth, and their mean width."""
    without = np.isnan(low) | np.isnan(high)
    row = rate((low <= truth) & (truth <= high), without)
    return row | {"mean_width": float((high - low)[~without].mean()) if not without.all() else np.nan}


def rate(yes: NDArray[np.bool_], without: NDArray[np.bool_]) -> Row:
    """A share of the replicates that are not missing, on which `yes` is False, with its Clopper-Pearson interval."""
    n, count = int((~without).sum()), int(yes.sum())
    low, high = clopper_pearson(count, n)
    return {
        "n_sets": n,
        "n_missing": len(yes) - n,
        "count": count,
        "share": count / n if n else np.nan,
        "low": float(low),
        "high": float(high),
    }


def mean(numbers: Array) -> Row:
    """A mean with its interval by Student's t."""
    kept = numbers[~np.isnan(numbers)]
    n = len(kept)
    centre = float(kept.mean()) if n else np.nan
    reach = float(stats.t.ppf(0.975, n - 1) * kept.std(ddof=1) / np.sqrt(n)) if n > 1 else np.nan
    low, high = centre - reach, centre + reach
    return {"n_sets": n, "n_missing": len(numbers) - n, "mean": centre, "mean_low": low, "mean_high": high}


def quantiles(numbers: Array, shares: Sequence[float]) -> Row:
    """Quantiles with their exact intervals; an end is NaN where there are too few numbers for it."""
    kept = numbers[~np.isnan(numbers)]
    row = {}
    for share in shares if len(kept) else ():
        name, interval = quantile_column(share), stats.quantile_test(kept, p=share).confidence_interval(0.95)
        row[name] = float(np.quantile(kept, share))
        row |= {f"{name}_low": float(interval.low), f"{name}_high": float(interval.high)}
    return row


def quantile_column(share: float) -> str:
    """The column of a quantile in the table of means.

    Examples
    --------
    >>> quantile_column(0.5), quantile_column(0.975)
    ('quantile_50', 'quantile_97_5')
    """
    return f"quantile_{100 * share:g}".replace(".", "_")


def largest_error(rows: Mapping[str, Sequence[Row]]) -> float:
    """The largest standard error of a rate, by its interval: it is not 0 where a count is."""
    shares = [*rows["rates"], *rows["coverage"]]
    return max(((row["high"] - row["low"]) / _WIDTH for row in shares), default=0.0)
