"""Folders of results: one run at a time, whole or marked as torn, and nobody else's file is ever touched."""

from __future__ import annotations

import json
import os
import signal
import time
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from simstudy.running.folder_contents import verify
from simstudy.running.manifest import own_hash
from simstudy.running.results_folder import results_folder


def run(folder: Path, **files: str) -> None:
    """A run that writes these files, by name with __ for / and _ for a dot."""
    with results_folder(folder, "study x") as results:
        for name, content in files.items():
            path = results.gathered / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        results.publish({"study": {"seed": 1}})


def stopped(folder: Path) -> None:
    with results_folder(folder, "study x") as results:
        (results.gathered / "a.csv").write_text("2")
        raise RuntimeError("stop")


def names(folder: Path) -> set[str]:
    """The files of a folder, but for those that every run leaves there outside the manifest."""
    found = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}
    return found - {".simstudy.lock", "run.json"}


def claim(folder: Path, files: dict[str, str]) -> None:
    """Write a manifest that is whole and names these files with these hashes."""
    manifest: dict[str, Any] = {"results_of": "study x", "files": files}
    manifest["manifest"] = own_hash(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_run_replaces_what_an_earlier_one_wrote(tmp_path: Path) -> None:
    run(tmp_path / "out", a_csv="1", b_csv="2", figures__x_png="3", figures__x_svg="3")
    assert names(tmp_path / "out") == {"a.csv", "b.csv", "figures/x.png", "figures/x.svg", "manifest.json"}
    run(tmp_path / "out", a_csv="4", figures__y_png="5")
    assert names(tmp_path / "out") == {"a.csv", "figures/y.png", "manifest.json"}
    assert (tmp_path / "out" / "a.csv").read_text() == "4"
    assert verify(tmp_path / "out") == []
    with pytest.raises(ValueError, match=r"out must be a folder of its own, but .*out holds results of study x"):
        results_folder(tmp_path / "out", "a comparison").__enter__()
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert manifest["study"] == {"seed": 1}
    assert manifest["files"] == {"a.csv": sha256(b"4").hexdigest(), "figures/y.png": sha256(b"5").hexdigest()}


def test_a_page_that_is_written_again_leaves_the_large_table(tmp_path: Path) -> None:
    run(tmp_path, comparisons_parquet="1", a_csv="2")
    with results_folder(tmp_path, "study x") as results:
        (results.gathered / "a.csv").write_text("3")
        results.publish({"files": {"comparisons.parquet": sha256(b"1").hexdigest()}})
    assert names(tmp_path) == {"comparisons.parquet", "a.csv", "manifest.json"}
    assert verify(tmp_path) == []


def test_a_run_that_fails_changes_nothing_and_leaves_no_folder(tmp_path: Path) -> None:
    run(tmp_path / "out", a_csv="1")
    for folder in (tmp_path / "out", tmp_path / "new" / "deep"):
        with pytest.raises(RuntimeError, match="stop"):
            stopped(folder)
    assert (tmp_path / "out" / "a.csv").read_text() == "1"
    assert verify(tmp_path / "out") == []
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    "manifest",
    [
        None,
        {},
        {"files": {"thesis.csv": ""}},
        {"files": {"thesis.csv": "0" * 64}},
        {"tables": {"thesis": ""}, "figures": ["../thesis"]},
        {"files": {"../thesis.csv": sha256(b"words").hexdigest(), "cells/thesis.csv": sha256(b"words").hexdigest()}},
        [1],
    ],
)
def test_a_users_files_are_refused_and_a_foreign_manifest_does_not_lift_that(tmp_path: Path, manifest: object) -> None:
    out = tmp_path / "out"
    out.mkdir()
    for place in (out, tmp_path):
        (place / "thesis.csv").write_text("words")
    if manifest is not None:
        (out / "manifest.json").write_text(json.dumps(manifest))
    with pytest.raises(ValueError, match=r"out must be new, empty or a folder that simstudy wrote, but .* holds "):
        run(out, a_csv="1")
    assert (out / "thesis.csv").read_text() == (tmp_path / "thesis.csv").read_text() == "words"
    assert {path.name for path in out.iterdir()} <= {"thesis.csv", "manifest.json"}


def test_nothing_outside_the_folder_is_deleted(tmp_path: Path) -> None:
    """A manifest with the right hashes of files that lie elsewhere, by path and by link."""
    run(tmp_path / "out", a_csv="1")
    other = tmp_path / "thesis.csv"
    other.write_text("words")
    digest = sha256(b"words").hexdigest()
    outside = ("../thesis.csv", str(other), "figures/../../thesis.csv", "./../thesis.csv", "figures//../thesis.csv")
    claim(tmp_path / "out", {"a.csv": sha256(b"1").hexdigest(), **dict.fromkeys(outside, digest)})
    run(tmp_path / "out", b_csv="2")
    assert names(tmp_path / "out") == {"b.csv", "manifest.json"}
    assert other.read_text() == "words"
    (tmp_path / "out" / "link.csv").symlink_to(other)
    claim(tmp_path / "out", {"b.csv": sha256(b"2").hexdigest(), "link.csv": digest})
    with pytest.raises(ValueError, match="holds link.csv, which"):
        run(tmp_path / "out", a_csv="1")
    assert other.read_text() == "words"


def test_a_file_that_was_changed_is_the_users_now(tmp_path: Path) -> None:
    run(tmp_path / "out", a_csv="1", b_csv="2")
    (tmp_path / "out" / "b.csv").write_text("my notes")
    with pytest.raises(ValueError, match=r"holds b.csv, which is not of an earlier run or has been changed since"):
        run(tmp_path / "out", a_csv="1")


@pytest.mark.parametrize("name", ["a.csv", "figures/x.png", "manifest.json", "comparisons.parquet", "README.md"])
def test_verify_sees_each_flipped_byte(tmp_path: Path, name: str) -> None:
    # Each further hash in a manifest is more of the same.
    more = {} if name == "manifest.json" else {"figures__x_png": "123", "comparisons_parquet": "123", "README_md": "#"}
    run(tmp_path / "out", a_csv="1,2", **more)
    file = tmp_path / "out" / name
    content = file.read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        file.write_bytes(bytes(changed))
        assert verify(tmp_path / "out"), f"byte {place} of {name}"
    file.write_bytes(content)
    assert verify(tmp_path / "out") == []


def test_verify_names_what_is_wrong(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(out, a_csv="1", b_csv="2", comparisons_parquet="3")
    (out / "a.csv").unlink()
    (out / "comparisons.parquet").unlink()  # which may be left out of version control
    (out / "c.csv").write_text("new")
    (out / "cells").mkdir()
    (out / "cells" / "1f.cell").write_text("x")
    assert verify(out) == [
        "a.csv is missing",
        "c.csv is not of this run",
        "cells/1f.cell is damaged: it will be computed again",
    ]
    with pytest.raises(ValueError, match="no such folder"):
        verify(tmp_path / "none")
    with pytest.raises(ValueError, match=r"has no manifest.json: no run has finished there"):
        verify(tmp_path)


def held(folder: Path) -> int:
    """The process of a run that holds the folder, a copy of this one."""
    reads, writes = os.pipe()
    if (child := os.fork()) == 0:
        try:
            with results_folder(folder, "study x") as results:
                (results.gathered / "a.csv").write_text("1")
                os.write(writes, b"held")
                time.sleep(60)
        finally:
            os._exit(1)
    os.close(writes)
    with os.fdopen(reads) as told:
        assert told.read(4) == "held"
    return child


def test_the_second_run_in_a_folder_is_told_who_holds_it(tmp_path: Path) -> None:
    process = held(tmp_path / "out")
    try:
        with pytest.raises(ValueError, match=rf"out: another run \(process {process} on .+, since 2.*\) writes to"):
            run(tmp_path / "out", a_csv="2")
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    # A holder that is dead holds nothing, and what it gathered is swept.
    run(tmp_path / "out", b_csv="2")
    assert names(tmp_path / "out") == {"b.csv", "manifest.json"}


@pytest.mark.parametrize("refused", [True, False])
def test_the_lock_of_the_next_run_is_not_removed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: bool
) -> None:
    """Another run takes the folder the moment it is free: when one was refused, and when one left nothing in it."""
    out = tmp_path / "new" / "out"
    if refused:
        out.mkdir(parents=True)
        (out / "mine.txt").write_text("mine")
    taken: list[FileLock] = []

    class Watched(FileLock):  # type: ignore[misc]
        def release(self, force: bool = False) -> None:
            super().release(force)
            if not taken:
                out.mkdir(parents=True, exist_ok=True)
                taken.append(FileLock(out / ".simstudy.lock"))
                taken[0].acquire(timeout=0)

    with monkeypatch.context() as patched:
        patched.setattr("simstudy.running.results_folder.FileLock", Watched)
        with pytest.raises(ValueError, match="out must be new|stop"), results_folder(out, "study x"):
            raise ValueError("stop")
    with pytest.raises(ValueError, match="out: another run"), results_folder(out, "study x"):
        pass
    taken[0].release()
    assert out.is_dir()


def test_a_run_killed_while_files_are_moved_leaves_a_marked_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "out"
    run(out, a_csv="1", b_csv="1", c_csv="1")
    child = os.fork()
    if child == 0:
        moved = os.replace

        def replace(source: Path, target: Path) -> None:
            if Path(target).name == "c.csv":
                os.kill(os.getpid(), signal.SIGKILL)
            moved(source, target)

        os.replace = replace  # type: ignore[assignment]
        run(out, a_csv="2", c_csv="2", d_csv="2")
        os._exit(0)
    _, status = os.waitpid(child, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    assert (out / "a.csv").read_text() == "2"
    assert verify(out) == ["a run was stopped while it wrote here: run it again", "a.csv has been changed"]
    # A run that fails before it writes leaves the mark; one that ends well leaves a whole folder.
    with pytest.raises(RuntimeError, match="stop"), results_folder(out, "study x"):
        raise RuntimeError("stop")
    assert "a run was stopped while it wrote here: run it again" in verify(out)
    run(out, b_csv="3")
    assert names(out) == {"b.csv", "manifest.json"}
    assert verify(out) == []


def test_runs_at_once_never_mix(tmp_path: Path) -> None:
    """Copies of this process that begin run after run: each wins or is refused, and the folder is whole."""
    children = []
    for k in range(4):
        if (child := os.fork()) == 0:
            code = 1
            try:
                wins = 0
                while wins < 5:
                    try:
                        run(tmp_path / "out", a_csv=f"{k}", b_csv=f"{k}")
                        wins += 1
                    except ValueError as error:
                        if "another run" not in str(error):
                            raise
                code = 0
            finally:
                os._exit(code)
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 4
    assert verify(tmp_path / "out") == []
    assert (tmp_path / "out" / "a.csv").read_text() == (tmp_path / "out" / "b.csv").read_text()


SHIPPED = Path(__file__).parents[2] / "results"


def test_shipped_results_are_as_they_were_written() -> None:
    """But for what a later run of another version left in the working copy only."""
    folders = [path.parent for path in SHIPPED.glob("*/manifest.json")]
    wrong = [(folder.name, problem) for folder in folders for problem in verify(folder)]
    assert [told for told in wrong if not told[1].startswith("cells/")] == []
    assert len(folders) > 30


def test_what_lies_in_hidden_folders_is_left_alone(tmp_path: Path) -> None:
    for content in ("1", "2"):
        with results_folder(tmp_path, "study x") as results:
            (results.gathered / "a.csv").write_text(content)
            results.publish({})
        (tmp_path / ".ipynb_checkpoints").mkdir(exist_ok=True)
        (tmp_path / ".ipynb_checkpoints" / "a-checkpoint.csv").write_text("mine")
        assert verify(tmp_path) == []
    assert (tmp_path / ".ipynb_checkpoints" / "a-checkpoint.csv").read_text() == "mine"
