"""The one door to packed files (.gz, .zip, .parquet): what comes out is counted, and no more than a limit."""

from __future__ import annotations

import gzip
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath
from typing import IO, NoReturn

import pyarrow as pa
import pyarrow.parquet as pq

from simstudy.validation import brief

#: What a packed file may unpack to, where nothing else is said: a size, or "none".
DEFAULT = "1G"

#: The environment variable that says something else.
VARIABLE = "SIMSTUDY_MAX_SIZE"

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", re.I)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PIECE = 2**20

# The method of zip files that are packed by Zstandard, which Python reads from 3.14 on, and the bytes before the name
# of a file in such an archive.
_ZSTD = 93
_LOCAL_HEADER = 30

# Rows that are unpacked before their size is looked at.
_ROWS = 1024

_limit: ContextVar[float | None] = ContextVar("limit", default=None)


@contextmanager
def unpacking_at_most(size: int | str | None) -> Iterator[None]:
    """Within the block, packed files may unpack to this size: bytes, "4G", "none"; None changes nothing."""
    token = _limit.set(_parsed("max_size", size) if size is not None else _limit.get())
    try:
        yield
    finally:
        _limit.reset(token)


def most() -> float:
    """The limit in bytes."""
    chosen = _limit.get()
    return chosen if chosen is not None else _parsed(VARIABLE, os.environ.get(VARIABLE) or DEFAULT)


def unpacked(path: Path) -> bytes:
    """The content of a file, unpacked where its name ends in .gz."""
    if path.suffix.lower() != ".gz":
        return path.read_bytes()
    try:
        with gzip.open(path) as stream:
            return _within(most(), stream, path)
    except (OSError, EOFError, zlib.error):
        raise ValueError(f"{path} is not a whole gzip file") from None


def beginning(path: Path) -> bytes:
    """The first million bytes of a file, unpacked where its name ends in .gz; errors are those of gzip."""
    with gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb") as stream:
        return stream.read(_PIECE)


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
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError):
        raise ValueError(f"{path} is not a whole zip file") from None
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
    except pa.ArrowException:
        raise ValueError(f"{path} is not a whole zip file") from None
    except (zipfile.BadZipFile, zlib.error, EOFError, OSError, NotImplementedError, RuntimeError, struct.error):
        raise ValueError(f"{path} is not a whole zip file") from None


def _packed_by_zstd(file: IO[bytes], entry: zipfile.ZipInfo) -> IO[bytes]:
    """The unpacked content of a file in an archive, as a stream."""
    file.seek(entry.header_offset)
    header = file.read(_LOCAL_HEADER)
    if entry.flag_bits & 1 or header[:4] != b"PK\3\4":
        raise zipfile.BadZipFile
    # The lengths of the name and of the extra field, which come before the content.
    file.seek(sum(struct.unpack("<HH", header[26:])), os.SEEK_CUR)
    packed = file.read(entry.compress_size)
    stream: IO[bytes] = pa.input_stream(pa.BufferReader(packed), compression="zstd")
    return stream


def _within(limit: float, stream: gzip.GzipFile | IO[bytes], path: Path) -> bytes:
    """What is left of a stream, if it is no more than so many bytes."""
    content = bytearray()
    while piece := stream.read(_PIECE):
        content += piece
        if len(content) > limit:
            _too_large(path, most())
    return bytes(content)


def read_parquet(path: Path) -> pa.Table:
    """A Parquet file's table, whose pages must have their checksums where they have any."""
    limit = most()
    try:
        with pq.ParquetFile(path, page_checksum_verification=True) as file:
            about = file.metadata
            stored = sum(about.row_group(i).total_byte_size for i in range(about.num_row_groups))
            # A column of one value takes no room in the file.
            size = max(stored, about.num_rows * about.num_columns)
            if size > limit:
                _too_large(path, limit, size)
            batches, size = [], 0
            for batch in file.iter_batches(batch_size=_ROWS):
                batches.append(batch)
                size += batch.nbytes
                if size > limit:
                    _too_large(path, limit)
            schema = file.schema_arrow
            return pa.Table.from_batches(batches, schema.remove_metadata()).replace_schema_metadata(schema.metadata)
    except ValueError as error:
        if isinstance(error, pa.ArrowException):
            _no_parquet(path, error)
        raise
    except (pa.ArrowException, OSError, MemoryError) as error:
        _no_parquet(path, error)


def _no_parquet(path: Path, error: Exception) -> NoReturn:
    reason = (str(error).splitlines() or [type(error).__name__])[0]
    raise ValueError(f"{path} is not a Parquet file, or a damaged one: {reason}") from None


def _too_large(path: Path, limit: float, size: float | None = None) -> NoReturn:
    packed = _in_words(path.stat().st_size)
    to = f"more than {_in_words(limit)}" if size is None else f"{_in_words(size)}, more than {_in_words(limit)}"
    raise ValueError(
        f"{path} ({packed}) unpacks to {to}: --max-size (in Python max_size, or {VARIABLE} in the environment) lifts "
        "the limit"
    )


def _parsed(argument: str, size: int | str) -> float:
    if str(size).strip().lower() == "none":
        return float("inf")
    found = _SIZE.fullmatch(str(size)) if not isinstance(size, bool) else None
    if found is None:
        raise ValueError(f"{argument} must be a size such as 500M or 4G, or none, not {brief(size)}")
    return float(found[1]) * _UNITS[found[2].upper()]


def _in_words(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024
    return ""
