"""Systems that are known by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from simstudy.outputs import Outputs
from simstudy.readers.long_table import Loaded


@pytest.fixture(scope="session")
def loaded() -> Loaded:
    """Five systems on 40 items; "twin" answers as "best" does but for one item, and "worst" is far behind."""
    right = {"best": 36, "twin": 35, "good": 33, "fair": 28, "worst": 8}
    rng = np.random.default_rng(7)
    order = rng.permutation(40)
    scores = pd.DataFrame({name: (np.arange(40) < n).astype(int) for name, n in right.items() if name != "fair"})
    scores["fair"] = (order < 28).astype(int)
    answers = np.array([100 * k + rng.integers(0, 40, 40) for k in range(len(scores.columns))])
    names = list(scores.columns)
    answers[names.index("twin")] = answers[names.index("best")]
    answers[names.index("twin"), 35] = -1
    outputs = Outputs.from_scores(scores, "accuracy", test_set="exam")
    return Loaded(replace(outputs, answers=answers), notes=("a note of the loader",))
