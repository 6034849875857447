"""The one door to packed files (.gz, .zst, .zip, and `parquet`): what comes out is counted, and no more than a limit.

A zip file is a folder: the path of a file in it is the path of the zip file and then the name inside,
``runs.zip/a/new.csv``. Nothing is written to the disk.
"""

from __future__ import annotations

import gzip
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import IO, Any, NoReturn

from simstudy.notes import Argument, Words
from simstudy.validation import InputError, NoSuchFile

#: What a packed file may unpack to, where nothing else is said: a size, or "none".
DEFAULT = "1G"

#: The environment variable that says something else.
VARIABLE = "SIMSTUDY_MAX_SIZE"

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", re.I)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PIECE = 2**20

#: Endings of packed files that hold one other file.
PACKED = (".gz", ".zst")

# What programs put beside the files of a zip file.
_ASIDE = ("__MACOSX", "Thumbs.db", "desktop.ini")

# What the libraries raise where a packed file is damaged; zipfile raises a RuntimeError for one with a password.
_DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError)

# The method of zip files that are packed by Zstandard, which Python reads from 3.14 on, and the bytes before the name
# of a file in such an archive.
_ZSTD = 93
_LOCAL_HEADER = 30

_limit: ContextVar[float | None] = ContextVar("limit", default=None)


@contextmanager
def unpacking_at_most(size: int | str | None) -> Iterator[None]:
    """Within the block, packed files may unpack to this size: bytes, "4G", "none"; None changes nothing."""
    token = _limit.set(size_of("max_size", size) if size is not None else _limit.get())
    try:
        yield
    finally:
        _limit.reset(token)


def most() -> float:
    """The limit in bytes."""
    chosen = _limit.get()
    return chosen if chosen is not None else size_of(VARIABLE, os.environ.get(VARIABLE) or DEFAULT)


def plain_name(path: Path) -> str:
    """The name that a file has when it is unpacked: without .gz or .zst."""
    return path.stem if path.suffix.lower() in PACKED else path.name


def archive_of(path: Path) -> Path | None:
    """The zip file that a path leads into; None where it leads to no file of a zip file."""
    return next((up for up in path.parents if up.suffix.lower() == ".zip" and up.is_file()), None)


def files_in(path: Path) -> list[Path]:
    """The files of a zip file in the order of their names, as paths that lead into it.

    All of them together may unpack to no more than the limit.
    """
    limit, found, size = most(), set[Path](), 0
    try:
        with zipfile.ZipFile(path) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
    except _DAMAGED:
        _no_zip(path)
    for entry in entries:
        inside = PurePosixPath(entry.filename)
        if any((part.startswith(".") and part != "..") or part in _ASIDE for part in inside.parts):
            continue
        if inside.is_absolute() or ".." in inside.parts or not inside.parts or "\\" in entry.filename:
            raise InputError(f"{path} has a file '{entry.filename}': names in a zip file must lead to places inside it")
        if path / inside in found:
            raise InputError(f"{path} has two files '{entry.filename}'")
        if inside.suffix.lower() == ".zip":
            raise InputError(f"{path} has a zip file in it ('{entry.filename}'): unpack it first")
        found.add(path / inside)
        # No more than this comes out of an entry, whatever is in it.
        size += entry.file_size
    if size > limit:
        too_large(path, limit, size)
    return sorted(found)


def unpacked(path: Path) -> bytes:
    """The content of a file, unpacked where its name ends in .gz or .zst and where it is in a zip file."""
    if path.suffix.lower() not in PACKED and archive_of(path) is None:
        return path.read_bytes()
    kind = {".gz": "gzip", ".zst": "zstd"}.get(path.suffix.lower())
    try:
        with _opened(path) as stream:
            return _within(most(), stream, path)
    except _DAMAGED:
        why = f"is not a whole {kind} file" if kind else "cannot be unpacked: it is damaged, or has a password"
        raise InputError(f"{path} {why}") from None


def beginning(path: Path) -> bytes:
    """The first million bytes of a file, unpacked as by `unpacked`; a ValueError where that cannot be done."""
    try:
        with _opened(path) as stream:
            return bytes(stream.read(_PIECE))
    except _DAMAGED:
        raise InputError(f"{path} cannot be read, or is damaged") from None


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The bytes of a file as a stream, unpacked."""
    archive = archive_of(path)
    with ExitStack() as stack:
        if archive is not None:
            packed: Any = stack.enter_context(zipfile.ZipFile(archive))
            entry = next((one for one in packed.infolist() if archive / PurePosixPath(one.filename) == path), None)
            if entry is None:
                raise NoSuchFile(path)
            stream: Any = stack.enter_context(packed.open(entry))
        else:
            stream = stack.enter_context(path.open("rb"))
        if path.suffix.lower() == ".gz":
            stream = stack.enter_context(gzip.GzipFile(fileobj=stream))
        elif path.suffix.lower() == ".zst":
            import pyarrow as pa  # only Zstandard needs it

            stream = stack.enter_context(pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))
        yield stream


def unzipped(path: Path) -> dict[str, bytes]:
    """The files of a zip file by their own names, whatever folder of it they are in."""
    left, files = most(), {}
    try:
        with zipfile.ZipFile(path) as archive:
            for entry in archive.infolist():
                if entry.is_dir():
                    continue
                with archive.open(entry) as stream:
                    content = _within(left, stream, path)
                left -= len(content)
                files[PurePosixPath(entry.filename).name] = content
    except _DAMAGED:
        _no_zip(path)
    return files


def zip_entries(path: Path, wanted: Callable[[str], bool]) -> Iterator[tuple[str, bytes]]:
    """The files of a zip file whose full names are wanted, in its order: stored, deflated or packed by Zstandard.

    The limit is for all of them together. Of several files with one name the last is the one that counts.
    """
    left = most()
    try:
        with path.open("rb") as file, zipfile.ZipFile(file) as archive:
            for entry in archive.infolist():
                if entry.is_dir() or not wanted(entry.filename):
                    continue
                with _packed_by_zstd(file, entry) if entry.compress_type == _ZSTD else archive.open(entry) as stream:
                    content = _within(left, stream, path)
                if zlib.crc32(content) != entry.CRC:
                    raise zipfile.BadZipFile
                left -= len(content)
                yield entry.filename, content
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, struct.error):
        raise InputError(f"{path} is not a whole zip file") from None


def _packed_by_zstd(file: IO[bytes], entry: zipfile.ZipInfo) -> IO[bytes]:
    """The unpacked content of a file in an archive, as a stream."""
    import pyarrow as pa  # only Zstandard needs it

    file.seek(entry.header_offset)
    header = file.read(_LOCAL_HEADER)
    if entry.flag_bits & 1 or header[:4] != b"PK\3\4":
        raise zipfile.BadZipFile
    # The lengths of the name and of the extra field, which come before the content.
    file.seek(sum(struct.unpack("<HH", header[26:])), os.SEEK_CUR)
    packed = file.read(entry.compress_size)
    stream: IO[bytes] = pa.input_stream(pa.BufferReader(packed), compression="zstd")
    return stream


def _within(limit: float, stream: IO[bytes], path: Path) -> bytes:
    """What is left of a stream, if it is no more than so many bytes."""
    content = bytearray()
    while piece := stream.read(_PIECE):
        content += piece
        if len(content) > limit:
            too_large(path, most())
    return bytes(content)


def _no_zip(path: Path) -> NoReturn:
    raise InputError(f"{path} is not a whole zip file") from None


def too_large(path: Path, limit: float, size: float | None = None) -> NoReturn:
    """Raise the ValueError of a file that unpacks to more than the limit."""
    packed = _in_words((archive_of(path) or path).stat().st_size)
    to = f"more than {_in_words(limit)}" if size is None else f"{_in_words(size)}, more than {_in_words(limit)}"
    rule = "{path} ({packed}) unpacks to {to}: {max_size}, or {variable} in the environment, lifts the limit"
    fields = {"path": path, "packed": packed, "to": to, "variable": VARIABLE}
    raise InputError(Words(rule, max_size=Argument("max_size"), **fields))


def size_of(argument: str, size: int | str) -> float:
    """Bytes of a size such as 500M or 4GiB; infinite for "none". A ValueError names the argument."""
    if str(size).strip().lower() == "none":
        return float("inf")
    found = _SIZE.fullmatch(str(size)) if not isinstance(size, bool) else None
    if found is None:
        raise InputError(argument, "must be a size such as 500M or 4G, or none", size)
    return float(found[1]) * _UNITS[found[2].upper()]


def _in_words(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024
    return ""
