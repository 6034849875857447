"""The manifest: everything that one needs to get the numbers of a folder of results again."""

from __future__ import annotations

import json
import platform
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from simstudy.runner import n_workers

_PACKAGES = (
    "simstudy",
    "numpy",
    "scipy",
    "numba",
    "scikit-learn",
    "pandas",
    "pyarrow",
    "joblib",
    "matplotlib",
    "seaborn",
)


def manifest_of(
    settings: Mapping[str, Any],
    data: Mapping[str, Any],
    tables: Iterable[str],
    drawn: Sequence[str],
    folder: Path,
    seconds: Mapping[str, float],
) -> dict[str, Any]:
    """Settings, data hashes, hashes of the tables in the folder, versions, machine and wall time, as JSON values.

    Parameters
    ----------
    settings
        Everything that was asked for, under one key: ``{"study": …}``.
    data
        Names and hashes of what was read.
    tables
        Names of the CSV files in the folder.
    drawn
        Names of the figures.
    folder
        Of the results.
    seconds
        Wall time by stage.
    """
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        **settings,
        "data": dict(data),
        "tables": {name: sha256((folder / f"{name}.csv").read_bytes()).hexdigest() for name in tables},
        "figures": list(drawn),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in _PACKAGES}},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "cores": n_workers(-1),
            "blas": sorted({f"{pool['internal_api']} {pool['version']} {pool.get('architecture')}" for pool in pools}),
        },
        "seconds": {**seconds, "note": "of this run; cells finished by earlier runs were found, not computed again"},
    }


def earlier_manifest(folder: Path) -> dict[str, Any]:
    """The manifest of the last run that finished in this folder; empty where there is none."""
    try:
        manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}
