"""Repetitions of one evaluation: does precision vary as the binomial model says? After Evert 2004, section 4."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite

import numpy as np
import pandas as pd
import scipy

from simstudy.rankings.candidates import Candidates, require_candidates
from simstudy.statistics.pvalues import clopper_pearson
from simstudy.tables import check_table
from simstudy.validation import (
    InputError,
    check_fraction,
    check_list,
    check_mapping,
    check_number,
    check_text,
    check_unique,
)

_COLUMNS = ["ranking", "threshold", "n_accepted", "n_true", "precision", "average_precision", "covered", "level"]


def common_threshold(sets: Sequence[Candidates], name: str, n_accepted: float) -> float:
    """The threshold gamma at which a scoring function accepts n candidates of a set on average.

    It is the score of the k-th best candidate of all sets together, k being n_accepted times the number of sets,
    rounded. All candidates that tie with it are accepted too, so that with ties the average may be a little more.

    Parameters
    ----------
    sets
        Repetitions of one evaluation: parts of a corpus, or simulated ones.
    name
        A scoring function that all sets have.
    n_accepted
        Candidates a set, on average; not necessarily a whole number. The paper chose 100.

    Raises
    ------
    ValueError
        For no set, an unknown name, and n_accepted that asks for no candidate or for more than there are.

    Examples
    --------
    >>> frames = pd.DataFrame({"g": [5, 4, 1]}), pd.DataFrame({"g": [3, 2, 0]})
    >>> sets = [Candidates.from_scores(frame, [1, 0, 0]) for frame in frames]
    >>> common_threshold(sets, "g", 1.5)   # the third best of all: two of the first set, one of the second
    3.0
    """
    _check_sets(sets)
    check_text("name", name, "the name of a scoring function")
    scores = np.concatenate([each.select([name]).scores[0] for each in sets])
    check_number("n_accepted", n_accepted, "a number of candidates")
    if not isfinite(n_accepted):
        raise InputError("n_accepted", "must be a number of candidates", n_accepted)
    k = round(float(n_accepted) * len(sets))
    if not 1 <= k <= scores.size:
        raise InputError(
            "n_accepted",
            f"must ask for 1 to {scores.size} candidates, all that {len(sets)} sets have, not for {k} ({n_accepted} "
            "a set)",
        )
    return float(np.partition(scores, scores.size - k)[scores.size - k])


def repetitions(sets: Sequence[Candidates], thresholds: Mapping[str, float], *, level: float = 0.95) -> pd.DataFrame:
    """The precision of the same acceptance regions in every repetition, and whether its interval holds the truth.

    The true average precision pi of a region is not known: it is estimated by the mean over the repetitions, as in the
    paper. So a set's interval is held against a mean in which the set has its own share.

    Parameters
    ----------
    sets
        Repetitions of one evaluation, each with a test_set of its own.
    thresholds
        Scoring function -> gamma, the same for all sets; see `common_threshold`.
    level
        Coverage of the intervals, a fraction.

    Returns
    -------
    repetitions
        A row for each scoring function and set: test_set, ranking (the scoring function), threshold, n_candidates,
        n_accepted, n_true, precision (a fraction; NaN where nothing is accepted), low, high (Clopper-Pearson; 0 and 1
        where nothing is accepted), average_precision (pi: the mean of the precisions that are not NaN), covered (low
        <= pi <= high), level.

    Raises
    ------
    ValueError
        For no set or no threshold, two sets of one name, an unknown scoring function, a threshold that is no number,
        and a level that is no fraction.

    Examples
    --------
    >>> frame = pd.DataFrame({"g": [4, 3, 2, 1]})
    >>> sets = [Candidates.from_scores(frame, true, test_set=str(true)) for true in ([1, 1, 0, 0], [1, 0, 0, 0])]
    >>> repetitions(sets, {"g": 3})[["n_accepted", "n_true", "precision", "average_precision"]].values.tolist()
    [[2.0, 2.0, 1.0, 0.75], [2.0, 1.0, 0.5, 0.75]]
    """
    _check_sets(sets)
    check_unique(pd.Series([each.test_set for each in sets]), "test sets")
    check_fraction("level", level)
    check_mapping("thresholds", thresholds, "scoring functions to thresholds")
    tables = []
    for name, threshold in thresholds.items():
        accepted = [each.accepted(name, threshold) for each in sets]
        n_accepted = np.array([of_set.sum() for of_set in accepted])
        n_true = np.array([(of_set & each.true).sum() for of_set, each in zip(accepted, sets, strict=True)])
        precision = np.where(n_accepted > 0, n_true / np.maximum(n_accepted, 1), np.nan)
        average = float(precision[n_accepted > 0].mean()) if n_accepted.any() else np.nan
        low, high = clopper_pearson(n_true, n_accepted, level)
        table = {
            "test_set": [each.test_set for each in sets],
            "ranking": name,
            "threshold": float(threshold),
            "n_candidates": [each.n_candidates for each in sets],
            "n_accepted": n_accepted,
            "n_true": n_true,
            "precision": precision,
            "low": low,
            "high": high,
            "average_precision": average,
            # Written so that nothing is missed where there is no average.
            "covered": ~((average < low) | (average > high)),
            "level": level,
        }
        tables.append(pd.DataFrame(table))
    return pd.concat(tables, ignore_index=True)


def binomial_check(table: pd.DataFrame) -> pd.DataFrame:
    """Compare the variation of precision over repetitions with the binomial model, in three ways.

    1. The standard deviation of the precisions against sigma = sqrt(pi (1 - pi) / N) (equation 4), N being the mean
       number of candidates accepted (the paper says true positives, but equation 2 has candidates), and the precisions
       against the normal distribution with mean pi and this sigma (Kolmogorov; footnote 15). Equation 4 takes N for
       every set: where the number accepted varies by a coefficient c, the model itself gives about 1 + c^2 / 2 times
       sigma. Kolmogorov's test looks for any departure, has little power against a larger spread alone, and takes pi
       from the same data, which makes it more conservative.
    2. The numbers of true ones against equation 2 itself, given how many each set accepts: Pearson's chi-square,
       the sum of (T_i - N_i p)^2 / (N_i p (1 - p)), p being the share of true ones in all sets together. Needs neither
       equal N_i nor a normal precision; chi-square with n_sets - 1 degrees of freedom where N_i p and N_i (1 - p) are
       not very small (5, say).
    3. How many intervals miss pi, against a binomial with their nominal 1 - level, as in the paper. Clopper-Pearson
       intervals miss less often than that if the model is true: conservative.

    All p-values but Kolmogorov's are one-sided: small where there is more variation than the model says.

    Parameters
    ----------
    table
        What `repetitions` returned. Its level is that of the intervals here.

    Returns
    -------
    check
        A row for each ranking: ranking, n_sets (that accept anything; all that follows is of these), n_empty (that
        accept nothing), mean_accepted (N), average_precision (pi), sd_observed (s, with n_sets - 1), sd_binomial
        (sigma), ratio (s / sigma), ratio_low, ratio_high (interval for the true ratio, (n_sets - 1) s^2 / sigma^2
        being chi-square if precisions are normal; sigma taken as known), ks_statistic, ks_p, dispersion, dispersion_p,
        n_missed, expected_missed, missed_p. NaN where there is nothing to compute it from: fewer than two sets, or a
        precision of 0 or 1 in all.

    Raises
    ------
    ValueError
        For a table that `repetitions` did not make, or more than one such table in one.

    Examples
    --------
    >>> from simstudy.rankings.simulated import simulated_candidates
    >>> sets = simulated_candidates(80, separations={"g": 1.5})
    >>> row = binomial_check(repetitions(sets, {"g": common_threshold(sets, "g", 100)})).iloc[0]
    >>> bool(row.ratio_low < 1 < row.ratio_high), bool(row.dispersion_p > 0.05), bool(row.missed_p > 0.05)
    (True, True, True)
    """
    check_table("table", table, _COLUMNS, "what `repetitions` returned")
    return pd.DataFrame([_checked(str(name), rows) for name, rows in table.groupby("ranking", sort=False)])


def _checked(name: str, table: pd.DataFrame) -> dict[str, object]:
    """One ranking's row of `binomial_check`."""
    if (table[["threshold", "average_precision", "level"]].nunique() > 1).any():
        raise InputError("table", f"must have one threshold, average_precision and level for ranking '{name}'")
    used = table[table["n_accepted"] > 0]
    accepted, true, precision = (used[column].to_numpy(dtype=float) for column in ("n_accepted", "n_true", "precision"))
    n, pi, miss = len(used), float(table["average_precision"].iloc[0]), 1 - float(table["level"].iloc[0])
    mean_accepted = float(accepted.mean()) if n else np.nan
    sd = float(precision.std(ddof=1)) if n > 1 else np.nan
    sigma = float(np.sqrt(pi * (1 - pi) / mean_accepted))
    ratio = ratio_low = ratio_high = ks_statistic = ks_p = dispersion = dispersion_p = np.nan
    if n > 1 and sigma > 0:
        ratio = sd / sigma
        ratio_low, ratio_high = ratio * np.sqrt((n - 1) / scipy.stats.chi2.ppf([1 - miss / 2, miss / 2], n - 1))
        kolmogorov = scipy.stats.ks_1samp(precision, scipy.stats.norm(pi, sigma).cdf)
        ks_statistic, ks_p = float(kolmogorov.statistic), float(kolmogorov.pvalue)
        pooled = true.sum() / accepted.sum()
        dispersion = float(((true - accepted * pooled) ** 2 / (accepted * pooled * (1 - pooled))).sum())
        dispersion_p = float(scipy.stats.chi2.sf(dispersion, n - 1))
    missed = int((~used["covered"].to_numpy(dtype=bool)).sum())
    return {
        "ranking": name,
        "n_sets": n,
        "n_empty": len(table) - n,
        "mean_accepted": mean_accepted,
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
        "n_missed": missed,
        "expected_missed": miss * n,
        "missed_p": float(scipy.stats.binomtest(missed, n, miss, alternative="greater").pvalue) if n else np.nan,
    }


def _check_sets(sets: Sequence[Candidates]) -> None:
    check_list("sets", sets, "Candidates")
    if not len(sets):
        raise InputError("sets", "must have at least one set of candidates")
    for each in sets:
        require_candidates(each, "sets")
