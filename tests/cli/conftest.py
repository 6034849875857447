from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.command import write_wide


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every test runs in a folder of its own, so that messages name files as the user did."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def two() -> str:
    """Of 8 items, old misses two and new none."""
    return write_wide("scores.csv", {"old": [1] * 6 + [0] * 2, "new": [1] * 8})


@pytest.fixture
def four() -> str:
    """Systems by groups, documents and domains, on 30 items."""
    rng = np.random.default_rng(4)
    right = rng.random((4, 30)) < np.array([0.9, 0.7, 0.5, 0.2])[:, None]
    table = pd.DataFrame(right.T.astype(int), columns=list("abcd")).rename_axis("item")
    table.assign(genre=["news", "web", "mail"] * 10, doc=[f"d{i // 3}" for i in range(30)]).to_csv("four.csv")
    Path("systems.csv").write_text("system,group,base_model\na,X,m1\nb,X,m2\nc,Y,m1\nd,Y,\n")
    return "four.csv"


# One sentence on two systems
