"""Folders of results: one run at a time, whole or not read at all, and nobody else's file is ever touched."""

from __future__ import annotations

import errno
import json
import os
import signal
import time
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from simstudy.files.whole import GENERATOR
from simstudy.running import folders
from simstudy.running.folders import json_object, own_hash, require_own, results_folder, shard_folder, verify

STOPPED = "has no manifest.json: a run was stopped while it wrote here: run it again"


def run(folder: Path, manifest: dict[str, Any] | None = None, **files: str) -> None:
    """A run that writes these files, by name with __ for / and _ for a dot."""
    with results_folder(folder, "study x") as results:
        for name, content in files.items():
            path = results.gathered / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(exist_ok=True)
            path.write_text(content)
        results.publish(manifest or {"study": {"seed": 1}}, {})


def stopped(folder: Path) -> None:
    with results_folder(folder, "study x") as results:
        (results.gathered / "a.csv").write_text("2")
        results.cells.mkdir(exist_ok=True)
        raise RuntimeError("stop")


def torn(folder: Path, last: str, **files: str) -> None:
    """A run that is stopped when it would move this file."""
    moved = os.replace

    def replace(source: Path, target: Path) -> None:
        if Path(target) == folder / last:
            raise RuntimeError("stopped")
        moved(source, target)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(folders.os, "replace", replace)
        with pytest.raises(RuntimeError, match="stopped"):
            run(folder, **files)


def names(folder: Path) -> set[str]:
    """The files of a folder, but for run.json."""
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()} - {"run.json"}


def claim(folder: Path, files: dict[str, str]) -> None:
    """Write a manifest that is whole and names these files with these hashes."""
    manifest: dict[str, Any] = {"results_of": "study x", "files": files}
    manifest["manifest"] = own_hash(manifest)
    (folder / "manifest.json").write_text(json.dumps(manifest))


def test_a_run_replaces_what_an_earlier_one_wrote(tmp_path: Path) -> None:
    out = tmp_path / "out"
    run(out, a_csv="1", b_csv="2", figures__x_png="3", figures__x_svg="3")
    assert names(out) == {"a.csv", "b.csv", "figures/x.png", "figures/x.svg", "manifest.json"}
    run(out, a_csv="4", figures__y_png="5")
    assert names(out) == {"a.csv", "figures/y.png", "manifest.json"}
    assert (out / "a.csv").read_text() == "4"
    assert verify(out) == []
    manifest = json.loads((out / "manifest.json").read_text())
    assert (manifest["results_of"], manifest["study"]) == ("study x", {"seed": 1})
    assert manifest["files"] == {"a.csv": sha256(b"4").hexdigest(), "figures/y.png": sha256(b"5").hexdigest()}
    rest = {name: value for name, value in manifest.items() if name != "manifest"}
    assert manifest["manifest"] == sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()
    assert {"python", "numpy"} <= manifest["versions"].keys()
    (out / "run.json").unlink()
    assert verify(out) == [], "a folder is whole without what is said of the run"


def test_a_page_that_is_written_again_leaves_the_large_table(tmp_path: Path) -> None:
    with results_folder(tmp_path, "study x") as results:
        for name in ("comparisons.csv.gz", "a.csv"):
            (results.gathered / name).write_text("1")
        results.publish({}, {})
    about = (tmp_path / "run.json").read_text()
    with results_folder(tmp_path, "study x") as results:
        (results.gathered / "a.csv").write_text("3")
        results.publish({"versions": {"numpy": "0"}})
    assert names(tmp_path) == {"comparisons.csv.gz", "a.csv", "manifest.json"}
    assert verify(tmp_path) == []
    assert (tmp_path / "run.json").read_text() == about
    assert json.loads((tmp_path / "manifest.json").read_text())["versions"] == {"numpy": "0"}, "which made the tables"


def test_results_are_unchanged_where_tables_and_settings_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever versions made them; a figure is one of the files that must be whole."""
    same = {"study": {"seed": 1}}

    def unchanged(manifest: dict[str, Any] = same, **tables: str) -> bool:
        with results_folder(tmp_path, "study x") as results:
            for name, content in tables.items():
                (results.gathered / f"{name}.csv").write_text(content)
            return results.is_unchanged(manifest)

    run(tmp_path, a_csv="1", b_csv="2", figures__x_png="3")
    before = (tmp_path / "manifest.json").read_bytes()
    monkeypatch.setattr(folders, "_versions", lambda: {"numpy": "0"})
    assert not unchanged(a="1", b="2"), "its page for a browser is not there"
    run(tmp_path, a_csv="1", b_csv="2", figures__x_png="3")
    assert (tmp_path / "manifest.json").read_bytes() == before
    (tmp_path / "index.html").write_text(GENERATOR)
    assert unchanged(a="1", b="2")
    assert not unchanged(a="1", b="3")
    assert not unchanged(a="1")
    assert not unchanged(a="1", b="2", c="3")
    assert not unchanged({"study": {"seed": 2}}, a="1", b="2")
    (tmp_path / "figures" / "x.png").unlink()
    assert not unchanged(a="1", b="2")


def test_a_run_that_fails_changes_nothing_and_leaves_no_folder(tmp_path: Path) -> None:
    run(tmp_path / "out", a_csv="1")
    for folder in (tmp_path / "out", tmp_path / "new" / "deep"):
        with pytest.raises(RuntimeError, match="stop"):
            stopped(folder)
    assert (tmp_path / "out" / "a.csv").read_text() == "1"
    assert verify(tmp_path / "out") == []
    assert not (tmp_path / "new").exists()


def test_a_file_that_somebody_changes_while_a_run_works_is_not_lost(tmp_path: Path) -> None:
    run(tmp_path, README_md="1")
    with results_folder(tmp_path, "study x") as results:
        (results.gathered / "README.md").write_text("2")
        (tmp_path / "README.md").write_text("my notes")
        with pytest.raises(ValueError, match=r"README\.md in .* was changed while the run worked"):
            results.publish({}, {})
    assert (tmp_path / "README.md").read_text() == "my notes"


@pytest.mark.parametrize("last", ["a.csv", "d.csv", "manifest.json"])
def test_a_torn_folder_is_not_read_and_the_next_run_makes_it_whole(tmp_path: Path, last: str) -> None:
    run(tmp_path, a_csv="1", b_csv="1")
    for _ in range(2):
        torn(tmp_path, last, a_csv="2", c_csv="2", d_csv="2")
        with pytest.raises(ValueError, match=STOPPED):
            verify(tmp_path)
        require_own(tmp_path, "study x")
    run(tmp_path, e_csv="3")
    assert names(tmp_path) == {"e.csv", "manifest.json"}
    assert verify(tmp_path) == []


def test_a_first_run_that_is_torn_is_made_whole_and_changed_files_are_the_users(tmp_path: Path) -> None:
    torn(tmp_path, "c.csv", a_csv="1", b_csv="1", c_csv="1")
    (tmp_path / "b.csv").write_text("mine")
    with pytest.raises(ValueError, match=r"holds b.csv, which is not of an earlier run or has been changed since$"):
        run(tmp_path, a_csv="2")
    (tmp_path / "b.csv").unlink()
    run(tmp_path, d_csv="2")
    assert names(tmp_path) == {"d.csv", "manifest.json"}


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
    assert {path.name for path in out.iterdir()} <= {"thesis.csv", "manifest.json"}, "and no trace of the run"


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
    (tmp_path / "out" / "link.csv").symlink_to(other)
    claim(tmp_path / "out", {"b.csv": sha256(b"2").hexdigest(), "link.csv": digest})
    with pytest.raises(ValueError, match="holds link.csv, which"):
        run(tmp_path / "out", a_csv="1")
    (tmp_path / "out" / "link.csv").unlink()
    (tmp_path / "out" / "figures").symlink_to(tmp_path)
    with pytest.raises(ValueError, match="holds figures, which"):
        run(tmp_path / "out", figures__thesis_csv="1")
    assert other.read_text() == "words"


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


@pytest.mark.parametrize("name", ["a.csv", "figures/x.png", "manifest.json", "README.md"])
def test_verify_sees_each_flipped_byte(tmp_path: Path, name: str) -> None:
    # Each further hash in a manifest is more of the same.
    more = {} if name == "manifest.json" else {"figures__x_png": "123", "README_md": "#"}
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
    run(out, a_csv="1", b_csv="2")
    (out / "a.csv").unlink()
    for name in ("c.csv", "cells/1f.npz", "cells/1f.error.txt", "cells/.at-1f", ".git/config", "cells/notes.txt"):
        (out / name).parent.mkdir(exist_ok=True)
        (out / name).write_text("new")
    wrong = ["a.csv is missing", "c.csv is not of this run", "cells/notes.txt is not of this run"]
    assert verify(out) == [*wrong, "cells/1f.npz is damaged: it will be computed again"]
    assert verify(out, cells=False) == wrong
    with pytest.raises(ValueError, match=rf"but {out} holds c.csv and 1 more, which is not of an earlier run"):
        require_own(out, "study x")
    with pytest.raises(ValueError, match="no such folder"):
        verify(tmp_path / "none")
    with pytest.raises(ValueError, match=r"has no manifest.json: no run has finished there"):
        verify(tmp_path)


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


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero"), lambda path: path.mkdir()])
def test_a_pipe_a_device_or_a_folder_is_no_manifest(tmp_path: Path, make: Callable[[Path], None]) -> None:
    make(tmp_path / "manifest.json")
    assert json_object(tmp_path / "manifest.json") is None
    with pytest.raises(ValueError, match="no run has finished there"):
        verify(tmp_path)
    with pytest.raises(ValueError, match=r"holds manifest\.json, which"):
        run(tmp_path, a_csv="1")


def test_results_of_others_files_and_names_of_files_are_no_folders(tmp_path: Path) -> None:
    run(tmp_path / "out", a_csv="1")
    with pytest.raises(ValueError, match=r"out must be a folder of its own, but .*out holds results of study x$"):
        results_folder(tmp_path / "out", "a comparison").__enter__()
    with pytest.raises(ValueError, match="^out must be a folder, but .*a.csv is a file$"):
        run(tmp_path / "out" / "a.csv")
    with pytest.raises(ValueError, match=r"^out must be the name of a folder, not of a file such as b\.csv$"):
        run(tmp_path / "b.csv")
    (tmp_path / "out" / "run.json").write_text("{}")
    with pytest.raises(ValueError, match=r"holds run\.json, which is not of an earlier run"):
        require_own(tmp_path / "out", "study x")


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


def test_one_run_at_a_time_and_a_dead_one_holds_nothing(tmp_path: Path) -> None:
    process = held(tmp_path / "out")
    try:
        for second in (lambda: run(tmp_path / "out", a_csv="2"), lambda: shard(tmp_path / "out", 1)):
            with pytest.raises(ValueError, match=f"out: (another|a) run writes to {tmp_path / 'out'}"):
                second()
    finally:
        os.kill(process, signal.SIGKILL)
        os.waitpid(process, 0)
    run(tmp_path / "out", b_csv="2")
    assert names(tmp_path / "out") == {"b.csv", "manifest.json"}, "what it gathered is swept"


def shard(folder: Path, k: int, during: Callable[[], object] = lambda: None) -> None:
    with shard_folder(folder, "study x", (k, 3)) as cells:
        assert cells.is_dir()
        during()


def test_shards_work_side_by_side_and_a_run_waits_for_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    shard(out, 1, lambda: shard(out, 2))
    with pytest.raises(ValueError, match=f"shard 1/3 is at work already in {out}"):
        shard(out, 1, lambda: shard(out, 1))
    with pytest.raises(ValueError, match=f"out: shard 2/3 is still at work in {out}"):
        shard(out, 2, lambda: run(out, a_csv="1"))
    run(out, a_csv="1")
    assert names(out) == {"a.csv", "manifest.json"}


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


def test_a_folder_that_cannot_be_written_to_is_told_and_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(errno.EROFS, "Read-only file system")

    monkeypatch.setattr(FileLock, "acquire", refused)
    with pytest.raises(ValueError, match=r"^out: can not write to .*deep \(Read-only file system\)$"):
        run(tmp_path / "new" / "deep", a_csv="1")
    assert not (tmp_path / "new").exists()


SHIPPED = Path(__file__).parents[2] / "results"


def test_shipped_results_are_as_they_were_written() -> None:
    wrong = {path.parent.name: verify(path.parent, cells=False) for path in SHIPPED.glob("*/manifest.json")}
    assert {name: problems for name, problems in wrong.items() if problems} == {}
    assert len(wrong) > 30
