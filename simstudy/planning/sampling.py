"""How many samples of each question: variance components of a gain, and plans for other numbers of samples.

The model of one question's difference of two systems: an effect of its cluster (document), one of the question, and
the mean of k samples of each system. A question is an item here.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil, inf, nan, sqrt

import numpy as np
import pandas as pd

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.outputs import Outputs, require_outputs
from simstudy.outputs.samples import per_question
from simstudy.planning.settings import Costs
from simstudy.statistics.between import between_variance
from simstudy.text.reprs import FieldsMixin
from simstudy.validation import check_text, check_whole

#: Numbers of samples that a plan looks at beside the one that was asked for and the best one for the money.
NUMBERS = (1, 2, 3, 5, 10, 20)

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
        raise ValueError(f"outputs must be of two systems, not {outputs.n_systems}")
    means = per_question(outputs, question=question)
    assert means.samples is not None
    number, variance = means.samples[..., 0], means.samples[..., 1] * means.metric.scale**2
    if np.isnan(variance).all(axis=1).any():
        raise ValueError("outputs must have two samples of some question of each system")
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


def splits(
    components: Components,
    samples: int,
    costs: Costs,
    at_units: int,
    solve: Callable[[float], tuple[float, Callable[[int], float]]],
) -> pd.DataFrame:
    """Plans with other numbers of samples of each question: how many questions they need, and what both cost.

    Parameters
    ----------
    samples
        As asked for.
    at_units
        Units of the plan where there is no budget.
    solve
        From the factor of the spread, against that of the plan: the units that the gain needs (NaN: no gain), and the
        gain that is detected with a number of units.

    Returns
    -------
    table
        samples, which ("as asked", "best for the money"), items_per_unit, n_units, n_items, n_samples (of both
        systems), cost, at_units, minimum_detectable_gain.
    """
    from simstudy.planning.answers import AS_ASKED, BEST, best_row

    check_whole("samples", samples, 1)
    size, most = components.questions, components.most_samples
    best = 0 if costs.item is None else components.best_samples(costs.item + costs.cluster / size, costs.sample)
    # Units are whole, and few of them have a t distribution with long tails: the best number may be near that.
    near = [k for k in range(best - 3, best + 4) if best and 1 <= k <= most]
    rows = []
    for k in sorted({*(k for k in NUMBERS if k <= most), samples, *near}):
        n_units, detected = solve(components.factor(k) / components.factor(samples))
        own = costs.with_samples(k)
        if costs.budget is not None and not own.buys_two(size):
            continue
        at = at_units if costs.budget is None else own.affordable(size)
        planned = at if np.isnan(n_units) else n_units
        rows.append(
            {
                "samples": k, "which": AS_ASKED if k == samples else "", "items_per_unit": size, "n_units": n_units,
                "n_items": np.ceil(n_units * size - 1e-9), "n_samples": 2 * k * np.ceil(planned * size - 1e-9),
                "cost": planned * own.of(size) if costs.item is not None else nan, "at_units": at,
                "minimum_detectable_gain": detected(int(at)),
            }
        )  # fmt: skip
    table = pd.DataFrame(rows)
    if best:
        nearest = int(np.argmin((table["samples"] - best).abs()))
        row = best_row(table.assign(which=np.where(table.index == nearest, BEST, "")), costs)
        table.loc[row, "which"] = ", ".join(filter(None, [str(table.loc[row, "which"]), BEST]))
    shown = table["samples"].isin((*NUMBERS, samples)) | (table["which"] != "")
    return table[shown].reset_index(drop=True)
