"""An executor's workers draw ranges of the resamples of one table: the same bits as in this process."""

from __future__ import annotations

import multiprocessing
import pickle
from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.running.parallel import CellsFailed
from tests.engines.pairs import KINDS

N = 1000


class Counting(ThreadPoolExecutor):
    """Threads that say how many calls they had, and that share nothing: calls and answers are pickled."""

    n_calls = 0

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        self.n_calls += 1
        call = pickle.loads(pickle.dumps((fn, args, kwargs)))
        return super().submit(lambda: pickle.loads(pickle.dumps(call[0](*call[1], **call[2]))))


@pytest.fixture(scope="module")
def outputs() -> ss.Outputs:
    items = pd.DataFrame({"id": [f"item {i}" for i in range(40)], "half": np.arange(40) < 20})
    return ss.Outputs.from_statistics(KINDS["f1"][1](40, np.random.default_rng(0)), "f1", items=items)


OPTIONS: list[dict[str, Any]] = [
    {"test": "bootstrap", "monte_carlo": True},
    {"test": "bootstrap"},
    {"test": "bootstrap", "convention": "sacrebleu"},
    {"test": "bootstrap", "convention": "bk2012", "strata": "half"},
    {"test": "randomization", "monte_carlo": True},
    {"test": "sign_flips", "monte_carlo": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=lambda options: "-".join(map(str, options.values())))
def test_any_worker_draws_the_same(outputs: ss.Outputs, options: dict[str, Any]) -> None:
    options = options | {"n_resamples": N, "seed": 5}
    here = ss.compare(outputs, **options).frame
    with Counting(3) as threads:
        pd.testing.assert_frame_equal(ss.compare(outputs, executor=threads, **options).frame, here)
    assert threads.n_calls == 64 * (2 if options.get("convention") == "sacrebleu" else 1)


def test_another_process_draws_the_same(outputs: ss.Outputs) -> None:
    options: dict[str, Any] = {"test": "bootstrap", "n_resamples": N, "seed": 5}
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as processes:
        found = ss.compare(outputs, executor=processes, **options).frame
    pd.testing.assert_frame_equal(found, ss.compare(outputs, **options).frame)


def test_fewer_resamples_than_ranges_are_a_range_each(outputs: ss.Outputs) -> None:
    options: dict[str, Any] = {"test": "bootstrap", "monte_carlo": True, "n_resamples": 5}
    with Counting(2) as threads:
        found = ss.compare(outputs, executor=threads, **options).frame
    assert threads.n_calls == 5
    pd.testing.assert_frame_equal(found, ss.compare(outputs, **options).frame)


def test_where_nothing_is_drawn_nobody_is_asked(outputs: ss.Outputs) -> None:
    with Counting(2) as threads:
        ss.compare(outputs, executor=threads)
    assert threads.n_calls == 0


def test_what_a_worker_raises_is_told(outputs: ss.Outputs, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simstudy.engines.resampling._multiply", None)
    with ThreadPoolExecutor(2) as threads, pytest.raises(CellsFailed, match="64 failed .resamples 1 to "):
        ss.compare(outputs, test="bootstrap", monte_carlo=True, n_resamples=N, executor=threads)


def test_an_executor_is_one(outputs: ss.Outputs) -> None:
    with pytest.raises(ValueError, match="executor must be a concurrent.futures.Executor .*, or None, not 'four'"):
        ss.compare(outputs, executor="four")  # type: ignore[arg-type]
