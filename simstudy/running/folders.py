"""A folder of results: one run at a time writes to it, all of a run appears at once, and nothing else is touched.

A run gathers its files in a hidden folder, takes the old manifest away, moves the files to their places, and the new
manifest last: a folder without a manifest is not read. The manifest names every file with its hash. What is not in it
is not under version control: index.html, run.json (when and where the run was), all pairs, and cells/.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from filelock import FileLock, Timeout
from threadpoolctl import threadpool_info

from simstudy.files.whole import INDEX, atomic_path, is_ours
from simstudy.running.cell_files import SUFFIX, damaged
from simstudy.running.jobs import n_workers
from simstudy.validation import InputError

MANIFEST, RUN = "manifest.json", "run.json"

#: All pairs: a large file.
COMPARISONS = "comparisons.csv.gz"

#: Where finished cells are kept.
CELLS = "cells"

# What a manifest does not name.
_UNSEALED = (INDEX, RUN, COMPARISONS)

# Whose versions a manifest has.
_PACKAGES = (
    "simstudy", "numpy", "scipy", "numba", "scikit-learn", "pandas", "pyarrow", "joblib", "matplotlib", "seaborn",
)  # fmt: skip

# The lock of a run and of a shard, where a run gathers its files, and the manifest that was there before it.
_LOCK, _SHARD, _GATHERED, _BEFORE = ".simstudy.lock", ".simstudy.shard-{}.lock", ".simstudy.new", "before.json"

# Endings that nobody gives a folder: a table or a figure was wanted.
_OF_FILES = (".csv", ".json", ".md", ".pdf", ".png", ".svg", ".tex", ".txt", ".xml")

# What a run may write, and so may remove; and what it may have among its cells.
_OURS = re.compile(r"[^/\\]+\.(?:csv|md)|figures/[^/\\]+\.(?:png|svg)|paper/[^/\\]+\.(?:tex|bib|md|pdf|png|svg)")
_WORKING = re.compile(rf"{CELLS}/[^/]*(?:{re.escape(SUFFIX)}|\.error\.txt)|{CELLS}/\..*")


@dataclass(frozen=True)
class ResultsFolder:
    """A folder of results that this process alone writes to."""

    path: Path
    #: Where files are put until all of them are there.
    gathered: Path
    #: What the results are of: a study, or a comparison.
    of: str

    @property
    def cells(self) -> Path:
        """Where finished cells are kept."""
        return self.path / CELLS

    def is_unchanged(self, manifest: Mapping[str, Any]) -> bool:
        """Whether what is gathered so far, and this manifest, are what is there, whatever versions made it."""
        old = json_object(self.path / MANIFEST) or {}
        made = _hashes_in(self.gathered)
        left = ("files", "manifest", "versions", "results_of")
        return (
            {name: value for name, value in old.items() if name not in left} == json.loads(json.dumps(manifest))
            and (self.path / INDEX).is_file()
            and made.items() <= old["files"].items()
            and [name for name in made if name.endswith(".csv")] == [n for n in old["files"] if n.endswith(".csv")]
            and not verify(self.path, cells=False)
        )

    def publish(self, manifest: Mapping[str, Any], seconds: Mapping[str, float] | None = None) -> None:
        """Move what was gathered into its place, and remove what an earlier run left and this one has not.

        `manifest` is completed by the versions, if it has none, and by the hashes of all files and of itself. The
        versions of before stay if nothing else has changed. `seconds` (stage -> wall time) go to run.json; None: this
        is no run, and run.json stays.
        """
        made = _hashes_in(self.gathered)
        old, before = own_files(self.path), json_object(self.path / MANIFEST) or {}
        if changed := [name for name in made if (self.path / name).exists() and name not in old]:
            raise InputError(
                f"out: {changed[0]} in {self.path} was changed while the run worked: move it, and run again"
            )
        if seconds is not None and not (self.gathered / COMPARISONS).exists():
            old.add(COMPARISONS)
        # A page that is written again leaves the versions that made the tables.
        content = {"results_of": self.of, "versions": _versions(), **manifest, "files": made}
        if {**before, "versions": 0, "manifest": 0} == json.loads(
            json.dumps({**content, "versions": 0, "manifest": 0})
        ):
            content["versions"] = before["versions"]
        content["manifest"] = own_hash(content)
        run = {} if seconds is None else {RUN: _about_run(seconds)}
        # All that needs room on the disk comes before anything is moved.
        for name in made:
            (self.path / name).parent.mkdir(exist_ok=True)
        for name, text in {**run, MANIFEST: content}.items():
            with atomic_path(self.gathered / name) as temporary:
                temporary.write_text(json.dumps(text, indent=2) + "\n", encoding="utf-8")
        if (self.path / MANIFEST).exists():
            os.replace(self.path / MANIFEST, self.gathered / _BEFORE)
        for name in (*made, *_UNSEALED):
            if (self.gathered / name).is_file():
                os.replace(self.gathered / name, self.path / name)
        for name in old - set(made):
            (self.path / name).unlink(missing_ok=True)
        os.replace(self.gathered / MANIFEST, self.path / MANIFEST)


@contextmanager
def results_folder(path: str | Path, of: str) -> Iterator[ResultsFolder]:
    """Take a folder for the results of one run; it is made if it is not there.

    `of` says in words what they are of: "study quickstart". A ValueError is raised where the folder holds files that
    are not of an earlier run of the same or have been changed since, where another run or shard writes to it, and where
    it cannot be written to.
    """
    folder = folder_at(path)
    gathered = folder / _GATHERED
    with _locked(folder, _LOCK, f"out: another run writes to {folder}"):
        try:
            for lock in sorted(folder.glob(_SHARD.format("*"))):
                shard = lock.name[len(".simstudy.shard-") : -len(".lock")].replace("-of-", "/")
                with _locked(folder, lock.name, f"out: shard {shard} is still at work in {folder}: wait for its end"):
                    pass
            require_own(folder, of)
            if (gathered / MANIFEST).exists() and not (folder / MANIFEST).exists():
                # A run was killed while it moved its files: what is there is torn.
                for name in own_files(folder):
                    (folder / name).unlink()
            shutil.rmtree(gathered, ignore_errors=True)
            gathered.mkdir()
            yield ResultsFolder(folder, gathered, of)
        finally:
            if not (gathered / MANIFEST).exists() or (folder / MANIFEST).exists():
                shutil.rmtree(gathered, ignore_errors=True)
            for name in (CELLS, "figures", "paper"):
                with suppress(OSError):
                    # Only where it is empty: nothing was finished.
                    (folder / name).rmdir()


@contextmanager
def shard_folder(path: str | Path, of: str, shard: tuple[int, int]) -> Iterator[Path]:
    """The folder of cells of a run, for one of several processes that each compute a share of them.

    A ValueError is raised as by `results_folder`, and where the same shard is at work already.
    """
    folder, (k, n) = folder_at(path), shard
    with _locked(folder, _SHARD.format(f"{k}-of-{n}"), f"shard {k}/{n} is at work already in {folder}"):
        # After its own lock is taken: a run looks for those of shards after it took its own.
        with _locked(folder, _LOCK, f"out: a run writes to {folder}"):
            require_own(folder, of)
        (folder / CELLS).mkdir(exist_ok=True)
        yield folder / CELLS


@contextmanager
def _locked(folder: Path, name: str, otherwise: str) -> Iterator[None]:
    """Hold a lock in a folder, which is made if it is not there, and removed again if nothing stays in it."""
    new = [each for each in (folder, *folder.parents) if not each.exists()]
    lock = FileLock(folder / name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
        yield
    except Timeout:
        raise InputError(otherwise) from None
    except OSError as error:
        if lock.is_locked:
            raise
        raise InputError(f"out: can not write to {folder} ({error.strerror})") from None
    finally:
        if lock.is_locked:
            with suppress(OSError):
                Path(lock.lock_file).unlink()
            lock.release()
        with suppress(OSError):
            for each in filter(Path.exists, new):
                each.rmdir()


def verify(path: str | Path, *, cells: bool = True) -> list[str]:
    """Problems of a folder of results, a line each: files that are missing, changed or unknown, damaged cells.

    A ValueError is raised where there is no such folder, or no manifest in it.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise InputError(f"no such folder: {folder}")
    manifest = json_object(folder / MANIFEST)
    if not (folder / MANIFEST).is_file():
        stopped = (folder / _GATHERED / MANIFEST).exists()
        why = "a run was stopped while it wrote here: run it again" if stopped else "no run has finished there"
        raise InputError(f"{folder} has no {MANIFEST}: {why}")
    problems = []
    if manifest is None or manifest.get("manifest") != own_hash(manifest):
        problems.append(f"{MANIFEST} has been changed, or is not one of simstudy's")
    files = _files(manifest)
    for name, digest in files.items():
        if not (folder / name).is_file():
            problems.append(f"{name} is missing")
        elif digest_of(folder / name) != digest:
            problems.append(f"{name} has been changed")
    problems += [f"{name} is not of this run" for name in _strangers(folder, {MANIFEST, *files})]
    problems += [f"{part.name}/{problem}" for part in _parts(folder) for problem in verify(part)]
    broken = damaged(folder / CELLS) if cells else []
    return [*problems, *(f"{CELLS}/{name} is damaged: it will be computed again" for name in broken)]


def require_own(folder: Path, of: str) -> None:
    """Raise a ValueError where the folder has files that no run of the same wrote, or that were changed since."""
    known = own_files(folder_at(folder))
    manifest = json_object(folder / MANIFEST)
    if manifest is not None and manifest.get("manifest") == own_hash(manifest):
        known.add(MANIFEST)
        if manifest.get("results_of") != of:
            raise InputError(
                "out", f"must be a folder of its own, but {folder} holds results of {manifest['results_of']}"
            )
    strangers = _strangers(folder, known)
    for part in _parts(folder):
        strangers += [f"{part.name}/{name}" for name in _strangers(part, {MANIFEST, *own_files(part)})]
    if strangers:
        more = f" and {len(strangers) - 1} more" if len(strangers) > 1 else ""
        raise InputError(
            "out",
            f"must be new, empty or a folder that simstudy wrote, but {folder} holds {strangers[0]}{more}, which is "
            "not of an earlier run or has been changed since",
        )


def folder_at(path: str | Path) -> Path:
    """The folder of this path; ValueError where it is a file, or called like one."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError("out", f"must be a folder, but {folder} is a file")
    if folder.suffix.lower() in _OF_FILES and not folder.exists():
        raise InputError("out", f"must be the name of a folder, not of a file such as {folder.name}")
    return folder


def own_files(folder: Path) -> set[str]:
    """The files that a run wrote here and that are as they were written: what may be replaced or removed."""
    manifests = (folder / MANIFEST, folder / _GATHERED / MANIFEST, folder / _GATHERED / _BEFORE)
    written = [each for path in manifests for each in _files(json_object(path)).items()]
    return {
        name
        for name, digest in written
        if (folder / name).is_file() and not (folder / name).is_symlink() and digest_of(folder / name) == digest
    }


def other_versions(manifest: Mapping[str, Any]) -> str:
    """Which versions this process has, and not the run of a manifest, in words; empty where they are the same."""
    known, here = manifest.get("versions"), _versions()
    others = [name for name in here if isinstance(known, dict) and known.get(name, here[name]) != here[name]]
    return ", ".join(f"{name} {here[name]}, not {known[name]}" for name in others) if known else ""


def json_object(path: Path) -> dict[str, Any] | None:
    """The JSON object of a file; None where there is no such file."""
    try:
        # A device or a pipe would be read for ever.
        content = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else None
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def own_hash(manifest: Mapping[str, Any]) -> str:
    """The hash of a manifest, without the entry that holds it."""
    rest = {name: value for name, value in manifest.items() if name != "manifest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _versions() -> dict[str, str]:
    return {"python": platform.python_version(), **{package: version(package) for package in _PACKAGES}}


def _about_run(seconds: Mapping[str, float]) -> dict[str, Any]:
    """When and where a run ended, and the wall time of its stages, as JSON."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        "ended": datetime.now(UTC).isoformat("T", "seconds"),
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "cores": n_workers(-1),
            "blas": sorted({f"{pool['internal_api']} {pool['version']} {pool.get('architecture')}" for pool in pools}),
        },
        "seconds": {**seconds, "note": "of this run; cells finished by earlier runs were found, not computed again"},
    }


def _hashes_in(gathered: Path) -> dict[str, str]:
    """The files that are gathered and that a manifest names, with their hashes."""
    paths = [path for path in sorted(gathered.rglob("*")) if path.is_file() and path.name not in _UNSEALED]
    return {path.relative_to(gathered).as_posix(): digest_of(path) for path in paths}


def _files(manifest: Mapping[str, Any] | None) -> dict[str, str]:
    """Name -> hash of the files of a manifest; only of those that a run can have written."""
    files = (manifest or {}).get("files")
    named = files.items() if isinstance(files, dict) else ()
    return {name: digest for name, digest in named if isinstance(digest, str) and _OURS.fullmatch(name)}


def _strangers(folder: Path, known: set[str]) -> list[str]:
    """Files below the folder that are neither known nor of the working of a run; hidden ones are never touched."""
    parts = _parts(folder)
    names = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if not any(path == part or path.is_relative_to(part) for part in parts)
    ]
    run = json_object(folder / RUN) or {}
    ours = {INDEX: is_ours(folder / INDEX), RUN: {"ended", "machine", "seconds"} <= run.keys()}
    # A folder that is a link leads to files of others.
    folders = [name for name in ("figures", "paper") if not (folder / name).is_symlink()]
    ours[COMPARISONS] = bool(known)
    known = {CELLS, *folders, *known, *(name for name, is_own in ours.items() if is_own)}
    return [name for name in names if name[0] != "." and name not in known and not _WORKING.fullmatch(name)]


def _parts(folder: Path) -> list[Path]:
    """Folders of results inside this one: of a run that compared by several metrics or on several domains."""
    inside = [path for path in sorted(folder.glob("[!.]*")) if path.is_dir() and not path.is_symlink()]
    written = [(path, json_object(path / MANIFEST)) for path in inside]
    return [path for path, manifest in written if manifest and manifest.get("manifest") == own_hash(manifest)]
