"""One HTML file as the place of a result: nothing that simstudy has not written is overwritten."""

from __future__ import annotations

from pathlib import Path

from simstudy.files.whole import atomic_path
from simstudy.pages.html import GENERATOR, html
from simstudy.pages.report import Page

# Where a file says what wrote it.
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
        raise ValueError(f"path must end in .html or .htm, not '{file}'")
    if file.is_dir():
        raise ValueError(f"out must be a file, but {file} is a folder")
    if file.exists() and not is_ours(file):
        raise ValueError(f"out must be new or a page that simstudy wrote, but {file} is another file")
    return file


def write_html(page: Page, path: str | Path) -> None:
    """Write a page as one HTML file, whole or not at all.

    A ValueError is raised where the path has another suffix, or a file is there that simstudy did not write.
    """
    file = require_page(path)
    text = html(page)
    with atomic_path(file) as temporary:
        temporary.write_text(text, encoding="utf-8", newline="\n")
