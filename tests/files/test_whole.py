"""Files are written whole or not at all, and pages are known by their names."""

from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.files.whole import atomic_path, is_html, require_page


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "table.csv"
    with atomic_path(target) as temporary:
        temporary.write_text("old")
        assert temporary.suffix == ".csv"
        assert not target.exists()
    with pytest.raises(RuntimeError, match="killed"), atomic_path(target) as temporary:
        raise RuntimeError(f"killed after {temporary.write_text('ne')} letters")
    assert target.read_text() == "old"
    assert [path.name for path in target.parent.iterdir()] == ["table.csv"]


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
