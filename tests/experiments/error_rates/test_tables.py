"""The tables of made-up numbers, against loops over these numbers; exact tests and choices by hand."""

from __future__ import annotations

import itertools
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import special

from simstudy.studies import RunContext
from tests.experiments.error_rates.small import PAGE, TABLES, study

CONDITIONS = ["skewed_means", "accuracy_gain", "accuracy", "clusters", "clusters_gain"]
TESTS = ["sign_flips", "sign", "z_independent", "wilcoxon"]
UNITS, SHOWN, ALPHAS = [20, 5, 40, 30], [40, 5], [0.2, 0.01, 0.1, 0.002]
GAINS = {"accuracy_gain": 3, "clusters_gain": 5}
SIDES = {"p_value": "two-sided", "p_value, greater": "greater"}
WHERE = ["condition", "unit", "n_units"]
KEYS = [*WHERE, "test", "alternative", "alpha"]

# What conditions break of tests, by condition and unit.
BROKEN = {
    ("skewed_means", "item"): {"sign": "null hypothesis", "wilcoxon": "null hypothesis"},
    ("accuracy", "item"): {"z_independent": "independent systems"},
    ("clusters", "cluster"): {"z_independent": "independent systems"},
    ("clusters", "item"): dict.fromkeys(TESTS, "independent units"),
}


@cache
def small() -> Any:
    aims = {"target": [0.1, 0.22], "liberal": [0.05, 0.3], "coverage": [0.9, 0.99], "from_units": 20}
    page = {"shown": SHOWN, "bands": [[5, 20], [40, 50]], "aims": aims}
    return study(CONDITIONS, UNITS, page, tests=TESTS, alphas=ALPHAS)


@cache
def made_up() -> dict[str, pd.DataFrame]:
    """Tables of the simulation, in which hardly two numbers are the same; five clusters never have two scores."""
    rng = np.random.default_rng(5)
    rates, covered = [], []
    for n, name in itertools.product(UNITS, CONDITIONS):
        for unit in ["cluster", "item"] if name.startswith("clusters") else ["item"]:
            at, none = {"n_units": n, "condition": name, "unit": unit}, (unit, n) == ("cluster", 5)
            method = "score interval" if name.startswith("accuracy") else "jackknife interval"
            n_sets = 0 if none else int(rng.integers(40, 50))
            counts = {"n_sets": n_sets, "n_missing": 50 - n_sets}
            for test, quantity, alpha in itertools.product(TESTS, SIDES, ALPHAS):
                count = 0 if none else int(25 * rng.random() ** 2)
                share = {"count": count, "share": count / n_sets if n_sets else np.nan, "low": 0.0, "high": 1.0}
                of_side = {"n_wrong" if name in GAINS else "n_first": int(rng.integers(0, count + 1))}
                of_side |= dict(zip(("type_s", "type_m", "type_m_low", "type_m_high"), rng.random(4), strict=True))
                rates.append(at | {"method": test, "quantity": quantity, "alpha": alpha} | counts | share | of_side)
            caution = {"n_sets": 50, "n_missing": 0, "count": int(rng.integers(0, 50))}
            rates.append(at | {"method": method, "quantity": "caution"} | caution)
            count = max(n_sets - int(rng.integers(0, 9)), 0)
            covered.append(at | {"method": method} | counts | {"count": count, "mean_width": rng.random()})
    return {"rates": pd.DataFrame(rates), "coverage": pd.DataFrame(covered)}


@cache
def summary() -> dict[str, pd.DataFrame]:
    tables: dict[str, pd.DataFrame] = TABLES.summarise(small(), made_up(), RunContext(Path("unused"), 1))
    return tables


def by_key() -> dict[tuple[Any, ...], dict[str, Any]]:
    """The made-up rates of rejection by the columns of KEYS."""
    rows = made_up()["rates"][lambda table: table["quantity"].isin(SIDES)]
    rows = rows.assign(test=rows["method"], alternative=rows["quantity"].map(SIDES))
    return {tuple(row[key] for key in KEYS): row for row in rows.to_dict("records")}


def shares(n: int, n_sets: int, names: tuple[str, ...] = ("share", "low", "high")) -> dict[str, float]:
    """The share and its interval, by quantiles of beta distributions."""
    of_all = max(n_sets, 1)
    low = special.betaincinv(n, of_all - n + 1, 0.025) if n else 0
    high = special.betaincinv(n + 1, of_all - n, 0.975) if n < of_all else 1
    return dict(zip(names, (n / n_sets if n_sets else np.nan, low, high), strict=True))


def assert_row(row: dict[str, Any], expected: dict[str, Any]) -> None:
    """Intervals are written to five digits."""
    assert {name: row[name] for name in expected} == pytest.approx(expected, abs=5.1e-6, nan_ok=True)


def is_kept(key: tuple[Any, ...]) -> bool:
    """Two-sided at two levels, one-sided at one level and the sizes that are shown."""
    n_units, _, alternative, alpha = key[2:]
    return alpha in (0.2, 0.01) if alternative == "two-sided" else alpha == 0.2 and n_units in SHOWN


def test_rates_are_those_without_a_gain_and_one_sided_ones_are_counted_in_two_ways() -> None:
    made, expected = by_key(), {}
    for key, row in made.items():
        breaks = BROKEN.get(key[:2], {}).get(key[3], "")
        if key[0] in GAINS or not is_kept(key) or (key[:2], key[3]) == (("clusters", "item"), "z_independent"):
            continue
        expected[key] = row, row["count"], breaks
        if key[4] == "greater":
            expected[*key[:4], "greater, named beforehand", key[5]] = row, row["n_first"], breaks
    rates = summary()["rates"]
    assert sorted(rates[KEYS].itertuples(index=False, name=None)) == sorted(expected)
    order = [("skewed_means", "item"), ("accuracy", "item"), ("clusters", "cluster"), ("clusters", "item")]
    assert list(dict.fromkeys(zip(rates["condition"], rates["unit"], strict=True))) == order
    for row in rates.to_dict("records"):
        source, n, breaks = expected[tuple(row[key] for key in KEYS)]
        counts = {"n_sets": source["n_sets"], "n_undefined": source["n_missing"], "n_rejected": n, "breaks": breaks}
        assert_row(row, counts | shares(n, source["n_sets"]))


def test_power_counts_what_speaks_for_the_better_system() -> None:
    power, made = summary()["power"], by_key()
    expected = [key for key in made if key[0] in GAINS and is_kept(key) and key[:2] != ("clusters_gain", "item")]
    assert sorted(power[KEYS].itertuples(index=False, name=None)) == sorted(expected)
    for row in power.to_dict("records"):
        source = made[tuple(row[key] for key in KEYS)]
        n, wrong = source["count"], source["n_wrong"]
        numbers = shares(n - wrong, source["n_sets"])
        numbers |= shares(wrong, source["n_sets"], ("wrong", "wrong_low", "wrong_high"))
        kept = {name: source[name] for name in ("n_sets", "type_s", "type_m", "type_m_low", "type_m_high")}
        counts = {"n_rejected": n, "n_wrong": wrong, "true_gain": GAINS[row["condition"]]}
        assert_row(row, kept | counts | numbers)


def test_coverage_has_the_cautions_and_the_test_sets_without_an_interval() -> None:
    table, rates = summary()["coverage"], made_up()["rates"]
    made = {tuple(row[key] for key in WHERE): row for row in made_up()["coverage"].to_dict("records")}
    cautions = rates[rates["quantity"] == "caution"].set_index(WHERE)["count"]
    assert len(table) == len(UNITS) * 6, "clusters by item as well, but not if there is a gain"
    for row in table.to_dict("records"):
        key = tuple(row[name] for name in WHERE)
        numbers = shares(made[key]["count"], made[key]["n_sets"])
        counts = {"n_sets": made[key]["n_sets"], "n_covered": made[key]["count"], "n_undefined": made[key]["n_missing"]}
        of_all = {"undefined": made[key]["n_missing"] / 50, "cautioned": cautions[key] / 50}
        of_condition = {"true_gain": GAINS.get(key[0], 0), "metric": "mean" if key[0] == "skewed_means" else "accuracy"}
        breaks = {"breaks": "independent units" if key[:2] == ("clusters", "item") else ""}
        method = {"interval": made[key]["method"].split()[0], "mean_width": made[key]["mean_width"]}
        assert_row(row, numbers | counts | of_all | of_condition | breaks | method)


def test_p_values_are_looked_at_where_they_are_uniform() -> None:
    """At the first size that is shown, of exchangeable systems and their independent units, at levels of no table."""
    table, made = summary()["quantiles"], by_key()
    expected = {
        (condition, test, alpha): made[condition, unit, 40, test, "two-sided", alpha]
        for condition, unit in (("accuracy", "item"), ("clusters", "cluster"))
        for test in ("sign_flips", "sign", "wilcoxon")
        for alpha in (0.1, 0.002)
    }
    assert set(table[["condition", "test", "alpha"]].itertuples(index=False, name=None)) == set(expected)
    for row in table.to_dict("records"):
        share = expected[row["condition"], row["test"], row["alpha"]]["share"]
        assert_row(row, {"n_units": 40, "share": share, "excess": share - row["alpha"]})


def test_the_page_has_brackets_where_a_condition_breaks_a_test_and_one_sided_rates_elsewhere() -> None:
    """Read from files, whose texts are missing where they are empty."""
    tables = {name: table.replace("", np.nan) for name, table in summary().items()}
    parts = {part.heading: part.table.text() for part in PAGE.show(small(), tables).sections if part.table is not None}
    rates, titles = summary()["rates"], summary()["conditions"].set_index("condition")["title"]
    at_alpha = rates[(rates["alpha"] == 0.2) & rates["n_units"].isin(SHOWN) & rates["share"].notna()]
    views = {key: titles[key[0]] + ", by item" * (key == ("clusters", "item")) for key in BROKEN}
    cells = parts["All tests"].set_index(["condition", "units"])
    for row in at_alpha[at_alpha["alternative"] == "two-sided"].to_dict("records"):
        cell = cells.loc[(views[row["condition"], row["unit"]], str(row["n_units"])), row["test"]]
        assert cell.strip("()▲▼") == f"{row['share']:.3f}"
        assert (cell[0] == "(") == (cell[-1] == ")") == bool(row["breaks"])
    cells = parts["One-sided tests"].set_index(["condition", "units"])
    assert len(cells) == 3 * len(SHOWN)
    for row in at_alpha[(at_alpha["test"] == "sign_flips") & (at_alpha["breaks"] == "")].to_dict("records"):
        at = (titles[row["condition"]], str(row["n_units"])), PAGE._SIDES.get(row["alternative"], row["alternative"])
        assert cells.loc[at] == f"{row['share']:.3f}"


def test_exact_tests_are_above_their_level_where_monte_carlo_error_does_not_explain_it() -> None:
    row = {"condition": "accuracy", "unit": "item", "n_units": 40, "alternative": "two-sided", "alpha": 0.05,
           "n_sets": 10_000, "breaks": ""}  # fmt: skip
    counts = {"sign": [500, 560], "randomization": [580, 400]}
    rates = pd.DataFrame([row | {"test": test, "n_rejected": n} for test, each in counts.items() for n in each])
    rates = pd.concat([rates, rates.assign(breaks="null hypothesis"), rates.assign(test="bootstrap")])
    table = TABLES.exact(rates.assign(share=rates["n_rejected"] / rates["n_sets"])).set_index("test")
    assert set(table.index) == {"sign", "randomization"}
    # 560 of 10,000 has a tail of 0.0035 and 580 of 0.00016; four rates are corrected for.
    assert table["n_above"].to_dict() == {"sign": 1, "randomization": 1}
    assert table["highest_sd"].round(2).to_dict() == {"sign": 2.75, "randomization": 3.67}
    assert table["n_rates"].tolist() == [2, 2]
    # One rate, so no correction: 62 and more of 1,000 have probability 0.0511, 63 and more 0.0384.
    for n, above in ((62, 0), (63, 1)):
        one = pd.DataFrame([row | {"test": "sign", "n_rejected": n, "n_sets": 1000, "share": n / 1000}])
        assert TABLES.exact(one)["n_above"].tolist() == [above]


def test_first_choice_is_what_finds_most_of_those_that_keep_their_level() -> None:
    some = study(["accuracy", "accuracy_easy", "accuracy_gain"], [40], {"bands": [[5, 10], [40, 50]]})
    systems = TABLES.conditions(some)
    at = {"unit": "item", "n_units": 40, "breaks": ""}
    worst = {"sign_flips": 0.06, "bootstrap": 0.07, "t_paired": 0.065, "z_paired": 0.09, "z_independent": 0.01}
    rates = [at | {"condition": "accuracy", "test": test, "share": share} for test, share in worst.items()]
    rates += [at | {"condition": "accuracy_easy", "test": test, "share": 0.01} for test in worst]
    rates.append(at | {"condition": "accuracy", "test": "mcnemar", "share": 0.01})
    powers = {"sign_flips": 0.5, "bootstrap": 0.9, "t_paired": 0.505, "z_paired": 0.95, "z_independent": 0.1}
    power = [at | {"condition": "accuracy_gain", "test": test, "share": share} for test, share in powers.items()]
    rates += [row | {"share": 0.5, "breaks": "independent units"} for row in rates]
    table = TABLES.choices(pd.DataFrame(rates), pd.DataFrame(power), systems, some)
    assert table.set_index("test")["verdict"].to_dict() == {
        "sign_flips": "first choice",
        "bootstrap": "nearly",
        "t_paired": "first choice",
        "z_paired": "wrong too often",
    }, "mcnemar is not of all conditions, z_independent takes systems to be independent"
    assert (table["sizes"] == "40 - 50").all()
    assert table[["worst", "worst_condition", "power"]].iloc[0].tolist() == [0.06, "accuracy", 0.5]
    rates = [row | {"share": max(row["share"], 0.068)} for row in rates]
    none_keeps = TABLES.choices(pd.DataFrame(rates), pd.DataFrame(power), systems, some)
    assert none_keeps.loc[none_keeps["verdict"] == "first choice", "test"].tolist() == ["bootstrap"]


def test_the_highest_rate_beside_first_choices_is_theirs() -> None:
    """Not that of tests which reject too often."""
    rows = [("sign", TABLES.FIRST, 0.04), ("bootstrap", TABLES.FIRST, 0.051), ("t", TABLES.FAILS, 0.2)]
    choices = pd.DataFrame(rows, columns=["test", "verdict", "worst"]).assign(situation="s", sizes="few", power=0.5)
    (shown,) = PAGE.chosen_tests(choices).rows.to_dict("records")
    assert (shown["first"], shown["worst"], shown["fails"]) == ("sign, bootstrap", "0.040 – 0.051", "t")
