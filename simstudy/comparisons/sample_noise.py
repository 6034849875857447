"""The two noises of scores and gains where questions have several samples: between questions, and within them.

The noise within questions is what other samples of the same systems on the same questions would change. It falls with
the number of samples. The noise between questions is what other questions would change, and stays.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from simstudy.comparisons.other_systems import jackknife_interval
from simstudy.metrics.base import Array, FloatArray, IntArray
from simstudy.metrics.influence import contributions, deviations
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.samples import SAMPLE_OF
from simstudy.outputs.units import in_units
from simstudy.statistics.between import between_variance
from simstudy.validation import InputError, check_choice, check_list, check_text, check_whole

#: What noises are of.
OF = ("gains", "scores")

#: Numbers of samples of a curve, unless others are asked for.
NUMBERS = (1, 2, 3, 5, 10, 20, 50, 100)

# Intervals of variances need as many units.
_FEWEST_UNITS = 10


def noises(outputs: Outputs, *, of: str = "gains", unit: str | None = None) -> pd.DataFrame:
    """The standard errors of gains or scores, and their parts between questions and within them.

    The squares of se_between and se_within add up to the square of se. The variance within is the sum over questions
    of the unbiased variance of one sample over the number of samples, for each system; systems draw their samples
    independently. The total variance is that of the questions' means, as `compare` and `leaderboard` have it. The
    variance between is the rest: what would stay if each question had endlessly many samples. The estimate of the rest
    may be below 0, which is shown as 0; its interval says how large it may be.

    Parameters
    ----------
    outputs
        Systems with several samples of each question: each sample is an item, or items are means of samples
        (`Outputs.samples`), as tables with a column ``n_samples`` have them.
    of
        "gains": a row a pair, the better system first. "scores": a row a system, best first.
    unit
        What is drawn independently: "item" (a question), "cluster" or another column of the items (documents with
        several questions). None: the column ``cluster`` where the items have one, else the question.

    Returns
    -------
    table
        system_a, system_b and gain (or system and score), n_questions, samples_a and samples_b (or samples: samples of
        a question, the harmonic mean), se, se_between, se_within (all on the metric's scale), share_within (the part of
        the variance, from 0 to 1), share_low and share_high (its 95 % interval, by the jackknife over units; NaN for
        fewer than ten), se_one (the standard error of one sample of each question and system), se_between_low and
        se_between_high (its 95 % interval, by `simstudy.statistics.between`; NaN for fewer than ten units). NaN stands
        where no question has two samples.

    Raises
    ------
    ValueError
        For outputs without samples, an unknown `of`, and a question that belongs to several units.

    Notes
    -----
    A system's questions with one sample get the mean variance of its other questions. In the words of Wang (2025,
    Measuring All the Noises of LLM Evals) se_one is SE(A-B), se_between is SE_x(A-B), and se_within, of one sample
    each, is SE_pred(A-B).

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
        raise InputError(
            "outputs",
            f"must have samples: a column '{SAMPLE_OF}' of the items says of which question an item is a sample",
        )
    by = "cluster" if unit is None and ordered.natural_unit == "cluster" else unit
    if by in (None, "item"):
        by = column if outputs.samples is None else "item"
    assert by is not None
    units = in_units(ordered, by)
    total = units.n_items * contributions(units.statistics, units.metric)
    # Of units as of questions: what each adds to the variance within, times the squared number of units.
    within, one, samples, n_questions = _within(ordered, column, by, units)
    names = ordered.names
    if of == "scores":
        rows = [
            {"system": name, "score": score, "n_questions": n_questions, "samples": k}
            | _parts(total[i], within[i], one[i])
            for i, (name, score, k) in enumerate(zip(names, ordered.scores(), samples, strict=True))
        ]
        return pd.DataFrame(rows)
    if len(names) < 2:
        raise InputError("outputs", "must be of at least two systems for gains; of='scores' is for one")
    i, j = np.triu_indices(len(names), 1)
    gains = ordered.gains(i, j)
    rows = [
        {"system_a": names[a], "system_b": names[b], "gain": gain, "n_questions": n_questions,
         "samples_a": samples[a], "samples_b": samples[b]}
        | _parts(total[a] - total[b], within[a] + within[b], one[a] + one[b])
        for a, b, gain in zip(i, j, gains, strict=True)
    ]  # fmt: skip
    return pd.DataFrame(rows)


def noise_curve(table: pd.DataFrame, numbers: Sequence[int] = NUMBERS) -> pd.DataFrame:
    """The standard error of each row of `noises` with other numbers of samples of each question and system.

    Parameters
    ----------
    table
        What `noises` returns, or rows of it.
    numbers
        Numbers of samples.

    Returns
    -------
    curve
        The columns that name the row, samples, se (expected with so many samples on as many questions, metric's scale)
        and floor (the part between questions, below which it does not fall).

    Raises
    ------
    ValueError
        For numbers of samples below 1.

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


def _within(
    outputs: Outputs, column: str | None, by: str, units: Outputs
) -> tuple[FloatArray, FloatArray, FloatArray, int]:
    """What each unit adds to the variance of scores, (K, U), times U^2: with these samples, and with one each.

    Also the harmonic mean of samples, (K,), and the number of questions.
    """
    place = pd.Series(np.arange(units.n_items), index=units.items["id"])
    if outputs.samples is not None and column is None:
        codes = place.loc[outputs.items["id"] if by == "item" else outputs.labels(by)].to_numpy()
        number, variance = outputs.samples[..., 0], outputs.samples[..., 1] * outputs.metric.scale**2
        variance = _filled(variance)
        weight = (units.n_items / outputs.n_items) ** 2
        with_these, with_one, n = variance / number * weight, variance * weight, outputs.n_items
        harmonic = 1 / (1 / number).mean(axis=1)
    else:
        assert column is not None
        labels = outputs.labels(column, "question")
        question, first, counts = np.unique(labels.to_numpy(dtype=str), return_inverse=True, return_counts=True)
        owner = labels if by == column else outputs.labels(by)
        of_unit = place.loc[owner].to_numpy()
        codes = np.zeros(len(question), dtype=np.int64)
        codes[first] = of_unit
        if (codes[first] != of_unit).any():
            wrong = labels.iloc[int(np.argmax(codes[first] != of_unit))]
            raise InputError("unit", f"must be of whole questions, but the samples of '{wrong}' have several of '{by}'")
        # Contributions of samples to the score; of a mean they are its score over the number of samples.
        parts = units.n_items * contributions(outputs.statistics, outputs.metric)
        with_these, with_one = _of_parts(parts, first, counts)
        harmonic, n = np.full(outputs.n_systems, 1 / (1 / counts).mean()), len(question)
    return _added(with_these, codes, units.n_items), _added(with_one, codes, units.n_items), harmonic, n


def _of_parts(parts: FloatArray, question: IntArray, counts: IntArray) -> tuple[FloatArray, FloatArray]:
    """The variance of questions' sums of samples' parts, and the same with one sample of each, (K, Q) each."""
    squares = np.stack(
        [
            np.bincount(question, (own - (np.bincount(question, own) / counts)[question]) ** 2, minlength=len(counts))
            for own in parts
        ]
    )
    # Per sample, on the scale of the question's mean: a sum of k parts is a mean of k values of k parts each.
    one = _filled(np.where(counts > 1, squares / np.maximum(counts - 1, 1), np.nan) * counts**2)
    return one / counts, one


def _filled(variance: FloatArray) -> FloatArray:
    """Variances (K, Q) with a system's mean in the place of those that one sample does not tell."""
    known = np.isfinite(variance)
    number = known.sum(axis=1, keepdims=True)
    mean = np.where(known, variance, 0).sum(axis=1, keepdims=True) / np.where(number > 0, number, np.nan)
    return np.where(known, variance, mean)


def _added(values: FloatArray, codes: Array, n: int) -> FloatArray:
    return np.stack([np.bincount(codes, own, minlength=n) for own in values])


def _parts(values: FloatArray, within: FloatArray, one: FloatArray) -> dict[str, float]:
    """Standard errors of the mean of values (U,) and their parts, and the share within with its interval."""
    n = len(values)
    total = float((deviations(values[None]) ** 2).sum()) / n**2
    inside, single = float(within.sum()) / n**2, float(one.sum()) / n**2
    between = max(total - inside, 0.0)
    known = np.isfinite(inside)
    share = min(inside / total, 1.0) if known and total > 0 else np.nan
    low, high = _share_interval(values, within, share)
    _, least, most = between_variance(values, within) if n >= _FEWEST_UNITS else (np.nan, np.nan, np.nan)
    return {
        "se": np.sqrt(total),
        "se_between": np.sqrt(between) if known else np.nan,
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
    if n < _FEWEST_UNITS or not np.isfinite(share) or share <= 0:
        return np.nan, np.nan
    s, q, w = values.sum(), (values**2).sum(), within.sum()
    total = np.maximum((q - values**2) - (s - values) ** 2 / (n - 1), 0) / (n - 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        left_out = (w - within) / (n - 1) / total
    if not ((left_out > 0) & (left_out < np.inf)).all():
        return np.nan, np.nan
    low, high = jackknife_interval(share, left_out, np.zeros(n, dtype=np.int64), np.inf)
    return low, min(high, 1.0)
