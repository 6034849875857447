"""How many workers there are: what arguments ask for, joblib's configuration, and the cores."""

from __future__ import annotations

from pathlib import Path

import joblib
import pytest

from simstudy.running.jobs import n_workers


def test_number_of_workers() -> None:
    assert n_workers(3) == 3
    assert n_workers(-1) == n_workers(None) == joblib.cpu_count()
    assert n_workers(None, otherwise=1) == 1
    with joblib.parallel_config(n_jobs=5):
        assert (n_workers(None), n_workers(2)) == (5, 2), "what is asked for counts more than what is configured"
    for wrong in (0, -2):
        with pytest.raises(ValueError, match=rf"n_jobs \(-1: all cores\) must be at least 1, not {wrong}"):
            n_workers(wrong)


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({}, 8),
        ({"cpu.max": "max 100000"}, 8),
        ({"cpu.max": "250000 100000"}, 3),
        ({"cpu.max": "1000 100000"}, 1),
        ({"cpu/cpu.cfs_quota_us": "-1", "cpu/cpu.cfs_period_us": "100000"}, 8),
        ({"cpu/cpu.cfs_quota_us": "200000", "cpu/cpu.cfs_period_us": "100000"}, 2),
    ],
)
def test_a_container_has_the_cores_that_its_share_of_time_is_worth(
    files: dict[str, str], found: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(f"{content}\n", encoding="ascii")
    monkeypatch.setattr("simstudy.running.jobs._CONTROL_GROUP", tmp_path)
    monkeypatch.setattr("os.sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    assert n_workers(-1) == found
