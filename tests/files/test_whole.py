"""Files are written whole or not at all, and pages are known by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.files.whole import is_html, require_page


@pytest.mark.parametrize(
    ("name", "is_page"),
    [("a.html", True), ("a.htm", True), ("REPORT.HTML", True), ("b.Htm", True), ("a.xhtml", False), ("html", False)],
)
def test_a_page_is_known_by_its_ending_in_any_case(name: str, is_page: bool) -> None:
    assert is_html(Path(name)) == is_page
    if is_page:
        assert require_page(name) == Path(name)
    else:
        with pytest.raises(ValueError, match=f"path must end in .html or .htm, not '{name}'"):
            require_page(name)
