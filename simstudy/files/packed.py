"""Packed files: .gz and .zst are unpacked as they are read, zip files into a temporary folder, both up to one limit.

The limit (`size_limit`) is for each file .gz, .zst or .parquet, and for all files of a zip file together. Unpacking
takes at most twice the limit of memory.
"""

from __future__ import annotations

import atexit
import gzip
import lzma
import os
import re
import shutil
import stat
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from pathlib import Path, PurePosixPath, PureWindowsPath
from tempfile import mkdtemp
from typing import IO, Any

from simstudy.notes import Note, Words, notes_kept, tell
from simstudy.validation import InputError

#: Default limit of the unpacked size of a file: a size, or "none".
DEFAULT = "1G"

#: The environment variable that sets another limit.
VARIABLE = "SIMSTUDY_MAX_SIZE"

#: Endings of packed files that hold one other file.
PACKED = (".gz", ".zst")

_SIZE = re.compile(r"\s*([0-9]+(?:\.[0-9]+)?)\s*([KMGT]?)(?:i?B)?\s*", re.I)
_UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30, "T": 2**40}
_PIECE = 2**20

# What programs put beside the files of a zip file.
_ASIDE = ("__MACOSX", "Thumbs.db", "desktop.ini")

# What the libraries raise for a damaged file, and zipfile for what it cannot unpack.
_DAMAGED = (OSError, EOFError, zlib.error, lzma.LZMAError, zipfile.BadZipFile, RuntimeError, struct.error)

# The method of files in a zip file that are packed by Zstandard.
_ZSTD = 93

# A zip file (its path as the user calls it, its place, size and time of the last change) -> the folder of its files.
_unzipped: dict[tuple[Path, Path, int, int], Path] = {}


def size_limit() -> float:
    """Bytes that a packed file may unpack to."""
    return size_of(VARIABLE, os.environ.get(VARIABLE) or DEFAULT)


def size_of(argument: str, size: int | str) -> float:
    """Bytes of a size such as 500M or 4GiB; infinite for "none". An InputError names the argument."""
    if str(size).strip().lower() == "none":
        return float("inf")
    match = _SIZE.fullmatch(str(size))
    if match is None:
        raise InputError(argument, "must be a size such as 500M or 4G, or none", size)
    return float(match[1]) * _UNITS[match[2].upper()]


def too_large(path: Path) -> InputError:
    """The error of a file that unpacks to more than the limit."""
    return InputError(
        f"{path} unpacks to more than {os.environ.get(VARIABLE) or DEFAULT}",
        remedy=f"{VARIABLE} in the environment sets another limit: a size such as 4G, or none",
    )


def plain_name(path: Path) -> str:
    """The name that a file has when it is unpacked: without .gz or .zst."""
    return path.stem if path.suffix.lower() in PACKED else path.name


def unpacked(path: Path) -> bytes:
    """The content of a file, unpacked if its name ends in .gz or .zst."""
    if path.suffix.lower() not in PACKED:
        return path.read_bytes()
    with _opened(path) as stream:
        return _content(stream, size_limit(), path)


def beginning(path: Path) -> bytes:
    """The first million bytes of a file, unpacked as by `unpacked`."""
    with _opened(path) as stream:
        return bytes(stream.read(_PIECE))


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    """The bytes of a file as a stream, unpacked; an InputError if it is damaged."""
    suffix = path.suffix.lower()
    with path.open("rb") as file:
        try:
            if suffix == ".gz":
                yield gzip.GzipFile(fileobj=file)
            else:
                yield _zstd_stream(file) if suffix == ".zst" else file
        except _DAMAGED as error:
            raise InputError(f"{path} cannot be unpacked: {error}") from None


def _zstd_stream(packed: IO[bytes]) -> IO[bytes]:
    """The unpacked bytes of a stream that is packed by Zstandard."""
    import pyarrow as pa  # only Zstandard needs it

    stream: IO[bytes] = pa.CompressedInputStream(pa.PythonFile(packed, mode="r"), "zstd")
    return stream


def _content(stream: IO[bytes], most: float, path: Path) -> bytes:
    """What is left of a stream, if it is no more than `most` bytes."""
    pieces, size = [], 0
    while piece := stream.read(_PIECE):
        pieces.append(piece)
        size += len(piece)
        if size > most:
            raise too_large(path)
    return b"".join(pieces)


def zip_entries(path: Path, wanted: Callable[[str], bool] = lambda name: True) -> Iterator[tuple[str, bytes]]:
    """The files of a zip file whose full names are wanted, in its order, without a temporary folder.

    The limit is for all of them together. If several files have one name, the last is the one that counts. An
    InputError if a file is a link, is damaged or has a password.
    """
    left = size_limit()
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except _DAMAGED:
            raise InputError(f"{path} is not a whole zip file") from None
        for entry in archive.infolist():
            if entry.is_dir() or not wanted(entry.filename):
                continue
            if stat.S_ISLNK(entry.external_attr >> 16):
                raise InputError(f"{path} has a link in it ('{entry.filename}')", remedy="unpack it first")
            try:
                with _opened_entry(archive, entry) as stream:
                    content = _content(stream, left, path)
                if zlib.crc32(content) != entry.CRC:
                    raise zipfile.BadZipFile("its checksum is another")
            except _DAMAGED as error:
                reason = "it has a password" if entry.flag_bits & 1 else error
                raise InputError(f"{path}/{entry.filename} cannot be unpacked: {reason}") from None
            left -= len(content)
            yield entry.filename, content


def _opened_entry(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> IO[bytes]:
    """The content of a file in a zip file as a stream; Python itself unpacks Zstandard from 3.14 on."""
    if entry.compress_type != _ZSTD:
        return archive.open(entry)
    packed = copy(entry)
    packed.compress_type, packed.file_size = zipfile.ZIP_STORED, entry.compress_size
    # The checksum is that of the unpacked content.
    del packed.CRC
    return _zstd_stream(archive.open(packed))


def unzipped(path: Path) -> dict[str, bytes]:
    """The files of a zip file by their own names, whatever folder of it they are in."""
    return {PurePosixPath(name).name: content for name, content in zip_entries(path)}


def unzipped_folder(path: Path) -> Path:
    """A temporary folder with the files of a zip file but hidden ones, which is removed when Python exits.

    Messages name its files by the zip file (`zip_files_named`). An InputError as of `zip_entries`, and if a name leads
    out of the folder, two files have one name, or a file is a zip file itself.
    """
    state = path.stat()
    key = path, path.absolute(), state.st_size, state.st_mtime_ns
    if key not in _unzipped:
        folder = Path(mkdtemp(prefix="simstudy-"))
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        for name, content in zip_entries(path, _is_visible):
            # A name that leads out of a folder on some system is refused on all.
            windows = PureWindowsPath(name)
            if windows.anchor or ".." in windows.parts or "\\" in name:
                raise InputError(f"{path} has a file '{name}': names in a zip file must lead to places inside it")
            if windows.suffix.lower() == ".zip":
                raise InputError(f"{path} has a zip file in it ('{name}')", remedy="unpack it first")
            try:
                (folder / name).parent.mkdir(parents=True, exist_ok=True)
                with (folder / name).open("xb") as file:
                    file.write(content)
            except OSError as error:
                raise InputError(f"{path}/{name} cannot be unpacked: {error.strerror}") from None
        _unzipped[key] = folder
    return _unzipped[key]


def _is_visible(name: str) -> bool:
    parts = PureWindowsPath(name).parts
    return not any((part.startswith(".") and part != "..") or part in _ASIDE for part in parts)


def zip_of(path: Path) -> Path | None:
    """The zip file, as the user calls it, that a file of `unzipped_folder` comes from; None for any other file."""
    return next((zip_file for (zip_file, *_), folder in _unzipped.items() if folder in path.parents), None)


def as_given(value: Any) -> Any:
    """A path, text, words or note in which files of `unzipped_folder` are named by their zip file: runs.zip/a.csv."""
    if isinstance(value, Note):
        return Note(value.kind, as_given(value.fields))
    if isinstance(value, Words):
        return Words(value.template, **as_given(value.fields))
    if isinstance(value, Mapping):
        return {key: as_given(part) for key, part in value.items()}
    if isinstance(value, str | Path):
        text = str(value)
        for (zip_file, *_), folder in _unzipped.items():
            text = text.replace(str(folder), str(zip_file))
        return type(value)(text)
    return value


@contextmanager
def zip_files_named() -> Iterator[None]:
    """Within the block, notes and InputErrors have names `as_given`. It goes inside of `notes_kept`."""
    with notes_kept() as notes:
        try:
            yield
        except InputError as error:
            vars(error).update(as_given(vars(error)))
            error.args = (error.said(str),)
            raise
    for note in notes:
        tell(as_given(note))
