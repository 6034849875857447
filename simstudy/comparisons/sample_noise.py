"""Standard errors of scores and gains in two parts, between and within questions with several samples.

The part within questions is what other samples of the same systems on the same questions would change. It falls with
the number of samples. The part between questions is what other questions would change, and stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from simstudy.comparisons.other_systems import jackknife_interval
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.influence import contributions, deviations
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.samples import SAMPLE_OF
from simstudy.outputs.units import in_units
from simstudy.statistics.between import between_variance
from simstudy.validation import InputError, check_choice, check_list, check_text, check_whole

#: Rows of `noises`.
OF = ("gains", "scores")

#: Numbers of samples of a curve, by default.
NUMBERS = (1, 2, 3, 5, 10, 20, 50, 100)

# Intervals of variances need as many units.
_FEWEST_UNITS = 10


def noises(outputs: Outputs, *, of: str = "gains", unit: str | None = None) -> pd.DataFrame:
    """The standard errors of gains or scores, and their parts between and within questions.

    se^2 = se_between^2 + se_within^2, where se is that of the questions' means, as in `compare` and `leaderboard`. The
    variance within is the sum over questions of the unbiased variance of a sample over the number of samples, for each
    system: systems draw their samples independently. The variance between is the rest, which stays with any number of
    samples. An estimate of it below 0 is shown as 0; its interval says how large it may be.

    Parameters
    ----------
    outputs
        Systems with several samples of each question: each sample is an item, or items are means of samples
        (`Outputs.samples`), as in tables with a column ``n_samples``.
    of
        "gains": a row a pair, the better system first. "scores": a row a system, best first.
    unit
        The resampling unit: "item" (a question), "cluster" or another column of the items (documents with several
        questions). None: the column ``cluster`` if the items have one, else the question.

    Returns
    -------
    table
        system_a, system_b and gain (or system and score), n_questions, samples_a and samples_b (or samples: samples of
        a question, the harmonic mean), se, se_between, se_within (metric's scale), share_within (the part of the
        variance, from 0 to 1), share_low and share_high (its 95 % interval, by the jackknife over units), se_one (the
        standard error with one sample of each question and system), se_between_low and se_between_high (its 95 %
        interval, by `simstudy.statistics.between`). NaN without a question with two samples; no intervals for fewer
        than ten units.

    Raises
    ------
    ValueError
        For outputs without samples, an unknown `of`, and a question that belongs to several units.

    Notes
    -----
    A question with one sample gets the mean variance of the system's other questions. In Wang (2025, Measuring All the
    Noises of LLM Evals) se_one is SE(A-B), se_between SE_x(A-B), and se_within, with one sample each, SE_pred(A-B).

    Examples
    --------
    >>> import simstudy as ss
    >>> rng = np.random.default_rng(0)
    >>> chance = rng.beta(2, 2, size=(2, 300, 1)).repeat(8, axis=2)
    >>> right = rng.binomial(1, chance).reshape(2, -1).T
    >>> items = pd.DataFrame({"id": range(2400), "sample_of": np.repeat(range(300), 8)})
    >>> outputs = ss.Outputs.from_scores(pd.DataFrame(right, columns=["a", "b"]), "accuracy", items=items)
    >>> row = ss.comparisons.noises(outputs).iloc[0]
    >>> bool(np.isclose(row["se_between"] ** 2 + row["se_within"] ** 2, row["se"] ** 2))
    True
    >>> bool(row["se"] < row["se_one"])
    True
    """
    require_outputs(outputs)
    check_choice("of", of, OF)
    check_text("unit", unit, "the name of a column of the items", or_none=True)
    ordered = outputs.best_first()
    column = SAMPLE_OF if SAMPLE_OF in outputs.items else None
    if column is None and outputs.samples is None:
        rule = f"must have samples: a column '{SAMPLE_OF}' of the items says of which question an item is a sample"
        raise InputError("outputs", rule)
    by = "cluster" if unit is None and ordered.natural_unit == "cluster" else unit or "item"
    if by == "item" and column and outputs.samples is None:
        by = column
    units = in_units(ordered, by)
    total = units.n_items * contributions(units.statistics, units.metric)
    number, variance, codes = _questions(ordered, column, by, units)
    # Squared sums over units, as those of `total`.
    within, one = (
        np.stack([np.bincount(codes, row, minlength=units.n_items) for row in values])
        for values in (variance / number, variance)
    )
    names, n, samples = ordered.names, len(codes), 1 / (1 / number).mean(axis=1)
    rows = []
    if of == "scores":
        for k, (name, score) in enumerate(zip(names, ordered.scores(), strict=True)):
            key = {"system": name, "score": score, "n_questions": n, "samples": samples[k]}
            rows.append(key | _parts(total[k], within[k], one[k]))
        return pd.DataFrame(rows)
    if len(names) < 2:
        raise InputError("outputs", "must be of at least two systems for gains; of='scores' is for one")
    i, j = np.triu_indices(len(names), 1)
    for a, b, gain in zip(i, j, ordered.gains(i, j), strict=True):
        key = {"system_a": names[a], "system_b": names[b], "gain": gain, "n_questions": n}
        key |= {"samples_a": samples[a], "samples_b": samples[b]}
        rows.append(key | _parts(total[a] - total[b], within[a] + within[b], one[a] + one[b]))
    return pd.DataFrame(rows)


def noise_curve(table: pd.DataFrame, numbers: Sequence[int] = NUMBERS) -> pd.DataFrame:
    """The standard errors in `noises` with other numbers of samples of each question and system.

    Parameters
    ----------
    table
        What `noises` returns, or rows of it.
    numbers
        Numbers of samples.

    Returns
    -------
    curve
        The columns that name the row, samples, se (expected with this number of samples, on as many questions; metric's
        scale) and floor (the part between questions, below which it does not fall).

    Examples
    --------
    >>> table = pd.DataFrame({"system": ["a"], "se_between": [3.0], "se_one": [5.0]})
    >>> noise_curve(table, [1, 4, 16])["se"].round(2).tolist()
    [5.0, 3.61, 3.16]
    """
    check_list("numbers", numbers, "whole numbers")
    for number in numbers:
        check_whole("numbers", number, 1)
    keys = [name for name in ("system", "system_a", "system_b") if name in table]
    between, within = table["se_between"] ** 2, table["se_one"] ** 2 - table["se_between"] ** 2
    parts = [
        table[keys].assign(samples=k, se=np.sqrt(between + within.clip(lower=0) / k), floor=table["se_between"])
        for k in numbers
    ]
    return pd.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def _questions(
    outputs: Outputs, column: str | None, by: str, units: Outputs
) -> tuple[FloatArray, FloatArray, IntArray]:
    """The number of samples of each question (K, Q), the variance of a score from one of each, and the unit (Q,).

    The variances are on the scale of U times the contributions to the score.
    """
    place = pd.Series(np.arange(units.n_items), index=units.items["id"])
    if outputs.samples is not None and column is None:
        codes = place.loc[outputs.items["id"] if by == "item" else outputs.labels(by)].to_numpy()
        variance = outputs.samples[..., 1] * (outputs.metric.scale * units.n_items / outputs.n_items) ** 2
        return outputs.samples[..., 0], _filled(variance), codes
    assert column is not None
    labels = outputs.labels(column, "question")
    question, counts = pd.factorize(labels)[0], labels.value_counts(sort=False).to_numpy()
    unit = place.loc[labels if by == column else outputs.labels(by)].to_numpy()
    codes = np.zeros(len(counts), dtype=np.int64)
    codes[question] = unit
    if (codes[question] != unit).any():
        wrong = labels.iloc[int(np.argmax(codes[question] != unit))]
        raise InputError("unit", f"must be of whole questions, but the samples of '{wrong}' have several of '{by}'")
    # A question's contribution is the sum over its samples: the mean of `counts` times each.
    parts = units.n_items * counts[question] * contributions(outputs.statistics, outputs.metric)
    means = np.stack([np.bincount(question, row) / counts for row in parts])
    squares = np.stack([np.bincount(question, row) for row in (parts - means[:, question]) ** 2])
    variance = np.where(counts > 1, squares / np.maximum(counts - 1, 1), np.nan)
    return np.broadcast_to(counts.astype(np.float64), variance.shape), _filled(variance), codes


def _filled(variance: FloatArray) -> FloatArray:
    """Variances (K, Q) with the mean of the system for questions with one sample."""
    means = pd.DataFrame(variance).mean(axis=1).to_numpy()
    return np.where(np.isfinite(variance), variance, means[:, None])


def _parts(values: FloatArray, within: FloatArray, one: FloatArray) -> dict[str, float]:
    """Standard errors of the mean of values (U,) and their parts, and the share within with its interval."""
    n = len(values)
    total = float((deviations(values[None]) ** 2).sum()) / n**2
    inside, single = float(within.sum()) / n**2, float(one.sum()) / n**2
    between = max(total - inside, 0.0)
    has_samples = np.isfinite(inside)
    share = min(inside / total, 1.0) if has_samples and total > 0 else np.nan
    low, high = _share_interval(values, within, share)
    _, least, most = between_variance(values, within) if n >= _FEWEST_UNITS else (np.nan, np.nan, np.nan)
    return {
        "se": np.sqrt(total),
        "se_between": np.sqrt(between) if has_samples else np.nan,
        "se_within": np.sqrt(inside),
        "share_within": share,
        "share_low": low,
        "share_high": high,
        "se_one": np.sqrt(between + single),
        "se_between_low": np.sqrt(least / n),
        "se_between_high": np.sqrt(most / n),
    }


def _share_interval(values: FloatArray, within: FloatArray, share: float) -> tuple[float, float]:
    """The 95 % interval of a share, by the jackknife over units of its logarithm, cut at 1."""
    n = len(values)
    if n < _FEWEST_UNITS or not share > 0:
        return np.nan, np.nan
    squares = ((values - values.mean()) ** 2).sum() - (values - values.mean()) ** 2 * n / (n - 1)
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = (within.sum() - within) / (n - 1) / (np.maximum(squares, 0) / (n - 2))
    if not ((left_out > 0) & (left_out < np.inf)).all():
        return np.nan, np.nan
    low, high = jackknife_interval(share, left_out, np.inf)
    return low, min(high, 1.0)
