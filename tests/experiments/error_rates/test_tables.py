"""Tables of exact tests and of choices, by hand."""

from __future__ import annotations

import pandas as pd

from tests.experiments.error_rates.small import CHOICES, DEPENDENT_UNITS, TABLES, study
from tests.experiments.programs import program

PAGE = program("error_rates", "page")


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


def test_the_highest_rate_beside_first_choices_is_theirs() -> None:
    """Not that of tests which reject too often."""
    rows = [("sign", CHOICES.FIRST, 0.04), ("bootstrap", CHOICES.FIRST, 0.051), ("t", CHOICES.FAILS, 0.2)]
    choices = pd.DataFrame(rows, columns=["test", "verdict", "worst"]).assign(situation="s", sizes="few", power=0.5)
    (shown,) = PAGE.chosen(choices).rows.to_dict("records")
    assert (shown["first"], shown["worst"], shown["fails"]) == ("sign, bootstrap", "0.040 – 0.051", "t")
