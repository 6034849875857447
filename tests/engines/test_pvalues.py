from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from simstudy.engines.pvalues import CONVENTIONS, monte_carlo_interval


def test_both_rules() -> None:
    count = np.array([0, 1, 10])
    np.testing.assert_allclose(CONVENTIONS["default"].p_value(count, 10), [1 / 11, 2 / 11, 1])
    np.testing.assert_allclose(CONVENTIONS["bk2012"].p_value(count, 10), [0, 0.1, 1])
    assert not CONVENTIONS["default"].strict
    assert CONVENTIONS["bk2012"].strict


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (0, 1000), (37, 1000), (1000, 1000), (500_000, 1_000_000)])
@pytest.mark.parametrize("level", [0.95, 0.999])
def test_interval_is_scipys(count: int, n: int, level: float) -> None:
    expected = stats.binomtest(count, n).proportion_ci(level, method="exact")
    low, high = monte_carlo_interval(count, n, level)
    assert float(low) == pytest.approx(expected.low, rel=1e-9, abs=1e-300)
    assert float(high) == pytest.approx(expected.high, rel=1e-9)
