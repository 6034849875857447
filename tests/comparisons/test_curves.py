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


def test_classes_are_apart_and_together() -> None:
    gain = np.linspace(0, 1, 50)
    both = pd.concat([table(gain, gain / 2 + 0.5), table(gain, gain / 4 + 0.5, "different families")])
    found = curve(both)
    assert found["relation"].unique().tolist() == ["same family", "different families", "all pairs"]
    assert set(found.loc[found["relation"] == "all pairs", "n_pairs"]) == {100}
    assert len(curve(both, n_points=10)) <= 30


def test_a_p_value_that_is_against_the_gain_system_is_no_confidence() -> None:
    """Every pair has p = 0.01; of each three pairs of one gain one, then two, speak for the system that is behind."""
    pairs = table(np.repeat([1.0, 2.0], 60), np.full(120, 0.99))
    whose = np.array(["a", "a", "b"] * 20 + ["a", "b", "b"] * 20)
    pairs["better"] = pairs["system_a"].where(whose == "a", pairs["system_b"])
    found = curve(pairs).set_index("gain")
    assert found["confidence"].to_dict() == pytest.approx({1.0: 0.99, 2.0: 0.0})
    assert found["confidence_05"].tolist() == [0.0, 0.0]
    assert set(curve(pairs.drop(columns="better"))["confidence"].round(9)) == {0.99}


def test_curves_say_whose_p_values_they_are() -> None:
    pairs = table(np.linspace(0, 1, 40), np.linspace(0.5, 1, 40))
    assert set(curve(pairs)["alternative"]) == {"greater"}
    assert set(curve(pairs.assign(alternative="two-sided"))["alternative"]) == {"two-sided"}


def test_too_few_pairs_have_no_curve() -> None:
    found = curve(table(np.linspace(0, 1, 29), np.linspace(0.5, 1, 29)))
    assert found.empty
    assert "confidence_95" in found


@pytest.mark.parametrize(("n", "n_points"), [(30, 4), (61, 9), (420, 6)])
def test_every_point_is_that_of_a_plain_loop(rng: np.random.Generator, n: int, n_points: int) -> None:
    """Of pairs in no order, many of equal gain: quantiles of the gains, and around each the nearest, with ties."""
    gain = rng.integers(0, 40, n) ** 2 / 100
    confidence = rng.uniform(0, 1, n)
    found = curve(table(gain, confidence), n_points=n_points)
    nearest = 15 if n < 320 else n // 20
    windows = []
    for centre in np.quantile(gain, np.linspace(0, 1, n_points)):
        # A quantile between two gains stands at the next larger one.
        centre = min(g for g in gain if g >= centre)
        reach = sorted(abs(g - centre) for g in gain)[nearest - 1]
        near = [k for k in range(n) if abs(gain[k] - centre) <= reach + 1e-9]
        if near not in windows:
            windows.append(near)
    line = [(0.0, 0.5), *((np.mean(gain[near]), np.median(confidence[near])) for near in windows)]

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


def test_the_band_is_that_of_the_pairs_around_the_line_where_gains_lie_far_apart() -> None:
    """Pairs on one straight line: a window spans half of it, but no pair is off the line. Beyond it stays level."""
    gain = np.linspace(0, 1, 31)
    found = curve(table(gain, 0.5 + gain / 2))
    inside = found[found["gain"] < 0.5]
    assert len(inside) > 5
    np.testing.assert_allclose(inside["confidence_95"], inside["confidence"], atol=1e-9)
    np.testing.assert_allclose(inside["confidence_05"], inside["confidence"], atol=1e-9)
