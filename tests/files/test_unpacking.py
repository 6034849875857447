"""Packed files: what unpacks to too much is told before it fills the memory, and what is allowed is read whole."""

from __future__ import annotations

import gzip
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simstudy.files.unpacking import VARIABLE, most, unpacking_at_most
from simstudy.loaders.base import Loaded
from simstudy.loaders.candidates import has_candidates
from simstudy.loaders.formats import load
from simstudy.loaders.tagged import read_tagged
from simstudy.outputs import Outputs
from tests.cli.command import compare

TOO_MUCH = 2**25


def _load(path: Path, max_size: str | int) -> Loaded:
    with unpacking_at_most(max_size):
        return load(path, "mean")


def bomb(folder: Path, name: str) -> Path:
    """A file that is small and unpacks to at least 32 MiB."""
    path = folder / name
    if name.lower().endswith(".gz"):
        path.write_bytes(gzip.compress(b"item,score\n" + b"0" * TOO_MUCH))
    elif name.endswith(".zip"):
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("cats.txt", b"ca01 news\n" * (TOO_MUCH // 10 + 1))
    elif name.startswith("numbers"):
        pq.write_table(pa.table({"item": np.zeros(TOO_MUCH, np.int8)}), path)
    else:
        # One long text in a dictionary, and 8 bits a row that point to it.
        pq.write_table(pa.table({"item": ["x" * 50_000] * 2_000}), path, compression="zstd")
    assert path.stat().st_size < 2**18
    return path


@pytest.mark.parametrize("name", ["scores.csv.gz", "SCORES.TSV.GZ", "a.txt.gz", "numbers.parquet", "text.parquet"])
def test_what_unpacks_to_too_much_is_told_and_not_held(tmp_path: Path, name: str) -> None:
    path = bomb(tmp_path, name)
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match=r"unpacks to .*more than 1.0 MiB: --max-size .*lifts the limit$") as error:
            _load(path, "1M")
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    assert str(error.value).startswith(f"{path} (")
    assert "\n" not in str(error.value)


def test_zip_files_and_saved_outputs_have_the_limit_too(tmp_path: Path) -> None:
    outputs = Outputs.from_statistics(np.ones((2, 3000, 2), int), "accuracy")
    outputs.save(tmp_path / "o.parquet")
    with unpacking_at_most("1 KiB"):
        with pytest.raises(ValueError, match=r"o.parquet .* unpacks to .* more than 1.0 KiB"):
            Outputs.load(tmp_path / "o.parquet")
        with pytest.raises(ValueError, match=r"brown.zip .* unpacks to more than 1.0 KiB"):
            read_tagged(bomb(tmp_path, "brown.zip"))
        with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
            for name in ("cats.txt", "ca01"):
                archive.writestr(name, "x" * 600)
        with pytest.raises(ValueError, match=r"two.zip .* unpacks to more than 1.0 KiB"):
            read_tagged(tmp_path / "two.zip")
    assert Outputs.load(tmp_path / "o.parquet").fingerprint() == outputs.fingerprint()


def test_the_first_line_is_looked_for_in_the_beginning(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv.gz"
    path.write_bytes(gzip.compress(b"0" * TOO_MUCH))
    tracemalloc.start()
    try:
        assert not has_candidates(path, {})
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_a_limit_is_what_is_said_or_the_environments(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scores.csv.gz"
    frame = pd.DataFrame({"item": range(500), "a": 1, "b": 0})
    path.write_bytes(gzip.compress(frame.to_csv(index=False).encode()))
    assert most() == 2**30
    monkeypatch.setenv(VARIABLE, "1K")
    with pytest.raises(ValueError, match="more than 1.0 KiB"):
        load(path, "mean")
    for size in ("2M", 10_000, "none"):
        assert _load(path, size).outputs.n_items == 500
    with pytest.raises(ValueError, match="^max_size must be a size such as 500M or 4G, or none, not '-1'$"):
        _load(path, "-1")
    monkeypatch.setenv(VARIABLE, "much")
    with pytest.raises(ValueError, match="^SIMSTUDY_MAX_SIZE must be a size"):
        load(path, "mean")


def test_the_command_says_which_option_lifts_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "scores.csv.gz"
    path.write_bytes(gzip.compress(pd.DataFrame({"item": range(200), "a": 1, "b": 0}).to_csv(index=False).encode()))
    code, _, told = compare(str(path), "--metric", "mean", "--max-size", "1K")
    assert code == 2
    assert "--max-size" in told
    assert len(told.splitlines()) == 1
    assert compare(str(path), "--metric", "mean", "--max-size", "1M")[0] == 0
