"""Six systems of three groups, and all their pairs."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import simstudy as ss


@pytest.fixture(scope="module")
def outputs() -> ss.Outputs:
    rng = np.random.default_rng(3)
    right = rng.random((300, 6)) < np.linspace(0.5, 0.75, 6)
    made = ss.Outputs.from_scores(pd.DataFrame(right, columns=list("abcdef")), "accuracy")
    return ss.describe_systems(made, pd.DataFrame({"system": list("abcdef"), "group": list("xxyyzz")}))


@pytest.fixture(scope="module")
def pairs(outputs: ss.Outputs) -> ss.Comparisons:
    return ss.compare(outputs)
