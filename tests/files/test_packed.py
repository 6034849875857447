"""Packed files: too large ones are refused before they fill memory or disk; a zip file is a folder of its files."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tracemalloc
import zipfile
from pathlib import Path

import pyarrow as pa
import pytest

import simstudy as ss
from simstudy.files.packed import (
    VARIABLE,
    size_limit,
    unpacked,
    unzipped,
    unzipped_folder,
    zip_entries,
    zip_of,
)
from simstudy.validation import InputError
from tests.readers.line_files import input_error

TEXT = "item,score\na,1\n" * 100


def zipped(path: Path, *files: tuple[str | zipfile.ZipInfo, str | bytes], method: int = zipfile.ZIP_DEFLATED) -> Path:
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, text in files:
            archive.writestr(name, text)
    return path


def zstandard(text: str) -> bytes:
    return bytes(pa.compress(text.encode(), codec="zstd", asbytes=True))


@pytest.mark.parametrize("ending", ["gz", "zst", "zip"])
def test_what_unpacks_to_too_much_is_refused_and_not_held(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ending: str
) -> None:
    path, text = tmp_path / f"bomb.{ending}", "0" * 2**25
    if ending == "zip":
        zipped(path, ("a.txt", text))
    else:
        path.write_bytes(gzip.compress(text.encode()) if ending == "gz" else zstandard(text))
    monkeypatch.setenv(VARIABLE, "1M")
    tracemalloc.start()
    try:
        with pytest.raises(InputError, match=f"unpacks to more than 1M; {VARIABLE}"):
            unzipped_folder(path) if ending == "zip" else unpacked(path)
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()


def test_the_limit_is_of_all_files_of_a_zip_file_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "two.zip", ("a/x", "x" * 600), ("y", "y" * 600))
    assert unzipped(path) == {"x": b"x" * 600, "y": b"y" * 600}
    monkeypatch.setenv(VARIABLE, "1 KiB")
    for read in (unzipped_folder, unzipped):
        input_error(path, by=read, match="more than 1 KiB")
    assert [name for name, _ in zip_entries(path, lambda name: name == "y")] == ["y"]


def test_what_a_zip_file_says_of_its_sizes_need_not_be_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = zipped(tmp_path / "lies.zip", ("a", "0" * 5000))
    path.write_bytes(path.read_bytes().replace((5000).to_bytes(4, "little"), (50).to_bytes(4, "little")))
    monkeypatch.setenv(VARIABLE, "1K")
    input_error(path, by=unzipped_folder, match=r"lies\.zip/a cannot be unpacked")


def test_the_limit_is_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(VARIABLE, raising=False)
    assert size_limit() == 2**30
    for size, limit in (("4 KiB", 4096), ("1.5m", 1.5 * 2**20), ("300", 300), ("none", float("inf"))):
        monkeypatch.setenv(VARIABLE, size)
        assert size_limit() == limit
    for size in ("-1", "much", "True"):
        monkeypatch.setenv(VARIABLE, size)
        input_error(by=size_limit, match=f"^{VARIABLE} must be a size such as 500M or 4G, or none, not '{size}'$")


def test_a_zip_file_is_a_folder_that_goes_with_python(tmp_path: Path) -> None:
    path = zipped(
        tmp_path / "runs.zip", ("p/new.csv", TEXT), ("./q//old.csv", TEXT), ("__MACOSX/new.csv", ""), (".x", "")
    )
    folder = unzipped_folder(path)
    assert sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*.*")) == ["p/new.csv", "q/old.csv"]
    assert (unzipped_folder(path), zip_of(folder / "p/new.csv"), zip_of(path)) == (folder, path, None)
    for text in (TEXT + TEXT, TEXT, TEXT.replace("1", "0")):
        zipped(path, ("p/new.csv", text))
        assert (unzipped_folder(path) / "p/new.csv").read_text() == text
    code = f"from simstudy.files.packed import *; print(unzipped_folder(Path({str(path)!r})))"
    run = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert run.stdout.strip()
    assert not Path(run.stdout.strip()).exists()


def test_notes_and_errors_name_files_by_their_zip_file(tmp_path: Path) -> None:
    scores = "item,score\na,1\nb,0\n"
    path = zipped(tmp_path / "runs.zip", ("new.csv", scores), ("old.csv", scores), ("README.txt", ""))
    notes = ss.load(path, "accuracy").notes
    for name, note in zip(("new.csv", "README.txt"), notes, strict=True):
        assert f"{path}/{name}" in note
    zipped(path, ("new.csv", scores), ("old.csv", scores.replace("0", "x")))
    error = input_error(path, "accuracy", by=ss.load)
    assert error.at == f"{path}/old.csv, line 3"
    assert str(error).startswith(f"{path}/old.csv, line 3: score must be")


def link() -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo("link")
    entry.external_attr = 0o120777 << 16
    return entry


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ([("../a", "")], "must lead to places inside it"),
        ([("/a", "")], "must lead to places inside it"),
        ([("C:a", "")], "must lead to places inside it"),
        ([("a.zip", "")], "zip file in it"),
        ([(link(), "/etc/passwd")], "link in it"),
        ([("a", ""), ("./a", "")], "cannot be unpacked: File exists"),
        ([("a", ""), ("a/b", "")], "cannot be unpacked"),
        ([("x" * 300, "")], "cannot be unpacked"),
    ],
)
def test_what_is_wrong_in_a_zip_file_is_told(tmp_path: Path, files: list[tuple[str, str]], told: str) -> None:
    path = zipped(tmp_path / "x.zip", *files)
    input_error(path, by=unzipped_folder, match=rf"x\.zip.*{told}")


def test_damaged_files_are_told_whatever_packed_them(tmp_path: Path) -> None:
    path = zipped(tmp_path / "x.zip", ("new.csv", TEXT))
    whole = path.read_bytes()
    flags = whole.index(b"PK\1\2") + 8
    with_password = whole[:flags] + b"\1" + whole[flags + 1 :]
    at = whole.index(b"new.csv") + 12
    with_lzma = zipped(tmp_path / "x.zip", ("new.csv", TEXT), method=zipfile.ZIP_LZMA).read_bytes()
    # The checksum is of the packed bytes, and must be of the unpacked ones.
    stored = zipped(tmp_path / "x.zip", ("a", zstandard(TEXT)), method=zipfile.ZIP_STORED).read_bytes()
    with_zstd = stored.replace(b"PK\3\4\x14\0\0\0\0\0", b"PK\3\4\x14\0\0\0\x5d\0")
    with_zstd = with_zstd.replace(b"PK\1\2\x14\3\x14\0\0\0\0\0", b"PK\1\2\x14\3\x14\0\0\0\x5d\0")
    damaged = {
        "cut.zip": (whole[: len(whole) // 2], "is not a whole zip file"),
        "bits.zip": (whole[:at] + b"\xff\xff" + whole[at + 2 :], r"/new\.csv cannot be unpacked"),
        "lzma.zip": (with_lzma[:60] + b"\xff\xff" + with_lzma[62:], r"/new\.csv cannot be unpacked"),
        "zstd.zip": (with_zstd, "/a cannot be unpacked: its checksum is another"),
        "secret.zip": (with_password, "cannot be unpacked: it has a password"),
        "a.gz": (gzip.compress(b"a")[:-9], "cannot be unpacked"),
        "b.gz": (b"a", "cannot be unpacked"),
        "a.zst": (zstandard(TEXT)[:20], "cannot be unpacked"),
    }
    for name, (content, told) in damaged.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(InputError, match=f"{name}.*{told}"):
            unzipped_folder(tmp_path / name) if name.endswith(".zip") else unpacked(tmp_path / name)
    with pytest.raises(FileNotFoundError):
        unpacked(tmp_path / "none.gz")
