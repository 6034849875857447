"""The variants of a task: sizes, seeds, and keys, each of which differs where what it is made of differs."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier

from simstudy.running.keys import Cell, CellKeys
from simstudy.training import Task
from simstudy.training.resampling import Variant, resample_training, train_variant, training_cells, variants

N_ITEMS = 100


def forest(*names: str) -> Task:
    """One random learner, which sees one feature at each split, under several names."""
    rng = np.random.default_rng(0)
    features, labels = rng.normal(size=(N_ITEMS, 6)), rng.integers(2, size=N_ITEMS)
    learner = DecisionTreeClassifier(max_features=1)
    test_sets = {"test": (features, labels)}
    return Task.from_arrays("noise", features, labels, test_sets=test_sets, systems=dict.fromkeys(names, learner))


@pytest.mark.parametrize("fraction", [0.29, 0.57, 0.58, 0.5, 1.0])
def test_a_size_is_the_nearest_whole_number_of_items(fraction: float) -> None:
    (variant,) = variants(forest("tree"), [fraction], [1])
    assert abs(variant.train_size - 100 * fraction) < 1e-9, "products such as 0.29 * 100 lie just below a whole number"


def test_each_variant_has_its_own_randomness_and_shares_its_training_set_with_other_families() -> None:
    every = [Variant(family, size, k) for family in "ab" for size in (50, 100) for k in (1, 2, 3)]
    states = {one.random_state(seed) for one in every for seed in (0, 1)}
    assert len(states) == 2 * len(every)
    sets = {tuple(one.training_items(N_ITEMS, seed)) for one in every for seed in (0, 1)}
    assert len(sets) == len(every), "families share theirs"


def test_one_learner_under_two_names_is_trained_twice_with_its_own_randomness() -> None:
    def key(cell: Cell) -> str:
        return CellKeys().of(train_variant, cell.arguments)

    task = forest("one", "two")
    todo = variants(task, [1.0, 0.5], [2, 1])
    assert len({key(cell) for cell in training_cells(task, todo, 0)}) == len(todo) == 6
    outputs = resample_training(task, fractions=[0.5], replicates=[1])["test"]
    assert (outputs.statistics[0] != outputs.statistics[1]).any()
