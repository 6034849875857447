"""The conditions: what draws test sets of a pair of runs, and what all tests say of a batch of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from simstudy.studies import DataFile, DrawnPairs, derived_seed
from simstudy.truth import Dependence, Margin

from .copulas import SYMMETRIC, best_fit, fit_families, pseudo_observations
from .margins import Floats
from .runs import Collections
from .settings import Settings

# The paper's tests; its permutation test is randomization of means.
TESTS = ("t_paired", "wilcoxon", "sign", "bootstrap", "randomization")

# Its sign test takes small differences for ties.
SIGN_WITH_TIES = "sign, small differences tied"

#: The null hypotheses.
NULLS = ("fitted", "symmetric", "refitted", "equal means", "real topics")
GAIN = "gain"

Draw = Callable[[int, np.random.Generator], Floats]


@dataclass(frozen=True)
class Model:
    """Two systems: what draws scores (2, topics) of theirs, and the family of their copula."""

    draw: Draw
    family: str


def of_copula(dependence: Dependence, first: Margin, second: Margin, family: str) -> Model:
    """Two systems of these margins."""

    def draw(n: int, rng: np.random.Generator) -> Floats:
        uniforms = dependence.uniforms(n, 2, rng)
        return np.stack([first.quantile(uniforms[:, 0]), second.quantile(uniforms[:, 1])])

    return Model(draw, family)


def of_topics(scores: Floats) -> Model:
    """Two systems on real topics (2, T), drawn again; the first one's scores are moved so that means are equal."""
    moved = scores - np.array([[np.diff(scores.mean(axis=1))[0] * -1], [0.0]])
    return Model(lambda n, rng: moved[:, rng.integers(moved.shape[1], size=n)], "")


def null_models(of: Collections, rng: np.random.Generator) -> dict[str, Model]:
    """A model of each null hypothesis: three of any pair of runs, two of a pair of like runs."""
    collection, one, other = of.any_pair(rng)
    scores, own = of.scores(collection), of.margin(collection, one)
    fits = fit_families(pseudo_observations(scores[[one, other]], rng))
    chosen, symmetric = best_fit(fits), best_fit(fits, SYMMETRIC)
    again = symmetric.dependence.uniforms(scores.shape[1], 2, rng).T
    refitted = best_fit(fit_families(pseudo_observations(again, rng)))
    models = {
        name: of_copula(fit.dependence, own, own, fit.family)
        for name, fit in (("fitted", chosen), ("symmetric", symmetric), ("refitted", refitted))
    }
    while True:
        collection, one, other = of.like_pair(0.0, rng)
        scores, own = of.scores(collection), of.margin(collection, one)
        moved = with_mean(of.margin(collection, other), own.mean)
        if moved is not None:
            break
    fits = fit_families(pseudo_observations(scores[[one, other]], rng), SYMMETRIC)
    like = best_fit(fits)
    models["equal means"] = of_copula(like.dependence, own, moved, like.family)
    models["real topics"] = of_topics(scores[[one, other]])
    return models


def gain_model(of: Collections, gain: float, rng: np.random.Generator) -> Model:
    """Two systems of which the first is better by this much."""
    while True:
        collection, baseline, better = of.like_pair(gain, rng)
        own = of.margin(collection, baseline)
        moved = with_mean(of.margin(collection, better), own.mean + gain)
        if moved is not None:
            break
    scores = of.scores(collection)[[better, baseline]]
    chosen = best_fit(fit_families(pseudo_observations(scores, rng)))
    return of_copula(chosen.dependence, moved, own, chosen.family)


def with_mean(margin: Margin, mean: float) -> Margin | None:
    """The margin with another mean; None where it can not have it."""
    try:
        return margin.with_mean(mean)
    except ValueError:
        return None


def examine(study: Settings, measure: str, batch: int, *files: DataFile) -> dict[str, list[dict[str, Any]]]:
    """One cell: a batch of pairs of runs by one measure, under all null hypotheses and with all gains.

    Each collection of the measure is a file.
    """
    of = Collections(study, measure, [str(file.path) for file in files])
    rng = np.random.default_rng(derived_seed(study.seed, "pairs", measure, batch))
    drawn = [null_models(of, rng) for _ in range(study.null.pairs)]
    rates, profiles = [], []
    for name in NULLS:
        models = [models[name] for models in drawn]
        profiles += [{"condition": name, **profile(model, study, rng)} for model in models]
        for n in study.n_topics:
            for row in tested(models, n, study.null.sets, study, rng):
                rates.append({"condition": name, "n_topics": n, "gain": 0.0, **row})
    for gain in study.gains.values:
        models = [gain_model(of, gain, rng) for _ in range(study.gains.pairs)]
        for row in tested(models, study.gains.n_topics, study.gains.sets, study, rng):
            rates.append({"condition": GAIN, "n_topics": study.gains.n_topics, "gain": gain, **row})
    return {"rates": rates, "profiles": profiles}


def tested(models: list[Model], n: int, n_sets: int, study: Settings, rng: np.random.Generator) -> list[dict[str, Any]]:
    """What tests say of so many test sets of n topics of each model, counted by model; for each level a row.

    n_rejected and n_wrong (those where the first system has the lower mean) are sums over pairs, squares and
    wrong_squares those of their squares: what intervals by pair need.
    """
    scores = np.concatenate([model.draw(n * n_sets, rng).reshape(2, n_sets, n).swapaxes(0, 1) for model in models])
    # Differences of printed scores that are equal are 0, whatever rounding makes of them.
    first, second = scores[:, 0], scores[:, 1]
    tied = np.where(np.abs(first - second) <= study.tie + 1e-9, second, first)
    seed = int(rng.integers(2**63))
    found, sets = p_values(scores, TESTS, study.n_resamples, seed)
    more, _ = p_values(np.stack([tied, second], axis=1), ("sign",), study.n_resamples, seed)
    found |= {(SIGN_WITH_TIES, alternative): p for (_, alternative), p in more.items()}
    rows = []
    for (test, alternative), p in found.items():
        for alpha in study.alphas:
            rejected = (p <= alpha).reshape(len(models), n_sets)
            wrong = (rejected & ~sets.first_is_better.reshape(len(models), n_sets)).sum(axis=1)
            each = rejected.sum(axis=1)
            rows.append(
                {
                    "test": test,
                    "alternative": alternative,
                    "alpha": alpha,
                    "n_pairs": len(models),
                    "n_sets": len(models) * n_sets,
                    "n_rejected": int(each.sum()),
                    "squares": int((each**2).sum()),
                    "n_wrong": int(wrong.sum()),
                    "wrong_squares": int((wrong**2).sum()),
                }
            )
    return rows


def p_values(
    scores: Floats, tests: tuple[str, ...], n_resamples: int, seed: int
) -> tuple[dict[tuple[str, str], NDArray[np.float64]], DrawnPairs]:
    """Those of test sets (M, 2, n); one-sided ones ask if the first system is better."""
    sets = DrawnPairs(np.stack([scores, np.ones_like(scores)], axis=-1), "mean", n_resamples=n_resamples, seed=seed)
    return sets.p_values(tests, named=True), sets


def profile(model: Model, study: Settings, rng: np.random.Generator) -> dict[str, Any]:
    """How the differences D of a pair's scores are distributed, by many topics.

    balance is P(D > 0) - P(D < 0), unequal the share that is not 0, and the same of differences beyond the paper's
    ties; skewness is that of D, nothing where D does not vary.
    """
    first, second = model.draw(study.profile, rng)
    difference = first - second
    spread = difference.std()
    centred = difference - difference.mean()
    found: dict[str, Any] = {"family": model.family}
    for name, tie in (("", 1e-9), ("_beyond_ties", study.tie + 1e-9)):
        more, less = float((difference > tie).mean()), float((difference < -tie).mean())
        found |= {f"balance{name}": more - less, f"unequal{name}": more + less}
    return found | {"skewness": float((centred**3).mean() / spread**3) if spread > 0 else None}
