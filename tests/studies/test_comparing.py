"""Comparisons of many test sets: an executor makes them, with the bits that this process has with its threads."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.outputs import Outputs
from simstudy.studies import Comparison, RunContext
from simstudy.studies.comparing import run_comparisons


class Counting(ThreadPoolExecutor):
    """Threads that count what they are asked to do."""

    asked = 0

    def submit(self, *args: Any, **options: Any) -> Any:
        self.asked += 1
        return super().submit(*args, **options)


def test_an_executor_compares_each_test_set_with_the_same_bits(rng: np.random.Generator, tmp_path: Path) -> None:
    home = Comparison(test="bootstrap", n_resamples=3000, alternative="greater")
    sets = [home.on(Outputs.from_scores({name: rng.normal(size=n) for name in "abcd"}, "mean"), 3) for n in (50, 80)]
    own = run_comparisons("here", sets, RunContext(tmp_path / "own", 2))
    with Counting(2) as executor:
        elsewhere = run_comparisons("there", sets, RunContext(tmp_path / "there", 2, executor=executor))
    assert executor.asked == 2
    for one, other in zip(own, elsewhere, strict=True):
        pd.testing.assert_frame_equal(one, other, check_exact=True)
