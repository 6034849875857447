"""How many samples of each question: variance components of a gain.

The model of one question's difference of two systems: an effect of its cluster (document), one of the question, and
the mean of k samples of each system. A question is an item here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import ceil, inf, sqrt

import numpy as np
import pandas as pd

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.samples import per_question
from simstudy.statistics.between import between_variance
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import InputError, check_text

#: No plan proposes more than so many times the outputs' samples of a question, however cheap they are.
MOST_TIMES = 4

# Confidence, two-sided, of the interval whose upper end plans take: a one-sided bound of 80 %. And of the interval that
# must leave 0 out: a one-sided bound of 95 %.
_SAFE, _CLEAR = 0.6, 0.9


@dataclass(frozen=True)
class Components(FieldsMixin):
    """Variances of the difference of two systems on one question, on the squared scale of the metric.

    Attributes
    ----------
    cluster
        Between clusters of questions (documents); 0 where questions come in none.
    question
        Between questions of a cluster.
    sample
        Within questions, of one sample of each of the two systems.
    samples
        Samples of a question and system in the outputs (harmonic mean).
    questions
        Questions of a cluster, on average.
    cv
        The standard deviation of the clusters' sizes over their mean.
    safe
        The variance of a cluster's mean with endlessly many samples that plans take: 0 where the outputs tell it
        clearly, else its upper bound. Plans for more samples than the outputs have depend on it.
    """

    cluster: float
    question: float
    sample: float
    samples: float
    questions: float = 1.0
    cv: float = 0.0
    safe: float = 0.0

    def variance(self, samples: float, questions: float | None = None) -> float:
        """The variance of the mean difference of a cluster of so many questions, of so many samples each."""
        size = self.questions if questions is None else questions
        cv = self.cv if size > 1 else 0.0
        return self.cluster * (1 + cv**2) + (self.question + self.sample / samples) / size

    def standard_error(self, n_questions: float, samples: float, questions: float | None = None) -> float:
        """The standard error of a gain on so many questions, of so many samples each."""
        size = self.questions if questions is None else questions
        return sqrt(self.variance(samples, size) * size / n_questions)

    def planned(self, samples: float) -> float:
        """The variance as plans take it: that of the outputs, as they are, and of more samples a safe one."""
        if samples <= self.samples or self.safe <= self.variance(inf):
            return self.variance(samples)
        return self.safe + (self.variance(self.samples) - self.safe) * self.samples / samples

    def factor(self, samples: float) -> float:
        """How many times the spread is that of the outputs, with so many samples in place of theirs, in plans."""
        now = self.variance(self.samples)
        return sqrt(self.planned(samples) / now) if now > 0 else 1.0

    @property
    def most_samples(self) -> int:
        """The most samples of a question that a plan proposes."""
        return ceil(MOST_TIMES * self.samples - 1e-9)

    def best_samples(self, cost_question: float, cost_sample: float) -> int:
        """The number of samples with the least variance for the money, from 1 to `most_samples`.

        Without rounding and limits it is the root of (sample x cost of a question) / (question x cost of a sample),
        where the variance and the cost of a question include its part of its cluster's (Cochran 1977, section 10.6).
        """
        numbers = range(1, self.most_samples + 1)
        return min(numbers, key=lambda k: (cost_question + k * cost_sample) * self.planned(k))


def variance_components(
    outputs: Outputs, *, cluster: str | None = None, question: str | None = None, clip: bool = True
) -> Components:
    """The variance components of the gain of two systems: between clusters, between questions and within them.

    Clusters may have unlike many questions, and questions unlike many samples. The estimators are unbiased: those of
    the analysis of variance for unbalanced data (Henderson 1953, method 1), in which the variance of each question's
    mean of samples is estimated from its own samples. A question with one sample gets the mean variance of the others.

    Parameters
    ----------
    outputs
        Two systems, each with two samples or more of some questions.
    cluster
        The column of the items with clusters of questions. None: the column ``cluster``, where it has more than the
        samples of one question; else there are none.
    question
        The column that says of which question an item is a sample; None: ``sample_of``.
    clip
        Whether estimates below 0 become 0.

    Raises
    ------
    ValueError
        For outputs of other than two systems, without samples, or with one sample of each question.

    Examples
    --------
    >>> import simstudy as ss
    >>> rng = np.random.default_rng(0)
    >>> right = rng.binomial(1, rng.beta(2, 2, size=(2, 500)).repeat(6, axis=1)).T
    >>> items = pd.DataFrame({"id": range(3000), "sample_of": np.arange(500).repeat(6)})
    >>> outputs = ss.Outputs.from_scores(pd.DataFrame(right, columns=["a", "b"]), "accuracy", items=items)
    >>> found = variance_components(outputs)
    >>> round(found.standard_error(500, samples=1), 1), round(found.standard_error(500, samples=6), 1)
    (3.2, 1.8)
    """
    require_outputs(outputs)
    check_text("cluster", cluster, "the name of a column of the items", or_none=True)
    if outputs.n_systems != 2:
        raise InputError("outputs", "must be of two systems", outputs.n_systems)
    means = per_question(outputs, question=question)
    assert means.samples is not None
    number, variance = means.samples[..., 0], means.samples[..., 1] * means.metric.scale**2
    if np.isnan(variance).all(axis=1).any():
        raise InputError("outputs", "must have two samples of some question of each system")
    variance = np.where(np.isnan(variance), np.nanmean(variance, axis=1, keepdims=True), variance)
    difference = means.metric.scale * (means.statistics[0, :, 0] - means.statistics[1, :, 0]).astype(np.float64)
    column = cluster or (means.natural_unit if means.natural_unit != "item" else None)
    codes = np.arange(means.n_items) if column is None else pd.factorize(means.labels(column, "cluster"))[0]
    between, within = _between(difference, (variance / number).sum(axis=0), codes)
    sizes = np.bincount(codes)
    found = Components(
        cluster=max(between, 0.0) if clip else between,
        question=max(within, 0.0) if clip else within,
        sample=float(variance.sum(axis=0).mean()),
        samples=float(2 / (1 / number).mean(axis=1).sum()),
        questions=float(sizes.mean()),
        cv=float(sizes.std() / sizes.mean()),
    )
    return replace(found, safe=_safe(found, difference, (variance / number).sum(axis=0), codes))


def _safe(known: Components, values: FloatArray, errors: FloatArray, codes: IntArray) -> float:
    """`Components.safe` of these components, from questions' values and their sampling variances."""
    sizes = np.bincount(codes)
    of_clusters = (np.bincount(codes, values) - sizes * values.mean()) / sizes.mean()
    within = np.bincount(codes, errors) / sizes.mean() ** 2
    if not between_variance(of_clusters, within, level=_CLEAR)[1] <= 0:
        return 0.0
    # On the scale of the components, whose total is larger than that of the outputs where a part is below 0.
    total, now = float(of_clusters.var(ddof=1)), known.variance(known.samples)
    bound = between_variance(of_clusters, within, level=_SAFE)[2]
    return min(bound * now / total, now) if total > 0 else 0.0


def _between(values: FloatArray, errors: FloatArray, codes: IntArray) -> tuple[float, float]:
    """The variances between clusters and between their values, each with a sampling variance of its own.

    The expected sums of squares within and between clusters are linear in both; the sampling variances' part is known.
    """
    n, sizes = len(values), np.bincount(codes)
    n_clusters = len(sizes)
    means = np.bincount(codes, values) / sizes
    own = 1 / sizes[codes]
    if n_clusters == n:
        return 0.0, float(values.var(ddof=1) - errors.mean())
    inside = float(((values - means[codes]) ** 2).sum() - ((1 - own) * errors).sum()) / (n - n_clusters)
    outside = float((sizes * (means - values.mean()) ** 2).sum() - ((own - 1 / n) * errors).sum())
    return (outside - (n_clusters - 1) * inside) / (n - float((sizes**2).sum()) / n), inside
