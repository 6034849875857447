"""Packed files: what unpacks to too much is told before it fills the memory, and what is allowed is read whole."""

from __future__ import annotations

import gzip
import hashlib
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from simstudy.files.parquet import read_parquet
from simstudy.files.unpacking import VARIABLE, most, unpacking_at_most, zip_entries
from simstudy.loaders.base import Loaded
from simstudy.loaders.candidates import has_candidates
from simstudy.loaders.corpora.tagged import read_tagged
from simstudy.loaders.door import load
from simstudy.loaders.reading import reading
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
        with pytest.raises(ValueError, match=r"unpacks to .*more than 1.0 MiB: max_size, .*lifts the limit$") as error:
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
        with pytest.raises(ValueError, match=r"two.zip .* unpacks to more than 1.0 KiB"):
            list(zip_entries(tmp_path / "two.zip", lambda name: True))
        assert len(list(zip_entries(tmp_path / "two.zip", lambda name: name == "ca01"))) == 1
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


def zipped(path: Path, files: dict[str, str]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path


NEW, OLD = "item,score\na,1\nb,1\n", "item,score\na,1\nb,0\n"


def zstandard(path: Path, text: str) -> Path:
    with pa.CompressedOutputStream(str(path), "zstd") as file:
        file.write(text.encode())
    return path


def test_a_zip_file_is_a_folder_of_its_files(tmp_path: Path) -> None:
    """Plain and packed files in it, and zip files beside others in a folder; what programs put there is no file."""
    parquet = tmp_path / "tiny.parquet"
    pd.DataFrame({"item": ["a", "b"], "score": [0, 0]}).to_parquet(parquet)
    folder = tmp_path / "runs"
    folder.mkdir()
    with zipfile.ZipFile(
        zipped(folder / "x.zip", {"p/new.csv": NEW, "__MACOSX/new.csv": "", ".DS_Store": ""}), "a"
    ) as z:
        z.writestr("./q//old.csv.gz", gzip.compress(OLD.encode()))
        z.write(parquet, "tiny.parquet")
    zstandard(folder / "zst.csv.zst", OLD)
    outputs = load(folder, "accuracy").outputs
    assert dict(zip(outputs.names, outputs.scores(), strict=True)) == {"new": 100, "old": 50, "tiny": 0, "zst": 50}
    assert load(folder / "x.zip", "accuracy").outputs.names == ["new", "old", "tiny"]
    zipped(folder / "x.zip", {"p/new.csv": NEW + "c,2\n"})
    with pytest.raises(ValueError, match=r"runs/x\.zip/p/new\.csv, line 4: a score must be between 0 and 1"):
        load(folder, "accuracy")


def test_files_of_a_zip_file_are_hashed_as_it_is(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"new.csv": NEW, "old.csv": OLD})
    with reading() as read:
        load(path, "accuracy")
    assert read.files() == {str(path): hashlib.sha256(path.read_bytes()).hexdigest()}


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({"new.csv": NEW, "new.tsv": OLD}, "x.zip/new.csv and .*x.zip/new.tsv would both be system 'new'"),
        ({"../new.csv": NEW}, r"x.zip has a file '\.\./new.csv': names in a zip file must lead to places inside it$"),
        ({"/new.csv": NEW}, r"x.zip has a file '/new.csv': names in a zip file must lead"),
        ({"a.zip": NEW}, r"x.zip has a zip file in it \('a.zip'\): unpack it first$"),
        ({"new.csv": NEW, "./new.csv": OLD}, r"x.zip has two files './new.csv'$"),
        ({}, "x.zip has no files$"),
        ({"new.csv": NEW, "old.csv": NEW + "x" * 2000}, "x.zip .* unpacks to 2.0 KiB, more than 1.0 KiB: max_size"),
    ],
)
def test_what_is_wrong_in_a_zip_file_is_told(tmp_path: Path, files: dict[str, str], told: str) -> None:
    path = zipped(tmp_path / "x.zip", files)
    with unpacking_at_most("1K"), pytest.raises(ValueError, match=told):
        load(path, "accuracy")


def test_damaged_files_are_told_whatever_packed_them(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", {"new.csv": NEW * 50})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"x\.zip is not a whole zip file$"):
        load(path, "accuracy")
    at = whole.index(b"new.csv") + 12
    path.write_bytes(whole[:at] + b"\xff\xff" + whole[at + 2 :])
    with pytest.raises(ValueError, match=r"x\.zip/new\.csv cannot be unpacked: it is damaged, or has a password$"):
        load(path, "accuracy")
    path = zstandard(tmp_path / "new.csv.zst", NEW * 5000)
    for content in (path.read_bytes()[:20], b"item,score\n", b""):
        path.write_bytes(content)
        with pytest.raises(ValueError, match=r"new\.csv\.zst is (not a whole zstd file|empty)$"):
            load(path, "accuracy")
    with unpacking_at_most("1K"), pytest.raises(ValueError, match=r"big\.csv\.zst .* unpacks to more than 1.0 KiB"):
        load(zstandard(tmp_path / "big.csv.zst", NEW * 500), "accuracy")


def test_a_line_that_is_no_item_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simstudy.loaders.reading.LONGEST", 1000)
    monkeypatch.setattr("simstudy.loaders.delimited.LONGEST", 1000)
    (tmp_path / "a.txt").write_text("x\n" + "y" * 1001 + "\n")
    with pytest.raises(ValueError, match=r"a\.txt, line 2: 1,001 characters, more than 1,000; is this a file with a"):
        load(tmp_path / "a.txt", "accuracy", references=tmp_path / "a.txt")
    (tmp_path / "a.csv").write_text('item,score,text\n1,1,"' + "y" * 1001 + '"\n')
    with pytest.raises(ValueError, match=r"a\.csv, line 2: a cell has more than 1,000 characters$"):
        load(tmp_path / "a.csv", "accuracy")


def test_a_page_of_parquet_that_was_damaged_is_no_other_number(tmp_path: Path) -> None:
    """One bit of a number that is stored as it is: only the checksum of its page can tell."""
    path, number = tmp_path / "a.parquet", 1.25
    pq.write_table(
        pa.table({"a": [number, 2.5]}), path, compression="none", use_dictionary=False, write_page_checksum=True,
        write_statistics=False,
    )  # fmt: skip
    content, stored = path.read_bytes(), np.float64(number).tobytes()
    assert read_parquet(path)["a"].to_pylist() == [number, 2.5]
    assert content.count(stored) == 1
    path.write_bytes(content.replace(stored, np.float64(1.5).tobytes()))
    assert pq.read_table(path)["a"].to_pylist() == [1.5, 2.5]
    with pytest.raises(ValueError, match=r"a\.parquet"):
        read_parquet(path)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("bits", "wider"), [(8, 16), (16, 32), (32, 64)])
def test_a_narrow_column_has_room_for_its_ends(tmp_path: Path, bits: int, wider: int, sign: int) -> None:
    """A byte holds -128 to 127, and so on."""
    fits = 2 ** (bits - 1) - (sign > 0)
    for largest, size in ((fits, bits), (fits + 1, wider)):
        pq.write_table(pa.table({"a": np.array([0, sign * largest], np.int64)}), tmp_path / "t.parquet")
        table = read_parquet(tmp_path / "t.parquet", narrow=True)
        assert table["a"].to_pylist() == [0, sign * largest]
        assert table.schema.field("a").type.bit_width == size
