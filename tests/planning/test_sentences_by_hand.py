"""Sentences of plans with numbers that are made up, or computed by hand."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.metrics import METRICS
from simstudy.planning.benchmarks import EDITIONS, next_edition
from simstudy.planning.sentences import gain_in
from tests.planning.forms import numbers, planned


def test_what_is_said_of_the_next_edition_has_its_ends_in_order() -> None:
    plan = planned("of many answers", n_items=400, n_sets=0, n_draws=0, sizes=[])
    (said,) = [one for one in plan.assumptions if "next edition of a benchmark" in one]
    # Three levels are in this plan: each range names its own.
    assert not [one for one in plan.assumptions if "Ranges are" in one]
    low, middle, high = next_edition()
    editions = len({edition[:3] for edition in EDITIONS})
    assert numbers(said) == pytest.approx([low, high, middle, 80, len(EDITIONS), editions], abs=0.005)
    gain = plan.answers["minimum_detectable_gain"].iloc[0]
    told = re.findall(r"Expect the next one to detect a gain of ([\d.]+) to ([\d.]+),", " ".join(plan.text.split()))[0]
    assert [float(end) for end in told] == pytest.approx([low * gain, high * gain], rel=1e-3)


def test_what_is_said_of_a_pilot_that_settles_the_power() -> None:
    """Five items cannot be significant, whatever the spread is."""
    outputs = ss.truth.correlated_accuracies([0.6, 0.7], 200, seed=1)
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=5, n_items=5, sizes=[])
    assert "the power with 5 items is 0.00 to 0.00 (95 % interval)." in " ".join(plan.text.split())
    single = ss.Outputs.from_statistics(
        outputs.statistics, outputs.metric, outputs.names, items=outputs.items.assign(cluster=range(200))
    )
    assert re.search(r"You need [\d,]+ clusters of 1 item \(", ss.plan(ss.Pilot(single, n_sets=0), gain=5).text)


@pytest.mark.parametrize(
    ("power", "zeros", "n_items"),
    [(0.0, 0, 400), (0.7, 0, 400), (3.0, 0, 400), (3.0, 0, 60), (3.0, 0, 4000), (0.0, 160, 60), (0.0, 160, 400)],
)
def test_long_tails_of_a_pilot_are_told_with_their_kurtosis(power: float, zeros: int, n_items: int) -> None:
    """Normal differences and their powers; nothing is said where so many units tell of long tails in the mean.

    Where most differences are 0, their kurtosis is large; the interval of the spread hangs on that of the others.
    """
    rng = np.random.default_rng(3)
    values = rng.normal(size=200)
    values *= np.abs(values) ** power
    values[:zeros] = 0.0
    plan = ss.plan(
        ss.Pilot(ss.Outputs.from_scores(pd.DataFrame({"new": values, "old": 0.0})), n_sets=0),
        gain=float(values.std() / 5), n_items=n_items, sizes=[],
    )  # fmt: skip
    kurtosis = float(((values - values.mean()) ** 4).mean() / values.var() ** 2)
    assert plan.answers["kurtosis"].item() == pytest.approx(kurtosis)
    assert stats.kurtosis(values, fisher=False) == pytest.approx(kurtosis)
    others = stats.kurtosis(values[zeros:], fisher=False)
    assert (6 < others < 8.5) == (power == 0.7), "excess kurtosis is another number"
    assert ("holds 82 to 89 % for tails as long" in plan.cases[0].range) == (others > 6)
    text = "\n".join(plan.sentences)
    long = kurtosis - 3 > 0.1 * n_items
    assert (f"(kurtosis {kurtosis:.0f})" in text) == ("with 90 items or more" in text) == long
    assert ("This plan has fewer: do not rely on it." in text) == (long and n_items < 90)


@pytest.mark.parametrize(
    ("metric", "gain", "text"),
    [
        ("accuracy", 1, "1 point of accuracy"), ("bleu", 12.3456, "12.3 points of BLEU"),
        ("ap", 0.02, "0.02 of average precision"), ("mean", 123456.7, "123,457 of mean"),
        ("mean", 1e20, "1e+20 of mean"),
    ],
)  # fmt: skip
def test_gains_are_told_with_three_digits_and_their_unit(metric: str, gain: float, text: str) -> None:
    assert gain_in(METRICS[metric], gain) == text


def test_ends_that_no_test_set_reaches_are_told() -> None:
    """Five of ten million items have power for the upper end of the range; a rare wrong winner is no number."""
    guess = ss.Guess(sd_difference=(1.0, 1e6))
    plan = ss.plan(metric="mean", gain=500.0, guess=guess, sizes=[])
    row = plan.answers.iloc[0]
    assert np.isnan(row["n_items_high"])
    assert (
        f"{row['n_items']:,.0f} items (from {row['n_items_low']:,.0f} to more than any test set has, the "
        "guessed range) to"
    ) in plan.text
    sure = ss.plan(metric="mean", gain=5.0, n_items=50, guess=ss.Guess(sd_difference=1.0), sizes=[])
    assert "Wrong winner: less than 0.1 % of such test sets." in sure.text
