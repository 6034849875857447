"""The manifest: everything that one needs to get a study's numbers again."""

from __future__ import annotations

import platform
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib.metadata import version
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from simstudy.runner import n_workers
from simstudy.studies.definition import Study
from simstudy.studies.findings import Findings

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
    study: Study, found: Findings, drawn: Sequence[str], folder: Path, seconds: Mapping[str, float]
) -> dict[str, Any]:
    """Settings, data hashes, hashes of the tables in the folder, versions, machine and wall time, as JSON values."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        "study": study.model_dump(),
        "data": found.data,
        "tables": {name: sha256((folder / f"{name}.csv").read_bytes()).hexdigest() for name in found.tables},
        "figures": list(drawn),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in _PACKAGES}},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "cores": n_workers(-1),
            "blas": sorted({f"{pool['internal_api']} {pool['version']} {pool.get('architecture')}" for pool in pools}),
        },
        "seconds": {**seconds, "note": "of this run; cells finished by earlier runs were found, not computed again"},
    }
