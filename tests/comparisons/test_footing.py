"""What a verdict and a page say of what numbers rest on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons.verdict import cautioned, verdict
from simstudy.examination.asking import examine
from simstudy.examination.rows import pair_rows
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.readers.long_table import Loaded
from tests.examination.rows import pair, scores
from tests.oracles import compared

ALL = "p-value and interval are approximate."


def accepting(new: tuple[int, int], old: tuple[int, int], n: int = 1400) -> Outputs:
    """The new and the old system: how many candidates each accepts, from the two ends, and how many are wrong."""
    statistics = np.zeros((2, n, 2), dtype=int)
    for k, (of, wrong) in enumerate((new, old)):
        at = np.arange(of) if k == 0 else n - 1 - np.arange(of)
        statistics[k, at, 1] = 1
        statistics[k, at[wrong:], 0] = 1
    return Outputs.from_statistics(statistics, METRICS["precision_of_accepted"], ["new", "old"])


@pytest.mark.parametrize(
    ("new", "old", "said"),
    [
        ((90, 4), (24, 3), "24 by old, 3 wrong. Skewed differences: " + ALL),
        ((1200, 400), (60, 21), "Answers: 1,200 by new, 400 of them wrong, and 60 by old, 21 wrong."),
        ((90, 40), (9, 5), "and 9 by old, 5 wrong. Few effective units: " + ALL),
    ],
)
def test_of_precision_it_tells_answers_and_wrong_ones(new: tuple[int, int], old: tuple[int, int], said: str) -> None:
    assert verdict(compared(accepting(new, old), n_resamples=99).iloc[0]).endswith(said)


def test_of_means_it_tells_the_skewness() -> None:
    differences = np.random.default_rng(0).lognormal(sigma=1.5, size=80)
    said = verdict(compared(scores(differences, np.zeros(80)), n_resamples=99).iloc[0])
    assert said.endswith(f"differences: {stats.skew(differences):.2f}. Skewed differences: {ALL}")
    even = verdict(compared(scores(np.tile([1.0, -0.5], 40), np.zeros(80)), n_resamples=99).iloc[0])
    assert even.endswith("Skewness of the differences: 0.00.")


def test_it_tells_that_few_units_differ() -> None:
    few = {"exact_level": False, "skewness": 0.1, "wins": 30, "losses": 19}
    said = "Few units differ (49 items): large rare differences may be missing."
    assert verdict(pair(**few)).endswith(said)
    for other in (
        {"exact_level": True},
        {"p_value": 0.06},
        {"losses": 20},
        {"skewness": np.nan},
        {"n_units": 19},
        {"interval": "bootstrap"},
    ):
        assert "Few units differ" not in verdict(pair(**few | other))


def test_what_is_exact_or_absent_is_not_called_approximate() -> None:
    """An exact test has only its interval; without an interval there is p alone; with few units all is said already."""
    told = {"caution": "skewed differences", "skewness": 9.0, "exact_level": False}
    assert verdict(pair(**told)).endswith("Skewness of the differences: 9.00. Skewed differences: " + ALL)
    assert verdict(pair(**told | {"exact_level": True})).endswith("Skewed differences: interval is approximate.")
    without = {"gain_low": np.nan, "gain_high": np.nan}
    assert verdict(pair(**told | without)).endswith("Skewed differences: p-value is approximate.")
    assert "approximate." not in verdict(pair(**told | without | {"exact_level": True}))
    few = verdict(pair(**told | {"n_units": 12}))
    assert "With 12 items test and interval are rough." in few
    assert "Skewed differences:" not in few
    assert verdict(pair(caution=np.nan)) == verdict(pair()), "a file that is read again has NaN for ''"


def test_a_page_has_a_column_where_any_pair_has_a_caution() -> None:
    rng = np.random.default_rng(3)
    even, skewed = rng.normal(size=(3, 80)), rng.lognormal(sigma=2.0, size=(1, 80))
    for columns, expected in ((even, False), (np.concatenate([even, skewed]), True)):
        outputs = Outputs.from_scores(pd.DataFrame(columns.T, columns=list("abcd")[: len(columns)]))
        found = examine(Loaded(outputs), n_resamples=99)
        _, rows = pair_rows(found, 50)
        assert ("caution" in rows.text()) == expected
        said = cautioned(found.pairs.frame)
        assert said.startswith(" Column caution: where it says so (3 of 6 pairs)") if expected else said == ""
        # Swaps of two systems' scores hold their level: only the interval is approximate.
        exact = cautioned(found.pairs.frame.assign(exact_level=True))
        assert ("interval is approximate" in exact, "p-value" in exact) == (expected, False)
