"""What a verdict and a page say beside a decision: margins, what numbers rest on, and pairs that cannot differ."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.comparisons.paper import counted_significant
from simstudy.comparisons.verdict import cautioned, verdict
from simstudy.examination.asking import examine
from simstudy.examination.rows import pair_rows
from simstudy.metrics import METRICS
from simstudy.outputs import Outputs
from simstudy.readers.long_table import Loaded
from simstudy.statistics.multiplicity import corrected
from tests.examination.rows import pair
from tests.oracles import compared
from tests.statistics.test_proportions import by_quartic

BOTH = "p-value and interval are approximate."


def accepting(new: tuple[int, int], old: tuple[int, int], n: int = 1400) -> Outputs:
    """Two systems that accept so many candidates, from the two ends, of which so many are wrong."""
    statistics = np.zeros((2, n, 2), dtype=int)
    for k, (n_accepted, n_wrong) in enumerate((new, old)):
        places = np.arange(n_accepted) if k == 0 else n - 1 - np.arange(n_accepted)
        statistics[k, places, 1] = 1
        statistics[k, places[n_wrong:], 0] = 1
    return Outputs.from_statistics(statistics, METRICS["precision_of_accepted"], ["new", "old"])


@pytest.mark.parametrize(
    ("new", "old", "text"),
    [
        ((90, 4), (24, 3), "24 by old, 3 wrong. Skewed differences: " + BOTH),
        ((1200, 400), (60, 21), "Answers: 1,200 by new, 400 of them wrong, and 60 by old, 21 wrong."),
        ((90, 40), (9, 5), "and 9 by old, 5 wrong. Few effective units: " + BOTH),
    ],
)
def test_a_precision_rests_on_answers_and_wrong_ones(new: tuple[int, int], old: tuple[int, int], text: str) -> None:
    assert verdict(compared(accepting(new, old), n_resamples=99).iloc[0]).endswith(text)


def test_cautions_of_random_rows() -> None:
    """Which numbers are approximate, and whether large rare differences may be missing where few units differ."""
    rng, n_few = np.random.default_rng(3), 0
    for _ in range(150):
        exact, no_interval = rng.random(2) < 0.3
        n_units, losses, p = int(rng.choice([12, 19, 20, 80])), int(rng.choice([9, 10, 30])), rng.choice([0.05, 0.06])
        skewness, interval = float(rng.choice([0.1, np.nan])), str(rng.choice(["jackknife", "bootstrap"], p=[0.8, 0.2]))
        caution = rng.choice(np.array(["skewed differences", "", np.nan], dtype=object))
        low = {"gain_low": np.nan, "gain_high": np.nan} if no_interval else {}
        text = verdict(
            pair(wins=40, losses=losses, ties=n_units - 40 - losses, n_units=n_units, exact_level=exact, p_value=p,
                 skewness=skewness, interval=interval, caution=caution, metric="mean", **low)
        )  # fmt: skip
        approximate = {
            (False, False): BOTH, (True, False): "interval is approximate.", (False, True): "p-value is approximate.",
        }.get((exact, no_interval), "")  # fmt: skip
        if caution != "skewed differences" or not approximate:
            assert "Skewed differences" not in text
        else:
            # With fewer units another sentence says what is approximate.
            assert text.endswith(f"Skewed differences{f': {approximate}' if n_units >= 20 else '.'}")
        by_jackknife = interval == "jackknife" and skewness == 0.1
        assert ("Skewness of the differences: 0.10." in text) == by_jackknife
        few = by_jackknife and not exact and n_units >= 20 and losses == 9 and p <= 0.05
        assert ("Few units differ (49 items): large rare differences may be missing." in text) == few
        assert ("Few units differ" in text) == few
        n_few += few
    assert n_few > 2


def test_a_page_has_a_column_where_any_pair_has_a_caution() -> None:
    rng = np.random.default_rng(3)
    even, skewed = rng.normal(size=(3, 80)), rng.lognormal(sigma=2.0, size=(1, 80))
    for columns, expected in ((even, False), (np.concatenate([even, skewed]), True)):
        outputs = Outputs.from_scores(pd.DataFrame(columns.T, columns=list("abcd")[: len(columns)]))
        examination = examine(Loaded(outputs), n_resamples=99)
        _, rows = pair_rows(examination, 50)
        assert ("caution" in rows.text()) == expected
        text = cautioned(examination.pairs.frame)
        assert text.startswith(" Column caution: where it says so (3 of 6 pairs)") if expected else text == ""
        # Swaps of two systems' scores hold their level: only the interval is approximate.
        exact = cautioned(examination.pairs.frame.assign(exact_level=True))
        assert ("interval is approximate" in exact, "p-value" in exact) == (expected, False)


@pytest.mark.parametrize(("b", "c"), [(20, 1), (10, 0), (4, 2), (15, 10), (8, 6)])
@pytest.mark.parametrize("alpha", [0.002, 0.05, 0.4])
def test_what_a_margin_adds(b: int, c: int, alpha: float) -> None:
    """By the limits of 100 items from the quartic, on both sides of them, and McNemar's binomial p-value."""
    new, old = np.zeros((2, 100))
    new[:b] = old[b : b + c] = 1
    row = compared(Outputs.from_scores(pd.DataFrame({"new": new, "old": old}), "accuracy"), test="mcnemar").iloc[0]
    low, high = (100 * limit for limit in by_quartic(b, c, 100, 1 - alpha))
    significant = 2 * stats.binom.cdf(c, b + c, 0.5) <= alpha
    for margin in (1.0, *(factor * limit for limit in (abs(low), high) for factor in (0.99, 1.01) if limit)):
        text = verdict(row, margin=margin, alpha=alpha).splitlines()[0]
        not_worse, larger = low > -margin, low > margin
        equivalent = not_worse and high < margin
        points = f"{margin:g} {'point' if margin == 1 else 'points'}"
        assert ("the gain is significant" in text) == significant
        assert (f"are equivalent: the true gain is within {points} either way" in text) == (equivalent > significant)
        assert (f"smaller than the margin of {points}: the two are equivalent" in text) == (equivalent and significant)
        assert (f"It is larger than the margin of {points}" in text) == (larger and significant)
        undecided = significant and not larger and not equivalent
        assert (f"Whether it exceeds the margin of {points} is not decided." in text) == undecided
        assert (f"new is not worse than old by {points} or more" in text) == (not_worse > significant)
        assert (f"old may be worse by {points}." in text) == (not_worse and not equivalent and not significant)
        assert (f"is shown for a margin of {points}." in text) == (not not_worse and not significant)
        two_tests = f"two one-sided tests at {alpha / 2:g}"
        assert (two_tests in text) == equivalent
        assert (f"(one-sided test at {alpha / 2:g})" in text) == ((larger and significant) or not_worse > significant)
    assert "margin" not in verdict(row)


@pytest.mark.parametrize(("n_systems", "none_can"), [(8, True), (7, False)])
def test_where_no_pair_can_be_significant_it_is_said(n_systems: int, none_can: bool) -> None:
    """The first is right on all 10 items and the last on none: p >= 2 / 2^10, 0.0547 for 28 pairs and 0.041 for 21."""
    right = pd.DataFrame({f"s{k}": np.arange(10) < 10 * k / (n_systems - 1) for k in range(n_systems)})
    pairs = corrected(compared(Outputs.from_scores(right, "accuracy")))
    text = counted_significant(pairs, 0.05)
    n = n_systems * (n_systems - 1) // 2
    assert text.startswith(f"{0 if none_can else 1} of {n} pairs differ significantly at 0.05 (two-sided, Holm).")
    why = "Swapping them gives no p-value below 0.00195, and Holm's correction multiplies the smallest by"
    assert text.endswith(f" None can: too few units differ. {why} {n}.") == none_can
    # A part of them, which was corrected for all, does not tell the factor.
    assert counted_significant(pairs[:3], 0.05).endswith("of 3 pairs differ significantly at 0.05 (two-sided, Holm).")
