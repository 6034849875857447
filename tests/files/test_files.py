from __future__ import annotations

from pathlib import Path

import pytest

from simstudy.files.whole import atomic_path


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "table.csv"
    with atomic_path(target) as temporary:
        temporary.write_text("old")

    def write_half() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("ne")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        write_half()
    assert target.read_text() == "old"
    assert [path.name for path in target.parent.iterdir()] == ["table.csv"]
