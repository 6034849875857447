from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from simstudy.statistics.pvalues import certainty, clopper_pearson
from simstudy.validation import InputError


@pytest.mark.parametrize(("count", "n"), [(0, 1), (1, 1), (0, 1000), (37, 1000), (1000, 1000), (500_000, 1_000_000)])
@pytest.mark.parametrize("level", [0.95, 0.999])
def test_interval_is_scipys(count: int, n: int, level: float) -> None:
    expected = stats.binomtest(count, n).proportion_ci(level, method="exact")
    low, high = clopper_pearson(count, n, level)
    assert float(low) == pytest.approx(expected.low, rel=1e-9, abs=1e-300)
    assert float(high) == pytest.approx(expected.high, rel=1e-9)


def test_certainty_is_bayes_rule_over_all_levels() -> None:
    """The posterior by summing the likelihood of the count over a fine grid of equally likely levels."""
    levels = (np.arange(200_000) + 0.5) / 200_000
    for count, n in ((0, 19), (3, 40), (24, 200), (5, 5)):
        likelihood = stats.binom.pmf(count, n, levels)
        expected = likelihood[levels <= 0.1].sum() / likelihood.sum()
        assert float(certainty(count, n, 0.1)) == pytest.approx(expected, rel=1e-6)


def test_chinchors_certainty_of_ge_against_umass() -> None:
    """She prints a significance level of 0.0994 and a confidence level of 0.635 for 9,999 shuffles and cutoff 0.1.

    The two do not belong together: 0.635 is what 989 extreme shuffles give, a level of 0.0990.
    """
    assert round(float(certainty(989, 9999, 0.1)), 3) == 0.635
    assert round(float(certainty(993, 9999, 0.1)), 3) == 0.584


@pytest.mark.parametrize(
    ("n_extreme", "n_resamples", "alpha", "message"),
    [
        *(
            (1, 10, alpha, "alpha must lie between 0 and 1, both excluded")
            for alpha in (0, 1, float("nan"), "0.1", True)
        ),
        *((count, 5, 0.1, "n_extreme must lie between 0 and n_resamples") for count in (-1, 7, [1, 6])),
        *((odd, [5, 6], 0.1, "must be numbers, or arrays that broadcast") for odd in ("x", [1, 2, 3], {1})),
    ],
)
def test_certainty_of_what_cannot_be_is_refused(n_extreme: Any, n_resamples: Any, alpha: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        certainty(n_extreme, n_resamples, alpha)
    if message.startswith("n_extreme"):
        with pytest.raises(InputError, match="count must lie between 0 and the number that it is out of"):
            clopper_pearson(n_extreme, n_resamples)
