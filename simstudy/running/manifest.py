"""The manifest: everything that one needs to get the numbers of a folder of results again."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from threadpoolctl import threadpool_info

from simstudy.running.runner import n_workers

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


def manifest_of(settings: Mapping[str, Any], data: Mapping[str, Any], seconds: Mapping[str, float]) -> dict[str, Any]:
    """Settings (under one key: ``{"study": …}``), data hashes, versions, machine and wall time by stage, as JSON."""
    pools = [pool for pool in threadpool_info() if pool["user_api"] == "blas"]
    return {
        **settings,
        "data": dict(data),
        "versions": {"python": platform.python_version(), **{package: version(package) for package in _PACKAGES}},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "cores": n_workers(-1),
            "blas": sorted({f"{pool['internal_api']} {pool['version']} {pool.get('architecture')}" for pool in pools}),
        },
        "seconds": {**seconds, "note": "of this run; cells finished by earlier runs were found, not computed again"},
    }
