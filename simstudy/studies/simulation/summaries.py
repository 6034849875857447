"""From the numbers of replicates to rows of tables: rates, coverage and means with 95 % Monte Carlo intervals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from simstudy.metrics.base import Array, FloatArray
from simstudy.statistics.pvalues import clopper_pearson
from simstudy.studies.simulation.analyses import CAUTION, OBSERVED, Outcome, missing

#: A type I error rate is in the range of Bradley (1978) from half to one and a half times its level.
BRADLEY = (0.5, 1.5)

#: With a larger share of missing p-values there is no verdict: the others are a selection.
MOST_MISSING = 0.01

# Type S and type M are of at least so many significant results.
_LEAST_SIGNIFICANT = 20

# How many errors of a condition and analysis are named.
_NAMED = 5

# Widths of a 95 % interval in standard errors.
_WIDTH = 2 * float(stats.norm.ppf(0.975))

Row = dict[str, Any]


def summarised(
    outcomes: Mapping[str, Outcome],
    truth: float,
    alphas: Sequence[float],
    within: int = 1,
    shares: Sequence[float] = (),
) -> dict[str, list[Row]]:
    """Rows of all tables for one condition, from the outcome of each analysis, with groups of `within` replicates.

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
                    rows["rates"] += [at | rejections(numbers, alpha, truth, estimate, within) for alpha in alphas]
                elif numbers.dtype == np.int8:
                    rows["rates"].append(at | rate(numbers == 1, missing(numbers), within))
                elif quantity not in ("low", "high"):
                    row = mean(numbers, within) | quantiles(numbers, shares)
                    if quantity == "estimate":
                        row |= {f"bias{end}": row[f"mean{end}"] - truth for end in ("", "_low", "_high")}
                    rows["means"].append(at | row)
            if {"low", "high"} <= quantities.keys() and not np.isnan(truth):
                row = coverage(quantities["low"], quantities["high"], truth, within)
                rows["coverage"].append({"method": method} | row)
        named: dict[str, Row] = {}
        for k, n, failure in outcome["failures"]:
            row = {"analysis": analysis, "replicate": k, "n_failed": 0, "failure": failure}
            named.setdefault(failure, row)["n_failed"] += n
        rows["failures"] += list(named.values())[:_NAMED]
    n_failed = sum(n for outcome in outcomes.values() for _, n, _ in outcome["failures"])
    replicates = max(outcome["n"] for outcome in outcomes.values())
    rows["conditions"] = [{"truth": truth, "replicates": replicates, "n_failed": n_failed}]
    return rows


def rejections(p_values: FloatArray, alpha: float, truth: float, estimate: FloatArray | None, within: int = 1) -> Row:
    """The rate of p <= alpha: without a gain its verdict, with a gain the shares and sizes of wrong claims.

    Without a gain, n_first counts the rejections with a better score of the first system, or equal scores.
    """
    significant = p_values <= alpha
    row = {"alpha": alpha} | rate(significant, np.isnan(p_values), within)
    if truth == 0:
        of_first = {} if estimate is None else {"n_first": int((significant & (estimate >= 0)).sum())}
        return row | {"verdict": verdict(row, alpha)} | of_first
    if estimate is None or np.isnan(truth):
        return row
    return row | exaggeration(np.where(significant, estimate / truth, np.nan), within)


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


def exaggeration(ratios: FloatArray, within: int = 1) -> Row:
    """Type S and type M errors from the significant gains over the true gain; empty where these are few."""
    wrong, sizes = rate(ratios < 0, np.isnan(ratios), within), mean(np.abs(ratios), within)
    row = {"n_wrong": wrong["count"]}
    if wrong["n_sets"] < _LEAST_SIGNIFICANT:
        return row
    row |= {"type_s": wrong["share"], "type_s_low": wrong["low"], "type_s_high": wrong["high"]}
    return row | {f"type_m{end}": sizes[f"mean{end}"] for end in ("", "_low", "_high")}


def coverage(low: FloatArray, high: FloatArray, truth: float, within: int = 1) -> Row:
    """The share of intervals that hold the truth, and their mean width."""
    width = mean(high - low)
    return rate((low <= truth) & (truth <= high), np.isnan(high - low), within) | {"mean_width": width["mean"]}


def rate(yes: NDArray[np.bool_], without: NDArray[np.bool_], within: int = 1) -> Row:
    """A share of the replicates that are not missing, on which `yes` is False.

    Its interval is by Clopper and Pearson; with groups it reaches as far as their spread says, if that is farther.
    """
    n, count = int((~without).sum()), int(yes.sum())
    share = count / n if n else np.nan
    low, high = (float(end) for end in clopper_pearson(count, n))
    if within > 1 and n:
        # One group says nothing about the others.
        reach = float(np.nan_to_num(_reach(np.where(without, np.nan, yes), within), nan=1.0))
        low, high = min(low, max(share - reach, 0.0)), max(high, min(share + reach, 1.0))
    return {"n_sets": n, "n_missing": len(yes) - n, "count": count, "share": share, "low": low, "high": high}


def mean(numbers: Array, within: int = 1) -> Row:
    """A mean with its interval by Student's t; with groups it is by their means, if that is longer."""
    present = ~np.isnan(numbers)
    n = int(present.sum())
    centre = float(numbers[present].mean()) if n else np.nan
    reach = float(np.maximum(_reach(numbers, 1), _reach(numbers, within)))
    low, high = centre - reach, centre + reach
    return {"n_sets": n, "n_missing": len(numbers) - n, "mean": centre, "mean_low": low, "mean_high": high}


def quantiles(numbers: Array, shares: Sequence[float]) -> Row:
    """Quantiles with their exact intervals; an end is NaN where there are too few numbers for it."""
    kept = numbers[~np.isnan(numbers)]
    row: Row = {}
    for share in shares if len(kept) else ():
        name = quantile_column(share)
        interval: Any = stats.quantile_test(kept, p=share).confidence_interval(0.95)
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


def _reach(numbers: FloatArray, within: int) -> float:
    """How far the 95 % interval of a mean reaches, by the spread between groups; NaN if only one has numbers."""
    present = ~np.isnan(numbers)
    n, n_groups = int(present.sum()), int(present.reshape(-1, within).any(axis=1).sum())
    if n_groups < 2:
        return np.nan
    deviations = np.where(present, numbers - numbers[present].mean(), 0).reshape(-1, within).sum(axis=1)
    error = np.sqrt(n_groups / (n_groups - 1) * (deviations**2).sum()) / n
    return float(stats.t.ppf(0.975, n_groups - 1) * error)


def largest_error(rows: Mapping[str, Sequence[Row]]) -> float:
    """The largest standard error of a rate, by its interval: it is not 0 where a count is. Cautions do not count."""
    shares = [row for row in (*rows["rates"], *rows["coverage"]) if row.get("quantity") != CAUTION]
    return max(((row["high"] - row["low"]) / _WIDTH for row in shares), default=0.0)
