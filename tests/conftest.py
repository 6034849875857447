"""Fixtures that several rooms' tests share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.outputs import Outputs

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


@pytest.fixture
def shared_data() -> Path:
    """The folder of real data beside the checkout."""
    if not SHARED.is_dir():
        pytest.skip(f"needs the real data in {SHARED}")
    return SHARED


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(20120712)


@pytest.fixture
def tagged(rng: np.random.Generator) -> Outputs:
    """Five systems on 60 sentences of different length, with domains, documents and families."""
    total = rng.integers(1, 30, size=60)
    quality = np.array([0.8, 0.82, 0.85, 0.85, 0.9])
    correct = rng.binomial(total, quality[:, None])
    systems = pd.DataFrame({"name": list("abcde"), "family": ["x", "x", "y", "y", "z"]})
    items = pd.DataFrame(
        {
            "id": [f"s{i}" for i in range(60)],
            "domain": ["news", "wiki", "mail"] * 20,
            "cluster": [f"d{i // 4}" for i in range(60)],
        }
    )
    statistics = np.stack([correct, np.broadcast_to(total, correct.shape)], axis=-1)
    return Outputs.from_statistics(statistics, "accuracy", systems, items, task="tagging", test_set="made up")
