"""Folders of results after runs that were stopped, refused or had nothing to say: what is kept, removed and told."""

from __future__ import annotations

import errno
import json
import os
import socket
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from simstudy.running import results_folder as module
from simstudy.running.folder_contents import require_own, verify
from simstudy.running.results_folder import results_folder
from tests.running.test_results_folder import claim, names, run

STOPPED = "a run was stopped while it wrote here: run it again"


def torn(folder: Path, last: str, **files: str) -> None:
    """A run that is stopped when it would move this file."""
    moved = os.replace

    def replace(source: Path, target: Path) -> None:
        if Path(target).name == last:
            raise RuntimeError("stopped")
        moved(source, target)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(module.os, "replace", replace)
        with pytest.raises(RuntimeError, match="stopped"):
            run(folder, **files)


def test_what_every_torn_run_has_moved_is_simstudys_own(tmp_path: Path) -> None:
    """Torn twice: the second marker still names what the first run moved, and a whole run removes all of it."""
    out = tmp_path / "out"
    run(out, a_csv="1", b_csv="1")
    torn(out, "d.csv", a_csv="2", c_csv="2", d_csv="2")
    torn(out, "f.csv", e_csv="3", f_csv="3")
    assert names(out) == {"a.csv", "b.csv", "c.csv", "e.csv", "manifest.json", ".simstudy.running"}
    assert verify(out) == [STOPPED, "a.csv has been changed", "c.csv is not of this run", "e.csv is not of this run"]
    require_own(out, "study x")
    torn(out, "manifest.json", g_csv="4")
    assert verify(out)[0] == STOPPED
    run(out, a_csv="5")
    assert names(out) == {"a.csv", "manifest.json"}
    assert verify(out) == []
    # A file that somebody changed in between is not simstudy's any more.
    torn(out, "i.csv", h_csv="6", i_csv="6")
    (out / "h.csv").write_text("mine")
    with pytest.raises(ValueError, match=r"holds h.csv, which is not of an earlier run or has been changed since$"):
        run(out, a_csv="7")
    assert (out / "h.csv").read_text() == "mine"


def test_the_marker_names_the_run_and_the_manifest_all_that_it_made(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with results_folder(out, "study x") as results:
        assert (results.path, results.cells, results.of) == (out, out / "cells", "study x")
        marker = json.loads((out / ".simstudy.running").read_text())
        assert (marker["process"], marker["host"]) == (os.getpid(), socket.gethostname())
        assert marker["since"].endswith("+00:00")
        with pytest.raises(
            ValueError,
            match=rf"^out: another run \(process {os.getpid()} on {socket.gethostname()}, since .*\) writes to {out}$",
        ):
            results_folder(out, "study x").__enter__()
        (results.gathered / "figures").mkdir()
        (results.gathered / "figures" / "x.svg").write_text("1")
        (results.gathered / "README.md").write_text("2")
        results.publish({"study": {"name": "x"}}, {"data": 1.5})
    manifest = json.loads((out / "manifest.json").read_text())
    own = manifest.pop("manifest")
    assert manifest == {
        "results_of": "study x",
        "study": {"name": "x"},
        "files": {"README.md": sha256(b"2").hexdigest(), "figures/x.svg": sha256(b"1").hexdigest()},
    }
    assert own == sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()
    assert json.loads((out / "run.json").read_text())["seconds"]["data"] == 1.5
    # A folder is whole without what is said of the run, and another file of that name is not written over.
    (out / "run.json").unlink()
    assert verify(out) == []
    (out / "run.json").write_text("{}")
    with pytest.raises(ValueError, match=r"holds run\.json, which is not of an earlier run"):
        require_own(out, "study x")


def test_finished_cells_stay_and_an_empty_folder_of_them_does_not(tmp_path: Path) -> None:
    for content in ("", "whole"):
        with results_folder(tmp_path, "study x") as results:
            results.cells.mkdir(exist_ok=True)
            (results.gathered / "a.csv").write_text("1")
            if content:
                (results.cells / "1f.cell").write_text(content)
            results.publish({})
        assert (tmp_path / "cells").exists() == bool(content)
        assert not (tmp_path / ".simstudy.new").exists()
        assert not (tmp_path / ".simstudy.running").exists()
    # What a killed run gathered is not published by the next.
    (tmp_path / ".simstudy.new").mkdir()
    (tmp_path / ".simstudy.new" / "b.csv").write_text("of a killed run")
    run(tmp_path, a_csv="2")
    assert "b.csv" not in names(tmp_path)


def test_half_written_cells_are_swept(tmp_path: Path) -> None:
    run(tmp_path / "out", a_csv="1")
    cells = tmp_path / "out" / "cells"
    cells.mkdir()
    (cells / ".1f.0123abc.cell").write_text("half")
    (cells / "1f.cell").write_text("whole")
    run(tmp_path / "out", a_csv="1")
    assert [path.name for path in cells.iterdir()] == ["1f.cell"]


def test_only_the_working_files_of_a_run_may_lie_among_its_cells(tmp_path: Path) -> None:
    run(tmp_path, a_csv="1")
    for name in (
        "cells/1f.cell", "cells/1f.error.txt", "cells/.arrays-x-1-y", "cells/seconds.txt", ".hidden", ".git/config"
    ):  # fmt: skip
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert verify(tmp_path) == ["cells/1f.cell is damaged: it will be computed again"]
    require_own(tmp_path, "study x")
    strangers = ["cells/notes.txt", "deep", "deep/1f.cell", "figures/notes.txt"]
    for name, told in {
        "figures/notes.txt": "figures/notes.txt",
        "cells/notes.txt": "cells/notes.txt and 1 more",
        "deep/1f.cell": "cells/notes.txt and 3 more",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
        with pytest.raises(ValueError, match=rf"but {tmp_path} holds {told}, which is not of an earlier run"):
            require_own(tmp_path, "study x")
    assert verify(tmp_path)[:-1] == [f"{name} is not of this run" for name in strangers]


def test_a_file_is_no_folder_and_a_folder_may_be_new(tmp_path: Path) -> None:
    require_own(tmp_path / "none", "study x")
    (tmp_path / "file").touch()
    for asked in (require_own, run):
        with pytest.raises(ValueError, match=f"^out must be a folder, but {tmp_path / 'file'} is a file$"):
            asked(tmp_path / "file", *["study x"] * (asked is require_own))  # type: ignore[operator]
    run(tmp_path / "out", a_csv="1")
    with pytest.raises(ValueError, match=r"^out must be a folder of its own, but .*out holds results of study x$"):
        require_own(tmp_path / "out", "study y")


@pytest.mark.parametrize(
    "name", ["notes.txt", "a.json", "a.png", "a.svg", "figures/a.csv", "deep/a.csv", "figures/deep/a.png", "x.csv/a"]
)
def test_files_that_no_run_writes_are_not_removed_whatever_a_manifest_says(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / name).write_text("mine")
    claim(tmp_path, {name: sha256(b"mine").hexdigest()})
    with pytest.raises(ValueError, match="out must be new, empty or a folder that simstudy wrote"):
        run(tmp_path, a_csv="1")
    assert (tmp_path / name).read_text() == "mine"


def test_a_manifest_that_was_changed_is_told_first(tmp_path: Path) -> None:
    run(tmp_path, a_csv="1", b_csv="2")
    (tmp_path / "b.csv").write_text("3")
    changed = "manifest.json has been changed, or is not one of simstudy's"
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    for content, others in (
        (json.dumps({**manifest, "study": {"seed": 2}}), ["b.csv has been changed"]),
        ("[]", ["a.csv is not of this run", "b.csv is not of this run"]),
    ):
        (tmp_path / "manifest.json").write_text(content)
        assert verify(tmp_path) == [changed, *others]


def test_a_folder_that_cannot_be_written_to_is_told_and_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    acquire: Callable[..., Any] = FileLock.acquire
    monkeypatch.setattr(FileLock, "acquire", refused)
    with pytest.raises(ValueError, match=r"^out: can not write to .*deep \(Read-only file system\)$"):
        run(tmp_path / "new" / "deep", a_csv="1")
    assert not (tmp_path / "new").exists()
    monkeypatch.setattr(FileLock, "acquire", acquire)
    # A run that is refused lets go of the folder, and leaves no trace of itself.
    (tmp_path / "mine.txt").touch()
    for _ in range(2):
        with pytest.raises(ValueError, match="out must be new, empty"):
            run(tmp_path, a_csv="1")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
