from __future__ import annotations

import itertools

import numpy as np
import pandas as pd
import pytest

from simstudy.comparisons.curves import curve


def table(gain: np.ndarray, confidence: np.ndarray, relation: str = "same family") -> pd.DataFrame:
    numbers = [f"{k} of {relation}" for k in range(len(gain))]
    return pd.DataFrame(
        {
            "task": "t", "test_set": "s", "n_items": 10, "metric": "accuracy", "alternative": "greater",
            "relation": relation, "system_a": [f"a {k}" for k in numbers], "system_b": [f"b {k}" for k in numbers],
            "gain": gain, "p_value": 1 - confidence,
        }
    )  # fmt: skip


def test_a_p_value_that_is_against_the_gain_system_is_no_confidence() -> None:
    """Every pair has p = 0.01; of each three pairs of one gain one, then two, speak for the system that is behind."""
    pairs = table(np.repeat([1.0, 2.0], 60), np.full(120, 0.99))
    whose = np.array(["a", "a", "b"] * 20 + ["a", "b", "b"] * 20)
    pairs["better"] = pairs["system_a"].where(whose == "a", pairs["system_b"])
    found = curve(pairs).set_index("gain")
    assert found["confidence"].to_dict() == pytest.approx({1.0: 0.99, 2.0: 0.0})
    assert found["confidence_05"].tolist() == [0.0, 0.0]
    assert set(curve(pairs.drop(columns="better"))["confidence"].round(9)) == {0.99}


def test_too_few_pairs_have_no_curve() -> None:
    found = curve(table(np.linspace(0, 1, 29), np.linspace(0.5, 1, 29)))
    assert found.empty
    assert "confidence_95" in found


@pytest.mark.parametrize(
    ("n", "n_points", "alternative"), [(30, 4, "two-sided"), (61, 9, "greater"), (420, 6, "two-sided")]
)
def test_every_point_is_that_of_a_plain_loop(rng: np.random.Generator, n: int, n_points: int, alternative: str) -> None:
    """Of pairs in no order, many of equal gain: quantiles of the gains, and around each the nearest, with ties."""
    gain = rng.integers(0, 40, n) ** 2 / 100
    confidence = rng.uniform(0, 1, n)
    found = curve(table(gain, confidence).assign(alternative=alternative), n_points=n_points)
    nearest = 15 if n < 320 else n // 20
    windows = []
    for centre in np.quantile(gain, np.linspace(0, 1, n_points)):
        # A quantile between two gains stands at the next larger one.
        centre = min(g for g in gain if g >= centre)
        reach = sorted(abs(g - centre) for g in gain)[nearest - 1]
        near = [k for k in range(n) if abs(gain[k] - centre) <= reach + 1e-9]
        if near not in windows:
            windows.append(near)
    no_gain = 0.5 if alternative == "greater" else 0.0
    line = [(0.0, no_gain), *((np.mean(gain[near]), np.median(confidence[near])) for near in windows)]

    def expected(at: float) -> float:
        """On the line between the two medians around a gain; beyond the last the last."""
        for (x, y), (right, above) in itertools.pairwise(line):
            if at <= right:
                return y + (above - y) * (at - x) / (right - x)
        return line[-1][1]

    points = [
        (
            x,
            y,
            *(min(1, max(0, y + np.percentile([confidence[k] - expected(gain[k]) for k in near], q))) for q in (5, 95)),
        )
        for (x, y), near in zip(line[1:], windows, strict=True)
    ]
    columns = ["gain", "confidence", "confidence_05", "confidence_95"]
    np.testing.assert_allclose(found[columns], points)
    assert (found["n_pairs"] == n).all()
    assert set(found["alternative"]) == {alternative}
