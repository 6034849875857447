"""What is in a folder of results: which files a run wrote there, as its manifest says, and whether it is whole."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Any

from simstudy.files.own_pages import INDEX, is_ours
from simstudy.running.cells import SECONDS, SUFFIX, damaged
from simstudy.running.manifest import MANIFEST, RUN, is_run, json_object, own_hash

#: Of all pairs, large, and left out of version control: a folder may be whole without it.
COMPARISONS = "comparisons.parquet"

#: Where finished cells are kept.
CELLS = "cells"

# Who works here, and what is being moved into its place.
MARKER = ".simstudy.running"

# Endings that nobody gives a folder: a table or a figure was wanted.
_OF_FILES = (".csv", ".json", ".md", ".pdf", ".png", ".svg", ".tex", ".txt", ".xml")
# What a run may write, and so may remove; and what else it may have among its cells.
_OURS = re.compile(
    r"[^/\\]+\.(?:csv|parquet|md)|figures/[^/\\]+\.(?:png|svg)|paper/[^/\\]+\.(?:tex|bib|md|pdf|png|svg)"
)
_WORKING = re.compile(rf"{CELLS}/(?:[^/]*{re.escape(SUFFIX)}|[^/]*\.error\.txt|\.arrays-[^/]*|{re.escape(SECONDS)})")


def verify(path: str | Path) -> list[str]:
    """What is wrong with a folder of results, a line each: files that are missing, changed or unknown, damaged cells.

    A ValueError is raised where there is no such folder, or no manifest in it.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"no such folder: {folder}")
    manifest = json_object(folder / MANIFEST)
    if not (folder / MANIFEST).is_file():
        raise ValueError(f"{folder} has no {MANIFEST}: no run has finished there")
    problems = []
    if being_moved(folder):
        problems.append("a run was stopped while it wrote here: run it again")
    if manifest is None or manifest.get("manifest") != own_hash(manifest):
        problems.append(f"{MANIFEST} has been changed, or is not one of simstudy's")
    files = _files((manifest or {}).get("files"))
    for name, digest in files.items():
        file = folder / name
        if not file.is_file():
            problems += [f"{name} is missing"] if name != COMPARISONS else []
        elif digest_of(file) != digest:
            problems.append(f"{name} has been changed")
    problems += [f"{name} is not of this run" for name in _strangers(folder, {MANIFEST, *files})]
    problems += [f"{part.name}/{problem}" for part in _parts(folder) for problem in verify(part)]
    problems += [f"{CELLS}/{name} is damaged: it will be computed again" for name in damaged(folder / CELLS)]
    return problems


def require_own(folder: Path, of: str) -> None:
    """Raise a ValueError where the folder has files that no run of the same wrote, or that were changed since."""
    known = own_files(folder_at(folder))
    manifest = json_object(folder / MANIFEST)
    if manifest is not None and manifest.get("manifest") == own_hash(manifest):
        known.add(MANIFEST)
        if manifest.get("results_of") != of:
            raise ValueError(f"out must be a folder of its own, but {folder} holds results of {manifest['results_of']}")
    strangers = _strangers(folder, known)
    for part in _parts(folder):
        strangers += [f"{part.name}/{name}" for name in _strangers(part, {MANIFEST, *own_files(part)})]
    if strangers:
        raise ValueError(
            f"out must be new, empty or a folder that simstudy wrote, but {folder} holds {strangers[0]}"
            + (f" and {len(strangers) - 1} more" if len(strangers) > 1 else "")
            + ", which is not of an earlier run or has been changed since"
        )


def folder_at(path: str | Path) -> Path:
    """The folder of this path; ValueError where it is a file, or called like one."""
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise ValueError(f"out must be a folder, but {folder} is a file")
    if folder.suffix.lower() in _OF_FILES and not folder.exists():
        raise ValueError(f"out must be the name of a folder, not of a file such as {folder.name}")
    return folder


def own_files(folder: Path) -> set[str]:
    """The files that a run wrote here and that are as they were written: what may be replaced or removed."""
    manifest = json_object(folder / MANIFEST) or {}
    written = [*_files(manifest.get("files")).items(), *being_moved(folder).items()]
    return {
        name
        for name, digest in written
        if (folder / name).is_file() and not (folder / name).is_symlink() and digest_of(folder / name) == digest
    }


def _files(named: Any) -> dict[str, str]:
    """Name -> hash of files, as JSON has them; only of those that a run can have written."""
    if not isinstance(named, dict):
        return {}
    return {name: digest for name, digest in named.items() if isinstance(digest, str) and _OURS.fullmatch(name)}


def _strangers(folder: Path, known: set[str]) -> list[str]:
    """Files below the folder that are neither known nor of the working of a run."""
    parts = _parts(folder)
    names = [
        path.relative_to(folder).as_posix()
        for path in sorted(folder.rglob("*"))
        if not any(path == part or path.is_relative_to(part) for part in parts)
    ]
    unsealed = {INDEX: is_ours(folder / INDEX), RUN: is_run(folder / RUN)}
    known = {CELLS, "figures", "paper", *known, *(name for name, ours in unsealed.items() if ours)}
    # Hidden files (a run's own, those of an editor or a file manager) are never written over nor removed.
    return [name for name in names if name[0] != "." and name not in known and not _WORKING.fullmatch(name)]


def _parts(folder: Path) -> list[Path]:
    """Folders of results inside this one: of a run that compared by several metrics or on several domains."""
    inside = [path for path in folder.glob("[!.]*") if path.is_dir() and not path.is_symlink()]
    written = [(path, json_object(path / MANIFEST)) for path in sorted(inside)]
    return [path for path, manifest in written if manifest and manifest.get("manifest") == own_hash(manifest)]


def digest_of(path: Path) -> str:
    """The SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def being_moved(folder: Path) -> dict[str, str]:
    """Name -> hash of the files that a run was moving into their places when it was stopped."""
    return _files((json_object(folder / MARKER) or {}).get("moving"))
