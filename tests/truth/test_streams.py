"""Random streams: what is drawn for one seed, block, draw, set or system is drawn for no other one.

Continuous numbers must all be different, so that no two streams share any part, at whatever places. Of counts, and of
right and wrong answers, any two vectors must be uncorrelated: |r| is below 6 / sqrt(n), which independent ones exceed
with probability 2e-9.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from itertools import product

import numpy as np
import pandas as pd
import pytest

from simstudy.engines.kernels import draw_coins, draw_counts
from simstudy.outputs import Outputs
from simstudy.training.resampling import Variant
from simstudy.truth import (
    Beta,
    Clayton,
    Dependence,
    GaussianCopula,
    Gumbel,
    Independent,
    ItemClusters,
    KnownTruth,
    LogNormal,
    Responses,
    ScoreModel,
    StudentT,
    Survival,
    TCopula,
    clustered_accuracies,
    correlated_accuracies,
    fit,
    right_or_wrong,
)
from simstudy.truth.redrawn import halves, redraw

# Two that have the low half of another one's bits, of which the high half is the number of a block.
SEEDS = (0, 1, 1 + 2**32, 2 + 2**33)
Vectors = dict[Hashable, np.ndarray]

NEAR_0 = 1e-9
COPULAS: dict[str, Dependence] = {
    "independent": Independent(),
    "gaussian": GaussianCopula(0.0),
    "t": TCopula(0.0, df=1e6),
    "clayton": Clayton(NEAR_0),
    "gumbel": Gumbel(1 + NEAR_0),
    "survival": Survival(Clayton(NEAR_0)),
    "shares": Gumbel(1 + NEAR_0, (0.3, 0.8)),
}
CLUSTERS = {"items": None, "clusters": ItemClusters(0.3, (3, 5)), "of any size": ItemClusters(0.3, 4, varying=True)}


def _apart(vectors: Vectors) -> None:
    """Raise an AssertionError that names two vectors which correlate."""
    names, rows = list(vectors), np.array([vector.astype(np.float64) for vector in vectors.values()])
    r = np.corrcoef(rows) - np.eye(len(rows))
    i, j = np.unravel_index(np.argmax(np.abs(r)), r.shape)
    assert abs(r[i, j]) < 6 / np.sqrt(rows.shape[1]), (names[i], names[j], r[i, j])


@pytest.mark.parametrize("clusters", CLUSTERS.values(), ids=CLUSTERS)
@pytest.mark.parametrize("name", COPULAS)
def test_scores_differ_by_seed_block_item_and_system(name: str, clusters: ItemClusters | None) -> None:
    """Two blocks and a part of a third, of nearly independent systems: no number comes twice."""
    model = ScoreModel([LogNormal(2.0, 1.0), StudentT(1.0, 1.0, 4.0)], COPULAS[name], clusters)
    scores, parts = [], {}
    for seed in SEEDS:
        drawn = model.outputs(9_500, seed=seed).statistics[..., 0]
        blocks = np.split(drawn, [4096, 8192], axis=1)
        scores += blocks
        parts |= {(seed, b, k): blocks[b][k][:780] for b, k in product(range(3), range(2))}
    every = np.concatenate(scores, axis=1)
    assert every.shape == (2, 38_000)
    assert all(np.unique(own).size == own.size for own in every)
    # Margins differ, so that a number used twice shows as correlation between systems only.
    _apart({label: np.argsort(np.argsort(vector)) for label, vector in parts.items()})


def test_a_corpus_model_differs_by_seed_block_and_system() -> None:
    rng = np.random.default_rng(3)
    gold = rng.integers(3, 60, 300)
    correct = rng.binomial(gold, [[0.2], [0.5]])
    statistics = np.stack([correct, correct + rng.integers(0, 9, (2, 300)), np.broadcast_to(gold, (2, 300))], axis=-1)
    model = fit(Outputs.from_statistics(statistics, "f1")).model
    vectors: Vectors = {}
    for seed in SEEDS:
        drawn = model.outputs(12_000, seed=seed).statistics
        for b, block in enumerate(np.split(drawn, [4096, 8192], axis=1)):
            vectors |= {(seed, b, k): block[k, :3000, 1] - block[k, :3000, 0] for k in range(2)}
    _apart(vectors)


MADE: dict[str, Callable[[int], Outputs]] = {
    "correlated": lambda seed: correlated_accuracies([0.4, 0.7], 3000, between=0, within=0, seed=seed),
    "families": lambda seed: correlated_accuracies(
        [0.4, 0.7], 3000, families=["x", "y"], between=0, within=0.9, seed=seed
    ),
    "clustered": lambda seed: clustered_accuracies([0.4, 0.7], 1000, 3, within=0, between=0, seed=seed),
}


@pytest.mark.parametrize("name", MADE)
def test_outputs_differ_by_seed_and_system(name: str) -> None:
    vectors: Vectors = {}
    for seed in SEEDS:
        vectors |= {(seed, k): own for k, own in enumerate(MADE[name](seed).statistics[..., 0])}
    _apart(vectors)


PAIRS: dict[str, tuple[KnownTruth, int]] = {
    "right or wrong": (right_or_wrong((0.4, 0.7), 0), 0),
    "clusters": (right_or_wrong((0.4, 0.7), 0, size=3), 0),
    "responses": (Responses(recall=(0.4, 0.7), precision=(0.5, 0.3), gold=200, swing=0), 0),
    "scores": (ScoreModel([Beta(0.4, 2), Beta(0.7, 3)]), 0),
}


@pytest.mark.parametrize("name", PAIRS)
def test_pairs_differ_by_seed_set_and_system(name: str) -> None:
    """What systems share is taken off: of responses and of words, shares of what is to be found."""
    model, column = PAIRS[name]
    vectors: Vectors = {}
    for seed in SEEDS:
        statistics = model.draw(3, 900, np.random.default_rng(seed)).statistics.astype(np.float64)
        drawn = statistics[..., column] / statistics[..., -1].clip(1)
        vectors |= {(seed, m, k): drawn[m, k, :900] for m, k in product(range(3), range(2))}
    _apart(vectors)


def test_redrawn_test_sets_and_halves_differ_by_seed_and_draw() -> None:
    """By item and by cluster; each number of an item is its place in the population."""
    n = 900
    items = pd.DataFrame({"id": [str(i) for i in range(n)], "cluster": [f"c{i // 3}" for i in range(n)]})
    whole = Outputs.from_statistics(np.stack([np.arange(n), np.ones(n)], axis=-1)[None], "mean", items=items)
    for unit, size in (("item", n), ("cluster", n // 3)):
        drawn, split = {}, {}
        for seed, draw in product(SEEDS, range(3)):
            places = redraw(whole, size, draw, unit=unit, seed=seed).statistics[0, :, 0]
            drawn[seed, draw] = places[:: n // size]
            first, _ = halves(whole, draw, unit=unit, seed=seed)
            split[seed, draw] = np.isin(np.arange(n), first.statistics[0, :, 0])[:: n // size]
        _apart(drawn)
        _apart(split)


def test_training_sets_differ_by_seed_size_and_replicate_but_not_by_family() -> None:
    vectors: Vectors = {}
    for seed, size, replicate in product(SEEDS, (500, 700), (1, 2, 3)):
        vectors[seed, size, replicate] = Variant("x", size, replicate).training_items(600, seed)
        same = Variant("y", size, replicate).training_items(600, seed)
        np.testing.assert_array_equal(vectors[seed, size, replicate], same)
    _apart(vectors)
    states = {Variant(f, n, r).random_state(s) for f, n, r, s in product("xy", (500, 700), (1, 2, 3), SEEDS)}
    assert len(states) == 2 * 2 * 3 * len(SEEDS)


def test_resamples_and_coins_differ_by_seed_and_replicate_and_from_each_other() -> None:
    """Replicates 0, 1, one tile on, and one that has the low half of another one's bits."""
    n, vectors = 1500, {}
    for seed, first in product(SEEDS, (0, 1, 4096, 2**32)):
        counts, coins = np.empty((2, n), np.float64), np.empty((2, n), np.float64)
        draw_counts(np.array([0, n]), np.uint64(seed), np.uint64(first), counts)
        draw_coins(np.uint64(seed), np.uint64(first), coins)
        for t in range(2):
            vectors["resample", seed, first + t], vectors["coins", seed, first + t] = counts[t], coins[t]
    assert len(vectors) == 2 * 4 * 7
    _apart(vectors)
