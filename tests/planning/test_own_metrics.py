"""Plans under own metrics: where the range of scores begins, its direction and its unit change nothing else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.metrics.mean import Mean
from simstudy.planning.cases import scale_of
from tests.planning.options import plan_with

#: A range that begins at 0, and the same range elsewhere, upside down and in other units; what one point is there.
RANGES: dict[str, tuple[Mean, float]] = {
    "higher": (Mean("own", low=31.0, high=51.0), 1.0),
    "around 0": (Mean("own", low=-10.0, high=10.0), 1.0),
    "below 0": (Mean("own", low=-20.0, high=0.0), 1.0),
    "of errors": (Mean("own", low=1.0, high=21.0, higher_is_better=False), 1.0),
    "of percentages": (Mean("own", low=0.2, high=0.4, scale=100.0), 1.0),
    "of hundredths": (Mean("own", low=-0.05, high=0.15), 0.01),
}
PLAIN = Mean("own", low=0.0, high=20.0)
NUMBERS = ("power", "n_items", "n_units", "wrong_winner", "exaggeration")
GAINS = ("gain", "margin", "detectable_gain")

ASKED: dict[str, dict[str, Any]] = {
    "a gain and a margin": {"gain": 9.0, "margin": 12.0, "sizes": [5, 14]},
    "which gain": {"n_items": 7, "sizes": [4, 30]},
}


def asked_of(metric: Mean, point: float, **options: Any) -> dict[str, Any]:
    """The question in this metric's unit."""
    in_points = {"gain", "margin", "sd_difference"}
    return {"metric": metric} | {k: v * point if k in in_points else v for k, v in options.items()}


def assert_as(found: ss.planning.Plan, plain: ss.planning.Plan, point: float) -> None:
    compared = 0
    for name in ("answers", "margins", "sizes"):
        one, other = getattr(found, name, None), getattr(plain, name, None)
        if not isinstance(other, pd.DataFrame):
            continue
        assert isinstance(one, pd.DataFrame)
        for column in set(other) & {*NUMBERS, *GAINS}:
            factor = point if column in GAINS else 1
            expected = other[column].to_numpy(float) * factor
            np.testing.assert_allclose(one[column].to_numpy(float), expected, rtol=1e-5, err_msg=f"{name}.{column}")
            compared += np.isfinite(expected).sum()
    assert compared > 4


@pytest.mark.parametrize("question", ASKED)
@pytest.mark.parametrize("name", RANGES)
def test_a_guess(name: str, question: str) -> None:
    metric, point = RANGES[name]
    assert scale_of(metric) == pytest.approx(20 * point)
    options = {"sd_difference": 8.0} | ASKED[question]
    assert_as(plan_with(**asked_of(metric, point, **options)), plan_with(**asked_of(PLAIN, 1, **options)), point)


@pytest.mark.parametrize("name", RANGES)
def test_the_largest_gain_that_can_be_asked_for_is_the_range(name: str) -> None:
    metric, point = RANGES[name]
    plan_with(**asked_of(metric, point, sd_difference=2.0, gain=19.9))
    with pytest.raises(ValueError, match=rf"gain must be above 0 and at most {20 * point:g}"):
        plan_with(**asked_of(metric, point, sd_difference=2.0, gain=20.1))


@pytest.mark.parametrize("clusters", [False, True])
@pytest.mark.parametrize("name", RANGES)
def test_a_pilot(name: str, clusters: bool) -> None:
    """Six units at least, whose gains come near the end of the range."""
    metric, point = RANGES[name]
    rng = np.random.default_rng(8)
    scores = np.round(rng.uniform(0, 20, (30, 2)), 1) * [0.9, 1]
    items: dict[str, Any] = {"id": range(30)} | ({"cluster": np.arange(30) // 3} if clusters else {})

    def outputs(own: Mean, point: float) -> ss.Outputs:
        low, high = own.item_range or (0, 0)
        given = low + scores * point / own.scale if own.higher_is_better else high - scores * point
        return ss.Outputs.from_scores(pd.DataFrame(given, columns=["a", "b"]), own, items=pd.DataFrame(items))

    asked = {"n_items": 18, "n_sets": 0, "n_draws": 0}
    assert_as(plan_with(outputs(metric, point), **asked), plan_with(outputs(PLAIN, 1), **asked), point)
