"""Packed files: .gz and .zst are unpacked as they are read, zip files into a temporary folder, both up to one limit.

The limit (`size_limit`) is for each file .gz, .zst or .parquet, and for all files of a zip file together. A zip file
takes no more of the disk, until Python exits. A packed file takes at most twice the limit of memory, and its lines at
most 26 times their size (lines of two letters; lines of 80 take 3 times).
"""

from __future__ import annotations

import atexit
import gzip
import os
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import mkdtemp
from typing import IO, Any

from simstudy.notes import Argument, Note, Words, notes_kept, tell
from simstudy.validation import InputError

#: Default limit of the unpacked size of a file: a size, or "none".
DEFAULT = "1G"

#: The environment variable that sets another limit.
VARIABLE = "SIMSTUDY_MAX_SIZE"

#: Endings of packed files that hold one other file -> the name of their format.
PACKED = {".gz": "gzip", ".zst": "zstd"}

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", re.I)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PIECE = 2**20

# What programs put beside the files of a zip file.
_ASIDE = ("__MACOSX", "Thumbs.db", "desktop.ini")

# What the libraries raise for a damaged file; zipfile has more kinds for what it cannot unpack.
_DAMAGED = (OSError, EOFError, zlib.error, zipfile.BadZipFile, NotImplementedError, RuntimeError, struct.error)

# The method of files in a zip file that are packed by Zstandard, and the bytes before the name of such a file.
_ZSTD = 93
_LOCAL_HEADER = 30

_limit: ContextVar[float | None] = ContextVar("limit", default=None)

# Path, size and time of the last change of a zip file -> the temporary folder that has its files.
_unzipped: dict[tuple[str, int, int], Path] = {}
# Such a folder -> the zip file as the user calls it.
_zip_files: dict[Path, Path] = {}


@contextmanager
def unpacking_at_most(size: int | str | None) -> Iterator[None]:
    """Within the block, packed files may unpack to this size: bytes, "4G", "none"; None changes nothing."""
    token = _limit.set(size_of("max_size", size) if size is not None else _limit.get())
    try:
        yield
    finally:
        _limit.reset(token)


def size_limit() -> float:
    """Bytes that a packed file may unpack to."""
    chosen = _limit.get()
    return chosen if chosen is not None else size_of(VARIABLE, os.environ.get(VARIABLE) or DEFAULT)


def size_of(argument: str, size: int | str) -> float:
    """Bytes of a size such as 500M or 4GiB; infinite for "none". An InputError names the argument."""
    if str(size).strip().lower() == "none":
        return float("inf")
    match = _SIZE.fullmatch(str(size)) if not isinstance(size, bool) else None
    if match is None:
        raise InputError(argument, "must be a size such as 500M or 4G, or none", size)
    return float(match[1]) * _UNITS[match[2].upper()]


def too_large(path: Path, size: float | None = None) -> InputError:
    """The error of a file that unpacks to more than the limit: to `size` bytes, if that is known."""
    packed = _in_words((zip_of(path) or path).stat().st_size)
    most = f"more than {_in_words(size_limit())}"
    return InputError(
        f"{path} ({packed}) unpacks to {most if size is None else f'{_in_words(size)}, {most}'}",
        remedy=Words(
            "{max_size}, or {variable} in the environment, lifts the limit",
            max_size=Argument("max_size"),
            variable=VARIABLE,
        ),
    )


def _in_words(size: float) -> str:
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:,.0f} {unit}" if unit == "bytes" else f"{size:,.1f} {unit}"
        size /= 1024
    return f"{size:,.1f} GiB"


def plain_name(path: Path) -> str:
    """The name that a file has when it is unpacked: without .gz or .zst."""
    return path.stem if path.suffix.lower() in PACKED else path.name


def unpacked(path: Path) -> bytes:
    """The content of a file, unpacked if its name ends in .gz or .zst."""
    if path.suffix.lower() not in PACKED:
        return path.read_bytes()
    with _opened(path) as stream:
        return b"".join(_pieces(stream, size_limit(), path))


def beginning(path: Path) -> bytes:
    """The first million bytes of a file, unpacked as by `unpacked`."""
    with _opened(path) as stream:
        return bytes(stream.read(_PIECE))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The bytes of a file as a stream, unpacked; an InputError if it is damaged."""
    kind = PACKED.get(path.suffix.lower())
    try:
        with ExitStack() as stack:
            stream: Any = stack.enter_context(path.open("rb"))
            if kind == "gzip":
                stream = stack.enter_context(gzip.GzipFile(fileobj=stream))
            elif kind == "zstd":
                import pyarrow as pa  # only Zstandard needs it

                stream = stack.enter_context(pa.CompressedInputStream(pa.PythonFile(stream, mode="r"), "zstd"))
            yield stream
    except _DAMAGED as error:
        if isinstance(error, OSError) and error.errno is not None:
            # The disk's: there is no such file, or it must not be read.
            raise
        raise InputError(f"{path} is not a whole {kind} file") from None


def _pieces(stream: IO[bytes], most: float, path: Path) -> Iterator[bytes]:
    """What is left of a stream, if it is no more than so many bytes."""
    size = 0
    while piece := stream.read(_PIECE):
        size += len(piece)
        if size > most:
            raise too_large(path)
        yield piece


def unzipped_folder(path: Path) -> Path:
    """A temporary folder with the files of a zip file, which is removed when Python exits.

    Messages name its files by the zip file (`zip_files_named`). An InputError if a name leads out of the folder, a file
    is a link or a zip file itself, all files together are too large, or something is damaged or has a password.
    """
    state = path.stat()
    key = os.path.abspath(path), state.st_size, state.st_mtime_ns
    with _opened_zip(path) as archive:
        entries = _entries_to_unzip(path, archive)
        if key not in _unzipped:
            folder = Path(mkdtemp(prefix="simstudy-"))
            atexit.register(shutil.rmtree, folder, ignore_errors=True)
            for entry in entries:
                try:
                    # No more comes out of an entry than the size that it states.
                    archive.extract(entry, folder)
                except _DAMAGED as error:
                    raise _not_unpacked(path, entry, error) from None
            _unzipped[key] = folder
    _zip_files[_unzipped[key]] = path
    return _unzipped[key]


def _entries_to_unzip(path: Path, archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """The files of a zip file but for hidden ones, after a look at their names and sizes."""
    entries: dict[PureWindowsPath, zipfile.ZipInfo] = {}
    for entry in archive.infolist():
        # A name that leads out of a folder on some system is refused on all.
        name = PureWindowsPath(entry.filename)
        hidden = any((part.startswith(".") and part != "..") or part in _ASIDE for part in name.parts)
        if entry.is_dir() or hidden:
            continue
        if name.anchor or ".." in name.parts or "\\" in entry.filename:
            rule = f"{path} has a file '{entry.filename}': names in a zip file must lead to places inside it"
            raise InputError(rule)
        if name in entries:
            raise InputError(f"{path} has two files '{entry.filename}'")
        is_link = stat.S_ISLNK(entry.external_attr >> 16)
        if is_link or name.suffix.lower() == ".zip":
            what = "link" if is_link else "zip file"
            raise InputError(f"{path} has a {what} in it ('{entry.filename}')", remedy="unpack it first")
        entries[name] = entry
    size = sum(entry.file_size for entry in entries.values())
    if size > size_limit():
        raise too_large(path, size)
    return list(entries.values())


def zip_entries(path: Path, wanted: Callable[[str], bool] = lambda name: True) -> Iterator[tuple[str, bytes]]:
    """The files of a zip file whose full names are wanted, in its order, without a temporary folder.

    The limit is for all of them together. If several files have one name, the last is the one that counts.
    """
    left = size_limit()
    with _opened_zip(path) as archive:
        for entry in archive.infolist():
            if entry.is_dir() or not wanted(entry.filename):
                continue
            try:
                with _zstd_stream(path, entry) if entry.compress_type == _ZSTD else archive.open(entry) as stream:
                    content = b"".join(_pieces(stream, left, path))
                if zlib.crc32(content) != entry.CRC:
                    raise zipfile.BadZipFile
            except _DAMAGED as error:
                raise _not_unpacked(path, entry, error) from None
            left -= len(content)
            yield entry.filename, content


def unzipped(path: Path) -> dict[str, bytes]:
    """The files of a zip file by their own names, whatever folder of it they are in."""
    return {PurePosixPath(name).name: content for name, content in zip_entries(path)}


@contextmanager
def _opened_zip(path: Path) -> Iterator[zipfile.ZipFile]:
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGED:
            raise InputError(f"{path} is not a whole zip file") from None
        with archive:
            yield archive


def _not_unpacked(path: Path, entry: zipfile.ZipInfo, error: Exception) -> InputError:
    reason = "it has a password" if entry.flag_bits & 1 else "it is damaged"
    if isinstance(error, OSError) and error.strerror:
        reason = error.strerror
    return InputError(f"{path}/{entry.filename} cannot be unpacked: {reason}")


def _zstd_stream(path: Path, entry: zipfile.ZipInfo) -> IO[bytes]:
    """The content of a file in a zip file that is packed by Zstandard, which Python reads from 3.14 on."""
    import pyarrow as pa  # only Zstandard needs it

    with path.open("rb") as file:
        file.seek(entry.header_offset)
        header = file.read(_LOCAL_HEADER)
        # The lengths of the name and of the extra field, which come before the content.
        file.seek(sum(struct.unpack("<HH", header[26:])), os.SEEK_CUR)
        content = file.read(entry.compress_size)
    stream: IO[bytes] = pa.input_stream(pa.BufferReader(content), compression="zstd")
    return stream


def zip_of(path: Path) -> Path | None:
    """The zip file, as the user calls it, that a file of `unzipped_folder` comes from; None for any other file."""
    return next((_zip_files[folder] for folder in path.parents if folder in _zip_files), None)


def as_given(value: Any) -> Any:
    """Paths, texts and notes in which files of `unzipped_folder` are named by their zip file: runs.zip/a.csv."""
    if isinstance(value, Note):
        return Note(value.kind, as_given(value.fields))
    if isinstance(value, Words):
        return Words(as_given(value.template), **as_given(value.fields))
    if isinstance(value, str | Path):
        text = str(value)
        for folder, zip_file in _zip_files.items():
            text = text.replace(str(folder), str(zip_file))
        if text != str(value):
            return Path(text) if isinstance(value, Path) else text
    if isinstance(value, Mapping):
        return {key: as_given(part) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(as_given, value))
    return value


@contextmanager
def zip_files_named() -> Iterator[None]:
    """Within the block, notes and InputErrors have names `as_given`. It goes inside of `notes_kept`."""
    notes: list[Note] = []
    try:
        with notes_kept() as notes:
            yield
    except InputError as error:
        fields = (error.argument, error.rule, error.value, error.remedy, error.at)
        error.argument, error.rule, error.value, error.remedy, error.at = as_given(fields)
        error.args = (error.said(str),)
        raise
    finally:
        for kept in notes:
            tell(as_given(kept))
