"""Systems with hostile names, and a comparison of them by the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from simstudy.outputs import Outputs
from tests.attacks.names import HOSTILE
from tests.cli.command import compare as run_compare


@pytest.fixture(scope="session")
def hostile() -> Outputs:
    rng = np.random.default_rng(12)
    quality = rng.uniform(0.3, 0.9, size=len(HOSTILE))
    right = pd.DataFrame((rng.random((60, len(HOSTILE))) < quality).astype(int), columns=list(HOSTILE.values()))
    return Outputs.from_scores(right, "accuracy", test_set="$t$ [x](https://evil.example)")


@pytest.fixture(scope="session")
def hostile_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A comparison by the command of systems whose names come from a table, and their groups from another."""
    here = tmp_path_factory.mktemp("hostile")
    rng = np.random.default_rng(12)
    names = [name for name in HOSTILE.values() if "\n" not in name and "\r" not in name]
    rows = [
        (name, f"q{i}", int(rng.random() < 0.3 + 0.6 * k / len(names)))
        for k, name in enumerate(names)
        for i in range(40)
    ]
    pd.DataFrame(rows, columns=["system", "item", "score"]).to_csv(here / "scores.csv", index=False)
    groups = pd.DataFrame({"system": names, "group": names[::-1], "=1+1": "@x", "year": "-1.5"})
    groups.to_csv(here / "systems.csv", index=False)
    arguments = [str(here / "scores.csv"), "--metric", "accuracy", "--systems", str(here / "systems.csv")]
    code, out, err = run_compare(*arguments, "--by", "group", "--out", str(here / "out"), "--verbose")
    assert (code, err) == (0, "")
    (here / "printed").write_text(out, encoding="utf-8")
    code, out, err = run_compare(*arguments, "--json")
    assert (code, err) == (0, "")
    (here / "json").write_text(out, encoding="utf-8")
    return here
