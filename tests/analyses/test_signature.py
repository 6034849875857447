"""The signature of a question says what its p-values rest on, whichever pairs they are of."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

import simstudy as ss


@pytest.mark.parametrize("drawn", sorted(set(permutations([0, 5_000, 20_000]))))
def test_the_largest_number_of_resamples_is_named_wherever_it_stands(drawn: tuple[int, ...]) -> None:
    """Of pairs whose p-values are computed nothing was drawn."""
    scores = (np.random.default_rng(0).random((3, 40)) < 0.7).astype(int)
    statistics = np.stack([scores, np.ones_like(scores)], axis=-1)
    pairs = ss.compare(ss.Outputs.from_statistics(statistics, "accuracy")).frame
    assert "resamples" not in ss.analyses.signature(pairs)
    assert "|resamples:20000|seed:0|" in ss.analyses.signature(pairs.assign(n_resamples=drawn))
