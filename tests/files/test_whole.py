"""Files are written whole or not at all, under names that every file system can hold."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from simstudy.files.whole import atomic_path, check_file_names, named_in_errors


def test_a_failed_write_leaves_what_was_there(tmp_path: Path) -> None:
    target = tmp_path / "deep" / "table.csv"
    with atomic_path(target) as temporary:
        temporary.write_text("old")
        assert temporary.suffix == ".csv"
        assert not target.exists()

    def write_half() -> None:
        with atomic_path(target) as temporary:
            temporary.write_text("ne")
            raise RuntimeError("killed")

    with pytest.raises(RuntimeError, match="killed"):
        write_half()
    assert target.read_text() == "old"
    assert [path.name for path in target.parent.iterdir()] == ["table.csv"]


def test_an_error_of_the_system_names_the_file_not_the_temporary_one(tmp_path: Path) -> None:
    for named in (None, str(tmp_path / "temporary")):
        with (
            pytest.raises(OSError, match="No space") as error,
            named_in_errors(tmp_path / "a", instead_of=tmp_path / "temporary"),
        ):
            raise OSError(28, "No space left", named)
        assert error.value.filename == str(tmp_path / "a")
    with pytest.raises(OSError, match="other"), named_in_errors(tmp_path / "a"):
        raise OSError(28, "No space left", "other")


def test_names_of_files_are_plain_and_of_one_file_each() -> None:
    check_file_names("table", ["pairs", "a" * 100])
    for names, told in (
        (
            ["pairs", "../pairs"],
            "table must have a name of letters (a-z), digits, _ and -, at most 100, not '../pairs'",
        ),
        (["a" * 101], "table must have a name of letters (a-z), digits, _ and -, at most 100, not 'aaa"),
        (["gains", "Gains"], "table must have a name of its own, not 'Gains' again"),
        (["Gains", "gains"], "table must have a name of its own, not 'gains' again"),
    ):
        with pytest.raises(ValueError, match=f"^{re.escape(told)}"):
            check_file_names("table", names)
