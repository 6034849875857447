"""Test sets in blocks: the memory is that of a block, however many items there are, and sums are what is true."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from simstudy.metrics.base import FloatArray
from simstudy.outputs import Outputs
from simstudy.truth.scores import (
    Bernoulli,
    GaussianCopula,
    ItemClusters,
    ItemResponse,
    KnownTruth,
    Ordinal,
    ScoreModel,
    TCopula,
    fit,
    of_families,
)

JUDGE = Ordinal(tuple(range(1, 11)), (0.02, 0.03, 0.05, 0.05, 0.1, 0.1, 0.2, 0.3, 0.1, 0.05))


def _counts() -> Outputs:
    """Correct, guessed and gold counts (F1) of three systems on 200 items."""
    rng = np.random.default_rng(0)
    gold = rng.integers(1, 4, 200)
    found = rng.binomial(gold, np.array([[0.5], [0.7], [0.8]]))
    return Outputs.from_statistics(np.stack([found, found + 1, np.broadcast_to(gold, found.shape)], axis=-1), "f1")


MODELS: dict[str, KnownTruth] = {
    "right or wrong": ScoreModel(
        [Bernoulli(0.6), Bernoulli(0.7), Bernoulli(0.8)],
        GaussianCopula(of_families(list("xxy"), between=0.4, within=0.8)),
        metric="accuracy",
    ),
    "judge, t, clusters": ScoreModel([JUDGE] * 3, TCopula(0.5, df=4), ItemClusters(0.2, 5, varying=True)),
    "item response": ScoreModel([Bernoulli(0.6), Bernoulli(0.7)], ItemResponse(), metric="accuracy"),
    "fitted counts": fit(_counts()).model,
}


def _streamed(model: KnownTruth, n_items: int) -> tuple[float, FloatArray, int, int]:
    """Bytes at the peak, sums of statistics (K, S), items, and the last cluster's number; nothing else is kept."""
    sums, items, last = np.zeros(0), 0, -1
    # What a model reckons once and keeps, such as the item response model's law, is no part of a block.
    next(model.blocks(n_items))
    tracemalloc.start()
    try:
        for block in model.blocks(n_items, seed=1):
            of_block = block.statistics.sum(axis=1, dtype=np.float64)
            sums = sums + of_block if items else of_block
            items += block.statistics.shape[1]
            if block.clusters is not None:
                assert (np.diff(block.clusters) >= 0).all()
                assert block.clusters[0] == last + 1, "a cluster lies in one block"
                last = int(block.clusters[-1])
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    return peak, sums, items, last


@pytest.mark.parametrize("name", MODELS)
def test_ten_blocks_take_no_more_memory_than_two(name: str) -> None:
    few, many = (_streamed(MODELS[name], n_items)[0] for n_items in (8_000, 40_000))
    assert many < 1.2 * few, "two blocks' memory, with what clusters' sizes vary by"


@pytest.mark.slow
@pytest.mark.parametrize("name", MODELS)
def test_a_million_items_stream(name: str) -> None:
    """Below 2 MiB; the least table of all items, two systems right or wrong, has 4 MB. Scores are the true ones.

    Tolerances are four standard errors and more: that of a share of a million is at most 0.05 points, that of a mean of
    ratings with clusters 0.004.
    """
    model = MODELS[name]
    peak, sums, items, last = _streamed(model, 1_000_000)
    assert items == 1_000_000
    assert peak < 2**21
    scale = 0.02 if model.metric.name == "mean" else 0.2
    np.testing.assert_allclose(model.metric.score(sums), model.scores(), atol=scale)
    assert (last > 100_000) == (model.clusters is not None)
