"""HTML files that simstudy wrote: they say so at their beginning, and only these are written over."""

from __future__ import annotations

from pathlib import Path

from simstudy.validation import InputError

#: How a page says what wrote it.
GENERATOR = '<meta name="generator" content="simstudy'

#: The page of a folder of results.
INDEX = "index.html"

# Bytes of a file in which that stands.
_BEGINNING = 1024


def is_html(path: Path) -> bool:
    """Whether a path names an HTML file and not a folder."""
    return path.suffix.lower() in (".html", ".htm")


def is_ours(path: Path) -> bool:
    """Whether a file is a page that simstudy wrote."""
    try:
        with path.open("rb") as file:
            return GENERATOR.encode() in file.read(_BEGINNING)
    except OSError:
        return False


def require_page(path: str | Path) -> Path:
    """The path of an HTML file; a ValueError where it has another suffix, or something else is there."""
    file = Path(path)
    if not is_html(file):
        raise InputError("path", f"must end in .html or .htm, not '{file}'")
    if file.is_dir():
        raise InputError("out", f"must be a file, but {file} is a folder")
    if file.exists() and not is_ours(file):
        raise InputError("out", f"must be new or a page that simstudy wrote, but {file} is another file")
    return file
