"""Two runs of Yeh 2000 with other random numbers: those of `compare`, and how far apart they are."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.outputs import Outputs
from tests.experiments.programs import program
from tests.oracles import compared

run_twice = program("yeh_2000", "example").run_twice


@pytest.mark.parametrize("test", ["sign_flips", "bootstrap", "randomization"])
def test_both_runs_are_those_of_compare(test: str, tagged: Outputs) -> None:
    pairs = run_twice(tagged, test=test, n_resamples=2000, seeds=(3, 8))
    for run, seed in ((1, 3), (2, 8)):
        alone = compared(tagged, test=test, n_resamples=2000, seed=seed, monte_carlo=True)
        for column in ("p_value", "n_extreme"):
            np.testing.assert_array_equal(pairs[f"{column}_{run}"], alone[column])
    np.testing.assert_array_equal(pairs[["system_a", "system_b", "gain"]], alone[["system_a", "system_b", "gain"]])


def test_z_is_that_of_two_proportions(tagged: Outputs) -> None:
    for row in run_twice(tagged, test="bootstrap", alternative="greater", n_resamples=900).itertuples():
        table = [[row.n_extreme_1, 900 - row.n_extreme_1], [row.n_extreme_2, 900 - row.n_extreme_2]]
        if row.n_extreme_1 + row.n_extreme_2:
            assert row.z**2 == pytest.approx(stats.chi2_contingency(table, correction=False).statistic)
        else:
            assert row.z == 0


@pytest.mark.statistical
@pytest.mark.slow
def test_z_is_standard_normal() -> None:
    """300 pairs of runs, none of which shares resamples with another."""
    rng = np.random.default_rng(2)
    z = []
    for seed in range(300):
        right = rng.integers(0, 2, size=(2, 50))
        outputs = Outputs.from_statistics(np.stack([right, np.ones_like(right)], -1), "accuracy")
        found = run_twice(outputs, test="randomization", n_resamples=2000, seeds=(2 * seed, 2 * seed + 1))
        if 0.02 < found.p_value_1[0] < 0.98:
            z.append(found.z[0])
    assert len(z) > 150
    assert 1e-7 < stats.chi2.sf(np.sum(np.square(z)), len(z)) < 1 - 1e-7


def test_bad_input_of_two_runs(tagged: Outputs) -> None:
    for options, message in (
        ({"seeds": (1, 1)}, r"seeds must be two different ones .*, not \(1, 1\)"),
        ({"seeds": (1, 2, 3)}, "seeds must be two different ones"),
        (
            {"test": "t_paired"},
            "test must be one of sign_flips, bootstrap, randomization, skew_corrected, not 't_paired'",
        ),
        ({"seeds": (0, -1)}, "seed must be at least 0"),
        ({"n_resamples": 0}, "n_resamples must be at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            run_twice(tagged, **options)
