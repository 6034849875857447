"""The manifest: every field comes from its own source."""

from __future__ import annotations

import platform
from importlib.metadata import version

import pytest

from simstudy.running import results_folder
from simstudy.running.results_folder import manifest_of
from simstudy.running.runner import n_workers

LIBRARIES = {
    "simstudy", "numpy", "scipy", "numba", "scikit-learn", "pandas", "pyarrow", "joblib", "matplotlib", "seaborn",
}  # fmt: skip


def test_every_field_of_a_manifest_is_told_by_its_source(monkeypatch: pytest.MonkeyPatch) -> None:
    pools = [
        {"user_api": "blas", "internal_api": "openblas", "version": "2", "architecture": "Zen"},
        {"user_api": "openmp", "internal_api": "openmp", "version": "9"},
        {"user_api": "blas", "internal_api": "mkl", "version": "1"},
        {"user_api": "blas", "internal_api": "openblas", "version": "2", "architecture": "Zen"},
    ]
    monkeypatch.setattr(results_folder, "threadpool_info", lambda: pools)
    found = manifest_of({"study": {"seed": 3}}, {"files": {"a": "hash"}}, {"training": 1.5, "data": 0.2})
    seconds = found.pop("seconds")
    assert "found, not computed again" in seconds.pop("note")
    assert seconds == {"training": 1.5, "data": 0.2}
    assert found == {
        "study": {"seed": 3},
        "data": {"files": {"a": "hash"}},
        "versions": {"python": platform.python_version()} | {name: version(name) for name in LIBRARIES},
        "machine": {
            "system": f"{platform.system()} {platform.machine()}",
            "cores": n_workers(-1),
            "blas": ["mkl 1 None", "openblas 2 Zen"],
        },
    }
