"""Controls of the two null hypotheses that stand on real runs: what comes out where there is nothing to find.

Fifty topics are a sample: their differences are not symmetric, nor two margins equal, though those of the population
are. Each control does with such topics what its null hypothesis does with real ones. What is computed here has cells of
its own, so that it changes nothing of the others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from simstudy.studies import DataFile, derived_seed

from .conditions import Model, of_copula, of_topics, profile, tested, with_mean
from .copulas import SYMMETRIC, best_fit, fit_families, pseudo_observations
from .margins import Floats
from .runs import Collections, fitted_margin
from .settings import Settings

#: The controls.
CONTROLS = ("equal means, nothing to find", "real topics, nothing to find")

#: Throws of the coins, of which one is taken.
THROWS = 1000


def control_models(of: Collections, rng: np.random.Generator) -> dict[str, Model]:
    """A model of each control, of two pairs of like runs."""
    equal, topics = CONTROLS
    while True:
        collection, one, other = of.like_pair(0.0, rng)
        model = refitted_margins(of, collection, one, other, rng)
        if model is not None:
            break
    collection, one, other = of.like_pair(0.0, rng)
    return {equal: model, topics: of_topics(exchanged(of.scores(collection)[[one, other]], rng))}


def refitted_margins(of: Collections, collection: int, one: int, other: int, rng: np.random.Generator) -> Model | None:
    """What "equal means" makes of topics with the first run's margin for both; None where a mean is impossible."""
    scores, own = of.scores(collection), of.margin(collection, one)
    known = best_fit(fit_families(pseudo_observations(scores[[one, other]], rng), SYMMETRIC))
    drawn = of_copula(known.dependence, own, own, "").draw(scores.shape[1], rng)
    lattice = of.study.measures[of.measure].lattice
    first, second = (fitted_margin(row, lattice) for row in drawn)
    moved = with_mean(second, first.mean)
    if moved is None:
        return None
    again = best_fit(fit_families(pseudo_observations(drawn, rng), SYMMETRIC))
    return of_copula(again.dependence, first, moved, again.family)


def exchanged(scores: Floats, rng: np.random.Generator) -> Floats:
    """Scores (2, T) with the two systems exchanged on each topic by a fair coin, given (nearly) the gain that they had.

    Like runs have small gains, and differences of a small mean have more even signs: of so many throws that one is
    taken whose gain is nearest.
    """
    difference = scores[0] - scores[1]
    kept = rng.random((THROWS, difference.size)) < 0.5
    gains = np.where(kept, difference, -difference).mean(axis=1)
    nearest = np.abs(gains - difference.mean()).argmin()
    return np.where(kept[nearest], scores, scores[::-1])


def examine_controls(study: Settings, measure: str, batch: int, *files: DataFile) -> dict[str, list[dict[str, Any]]]:
    """One cell: a batch of pairs of runs by one measure, under the controls; rows as those of `examine`."""
    of = Collections(study, measure, [str(file.path) for file in files])
    rng = np.random.default_rng(derived_seed(study.seed, "controls", measure, batch))
    drawn = [control_models(of, rng) for _ in range(study.null.pairs)]
    rates, profiles = [], []
    for name in CONTROLS:
        models = [models[name] for models in drawn]
        profiles += [{"condition": name, **profile(model, study, rng)} for model in models]
        for n in study.n_topics:
            for row in tested(models, n, study.null.sets, study, rng):
                rates.append({"condition": name, "n_topics": n, "gain": 0.0, **row})
    return {"rates": rates, "profiles": profiles}
