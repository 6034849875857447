"""Outputs cut, joined and saved; samples, votes, looks and rankings of candidates."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import simstudy as ss
from simstudy.comparisons.sequential import sequential
from simstudy.comparisons.win_rates import win_rates
from simstudy.outputs import Outputs
from tests.approved.answers import clustered, correlated
from tests.approved.record import STUDIES, Values, recording
from tests.experiments.programs import program


def _summary(outputs: Outputs) -> Values:
    return {
        "scores": dict(zip(outputs.names, outputs.scores(), strict=True)),
        "sums": outputs.statistics.sum(axis=1),
        "items": [outputs.n_items, *outputs.items["id"].head(3)],
        "unit": outputs.natural_unit,
    }


@recording(STUDIES)
def cuts_and_joins() -> Values:
    """Scores, sums and items of each cut and join of outputs."""
    outputs = clustered([0.6, 0.7, 0.75], 20, 5, seed=3)
    items = outputs.items.assign(domain=np.where(np.arange(100) % 10 < 5, "x", "y"))
    outputs = Outputs.from_statistics(outputs.statistics, outputs.metric, outputs.systems, items)
    rng = np.random.default_rng(4)
    counts = np.sort(rng.integers(0, 9, (2, 40, 3)), axis=-1)
    counts[1, :, 2] = counts[0, :, 2] = counts.max(axis=(0, 2))
    f1 = ss.Outputs.from_statistics(counts, "f1", ["new", "old"])
    gold = sorted(f"r{k}" for k in range(30))
    responses = {name: {f"r{k}" for k in rng.choice(50, 25, replace=False)} for name in ("new", "old")}
    others = correlated([0.5], 100, seed=9)
    joined = Outputs.from_statistics(others.statistics, others.metric, ["late"], items)
    with TemporaryDirectory() as folder:
        outputs.save(Path(folder) / "outputs.parquet")
        loaded = Outputs.load(Path(folder) / "outputs.parquet")
    parts = {
        "select": outputs.select(outputs.names[::-1][:2]),
        "head": outputs.head(33),
        "take": outputs.take([5, 5, 2, 99]),
        "sum by cluster": outputs.sum_by("cluster"),
        **{f"domain {name}": part for name, part in outputs.by_domain().items()},
        "domains again": outputs.by_domain()["x"].join_items(outputs.by_domain()["y"]),
        "one system more": outputs.join_systems(joined),
        "best first": outputs.best_first(),
        "precision": f1.with_metric("precision"),
        "responses": _responses(gold, responses),
        "loaded": loaded,
    }
    values: Values = {name: _summary(part) for name, part in parts.items()}
    values["same fingerprint"] = loaded.fingerprint() == outputs.fingerprint()
    values["gains"] = outputs.gains(np.array([0, 1]), np.array([2, 2]))
    return values


def _responses(gold: list[str], responses: dict[str, set[str]]) -> ss.Outputs:
    """Counts of each response: right, given and gold."""
    ids = list(dict.fromkeys([*gold, *(response for name in responses for response in sorted(responses[name]))]))
    given = np.array([[response in by_system for response in ids] for by_system in responses.values()])
    is_gold = np.arange(len(ids)) < len(gold)
    counts = np.stack([given & is_gold, given, np.tile(is_gold, (len(given), 1))], axis=-1)
    return ss.Outputs.from_statistics(counts, "f1", list(responses), ids)


@recording(STUDIES)
def samples_and_votes() -> Values:
    """Metrics of several samples, the noise of samples, strengths and win rates of battles, and tied scores."""
    rng = np.random.default_rng(6)
    chance = {"a": rng.beta(2, 2, 40), "b": rng.beta(3, 2, 40)}
    rows = [
        {"system": name, "item": f"q{i:02}", "sample": k, "score": int(rng.random() < p)}
        for name, own in chance.items()
        for i, p in enumerate(own)
        for k in range(6)
    ]
    values: Values = {}
    for metric in ("accuracy", "pass@2", "pass@3", "pass^2", "majority@3", "majority@4"):
        outputs = ss.load(pd.DataFrame(rows), metric).outputs
        pairs = ss.compare(outputs).frame
        values[metric] = {**_summary(outputs), "p": pairs["p_value"], "low": pairs["gain_low"]}
    outputs = ss.load(pd.DataFrame(rows), "accuracy").outputs
    noises = ss.comparisons.noises(outputs)
    values["noises"] = noises
    values["noises of scores"] = ss.comparisons.noises(outputs, of="scores")
    values["noise curve"] = ss.comparisons.noise_curve(noises)
    names = np.array(["w", "x", "y"])
    first = rng.integers(0, 3, 150)
    second = (first + rng.integers(1, 3, 150)) % 3
    winner = rng.choice(["model_a", "model_b", "tie"], 150, p=[0.5, 0.3, 0.2])
    votes = pd.DataFrame({"model_a": names[first], "model_b": names[second], "winner": winner})
    with TemporaryDirectory() as folder:
        votes.to_json(f"{folder}/votes.jsonl", orient="records", lines=True)
        battles = ss.load(f"{folder}/votes.jsonl", "bradley_terry").outputs
    values["strengths"] = {**_summary(battles), "p": ss.compare(battles).frame["p_value"]}
    values["win rates"] = win_rates(battles)
    grades = rng.integers(0, 4, (2, 60)).astype(float)
    gold = (grades[0] + rng.normal(0, 1.5, 60) > 1.5).astype(float)
    for name in ("auc", "spearman"):
        tied = ss.Outputs.from_statistics(
            np.stack([np.stack([gold, one], axis=-1) for one in grades]), name, ["a", "b"]
        )
        pairs = ss.compare(tied, n_resamples=499).frame
        values[f"tied scores, {name}"] = {"scores": tied.scores(), "p": pairs["p_value"], "se": pairs["gain_se"]}
    steps = correlated([0.6, 0.8], 200, seed=2)
    values["e-values"] = ss.comparisons.e_values([1.0, -1.0, 0.5, 1.0, 0.0])
    values["looks"] = sequential(steps, *steps.names, looks=[50, 100, 200])
    values["looks, margin"] = sequential(steps, *steps.names, margin=0.02, looks=[100, 200])
    return values


@recording(STUDIES)
def rankings() -> Values:
    """Candidates that two functions rank: pairs of n-best lists by every test that applies."""
    sets = program("evert_2004", "simulated").simulated_candidates(
        1, n_candidates=200, share_true=0.3, separations={"g1": 1.5, "g2": 1.0}, correlation=0.5, cluster_size=1,
        within=0.0, seed=5,
    )  # fmt: skip
    outputs = sets[0].outputs(50)
    return {
        f"pairs, {test}": ss.compare(outputs, test=test).frame[["gain", "p_value", "statistic"]]
        for test in ss.comparisons.applicable(outputs)
    }


@recording(STUDIES)
def tests_side_by_side() -> Values:
    """Agreement of tests on the same pairs."""
    outputs = correlated([0.6, 0.63, 0.66, 0.7, 0.72], 300, families=list("xxyyz"), seed=8)
    tests = ("randomization", "sign_flips", "z_independent", "mcnemar")
    pairs = pd.concat(
        [ss.compare(outputs, test=test, n_resamples=999 if test == "randomization" else None).frame for test in tests]
    )
    return {
        "agreement": ss.comparisons.agreement(pairs, n_bootstrap=100),
        "related": ss.compare(outputs).related().frame["relation"],
    }
