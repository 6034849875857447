"""`fit`: a model of known truth that looks like real outputs."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pandas as pd

from simstudy.metrics.base import FloatArray, IntArray
from simstudy.metrics.influence import contributions
from simstudy.outputs import Outputs, check_outputs
from simstudy.running.threads import one_blas_thread
from simstudy.text.reprs import FieldsMixin
from simstudy.truth.corpus import CorpusModel, Pool, item_scores
from simstudy.truth.dependence import GaussianCopula, nearest_correlation
from simstudy.truth.latent import MOST, Classes, common_share, intra_cluster, latent_correlation
from simstudy.truth.margins import Ordinal
from simstudy.truth.models import ItemClusters, KnownTruth, ScoreModel
from simstudy.validation import InputError, check_flag

#: Items that outputs must have to be fitted.
LEAST_ITEMS = 10

# How often latent correlations of a corpus metric are corrected, and by a test set of how many items.
_CORRECTIONS, _DRAWN = 2, 20_000

# A shrinkage from here on is not worth a note: less than 0.05 % is taken off.
_NOTED = 0.9995


@dataclass(frozen=True, eq=False)
class Fitted(FieldsMixin):
    """What was learned of real outputs. What draws test sets, and is given a gain, is its `model`.

    Attributes
    ----------
    model
        Draws outputs like them; its true scores are known.
    correlation
        (K, K) latent correlations of systems on one item.
    distance
        How far (Frobenius norm) these are, at most, from the ones that were found pair by pair: 0 where those were
        possible.
    shrinkage
        What differences between systems' scores were multiplied by; 1 where they were taken as they were.
    notes
        What could not be learned, and what was changed, for people.

    Examples
    --------
    >>> from simstudy.truth import correlated_accuracies
    >>> fit(correlated_accuracies([0.6, 0.7], 400)).model.n_systems
    2
    """

    model: KnownTruth
    correlation: FloatArray
    distance: float
    shrinkage: float
    notes: tuple[str, ...]


def fit(outputs: Outputs, *, shrink: bool = True) -> Fitted:
    """A model with the margins, the dependence and the clusters of real outputs.

    Where items have one score, each system keeps the distribution of its item scores. Their dependence is a Gaussian
    copula: the latent correlation of every two systems is the one at which their scores' mean cross product is what
    it is, given both margins with all their ties (tetrachoric correlation for right and wrong); scores of more than
    16 distinct values are put into 16 classes for that. Where no joint distribution has all these correlations, the
    nearest that one has are taken (Higham 2002). For a corpus metric (counts, statistics of texts) it is a
    `CorpusModel`, with latent correlations of items' ranks among items of the same kind. Where items have clusters
    their sizes are kept; the latent intra-cluster correlation is the moments', and so is what systems have in common
    in a cluster, from the cross products of two systems on two items of a cluster.

    Parameters
    ----------
    outputs
        At least 10 items, of any metric.
    shrink
        Scores vary between systems more than true scores do, because items are a sample. If so they are drawn towards
        their mean (by exponential tilting of the margins, or mixing a little of all systems into each) until true
        gains vary as much as the systems' seem to: the mean square of all gains, less the part of it that is noise.
        Else each true score is what the system had. How much smaller gains became is in `notes`.

    Raises
    ------
    ValueError
        For fewer than ten items.

    Examples
    --------
    >>> import simstudy as ss
    >>> outputs = ss.truth.correlated_accuracies([0.6, 0.7, 0.8], 2000, between=0.5)
    >>> fitted = fit(outputs, shrink=False)
    >>> bool(abs(fitted.correlation[0, 1] - 0.5) < 0.1), fitted.distance, fitted.notes
    (True, 0.0, ())
    """
    check_outputs("outputs", outputs)
    check_flag("shrink", shrink)
    if outputs.n_items < LEAST_ITEMS:
        raise InputError("outputs", f"must have at least {LEAST_ITEMS} items to be fitted", outputs.n_items)
    # Sums that several threads share are rounded differently, and the model would depend on the number of cores.
    with one_blas_thread():
        return _fitted(outputs, shrink=shrink)


def _fitted(outputs: Outputs, *, shrink: bool) -> Fitted:
    statistics, metric = outputs.statistics, outputs.metric
    scored = metric.item_range is not None and statistics.shape[2] == 2 and bool((statistics[..., 1] == 1).all())
    scores = statistics[..., 0].astype(np.float64) if scored else contributions(statistics, metric) * outputs.n_items
    pool = None if scored else Pool.of(statistics, metric)
    values = scores if pool is None else _within_kinds(pool, item_scores(statistics, metric))
    notes = []
    if single := [name for name, own in zip(outputs.names, values, strict=True) if (own == own[0]).all()]:
        notes.append(f"one score on all items, and no correlation with others: {', '.join(single)}")
    classes = Classes(values)
    correlations, n_bound = latent_correlation(classes)
    if n_bound:
        notes.append(f"pairs as alike, or as unlike, as their margins allow: {n_bound}")
    matrix, distance = nearest_correlation(correlations)
    clusters, codes, of_two = None, np.arange(outputs.n_items), 0.0
    if outputs.natural_unit == "cluster":
        codes = pd.factorize(outputs.labels("cluster"))[0]
        within, of_two = intra_cluster(classes, codes)
        clusters = ItemClusters(within, tuple(np.bincount(codes).tolist()))
    shrinkage = _shrinkage(scores, codes) if shrink else 1.0
    if shrinkage < _NOTED:
        notes.append(
            f"gains made smaller by {100 * (1 - shrinkage):.1f} %, what seems noise of them; shrink=False keeps them"
        )
    families = [str(family) for family in outputs.systems["family"]]
    model: ScoreModel | CorpusModel
    if pool is None:
        margins = [Ordinal.of(own) for own in scores]
        if shrinkage < 1:
            margins = [_shrunken(margin, scores.mean(), shrinkage) for margin in margins]
        model = ScoreModel(
            margins, GaussianCopula(matrix), clusters, metric=metric, names=outputs.names, families=families
        )
    else:
        n_systems = outputs.n_systems
        model = CorpusModel(
            pool=pool,
            weights=shrinkage * np.eye(n_systems) + (1 - shrinkage) / n_systems,
            metric=metric,
            names=outputs.names,
            families=families,
            dependence=GaussianCopula(matrix),
            clusters=clusters,
        )
        for _ in range(_CORRECTIONS):
            model, matrix, distance = _corrected(model, matrix)
    if clusters is not None:
        model, matrix, moved = _with_effects(model, clusters, matrix, of_two)
        distance += moved
    return Fitted(model, matrix, distance, shrinkage, tuple(notes))


def _with_effects(
    model: ScoreModel | CorpusModel, clusters: ItemClusters, matrix: FloatArray, of_two: float
) -> tuple[ScoreModel | CorpusModel, FloatArray, float]:
    """The model whose clusters are in part hard for all systems, correlations on one item, and how far these moved.

    That part adds to the correlations (K, K), so that it is taken out of what items have; of what that leaves the
    nearest that a joint distribution has.
    """
    above = matrix[np.triu_indices(len(matrix), 1)]
    share = common_share(clusters.correlation, of_two, float(above.mean())) if above.size else 0.0
    part = clusters.correlation * share
    if part == 0:
        return model, matrix, 0.0
    left, distance = nearest_correlation((matrix - part) / (1 - part))
    effects = GaussianCopula(share + (1 - share) * left)
    fitted = replace(model, dependence=GaussianCopula(left), clusters=replace(clusters, effects=effects))
    return fitted, left + part * (1 - left), (1 - part) * distance


def _within_kinds(pool: Pool, scores: FloatArray) -> FloatArray:
    """Item scores (J, N) less the mean of their kind: what is drawn by rank, long items for more than short ones."""
    counts = np.bincount(pool.alike)
    means = np.stack([np.bincount(pool.alike, weights=own) / counts for own in scores])
    return np.asarray(np.round(scores - means[:, pool.alike], 9))


def _corrected(model: CorpusModel, matrix: FloatArray) -> tuple[CorpusModel, FloatArray, float]:
    """The model with the latent correlations moved by what its item scores' correlations differ from the real ones.

    Kinds of items differ in how far their ranks lie apart, which the one cross moment of all does not know; what a
    large test set of the model shows does.
    """
    drawn = replace(model, clusters=None).draw(1, _DRAWN, np.random.default_rng(0)).statistics[0]
    real, modelled = (_correlated(item_scores(of, model.metric)) for of in (model.pool.statistics, drawn))
    wanted = np.clip(matrix + real - modelled, -MOST, MOST)
    np.fill_diagonal(wanted, 1.0)
    moved, distance = nearest_correlation(wanted)
    return replace(model, dependence=GaussianCopula(moved)), moved, distance


def _correlated(scores: FloatArray) -> FloatArray:
    """Correlations (K, K) of item scores (K, n); 0 of a system that does not vary, also with itself."""
    deviations = scores - scores.mean(axis=1, keepdims=True)
    sizes = np.sqrt((deviations**2).sum(axis=1))
    units = deviations / np.where(sizes > 0, sizes, 1.0)[:, None]
    return np.asarray(units @ units.T)


def _shrunken(margin: Ordinal, centre: float, shrinkage: float) -> Ordinal:
    low, high = margin.support
    mean = centre + shrinkage * (margin.mean - centre)
    # A system that had one score keeps it.
    return margin if low == high else margin.with_mean(min(max(mean, low), high))


def _shrinkage(scores: FloatArray, codes: IntArray) -> float:
    """The root of the part of systems' mean squared gains that is not noise; scores are (K, n), codes are of units.

    Gains' noise is that of the sum of units' deviations.
    """
    n_systems, n = scores.shape
    n_units = int(codes.max()) + 1
    if n_systems < 2 or n_units < 2:
        return 1.0
    means = scores.mean(axis=1)
    deviations = scores - means[:, None]
    sums = np.stack([np.bincount(codes, weights=own, minlength=n_units) for own in deviations])
    covariance = sums @ sums.T * n_units / (n_units - 1) / n**2
    # Of all pairs: the mean square of a difference is twice the variance.
    observed = 2 * float(means.var(ddof=1))
    noise = 2 * float(np.trace(covariance) - covariance.sum() / n_systems) / (n_systems - 1)
    return float(np.sqrt(max(0.0, 1 - noise / observed))) if observed > 0 else 1.0
