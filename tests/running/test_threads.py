"""BLAS has one thread while any block needs it, in whatever threads the blocks begin and end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from simstudy.comparisons.comparing import compare
from simstudy.outputs import Outputs
from simstudy.running.threads import one_blas_thread
from simstudy.truth import correlated_accuracies, fit


def n_threads() -> set[int]:
    return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}


def test_blocks_may_end_in_any_order_and_thread() -> None:
    first, second = one_blas_thread(), one_blas_thread()
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(1) as other:
        first.__enter__()
        other.submit(second.__enter__).result()
        other.submit(first.__exit__, None, None, None).result()
        assert n_threads() == {1}
        second.__exit__(None, None, None)
        assert n_threads() == {2}


@pytest.mark.parametrize("ends_first", ["fit", "compare"])
def test_a_fit_and_a_comparison_share_the_limit(monkeypatch: pytest.MonkeyPatch, ends_first: str) -> None:
    """The one that ends first leaves the other one thread, also where neither is in the main thread."""
    outputs = correlated_accuracies([0.5, 0.6, 0.7], 400)
    begun, ended = threading.Barrier(2), threading.Event()
    seen: list[set[int]] = []

    def watched(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def waiting(*arguments: Any, **named: Any) -> Any:
            if not ended.is_set():
                begun.wait(10)
            if name != ends_first:
                ended.wait(10)
                seen.append(n_threads())
            return function(*arguments, **named)

        return waiting

    def run(name: str, call: Callable[[Outputs], object]) -> None:
        call(outputs)
        if name == ends_first:
            ended.set()

    for name, path in (("fit", "truth.fitted._fitted"), ("compare", "engines.resampling._multiply")):
        module, attribute = f"simstudy.{path}".rsplit(".", 1)
        monkeypatch.setattr(
            f"{module}.{attribute}", watched(name, getattr(__import__(module, fromlist=["x"]), attribute))
        )
    with threadpool_limits(2, user_api="blas"), ThreadPoolExecutor(2) as threads:
        calls = {"fit": fit, "compare": lambda one: compare(one, test="bootstrap", n_resamples=500, monte_carlo=True)}
        for done in [threads.submit(run, name, call) for name, call in calls.items()]:
            done.result()
        assert n_threads() == {2}
    assert seen[:1] == [{1}]
