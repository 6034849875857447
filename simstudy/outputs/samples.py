"""Several samples of each question as one number a question: their mean, pass@k, pass^k, majority or plurality of k."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from simstudy.metrics import get_metric
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.mean import SAMPLE_KINDS, kind_and_k, sample_metric, share_of_plurality, share_right
from simstudy.outputs.frames import grouped_items
from simstudy.outputs.outputs import Outputs, require_outputs
from simstudy.validation import InputError, check_text

#: The column of the items that says which question an item is a sample of.
SAMPLE_OF = "sample_of"

# How far a score times its number of samples may be from a whole number, as tables round scores.
_ROUNDED = 0.02


def has_samples(outputs: Outputs) -> bool:
    """Whether the outputs say that they have several samples of some question."""
    if outputs.samples is not None:
        return bool((outputs.samples[..., 0] > 1).any())
    return SAMPLE_OF in outputs.items and bool(outputs.items[SAMPLE_OF].duplicated().any())


def unit_in_words(outputs: Outputs, unit: str) -> str:
    """The unit that tables name: `SAMPLE_OF` for clusters that are the samples of one question, else the unit."""
    items = outputs.items
    if unit != "cluster" or SAMPLE_OF not in items or "cluster" not in items:
        return unit
    pairs = items[["cluster", SAMPLE_OF]].astype(str).drop_duplicates()
    return SAMPLE_OF if all(pairs[name].is_unique for name in pairs) else unit


def per_question(outputs: Outputs, metric: str = "mean", *, question: str | None = None) -> Outputs:
    """Outputs with one item a question: the mean of its samples, or pass@k, pass^k, majority@k or plurality@k.

    All tests, intervals and leaderboards take the result.

    Parameters
    ----------
    outputs
        Systems with several samples of each question: each sample is an item, or the items are means of samples
        (`Outputs.samples`). For all metrics but "mean" each sample is right or wrong.
    metric
        "mean": the score of a question is the mean of its samples, in the metric of the outputs. "pass@k" is the
        probability that at least one of k samples is right (Chen et al. 2021), "pass^k" that all are (Yao et al. 2024),
        "majority@k" that more than half are, where exactly half counts one half. "plurality@k" is the probability that
        the most frequent answer is right, where answers that tie are equally likely; it needs the answers. All are
        expectations over k of the n samples, drawn without replacement, in percent; k is at least 2. pass@1 is the
        mean.
    question
        The column of the items that says of which question an item is a sample. None: ``sample_of``, which readers
        write.

    Examples
    --------
    >>> import pandas as pd
    >>> import simstudy as ss
    >>> table = pd.DataFrame({"a": [1, 0, 0, 0, 0, 0], "b": [1, 1, 0, 1, 0, 0]})
    >>> items = pd.DataFrame({"id": range(6), "sample_of": [1, 1, 1, 2, 2, 2]})
    >>> outputs = ss.Outputs.from_scores(table, "accuracy", items=items)
    >>> ss.comparisons.per_question(outputs, "pass@2").scores().round(1).tolist()
    [33.3, 83.3]
    >>> ss.comparisons.per_question(outputs).scores().round(1).tolist()
    [16.7, 50.0]
    """
    require_outputs(outputs)
    check_text("question", question, "the name of a column of the items", or_none=True)
    if not isinstance(metric, str) or (metric not in ("mean", "pass@1") and sample_metric(metric) is None):
        raise InputError("metric", f"must be one of mean, {', '.join(SAMPLE_KINDS)} (k >= 2)", metric)
    means, codes = _means(outputs, question)
    if metric in ("mean", "pass@1"):
        return means
    kind, k = kind_and_k(metric)
    assert means.samples is not None
    number, share = means.samples[..., 0], means.statistics[..., 0]
    right = np.rint(number * share)
    if means.metric.item_range != (0, 1) or (np.abs(right - number * share) > _ROUNDED).any():
        raise InputError("metric", "must be 'mean' where samples are not right or wrong (1 or 0)", metric)
    if (number < k).any():
        s, i = np.argwhere(number < k)[0]
        raise InputError(
            f"metric '{metric}' needs at least {k} samples of each question, but question "
            f"'{means.items['id'].iloc[i]}' of system '{means.names[s]}' has {int(number[s, i])}"
        )
    scores = _pluralities(outputs, codes, k) if kind == "plurality@" else share_right(kind, k, right, number)
    statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
    return replace(means, statistics=statistics, metric=get_metric(metric), answers=None, samples=None)


def _means(outputs: Outputs, question: str | None) -> tuple[Outputs, IntArray | None]:
    """The outputs with a question's mean as its score, and the question of each item; None if items are means."""
    if outputs.samples is not None and question is None:
        return outputs, None
    column = question or SAMPLE_OF
    if column not in outputs.items:
        raise InputError(
            "outputs",
            f"must have samples: a column '{SAMPLE_OF}' of the items says of which question an item is a sample "
            "(question= names another column)",
        )
    statistics = outputs.statistics
    if outputs.metric.item_range is None or statistics.shape[2] != 2 or not (statistics[..., 1] == 1).all():
        rule = f"must have one score for each sample, unlike those of metric '{outputs.metric.name}'"
        raise InputError("outputs", rule)
    described = outputs.items.drop(columns=[SAMPLE_OF, column], errors="ignore")
    table, codes = grouped_items(described, outputs.labels(column, "question"))
    if "cluster" in table and table["cluster"].is_unique:
        # The samples of a question were a cluster; the questions are independent.
        table = table.drop(columns="cluster")
    number = np.bincount(codes)
    order, starts = np.argsort(codes, kind="stable"), np.cumsum(number) - number
    scores = statistics[..., 0].astype(np.float64)
    mean = np.add.reduceat(scores[:, order], starts, axis=1) / number
    squares = np.add.reduceat(((scores - mean[:, codes]) ** 2)[:, order], starts, axis=1)
    variance = np.where(number > 1, squares / np.maximum(number - 1, 1), np.nan)
    means = Outputs.from_statistics(
        np.stack([mean, np.ones_like(mean)], axis=-1),
        outputs.metric,
        outputs.systems,
        table,
        samples=np.stack(np.broadcast_arrays(number, variance), axis=-1),
        task=outputs.task,
        test_set=outputs.test_set,
    )
    return means, codes


def _pluralities(outputs: Outputs, codes: IntArray | None, k: int) -> FloatArray:
    """The expected score of the most frequent answer of k, shape (K systems, questions)."""
    if outputs.answers is None or codes is None:
        rule = f"must be 'majority@{k}' (of right and wrong samples) where the answers are not known"
        raise InputError("metric", f"{rule}, not 'plurality@{k}'")
    scores = np.empty((outputs.n_systems, codes.max() + 1))
    for question in range(scores.shape[1]):
        samples = np.flatnonzero(codes == question)
        for s in range(outputs.n_systems):
            right = outputs.statistics[s, samples, 0]
            scores[s, question] = share_of_plurality(k, outputs.answers[s, samples].tolist(), right.tolist())
    return scores
