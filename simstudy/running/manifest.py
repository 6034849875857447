"""What is written down about a run: in its manifest what made the results, in run.json when, where and how long.

The manifest is the same for every run of the same program with the same versions of libraries, and so it is under
version control.
"""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from simstudy.running.fingerprints import describe
from simstudy.running.jobs import n_workers

MANIFEST = "manifest.json"

RUN = "run.json"

# Whose versions a manifest has.
_PACKAGES = (
    "simstudy", "numpy", "scipy", "numba", "scikit-learn", "pandas", "pyarrow", "joblib", "matplotlib", "seaborn",
)  # fmt: skip

# Under which key the settings are.
_ASKED = ("study", "comparison", "plan")

# Hexadecimal digits of a room's hash that are written down.
_DIGITS = 16


def manifest_of(
    settings: Mapping[str, Any], data: Mapping[str, Any], program: Mapping[str, str] | None = None
) -> dict[str, Any]:
    """Settings (under one key: ``{"study": …}``), data hashes, versions, and the program, as JSON.

    The program is what `simstudy.running.provenance.program_of` says of the function that made the tables.
    """
    versions = {"python": platform.python_version(), **{package: version(package) for package in _PACKAGES}}
    made_by = {"program": _rooms(program)} if program else {}
    return {**settings, "data": dict(data), "versions": versions, **made_by}


def of_this_run(seconds: Mapping[str, float]) -> dict[str, Any]:
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


def is_run(path: Path) -> bool:
    """Whether a file is one that `of_this_run` filled."""
    return {"ended", "machine", "seconds"} <= (json_object(path) or {}).keys()


def json_object(path: Path) -> dict[str, Any] | None:
    """The JSON object of a file; None where there is none."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return None
    return content if isinstance(content, dict) else None


def own_hash(manifest: Mapping[str, Any]) -> str:
    """The hash of a manifest, without the entry that holds it."""
    rest = {name: value for name, value in manifest.items() if name != "manifest"}
    return hashlib.sha256(json.dumps(rest, sort_keys=True).encode()).hexdigest()


def other_files(before: Mapping[str, Any] | None, now: Mapping[str, Any]) -> str:
    """How the files of a run with other versions differ from those before, in a sentence; empty of the same versions.

    Nothing is said of runs that had other settings.
    """
    if before is None or any(before.get(asked) != now.get(asked) for asked in _ASKED):
        return ""
    if not (others := other_versions(before)):
        return ""
    files, known = now["files"], before["files"]
    differing = [name for name in sorted({*files, *known}) if files.get(name) != known.get(name)]
    tables = [name for name in differing if name.endswith(".csv")]
    told = f"the tables {', '.join(tables)} differ" if tables else "all tables are the same"
    figures = sum(name.startswith("figures/") for name in differing)
    made = f"The results that were here were made with other versions ({others})"
    return f"{made}: {told}, and {figures} figure files differ."


def other_versions(manifest: Mapping[str, Any]) -> str:
    """Which versions this process has, and not the run of a manifest, in words; empty where they are the same."""
    known = manifest.get("versions")
    if not isinstance(known, dict):
        return ""
    here = manifest_of({}, {})["versions"]
    others = [name for name in here if known.get(name, here[name]) != here[name]]
    return ", ".join(f"{name} {here[name]}, not {known[name]}" for name in others)


def changed_rooms(manifest: Mapping[str, Any], program: Mapping[str, str]) -> list[str] | None:
    """The rooms of a program that are others than those of a manifest; None where it does not say what made it.

    Versions of libraries are left to `other_versions`.
    """
    known = manifest.get("program")
    if not isinstance(known, dict):
        return None
    here = _rooms(program)
    return sorted(name for name in {*known, *here} if known.get(name) != here.get(name))


def _rooms(program: Mapping[str, str]) -> dict[str, str]:
    """A hash of each room: of all modules of simstudy and of the user that begin with the same two names."""
    rooms: dict[str, list[tuple[str, str]]] = {}
    for name, known in sorted(program.items()):
        # A library has its version, not a hash.
        if len(known) == 64 and name != "definitions":
            rooms.setdefault(".".join(name.split(".")[:2]), []).append((name, known))
    return {room: describe(modules)[:_DIGITS] for room, modules in rooms.items()}
