"""Paths that users give: names of systems, folders and zip files, and files that are no systems."""

from __future__ import annotations

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from simstudy.files.packed import as_given
from simstudy.notes import notes_kept
from simstudy.readers.request import (
    name_and_path,
    named_file,
    named_paths,
    opened_files,
    system_files,
    without_others,
)
from tests.readers.line_files import input_error


def files(folder: Path, *names: str) -> Path:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")
    return folder


def opened(*paths: Path) -> tuple[list[str], list[str]]:
    """The files that these paths stand for, as messages call them, and the kinds of notes."""
    with notes_kept() as notes:
        found, inside = opened_files([(None, path) for path in paths])
    assert inside <= set(found)
    return [str(as_given(path)) for path in found], [one.kind for one in notes]


def below(folder: Path, *names: str) -> list[str]:
    return [str(folder / name) for name in names]


def test_a_folder_stands_for_all_files_below_it_but_hidden_ones(tmp_path: Path) -> None:
    folder = files(tmp_path / "f", "own.csv", "a/x.csv", "a/.git/y.csv", "b/x.csv", ".z.csv")
    assert opened(folder) == (below(folder, "a/x.csv", "b/x.csv", "own.csv"), [])


def test_a_readme_in_a_folder_is_no_system(tmp_path: Path) -> None:
    folder = files(tmp_path / "f", "a.txt", "b.txt", "README.md", "readme.txt", "LICENSE")
    assert opened(folder) == (below(folder, "a.txt", "b.txt"), ["files about others"])
    assert opened(folder / "README.md") == (below(folder, "README.md"), [])


def test_what_is_no_file_or_given_twice_is_refused(tmp_path: Path) -> None:
    folder = files(tmp_path, "a.csv")
    (folder / "empty").mkdir()
    zipfile.ZipFile(folder / "empty.zip", "w").close()
    twice = [folder / "a.csv", folder / "empty" / ".." / "a.csv"]
    for paths in ([folder / "empty"], [folder / "empty.zip"], [folder / "none"], twice, []):
        input_error(paths, "accuracy", match=r"no files of|no such file|given twice|at least one")


def test_names_that_are_not_utf8_are_refused_in_one_line(tmp_path: Path) -> None:
    name = os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9.csv")
    Path(name).write_text("x")
    for use in (lambda: opened(tmp_path), lambda: opened(Path(name)), lambda: named_file("references", name)):
        str(input_error(by=use, match=r"not UTF-8: .*caf\\xe9\.csv")).encode()


def test_files_of_folders_that_other_arguments_name_are_no_systems(tmp_path: Path) -> None:
    folder = files(tmp_path, "new.txt", "gold.txt")
    given = dict.fromkeys((folder / "new.txt", folder / "gold.txt"))
    others = {"references": [folder / "." / "gold.txt"], "items": []}
    with notes_kept() as notes:
        assert [*without_others(given, {*given}, others)] == [folder / "new.txt"]
        assert without_others(given, set(), others) == given
    assert [one.fields["argument"] for one in notes] == ["references"]


@pytest.mark.parametrize(
    ("paths", "names"),
    [
        (["a/new.txt", "a/old.txt"], ["new", "old"]),
        (["gpt-4.1-mini", "gpt-4.2.jsonl.gz"], ["gpt-4.1-mini", "gpt-4.2"]),
        (["a.sys", "b.sys"], ["a", "b"]),
        (["a.en", "b.de"], ["a.en", "b.de"]),
        (["x/new/hyp.txt", "x/old/hyp.txt"], ["new", "old"]),
        (["x/hyp.txt", "x/y/hyp.txt", "x/gold.txt"], None),
    ],
)
def test_systems_are_called_after_files_or_after_the_folders_that_differ(paths: list[str], names: Any) -> None:
    with notes_kept() as notes:
        if names is None:
            input_error([*map(Path, paths)], by=system_files, match="would both be system 'hyp'")
        else:
            assert [*system_files([*map(Path, paths)])] == names
            assert [one.kind for one in notes] == ["systems called after folders"] * ("hyp" in paths[0])


def test_names_that_users_give(tmp_path: Path) -> None:
    assert name_and_path(Path("base=runs/a.txt")) == ("base", Path("runs/a.txt"))
    there = files(tmp_path, "a=b.txt") / "a=b.txt"
    assert name_and_path(there) == (None, there)
    assert named_paths({"new": "a.txt"}) == named_paths([("new", "a.txt")]) == [("new", Path("a.txt"))]
    assert named_paths("a.txt") == [(None, Path("a.txt"))]
    for wrong in ([("", "a")], [("x\ny", "a")], 3, [3], [("x", 3)], ["a\0b"]):
        with pytest.raises(ValueError, match=r"^paths must"):
            named_paths(wrong)  # type: ignore[arg-type]
    with notes_kept():
        assert [*system_files([Path("a.txt"), Path("b.txt")], {Path("a.txt"): "new"})] == ["new", "b"]
