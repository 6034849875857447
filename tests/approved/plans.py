"""Plans of test sets: forty-five settings, from guesses and from pilots."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.outputs import Outputs
from simstudy.planning import Plan
from simstudy.truth import (
    Beta,
    GaussianCopula,
    ItemClusters,
    Ordinal,
    ScoreModel,
)
from tests.approved.answers import clustered, correlated
from tests.approved.record import STUDIES, Values, recording


def guessed(metric: str = "accuracy", guess: ss.Guess | None = None, **options: object) -> Plan:
    """A plan from a guess, by default of 80 % right answers and 90 % agreement."""
    return ss.plan(metric=metric, guess=guess or ss.Guess(score=80, agreement=0.9), **options)  # type: ignore[arg-type]


SCORES = ss.Guess(sd_difference=40.0)
DOCUMENTS = ss.Clusters(size=6.0, icc=0.2, cv=0.8)

#: Plans without a pilot; they take some hundredths of a second each.
GUESSES: dict[str, Callable[[], Plan]] = {
    "gain": lambda: guessed(gain=1),
    "size": lambda: guessed(n_items=1000),
    "gain and size": lambda: guessed(gain=2, n_items=1000),
    "power": lambda: guessed(gain=1, power=0.95),
    "level": lambda: guessed(gain=1, alpha=0.01),
    "one-sided": lambda: guessed(gain=1, alpha=ss.Level(0.05, "greater")),
    "45 comparisons": lambda: guessed(gain=2, alpha=ss.Level(comparisons=45)),
    "few discordant": lambda: guessed(gain=0.5, guess=ss.Guess(score=97, agreement=0.99)),
    "low score": lambda: guessed(gain=3, guess=ss.Guess(score=5, agreement=0.95)),
    "range of agreement": lambda: guessed(gain=1, guess=ss.Guess(score=80, agreement=(0.85, 0.95))),
    "correlation": lambda: guessed(gain=2, guess=ss.Guess(score=70, r12=0.5)),
    "usual correlation": lambda: guessed(gain=2, guess=ss.Guess(score=70)),
    "same family": lambda: guessed(gain=2, guess=ss.Guess(score=70, relation="same family")),
    "margin": lambda: guessed(margin=1.0),
    "margin, better": lambda: guessed(margin=1.0, gain=0.5),
    "margin, size": lambda: guessed(margin=1.5, n_items=3000),
    "win rate": lambda: guessed("win_rate", ss.Guess(agreement=0.1), gain=10),
    "mean": lambda: guessed("mean", SCORES, gain=4.0),
    "mean, two systems": lambda: guessed("mean", ss.Guess(sd=3.0, r12=0.5), gain=0.2),
    "mean, size": lambda: guessed("mean", SCORES, n_items=300),
    "mean, margin": lambda: guessed("mean", SCORES, margin=5.0),
    "mean, few": lambda: guessed("mean", ss.Guess(sd_difference=1.0), gain=1.5),
    "f1": lambda: guessed("f1", ss.Guess(relation="different families"), gain=2),
    "bleu": lambda: guessed("bleu", ss.Guess(), gain=1),
    "clusters": lambda: guessed("mean", SCORES, gain=4.0, clusters=DOCUMENTS),
    "clusters of answers": lambda: guessed(gain=2, clusters=DOCUMENTS),
    "equal clusters": lambda: guessed(gain=3, clusters=ss.Clusters(5, 0.3, 0)),
    "few clusters": lambda: guessed("mean", ss.Guess(sd_difference=1.0), gain=0.5, clusters=ss.Clusters(20, 0.1, 0)),
    "usual cluster sizes": lambda: guessed(gain=2, clusters=ss.Clusters(10, 0.1)),
    "judge": lambda: guessed(gain=3, judge=ss.Judge(error=0.1)),
    "three judgements": lambda: guessed(gain=3, judge=ss.Judge(error=0.2, judgements=3, agreement=0.4)),
    "judged scores": lambda: guessed("mean", SCORES, gain=4.0, judge=ss.Judge(sd=20.0, judgements=2)),
    "costs": lambda: guessed("mean", SCORES, gain=4.0, clusters=DOCUMENTS, costs=ss.Costs(1.0, 2.0)),
    "budget": lambda: guessed("mean", SCORES, clusters=DOCUMENTS, costs=ss.Costs(1.0, 2.0, budget=500.0)),
    "other sizes": lambda: guessed(gain=1, sizes=[100, 777, 5000]),
}  # fmt: skip

RATINGS = Ordinal((1, 2, 3, 4, 5), (0.05, 0.15, 0.3, 0.3, 0.2))


def _scores(n_items: int, clusters: ItemClusters | None = None) -> Outputs:
    model = ScoreModel([RATINGS, RATINGS], GaussianCopula(0.6), clusters)
    return model.with_gain(0.1).outputs(n_items, seed=4)


def f1_counts(n_items: int, recalls: tuple[float, float]) -> Outputs:
    """Counts of two systems that find gold answers with these probabilities."""
    rng = np.random.default_rng(8)
    gold = np.broadcast_to(rng.integers(1, 6, n_items), (2, n_items))
    guessed = rng.integers(1, 6, (2, n_items))
    correct = rng.binomial(np.minimum(gold, guessed), np.array(recalls)[:, None])
    return ss.Outputs.from_statistics(np.stack([correct, guessed, gold], axis=-1), "f1", ["new", "old"])


def _sampled() -> Outputs:
    rng = np.random.default_rng(15)
    chance = {"base": rng.beta(2, 2, 150), "new": rng.beta(2.4, 2, 150)}
    frame = pd.DataFrame({name: rng.binomial(4, own) / 4 for name, own in chance.items()})
    long = frame.rename_axis("item").reset_index().melt("item", var_name="system", value_name="score")
    return ss.load(long.assign(n_samples=4), "accuracy").outputs


ACCURACIES = [0.6, 0.63, 0.65, 0.7, 0.71]
PILOTS: dict[str, Callable[[], Plan]] = {
    "two systems": lambda: ss.plan(ss.Pilot(correlated([0.7, 0.75], 300)), gain=3),
    "two systems, size": lambda: ss.plan(ss.Pilot(correlated([0.7, 0.75], 300)), n_items=1000),
    "two systems, margin": lambda: ss.plan(ss.Pilot(correlated([0.7, 0.75], 300)), margin=3),
    "ratings": lambda: ss.plan(ss.Pilot(_scores(200)), gain=0.2),
    "clusters": lambda: ss.plan(ss.Pilot(_scores(300, ItemClusters(0.2, 10))), gain=0.2),
    "answers in clusters": lambda: ss.plan(ss.Pilot(clustered([0.7, 0.75], 40, 8)), gain=5),
    "ratio": lambda: ss.plan(ss.Pilot(f1_counts(200, (0.8, 0.75))), gain=3),
    "small scores": lambda: ss.plan(
        ss.Pilot(ScoreModel([Beta(0.3, 2.5)] * 2, GaussianCopula(0.8), metric="ap").outputs(100, seed=1)), gain=0.03
    ),
    "samples": lambda: ss.plan(ss.Pilot(_sampled(), samples=2), gain=4),
    "many systems": lambda: ss.plan(
        ss.Pilot(correlated(ACCURACIES, 300, families=["x", "x", "x", "y", "y"]), n_draws=300), gain=3
    ),
}  # fmt: skip


def _numbers(plans: dict[str, Callable[[], Plan]]) -> Values:
    values: Values = {}
    for name, make in plans.items():
        plan = make()
        tables = {"answers": plan.answers, "sizes": plan.sizes, "designs": plan.designs, "predicted": plan.predicted}
        # Columns that only some kinds of plans have are left out of the others.
        values |= {f"{name}/{what}": rows.dropna(axis=1, how="all") for what, rows in tables.items() if len(rows)}
        if plan.simulated is not None:
            values[f"{name}/simulated"] = asdict(plan.simulated)
    return values


@recording(STUDIES)
def plans_from_guesses() -> Values:
    """Answers, other sizes and designs of thirty-five plans without a pilot."""
    return _numbers(GUESSES)


@recording(STUDIES, quick=False)
def plans_from_pilots() -> Values:
    """Answers, other sizes and designs of ten plans from pilots, with simulated power and predictions."""
    return _numbers(PILOTS)
