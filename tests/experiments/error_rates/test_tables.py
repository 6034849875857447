"""Tables of error rates, power, uniformity and choices, against enumeration and by hand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from simstudy.running.fingerprints import derived_seed
from simstudy.truth.synthetic import outcome_correlation
from tests.experiments.error_rates.small import CHOICES, CONDITIONS, DEPENDENT_UNITS, TABLES, examine, study


def two_by_two(n: int, only_first: float, only_second: float) -> Any:
    """All results of n items of which some only the first system has right, some only the second: their chances."""
    b, c = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    rest = np.maximum(n - b - c, 0)
    chance = stats.multinomial.pmf(
        np.stack([b, c, rest], -1), n, [only_first, only_second, 1 - only_first - only_second]
    )
    return b, c, np.where(b + c <= n, chance, 0.0)


@pytest.mark.parametrize("turned", [False, True], ids=["first better", "second better"])
def test_power_and_exaggeration_are_those_of_all_results_there_can_be(turned: bool) -> None:
    """McNemar's test of right and wrong answers, enumerated: power, wrong winners and the mean significant gain.

    Both systems in either order.
    """
    n, sets, name = 60, 4000, "accuracy_gain"
    phi = outcome_correlation(0.83, 0.8, 0.5)
    both = 0.83 * 0.8 + phi * np.sqrt(0.83 * 0.17 * 0.8 * 0.2)
    b, c, chance = two_by_two(n, 0.83 - both, 0.8 - both)
    significant = np.minimum(2 * stats.binom.cdf(np.minimum(b, c), b + c, 0.5), 1) <= 0.05
    found, wrong = ((chance * (significant & side)).sum() for side in (b > c, b < c))
    mean = (chance * significant * np.abs(b - c)).sum() / n * 100 / (found + wrong)
    settings = study(n_units=[n], shown=[n], batches=1, sets=sets, conditions=[name], tests=["mcnemar"])
    settings.conditions[name].parameters["accuracies"] = [0.8, 0.83] if turned else [0.83, 0.8]
    rows = examine(settings, name, n, 0)["decisions"]
    counted = pd.DataFrame([{"condition": name, "n_units": n} | row for row in rows])
    table = TABLES.power(counted, settings)
    (row,) = table[(table["alternative"] == "two-sided") & (table["alpha"] == 0.05)].to_dict("records")
    assert stats.binomtest(round(row["share"] * sets), sets, found).pvalue > 1e-4
    assert stats.binomtest(row["n_wrong"], sets, wrong).pvalue > 1e-4
    assert row["type_s"] == row["n_wrong"] / row["n_rejected"]
    half = (row["type_m_high"] - row["type_m_low"]) / 2
    assert abs(row["type_m"] - mean / 3) < 2 * half < 0.5
    assert row["type_m"] > 3, "so few items find three points only where they seem many more"


def test_shares_of_p_values_are_counted_at_each_level() -> None:
    settings = study(conditions=["accuracy"], tests=["t_paired"], n_units=[40], sets=30)
    found = [examine(settings, "accuracy", 40, batch)["quantiles"] for batch in (0, 1)]
    table = TABLES.quantiles(
        pd.DataFrame([{"condition": "accuracy", "n_units": 40} | row for rows in found for row in rows]), settings
    )
    p = []
    for batch in (0, 1):
        rng = np.random.default_rng(derived_seed(settings.seed, "test sets", "accuracy", 40, batch))
        right = CONDITIONS["accuracy"].pair.draw(30, 40, rng).statistics[..., 0].astype(float)
        p.extend(np.nan_to_num(stats.ttest_rel(right[:, 0], right[:, 1], axis=1).pvalue, nan=1.0))
    expected = [(np.array(p) <= level).mean() for level in table["alpha"]]
    np.testing.assert_allclose(table["share"], expected)
    np.testing.assert_allclose(table["excess"], np.array(expected) - table["alpha"])


def test_exact_tests_are_above_their_level_where_monte_carlo_error_does_not_explain_it() -> None:
    settings = study(conditions=["accuracy", "ratings_means"])
    row = {"condition": "accuracy", "unit": "item", "n_units": 40, "alternative": "two-sided", "alpha": 0.05,
           "n_sets": 10_000, "breaks": ""}  # fmt: skip
    counts = {"sign": [500, 560], "randomization": [580, 400]}
    rates = pd.DataFrame([row | {"test": test, "n_rejected": n} for test, of in counts.items() for n in of])
    rates = pd.concat([rates, rates.assign(condition="ratings_means"), rates.assign(test="bootstrap")])
    table = TABLES.exact(rates.assign(share=rates["n_rejected"] / rates["n_sets"]), settings).set_index("test")
    assert set(table.index) == {"sign", "randomization"}
    # 560 of 10,000 has a tail of 0.0035 and 580 of 0.00016; four rates are corrected for.
    assert table["n_above"].to_dict() == {"sign": 1, "randomization": 1}
    assert table["highest_sd"].round(2).to_dict() == {"sign": 2.75, "randomization": 3.67}
    assert table["n_rates"].tolist() == [2, 2]
    # One rate, so no correction: 62 and more of 1,000 have probability 0.0511, 63 and more 0.0384.
    for n, above in ((62, 0), (63, 1)):
        one = pd.DataFrame([row | {"test": "sign", "n_rejected": n, "n_sets": 1000, "share": n / 1000}])
        assert TABLES.exact(one, settings)["n_above"].tolist() == [above]


def test_first_choice_is_what_finds_most_of_those_that_keep_their_level() -> None:
    settings = study(conditions=["accuracy", "accuracy_easy", "accuracy_gain"])
    at = {"unit": "item", "n_units": 40, "alternative": "two-sided", "alpha": 0.05, "breaks": ""}
    worst = {"sign_flips": 0.06, "bootstrap": 0.07, "t_paired": 0.065, "z_paired": 0.09, "z_independent": 0.01}
    rates = [at | {"condition": "accuracy", "test": test, "share": share} for test, share in worst.items()]
    rates += [at | {"condition": "accuracy_easy", "test": test, "share": 0.01} for test in worst]
    rates.append(at | {"condition": "accuracy", "test": "mcnemar", "share": 0.01})
    finds = {"sign_flips": 0.5, "bootstrap": 0.9, "t_paired": 0.505, "z_paired": 0.95, "z_independent": 0.1}
    power = [at | {"condition": "accuracy_gain", "test": test, "share": share} for test, share in finds.items()]
    elsewhere = [{"alpha": 0.1}, {"alternative": "greater"}, {"breaks": DEPENDENT_UNITS}]
    rates += [row | {"share": 0.5} | other for row in rates for other in elsewhere]
    power += [row | {"share": 0.0} | other for row in power for other in elsewhere]
    table = CHOICES.choices(pd.DataFrame(rates), pd.DataFrame(power), settings)
    assert table.set_index("test")["verdict"].to_dict() == {
        "sign_flips": "first choice",
        "bootstrap": "nearly",
        "t_paired": "first choice",
        "z_paired": "wrong too often",
    }, "mcnemar is not of all conditions, z_independent takes systems to be independent"
    assert (table["sizes"] == "40 - 50").all()
    rates = [row | {"share": max(row["share"], 0.068)} for row in rates]
    none_keeps = CHOICES.choices(pd.DataFrame(rates), pd.DataFrame(power), settings)
    assert none_keeps.loc[none_keeps["verdict"] == "first choice", "test"].tolist() == ["bootstrap"]
