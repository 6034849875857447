"""The tables of the study of error rates of made-up counts, against loops over these counts."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special, stats

from tests.experiments.error_rates.made_up import GAINS, NULLS, UNITS, asked, made_up, ran, settings
from tests.experiments.error_rates.small import CHOICES, CONDITIONS, TABLES
from tests.experiments.programs import program

CAUTIONS = program("error_rates", "cautions")


@pytest.fixture(scope="module")
def counted() -> dict[str, pd.DataFrame]:
    """All rows of all cells."""
    at = [dict(zip(("condition", "n_units", "batch"), cell.arguments[1:4], strict=True)) for cell in ran()[1]]
    return {
        kind: pd.DataFrame([where | row for where in at for row in made_up(*where.values())[kind]])
        for kind in ("decisions", "quantiles", "coverage")
    }


def summed(table: pd.DataFrame, keys: list[str]) -> dict[Any, dict[str, float]]:
    numbers = table.groupby(keys, sort=False).sum(numeric_only=True).to_dict("index")
    return {key: {str(name): value for name, value in row.items()} for key, row in numbers.items()}


def clopper_pearson(n: float, n_sets: float) -> list[Any]:
    """The share and its interval, by quantiles of beta distributions."""
    of_all = max(n_sets, 1)
    low = special.betaincinv(n, of_all - n + 1, 0.025) if n else 0
    high = special.betaincinv(n + 1, of_all - n, 0.975) if n < of_all else 1
    return [n / n_sets if n_sets else np.nan, pytest.approx(low, abs=5.1e-6), pytest.approx(high, abs=5.1e-6)]


def assert_row(row: Any, expected: dict[str, Any]) -> None:
    for name, value in expected.items():
        missing = isinstance(value, float) and np.isnan(value)
        assert np.isnan(row[name]) if missing else row[name] == value, (name, row)


def test_batches_are_as_many_as_size_and_condition_say_and_the_head_tells_it() -> None:
    found, cells = ran()
    expected = [
        (name, n, batch)
        for name in settings().conditions
        for n in UNITS
        for batch in range(1 if name == "turned" else 2 if n == 40 else 3)
    ]
    assert [cell.arguments[1:4] for cell in cells] == expected
    n_sets = "150 for each condition and number of units, 100 from 40 units on, in batches of 50; turned: 50 at most"
    assert found.facts == {
        "Test sets": n_sets,
        "Resamples": "19 of each test set, for tests that draw them",
        "Seed": "5",
    }


def test_every_rate_is_the_sum_of_its_batches(counted: dict[str, pd.DataFrame]) -> None:
    """Two-sided at all levels, one-sided at one: of the better system, and of the first one as named beforehand."""
    rates, keys = ran()[0].tables["rates"], ["condition", "unit", "n_units", "test", "alternative", "alpha"]
    expected = {
        (name, unit, n, test, of_side, alpha)
        for name in NULLS
        for n in UNITS
        for unit, test, side, alpha in asked(name, n)
        for of_side in ([side] if side == "two-sided" else [side, "greater, named beforehand"] * (alpha == 0.2))
    }
    assert set(rates[keys].itertuples(index=False, name=None)) == expected
    assert len(rates) == len(expected)
    order = [("skewed_means", "item"), ("accuracy", "item"), ("clusters", "cluster"), ("clusters", "item")]
    assert list(dict.fromkeys(zip(rates["condition"], rates["unit"], strict=True))) == order
    of_key = summed(counted["decisions"], keys)
    for row in rates.to_dict("records"):
        named = row["alternative"] == "greater, named beforehand"
        sums = of_key[tuple("greater" if named and key == "alternative" else row[key] for key in keys)]
        n = sums["n_rejected_first" if named else "n_rejected"]
        shares = dict(zip(("share", "low", "high"), clopper_pearson(n, sums["n_sets"]), strict=True))
        same = {name: sums[name] for name in ("n_sets", "n_undefined", "n_rejected_undefined")}
        breaks = settings().conditions[row["condition"]].breaks(row["test"], row["unit"])
        assert_row(row, {**same, "n_rejected": n, "breaks": breaks, **shares})
    # The shipped tables have the rows of these functions.
    at_alpha, covered = rates[rates["alpha"] == 0.2], ran()[0].tables["coverage"]
    made = {
        "tests": TABLES.by_test(at_alpha[at_alpha["alternative"] == "two-sided"], settings().aims),
        "exact": TABLES.exact(rates, settings()), "few_units": TABLES.few_units(at_alpha, covered, 20),
        "cautions": CAUTIONS.cautions(at_alpha, covered, settings()),
        "choices": CHOICES.choices(rates, ran()[0].tables["power"], settings()),
    }  # fmt: skip
    for name, table in made.items():
        pd.testing.assert_frame_equal(ran()[0].tables[name], table)
    assert list(ran()[0].tables) == [
        "choices", "tests", "rates", "exact", "few_units", "cautions", "quantiles", "power", "coverage", "conditions"
    ]  # fmt: skip


def test_power_counts_what_speaks_for_the_better_system(counted: dict[str, pd.DataFrame]) -> None:
    """Which is the second one in one of the conditions; types S and M need 20 significant test sets."""
    keys, table = ["condition", "unit", "n_units", "test", "alternative", "alpha"], ran()[0].tables["power"]
    expected = [(name, *key[:1], n, *key[1:]) for name in GAINS for n in UNITS for key in asked(name, n)]
    expected = [key for key in expected if key[4] == "two-sided" or key[5] == 0.2]
    assert list(table[keys].itertuples(index=False, name=None)) == expected
    assert {19, 20} <= set(table["n_rejected"])
    of_key = summed(counted["decisions"], keys)
    for row in table.to_dict("records"):
        sums = of_key[tuple(row[key] for key in keys)]
        n, first = sums["n_rejected"], sums["n_rejected_first"]
        right, wrong = (first, n - first) if row["condition"] == "accuracy_gain" else (n - first, first)
        shares = clopper_pearson(right, sums["n_sets"]) + clopper_pearson(wrong, sums["n_sets"])
        names = ("share", "low", "high", "wrong", "wrong_low", "wrong_high")
        assert_row(row, {"n_sets": sums["n_sets"], "n_rejected": n, "n_wrong": wrong, "true_gain": pytest.approx(
            3 if row["condition"] == "accuracy_gain" else -3), **dict(zip(names, shares, strict=True))})  # fmt: skip
        if n < 20:
            assert_row(row, dict.fromkeys(["type_s", "type_m", "type_m_low", "type_m_high"], np.nan))
            continue
        mean = sums["sum_gain"] / n
        reach = stats.norm.isf(0.025) * np.sqrt((sums["sum_square"] / n - mean**2) / n)
        ends = [pytest.approx((mean + side * reach) / 3, abs=5.1e-5) for side in (-1, 1)]
        assert_row(row, {"type_s": wrong / n, "type_m": pytest.approx(mean / 3), "type_m_low": ends[0],
                         "type_m_high": ends[1]})  # fmt: skip


def test_coverage_and_uniformity_are_sums_of_batches(counted: dict[str, pd.DataFrame]) -> None:
    """The table of uniformity has no condition that a test's null hypothesis is not true of."""
    keys, table = ["condition", "unit", "n_units", "interval"], ran()[0].tables["coverage"]
    assert len(table) == len(UNITS) * 6
    of_key = summed(counted["coverage"], keys)
    for row in table.to_dict("records"):
        sums = of_key[tuple(row[key] for key in keys)]
        n_sets, n_all = sums["n_sets"], sums["n_sets"] + sums["n_undefined"]
        shares = dict(zip(("share", "low", "high"), clopper_pearson(sums["n_covered"], n_sets), strict=True))
        same = {name: sums[name] for name in ("n_sets", "n_covered", "n_undefined", "n_cautioned")}
        gain = {"accuracy_gain": 3, "turned": -3}.get(row["condition"], 0)
        assert_row(row, {**same, **shares, "level": 0.95, "undefined": sums["n_undefined"] / n_all,
                         "cautioned": sums["n_cautioned"] / n_all, "true_gain": pytest.approx(gain, abs=1e-9),
                         "breaks": "independent units" if (row["condition"], row["unit"]) == ("clusters", "item")
                         else "", "metric": "mean" if row["condition"] == "skewed_means" else "accuracy",
                         "mean_width": sums["sum_width"] / n_sets if n_sets else np.nan})  # fmt: skip
    table = ran()[0].tables["quantiles"]
    assert set(zip(table["condition"], table["test"], strict=True)) == {
        *itertools.product(["accuracy_gain", "accuracy", "turned"], ["wilcoxon", "sign_flips"]),
        ("skewed_means", "sign_flips"),
    } - {(name, "wilcoxon") for name in GAINS if not CONDITIONS["accuracy_gain"].pair.exchangeable}
    of_key = summed(counted["quantiles"], ["condition", "n_units", "test", "alpha"])
    for row in table.to_dict("records"):
        sums = of_key[row["condition"], row["n_units"], row["test"], row["alpha"]]
        share = sums["n_rejected"] / sums["n_sets"]
        assert_row(row, {"n_sets": sums["n_sets"], "share": share, "excess": share - row["alpha"]})
