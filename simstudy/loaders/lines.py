"""Lines of a text file, read the same way by every loader: strictly UTF-8, whatever the line ends."""

from __future__ import annotations

import codecs
from pathlib import Path

from simstudy.loaders.reading import is_read, once
from simstudy.notes import note
from simstudy.unpacking import unpacked


@once
def read_lines(path: Path) -> list[str]:
    r"""The lines of a UTF-8 text file without their ends.

    A byte order mark at the beginning and Windows line ends are taken off, and a note says so: neither is part of
    the text. Lines end at ``\n`` only: other characters that Unicode counts as line ends stay in the line.

    Raises
    ------
    FileNotFoundError
        Where there is no such file.
    ValueError
        Where the file is empty, has NUL bytes, or is not UTF-8; the message names the line.
    """
    lines = read_content(path).split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def require_file(path: Path) -> None:
    """Raise where a path is no file to read.

    Raises
    ------
    FileNotFoundError
        Where there is nothing of this name.
    ValueError
        For a folder, and for what may have no end, or wait for somebody to write: a pipe, a device.
    """
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if path.is_dir():
        raise ValueError(f"{path} must be a file, but is a folder")
    if not path.is_file():
        raise ValueError(f"{path} must be a file, but is a pipe or a device: write its content to a file first")


def read_content(path: Path) -> str:
    """The whole text of a file: as `read_lines`, unpacked where its name ends in .gz."""
    require_file(path)
    is_read(path)
    content = unpacked(path)
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{path}, line 1: not UTF-8 but UTF-16; convert the file to UTF-8")
    if content.startswith(codecs.BOM_UTF8):
        content = content.removeprefix(codecs.BOM_UTF8)
        note(f"{path}: byte order mark taken off")
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise ValueError(f"{path}, line {line}: a NUL byte; is this a binary file?")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{path}, line {line}: not UTF-8 (byte 0x{content[error.start]:02x}); convert the file to UTF-8"
        ) from None
    if not text.strip():
        raise ValueError(f"{path} is empty")
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
        note(f"{path}: Windows line ends converted")
    return text
