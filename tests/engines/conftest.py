"""Outputs that several files' tests of engines share."""

from __future__ import annotations

import numpy as np
import pytest

from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from tests.oracles import ascending


@pytest.fixture
def answered(tagged: Outputs, rng: np.random.Generator) -> Outputs:
    """The systems and items of `tagged`, each item one answer, right or wrong."""
    right = (rng.random((5, 60)) < [[0.5], [0.55], [0.6], [0.65], [0.8]]).astype(int)
    return Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1), "accuracy", tagged.systems, tagged.items)


@pytest.fixture
def accepting(tagged: Outputs, rng: np.random.Generator) -> Outputs:
    """The systems and items of `tagged`, each item accepted or rejected by each system, true or false for all."""
    true = rng.random(60) < 0.4
    accepted = rng.random((5, 60)) < 0.3 + 0.4 * np.linspace(0, 1, 5)[:, None] * true
    counts = np.stack([accepted & true, accepted], axis=-1).astype(int)
    return Outputs.from_statistics(counts, METRICS["precision_of_accepted"], tagged.systems, tagged.items)


@pytest.fixture
def found(tagged: Outputs, rng: np.random.Generator) -> Outputs:
    """The systems and items of `tagged`, F1 of what each found on its own."""
    counts = ascending(rng.integers(0, 5, size=(5, 60, 3)))
    return Outputs.from_statistics(counts, "f1", tagged.systems, tagged.items)
