"""Lines of a text file, read the same way by every loader: strictly UTF-8, whatever the line ends."""

from __future__ import annotations

import codecs
from pathlib import Path

from simstudy.files.unpacking import unpacked
from simstudy.loaders.reading import is_read, once
from simstudy.notes import note


@once
def read_lines(path: Path) -> list[str]:
    r"""The lines of a UTF-8 text file without their ends, which are \n only: others that Unicode counts are text."""
    lines = read_content(path).split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def require_file(path: Path) -> None:
    """Raise a FileNotFoundError or a ValueError where a path is no file to read; a pipe or a device may have no end."""
    if not path.exists():
        raise FileNotFoundError(f"no such file: {path}")
    if path.is_dir():
        raise ValueError(f"{path} must be a file, but is a folder")
    if not path.is_file():
        raise ValueError(f"{path} must be a file, but is a pipe or a device: write its content to a file first")


def read_content(path: Path) -> str:
    """The whole text of a file, unpacked where its name ends in .gz."""
    require_file(path)
    is_read(path)
    return decoded(unpacked(path), str(path))


def decoded(content: bytes, origin: str) -> str:
    """The text of a file that has some, without a byte order mark and with Unix line ends, each of which a note tells.

    A ValueError names the line where the file is not UTF-8 or has NUL bytes.
    """
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise ValueError(f"{origin}, line 1: not UTF-8 but UTF-16; convert the file to UTF-8")
    if content.startswith(codecs.BOM_UTF8):
        content = content.removeprefix(codecs.BOM_UTF8)
        note(f"{origin}: byte order mark taken off")
    if b"\0" in content:
        line = content.count(b"\n", 0, content.index(b"\0")) + 1
        raise ValueError(f"{origin}, line {line}: a NUL byte; is this a binary file?")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(
            f"{origin}, line {line}: not UTF-8 (byte 0x{content[error.start]:02x}); convert the file to UTF-8"
        ) from None
    if not text.strip():
        raise ValueError(f"{origin} is empty")
    if "\r\n" in text:
        text = text.replace("\r\n", "\n")
        note(f"{origin}: Windows line ends converted")
    return text
