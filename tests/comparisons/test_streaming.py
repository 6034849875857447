"""Pairs that are written while they are made: the table of all pairs, within a given memory."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from pyarrow import parquet

import simstudy as ss
from simstudy.comparisons import streaming
from simstudy.comparisons.streaming import write_pairs


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    "options",
    [
        {},
        {"against": ["b", "e"]},
        {"against": "neighbours"},
        {"test": "bootstrap", "monte_carlo": True},
        {"test": "t_paired"},
    ],
)
def test_the_file_has_the_table(
    outputs: ss.Outputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, size: int, options: dict[str, Any]
) -> None:
    """Whatever the blocks are: rows, order, types and bits, and the corrected p-values of all."""
    monkeypatch.setattr(streaming, "_block_size", lambda *_: size)
    options = options | ({"n_resamples": 200} if "monte_carlo" in options else {})
    expected = ss.compare(outputs, **options).corrected()
    n, significant = write_pairs(outputs, tmp_path / "pairs.parquet", **options)
    found = ss.Comparisons(pd.read_parquet(tmp_path / "pairs.parquet"), outputs.systems)
    pd.testing.assert_frame_equal(found.frame, expected.frame, check_exact=True)
    assert (n, significant) == (len(expected), len(expected.significant(corrected="holm")))
    assert parquet.ParquetFile(tmp_path / "pairs.parquet").num_row_groups == -(-n // size)
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.parquet"]


def test_a_run_that_fails_leaves_nothing(outputs: ss.Outputs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streaming, "_block_size", lambda *_: 4)
    (tmp_path / "pairs.parquet").write_text("earlier")
    monkeypatch.setattr(streaming, "benjamini_hochberg", lambda _: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_pairs(outputs, tmp_path / "pairs.parquet")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("pairs.parquet", "earlier")]


def test_too_little_memory_is_said(outputs: ss.Outputs, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"memory must be at least about \d\.\d GiB for 15 pairs.*, not 1M"):
        write_pairs(outputs, tmp_path / "pairs.parquet", memory="1M")
    with pytest.raises(ValueError, match="memory must be a size such as 500M or 4G"):
        write_pairs(outputs, tmp_path / "pairs.parquet", memory="much")


_PROGRAM = """
import sys
import numpy as np, pandas as pd
import simstudy as ss
from simstudy.comparisons.streaming import write_pairs
right = np.random.default_rng(1).random((60, 1000)) < np.linspace(0.3, 0.8, 1000)
outputs = ss.Outputs.from_scores(pd.DataFrame(right, columns=[f"s{k}" for k in range(1000)]), "accuracy")
print(write_pairs(outputs, sys.argv[1], memory=sys.argv[2])[0])
# What this process took at most; getrusage counts what the one took that began it.
(peak,) = [line.split()[1] for line in open("/proc/self/status") if line.startswith("VmHWM")]
print(int(peak) * 1024)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="peak memory is told in other units elsewhere")
def test_memory_is_kept(tmp_path: Path) -> None:
    """A quarter of a million pairs within 420 MiB, of which the libraries take most; without a limit it is more."""
    peaks = {}
    for memory in ("450MiB", "none"):
        run = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", _PROGRAM, str(tmp_path / "pairs.parquet"), memory],
            capture_output=True, text=True, check=True, timeout=300,
        )  # fmt: skip
        n, peaks[memory] = map(int, run.stdout.split())
        assert n == 1000 * 999 // 2
    assert peaks["450MiB"] <= 450 * 2**20 < peaks["none"]
    table = pd.read_parquet(tmp_path / "pairs.parquet", columns=["gain", "p_holm"])
    assert len(table) == n
    assert np.isfinite(table["p_holm"]).all()
