from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.command import write_wide

TEXT = ["a cat sat on the mat", "he is here today", "what a nice day it is", "see you in the morning"] * 5


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


@pytest.fixture
def texts() -> list[str]:
    """Two systems of one file name in two folders, and a reference; new is nearer to it."""
    for path, hypotheses in {
        "runs/base/hyp.txt": [text.replace("a ", "the ", k % 2) + " ." * (k % 3 == 0) for k, text in enumerate(TEXT)],
        "runs/new/hyp.txt": [text + " ." * (k % 7 == 0) for k, text in enumerate(TEXT)],
        "ref.txt": TEXT,
    }.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text("\n".join(hypotheses) + "\n")
    return ["base=runs/base/hyp.txt", "new=runs/new/hyp.txt", "--references", "ref.txt"]
