"""A folder of results: one run at a time writes to it, all of a run appears at once, and nothing else is touched.

What a run makes is gathered in a folder beside its place and moved when all of it is there. The manifest comes last: it
names every file with its hash, so that a folder says of itself whether it is whole (`verify`). Two files are left out,
and are not under version control: index.html, which shows what the other files hold, and run.json, which says when and
where the run was and how long it took. A folder is whole without them.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout

from simstudy.files.own_pages import INDEX
from simstudy.files.whole import named_in_errors
from simstudy.running.cells import SUFFIX
from simstudy.running.folder_contents import (
    CELLS,
    COMPARISONS,
    MARKER,
    being_moved,
    digest_of,
    folder_at,
    own_files,
    require_own,
)
from simstudy.running.manifest import MANIFEST, RUN, json_object, of_this_run, other_files, own_hash

# The lock of a run, where it gathers what it makes, and the lock of a shard.
_LOCK = ".simstudy.lock"
_GATHERED = ".simstudy.new"
_SHARD = ".simstudy.shard-{}.lock"


@dataclass(frozen=True)
class ResultsFolder:
    """A folder of results that this process alone writes to."""

    path: Path
    #: Where what is made is put until all of it is there.
    gathered: Path
    #: What the results are of: a study, or a comparison.
    of: str

    @property
    def cells(self) -> Path:
        """Where finished cells are kept."""
        return self.path / CELLS

    def publish(self, manifest: Mapping[str, Any], seconds: Mapping[str, float] | None = None) -> str:
        """Move what was gathered into its place, and remove what an earlier run left and this one has not.

        Last comes the manifest, with the hashes of all files and one of itself. `seconds` (stage -> wall time) go to
        run.json; None: this is no run, and run.json stays. Returned is what is to be said of an earlier run with other
        versions (`other_files`).
        """
        made = {
            path.relative_to(self.gathered).as_posix(): digest_of(path)
            for path in sorted(self.gathered.rglob("*"))
            if path.is_file() and path != self.gathered / INDEX
        }
        moved = list(made)
        if COMPARISONS in manifest.get("files", ()):
            # The page is written again: the large table stays where it is, if it is there.
            made[COMPARISONS] = manifest["files"][COMPARISONS]
        files = {name: made[name] for name in sorted(made, key=Path)}
        content = {"results_of": self.of, **manifest, "files": files}
        content["manifest"] = own_hash(content)
        written = self.gathered / MANIFEST
        with named_in_errors(written):
            # Before anything is moved: from here on hardly any room on the disk is needed.
            written.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
            if seconds is not None:
                run = of_this_run(seconds)
                (self.gathered / RUN).write_text(json.dumps(run, indent=2) + "\n", encoding="utf-8")
        told = other_files(json_object(self.path / MANIFEST), content)
        stale = own_files(self.path) - set(made)
        _mark(self.path, being_moved(self.path) | made)
        for name in moved:
            target = self.path / name
            target.parent.mkdir(exist_ok=True)
            os.replace(self.gathered / name, target)
        for name in stale:
            (self.path / name).unlink(missing_ok=True)
        for name in (INDEX, RUN):
            if (self.gathered / name).is_file():
                os.replace(self.gathered / name, self.path / name)
        os.replace(written, self.path / MANIFEST)
        # Nothing is being moved any more. To say so by another marker would need room on the disk.
        (self.path / MARKER).unlink()
        return told


@contextmanager
def results_folder(path: str | Path, of: str) -> Iterator[ResultsFolder]:
    """Take a folder for the results of one run; it is made where there is none.

    `of` says in words what they are of: "study quickstart". A ValueError is raised where the folder holds files that
    are not of an earlier run of the same or have been changed since, where another run writes to it, and where it
    cannot be written to.
    """
    folder = folder_at(path)
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / _LOCK)
        lock.acquire(timeout=0)
    except Timeout:
        raise ValueError(f"out: another run {_holder(folder)} writes to {folder}") from None
    except OSError as error:
        _leave_nothing(new)
        raise ValueError(f"out: can not write to {folder} ({error.strerror})") from None
    gathered = folder / _GATHERED
    try:
        _check_no_shard(folder)
        # Only now: while another run moves its files, they are in nobody's manifest.
        require_own(folder, of)
    except ValueError:
        _unlink(folder / _LOCK)
        lock.release()
        raise
    try:
        shutil.rmtree(gathered, ignore_errors=True)
        gathered.mkdir()
        _mark(folder, being_moved(folder))
        for half in (folder / CELLS).glob(f".*.*{SUFFIX}"):
            # What a run was writing when it was killed.
            half.unlink(missing_ok=True)
        yield ResultsFolder(folder, gathered, of)
    finally:
        shutil.rmtree(gathered, ignore_errors=True)
        if not being_moved(folder):
            # Otherwise it says what is torn, until a run ends well.
            (folder / MARKER).unlink(missing_ok=True)
        with suppress(OSError):
            # Only where it is empty: nothing was finished.
            (folder / CELLS).rmdir()
        _leave_nothing(new)
        lock.release()


@contextmanager
def shard_folder(path: str | Path, of: str, shard: tuple[int, int]) -> Iterator[Path]:
    """The folder of cells of a run, for one of several processes that each compute a share of them.

    A ValueError is raised as by `results_folder`, and where the same shard is at work already.
    """
    folder = folder_at(path)
    (folder / CELLS).mkdir(parents=True, exist_ok=True)
    require_own(folder, of)
    k, n = shard
    lock = FileLock(folder / _SHARD.format(f"{k}-of-{n}"))
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise ValueError(f"shard {k}/{n} is at work already in {folder}") from None
    try:
        # After its own lock is taken: a run looks for those of shards after it took its own.
        if _is_held(folder / _LOCK):
            raise ValueError(f"out: a run {_holder(folder)} writes to {folder}")
        yield folder / CELLS
    finally:
        _unlink(Path(lock.lock_file))
        lock.release()


def _check_no_shard(folder: Path) -> None:
    """Raise a ValueError where a shard is at work."""
    for path in sorted(folder.glob(_SHARD.format("*"))):
        if _is_held(path):
            which = path.name.removeprefix(_SHARD.partition("{")[0]).removesuffix(".lock").replace("-of-", "/")
            raise ValueError(f"out: shard {which} is still at work in {folder}; run again when all shards have ended")


def _is_held(path: Path) -> bool:
    if not path.exists():
        return False
    lock = FileLock(path)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        return True
    lock.release()
    return False


def _mark(folder: Path, moving: Mapping[str, str]) -> None:
    since = datetime.now(UTC).isoformat("T", "seconds")
    marker = {"process": os.getpid(), "host": socket.gethostname(), "since": since, "moving": dict(moving)}
    temporary = folder / _GATHERED / MARKER
    with named_in_errors(folder / MARKER, instead_of=temporary):
        temporary.write_text(json.dumps(marker) + "\n", encoding="utf-8")
        os.replace(temporary, folder / MARKER)


def _holder(folder: Path) -> str:
    marker = json_object(folder / MARKER) or {}
    return f"(process {marker.get('process', '?')} on {marker.get('host', '?')}, since {marker.get('since', '?')})"


def _unlink(lock: Path) -> None:
    """Remove the file of a lock that is held: once it is released, it may be another run's."""
    # Some systems do not remove open files: there it stays.
    with suppress(OSError):
        lock.unlink(missing_ok=True)


def _leave_nothing(new: list[Path]) -> None:
    """Remove folders that were made for a run that left nothing in them, while it still holds them."""
    for folder in filter(Path.exists, new):
        if any(path.name != _LOCK for path in folder.iterdir()):
            return
        _unlink(folder / _LOCK)
        try:
            folder.rmdir()
        except OSError:
            # Another run has come.
            return
