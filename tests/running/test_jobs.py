"""How many workers there are: what arguments ask for, joblib's configuration, and the cores."""

from __future__ import annotations

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
        with pytest.raises(ValueError, match=f"n_jobs must be at least 1, or -1 for all cores, not {wrong}"):
            n_workers(wrong)
