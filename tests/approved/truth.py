"""Simulated data: what every model says of itself, and summaries of what it draws."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy import stats

import simstudy as ss
from simstudy.engines.drawn_pairs import DrawnPairs
from simstudy.outputs import Outputs
from simstudy.truth import (
    MODELS,
    Bernoulli,
    Beta,
    BetaBinomial,
    Clayton,
    Dependence,
    Gamma,
    GaussianCopula,
    Gumbel,
    Independent,
    ItemClusters,
    LogNormal,
    Margin,
    Ordinal,
    ScoreModel,
    StudentT,
    Survival,
    TCopula,
    fit,
)
from simstudy.truth.redrawn import halves, redraw
from tests.approved.answers import clustered, correlated
from tests.approved.plans import f1_counts
from tests.approved.record import STUDIES, Values, recording

SAMPLE = np.random.default_rng(2).beta(1, 3, 60)
MARGINS: dict[str, Margin] = {
    "bernoulli": Bernoulli(0.8),
    "beta": Beta(0.3, 2.5),
    "beta-binomial": BetaBinomial(5, 0.6, 1.0),
    "gamma": Gamma(1.0, 0.7),
    "log-normal": LogNormal(1.0, 0.7),
    "student": StudentT(0.5, 0.2, 4.0),
    "ordinal": Ordinal((1, 2, 3, 4, 5), (0.05, 0.15, 0.3, 0.3, 0.2)),
    "empirical": Ordinal.of(SAMPLE),
}
DEPENDENCES: dict[str, Dependence] = {
    "independent": Independent(),
    "gaussian": GaussianCopula(0.6),
    "gaussian matrix": GaussianCopula([[1, 0.8, 0.3], [0.8, 1, 0.4], [0.3, 0.4, 1]]),
    "t": TCopula(0.6, 4.0),
    "clayton": Clayton(2.0),
    "gumbel": Gumbel(2.0),
    "survival": Survival(Clayton(2.0)),
    "asymmetric": Gumbel(4.0, (0.9, 0.4, 0.6)),
}
PARAMETERS: dict[str, list[dict[str, object]]] = {
    "Responses": [{"recall": (0.75, 0.70), "precision": (0.77, 0.75)}],
    "RightOrWrong": [
        {"accuracies": (0.83, 0.80), "between": 0.5},
        {"accuracies": (0.85, 0.80), "within": 0.3, "between": 0.5, "size": 5},
        {"accuracies": (0.84, 0.80), "within": 0.3, "between": 0.5, "size": 8, "varying": True},
    ],
    "Scores": [
        {"margins": ({"kind": "Beta", "average": 0.4, "concentration": 2}, {"kind": "Bernoulli", "probability": 0.3})},
        {"margins": ({"kind": "Gamma", "average": 1, "shape": 1}, {"kind": "StudentT", "average": 1, "scale": 0.8})},
    ],
}


def summary(outputs: Outputs) -> Values:
    """Scores, spreads and correlations of the items of each system."""
    items = pd.DataFrame(outputs.metric.score(outputs.statistics).T)
    names = combinations(range(min(outputs.n_systems, 4)), 2)
    return {
        "scores": outputs.scores(),
        "sums": outputs.statistics.sum(axis=1),
        "sd": items.std(),
        "quantiles": items.quantile([0.05, 0.5, 0.95]),
        "correlation": [float(items[a].corr(items[b])) for a, b in names],
        "n_units": len(outputs.items[outputs.natural_unit].unique()) if outputs.natural_unit != "item" else 0,
    }


@recording(STUDIES)
def pairs_of_known_truth() -> Values:
    """Each named model of two systems: its true scores and gain, and forty drawn test sets."""
    assert set(PARAMETERS) == set(MODELS)
    values: Values = {}
    for name, settings in PARAMETERS.items():
        for k, parameters in enumerate(settings):
            model = MODELS[name](**parameters)
            drawn = model.draw(40, 50, np.random.default_rng(3))
            gains = np.diff(model.metric.score(drawn.by(model.units[0]).sum(axis=2)))[:, 0]
            values[f"{name}, {k}"] = {
                "scores": model.scores(),
                "true_gain": model.true_gain,
                "units": list(model.units),
                "exchangeable": model.exchangeable,
                "independent": model.independent,
                "sums": drawn.statistics.sum(axis=(0, 2)),
                "gains": [gains.mean(), gains.std(), gains.min(), gains.max()],
            }
    return values


@recording(STUDIES, quick=False)
def decisions_on_drawn_pairs() -> Values:
    """Rejections by four tests and coverage of intervals on sixty test sets of each model of two systems."""
    values: Values = {}
    for name, settings in PARAMETERS.items():
        model = MODELS[name](**settings[0])
        drawn = model.draw(60, 40, np.random.default_rng(5)).by(model.units[0])
        pairs = DrawnPairs(drawn, model.metric.name, n_resamples=199, seed=1)
        tests = ["sign_flips", "bootstrap", "t_paired", "wilcoxon"]
        values[f"{name}/decisions"] = pd.DataFrame(pairs.decisions(tests, (0.05, 0.2)))
        values[f"{name}/coverage"] = pairs.coverage(model.true_gain)
        values[f"{name}/within"] = [one.sum() for one in pairs.shown_within(2 * abs(model.true_gain) + 1)]
    return values


@recording(STUDIES)
def score_models() -> Values:
    """Margins and dependences of `ScoreModel`, with clusters and given gains; models of whole leaderboards; fits."""
    values: Values = {}
    for name, margin in MARGINS.items():
        model = ScoreModel([margin, margin], GaussianCopula(0.5))
        moved = margin.with_mean(margin.mean * 0.9)
        values[f"margin {name}"] = {
            "mean": margin.mean,
            "support": margin.support,
            "quantiles": margin.quantile(np.array([0.01, 0.2, 0.5, 0.8, 0.99])),
            "moved": [moved.mean, *moved.quantile(np.array([0.2, 0.5, 0.8]))],
            **summary(model.outputs(200, seed=1)),
        }
    for name, dependence in DEPENDENCES.items():
        uniforms = dependence.uniforms(400, 3, np.random.default_rng(6))
        values[f"dependence {name}"] = {
            "means": uniforms.mean(axis=0),
            "ranks": [float(stats.spearmanr(uniforms[:, a], uniforms[:, b])[0]) for a, b in combinations(range(3), 2)],
            "both low": float((uniforms < 0.1).all(axis=1).mean()),
            "both high": float((uniforms > 0.9).all(axis=1).mean()),
        }
    ratings = MARGINS["ordinal"]
    for name, clusters in {
        "equal": ItemClusters(0.2, 5), "varying": ItemClusters(0.3, 8, True),
        "common": ItemClusters(0.2, 5, effects=GaussianCopula(0.8), crossed=0.1),
    }.items():  # fmt: skip
        values[f"clusters {name}"] = summary(ScoreModel([ratings] * 3, GaussianCopula(0.5), clusters).outputs(300))
    given = ScoreModel([ratings, ratings, MARGINS["beta-binomial"]], GaussianCopula(0.6)).with_gain(0.2)
    values["given gain"] = {"scores": given.scores(), **summary(given.outputs(200, seed=9))}
    accuracies = [0.5, 0.6, 0.7, 0.75]
    related = correlated(accuracies, 400, families=["x", "x", "y", "y"], seed=1)
    values["correlated accuracies"] = summary(
        ss.truth.correlated_accuracies(accuracies, 400, families=["x", "x", "y", "y"], seed=1)
    )
    values["clustered accuracies"] = summary(ss.truth.clustered_accuracies(accuracies, 50, 6, seed=1))
    values["redrawn"] = summary(redraw(related, 300, 2, seed=4))
    values["halves"] = {str(k): summary(half) for k, half in enumerate(halves(related, 1, seed=4))}
    values["fit of answers"] = _fitted(related)
    values["fit of ratings"] = _fitted(given.outputs(150, seed=3))
    values["fit of counts"] = _fitted(f1_counts(120, (0.8, 0.7)))
    values["fit of clusters"] = _fitted(clustered([0.6, 0.7], 50, 6, seed=1))
    return values


def _fitted(outputs: Outputs) -> Values:
    fitted = fit(outputs)
    return {
        "scores": fitted.model.scores(),
        "correlation": fitted.correlation,
        "distance": fitted.distance,
        "shrinkage": fitted.shrinkage,
        **summary(fitted.model.outputs(200, seed=1)),
    }
