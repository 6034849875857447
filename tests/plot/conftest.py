"""Tables that several figures are drawn from."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    plt.close("all")


@pytest.fixture
def points() -> pd.DataFrame:
    gain = np.tile(np.linspace(0, 3, 60), 2)
    return pd.DataFrame(
        {
            "gain": gain, "p_value": 0.5 * np.exp(-gain), "metric": "accuracy", "n_items": np.repeat([100, 400], 60),
            "relation": np.repeat(["same family", "different families"], 60), "test_set": "home",
        }
    )  # fmt: skip


@pytest.fixture
def curves(points: pd.DataFrame) -> pd.DataFrame:
    middle = 1 - points["p_value"]
    return points.assign(confidence=middle, confidence_05=middle - 0.02, confidence_95=middle + 0.01)
