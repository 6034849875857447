"""Which paths name pages, and which files are ours to write over."""

from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.files.whole import GENERATOR, is_html, is_ours, require_page


@pytest.mark.parametrize(
    ("name", "page"),
    [("a.html", True), ("a.htm", True), ("REPORT.HTML", True), ("b.Htm", True), ("a.xhtml", False), ("html", False)],
)
def test_a_page_is_known_by_its_ending_in_any_case(name: str, page: bool) -> None:
    assert is_html(Path(name)) == page
    if page:
        assert require_page(name) == Path(name)
    else:
        with pytest.raises(ValueError, match=f"path must end in .html or .htm, not '{name}'"):
            require_page(name)


def test_only_our_own_pages_are_written_over(tmp_path: Path) -> None:
    ours, other = tmp_path / "ours.html", tmp_path / "other.html"
    ours.write_text(f'<!doctype html>{GENERATOR} 1">')
    other.write_text("<!doctype html>")
    assert (is_ours(ours), is_ours(other), is_ours(tmp_path / "none.html")) == (True, False, False)
    assert require_page(ours) == ours
    with pytest.raises(ValueError, match="other.html is another file"):
        require_page(other)
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(ValueError, match="folder.html is a folder"):
        require_page(tmp_path / "folder.html")
