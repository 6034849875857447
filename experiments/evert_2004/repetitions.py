"""Repetitions of one evaluation: does precision vary as the binomial model says? After Evert 2004, section 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from scipy import stats

import simstudy as ss
from simstudy.studies import clopper_pearson

# Coverage of the intervals.
LEVEL = 0.95


def common_threshold(sets: Sequence[ss.rankings.Candidates], name: str, n_accepted: float) -> float:
    """The threshold gamma at which a scoring function accepts n candidates of a set on average.

    It is the score of the k-th best candidate of all sets together, k being n_accepted times the number of sets,
    rounded. All candidates that tie with it are accepted too.
    """
    scores = np.concatenate([each.scores[each.names.index(name)] for each in sets])
    return float(np.sort(scores)[scores.size - round(n_accepted * len(sets))])


def repetitions(sets: Sequence[ss.rankings.Candidates], thresholds: Mapping[str, float]) -> pd.DataFrame:
    """The precision of the same acceptance regions in every repetition: a row for each scoring function and set.

    The true average precision pi of a region is estimated by the mean over the sets that accept anything, as in the
    paper. covered says whether a set's Clopper-Pearson interval, low to high, has this mean.
    """
    tables = []
    for name, threshold in thresholds.items():
        accepted = [each.accepted(name, threshold) for each in sets]
        n_accepted = np.array([of_set.sum() for of_set in accepted])
        n_true = np.array([(of_set & each.true).sum() for of_set, each in zip(accepted, sets, strict=True)])
        precision = np.where(n_accepted > 0, n_true / np.maximum(n_accepted, 1), np.nan)
        average = float(np.nanmean(precision))
        low, high = clopper_pearson(n_true, n_accepted, LEVEL)
        table = {
            "test_set": [each.test_set for each in sets],
            "ranking": name,
            "threshold": threshold,
            "n_candidates": [each.n_candidates for each in sets],
            "n_accepted": n_accepted,
            "n_true": n_true,
            "precision": precision,
            "low": low,
            "high": high,
            "average_precision": average,
            "covered": (low <= average) & (average <= high),
            "level": LEVEL,
        }
        tables.append(pd.DataFrame(table))
    return pd.concat(tables, ignore_index=True)


def binomial_check(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the variation of precision in a table of `repetitions` with the binomial model: a row for each ranking.

    1. The standard deviation s of the precisions (sd_observed) against sigma = sqrt(pi (1 - pi) / N) (sd_binomial,
       equation 4), N being the mean number of candidates accepted. ratio_low to ratio_high is the interval of
       s / sigma for normal precisions. ks_p compares the precisions with the normal distribution of mean pi and this
       sigma (Kolmogorov; footnote 15).
    2. The numbers of true candidates against equation 2, given how many each set accepts: Pearson's chi-square
       (dispersion), the sum of (T_i - N_i p)^2 / (N_i p (1 - p)), p being the share of true candidates in all sets
       together, with n_sets - 1 degrees of freedom.
    3. The number of intervals that miss pi, against a binomial with probability 1 - level, as in the paper.

    All p-values but Kolmogorov's are one-sided: small for more variation than the model has. The n_empty sets that
    accept nothing are left out. Without any variation that the model expects, 1 and 2 are NaN.
    """
    return pd.DataFrame([_checked(str(name), rows) for name, rows in table.groupby("ranking", sort=False)])


def _checked(name: str, table: pd.DataFrame) -> dict[str, object]:
    """One ranking's row of `binomial_check`."""
    used = table[table["n_accepted"] > 0]
    accepted, true, precision = (used[column].to_numpy(dtype=float) for column in ("n_accepted", "n_true", "precision"))
    n, pi, miss = len(used), float(table["average_precision"].iloc[0]), 1 - LEVEL
    sd = float(precision.std(ddof=1)) if n > 1 else np.nan
    sigma = float(np.sqrt(pi * (1 - pi) / accepted.mean()))
    ratio = ratio_low = ratio_high = ks_statistic = ks_p = dispersion = dispersion_p = np.nan
    if n > 1 and sigma > 0:
        ratio = sd / sigma
        ratio_low, ratio_high = ratio * np.sqrt((n - 1) / stats.chi2.ppf([1 - miss / 2, miss / 2], n - 1))
        kolmogorov = stats.ks_1samp(precision, stats.norm(pi, sigma).cdf)
        ks_statistic, ks_p = float(kolmogorov.statistic), float(kolmogorov.pvalue)
        pooled = true.sum() / accepted.sum()
        dispersion = ((true - accepted * pooled) ** 2 / (accepted * pooled * (1 - pooled))).sum()
        dispersion_p = stats.chi2.sf(dispersion, n - 1)
    n_missed = int((~used["covered"]).sum())
    return {
        "ranking": name,
        "n_sets": n,
        "n_empty": len(table) - n,
        "mean_accepted": accepted.mean(),
        "average_precision": pi,
        "sd_observed": sd,
        "sd_binomial": sigma,
        "ratio": ratio,
        "ratio_low": ratio_low,
        "ratio_high": ratio_high,
        "ks_statistic": ks_statistic,
        "ks_p": ks_p,
        "dispersion": dispersion,
        "dispersion_p": dispersion_p,
        "n_missed": n_missed,
        "expected_missed": miss * n,
        "missed_p": stats.binomtest(n_missed, n, miss, alternative="greater").pvalue,
    }
