"""The cells of the experiments' pages are those of their tables: rows in which no two numbers are the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from simstudy.pages.sections import Section, Table
from simstudy.studies import load_study
from tests.experiments.programs import program


def rows(table: Table | None) -> list[list[str]]:
    assert table is not None
    return table.text().to_numpy().tolist()


def by_heading(parts: list[Section]) -> dict[str, Section]:
    return {part.heading: part for part in parts}


PAIR: dict[str, Any] = {
    "system_a": "A", "system_b": "B", "score_a": 51.25, "score_b": 42.5, "gain": 8.75, "p_value": 0.0123,
    "certainty": 0.456, "exact_p": 0.00789,
}  # fmt: skip


def test_chinchors_examples() -> None:
    made = program("chinchor_1992")
    reading = {
        "pair": "C / D", "level": 0.0994, "n_shuffles": 9999, "alpha": 0.1, "confidence": 0.635, "computed": 0.57,
        "level_of_printed": 0.0981,
    }  # fmt: skip
    tables = {
        "worked": pd.DataFrame([PAIR]), "readings": pd.DataFrame([reading]),
        "constructed": pd.DataFrame([{**PAIR, "published": 0.0415}, {**PAIR, "published": np.nan}]),
    }  # fmt: skip
    parts = by_heading(made.example_sections(tables))
    pair = ["A / B", "51.25 / 42.50", "8.75"]
    assert rows(parts["Worked examples"].table) == [[*pair, "0.0123", "0.456", "0.00789"]]
    assert rows(parts["A printed confidence level"].table) == [
        ["C / D", "0.1, 9,999", "0.0994", "0.635", "0.570", "0.0981"]
    ]
    assert rows(parts["Constructed cases"].table) == [
        [*pair, "0.0415", "0.0123", "0.456", "0.00789"], [*pair, "", "0.0123", "0.456", "0.00789"],
    ]  # fmt: skip


def test_chinchors_set() -> None:
    """Two metrics: groups by rule, triples by kind, and decisions."""
    made = program("chinchor_1992")
    counts = {("m1", "maximal"): 5, ("m1", "greedy"): 4, ("m1", "adjacent"): 3, ("m2", "maximal"): 2}
    counts |= {("m2", "greedy"): 1, ("m2", "adjacent"): 6}
    groups = [{"metric": m, "rule": rule, "group": k} for (m, rule), n in counts.items() for k in range(n)]
    triples = pd.DataFrame({"metric": ["m1", "m1", "m2"], "kind": ["not transitive", "wider", "not transitive"]})
    elsewhere = pd.DataFrame({"metric": ["m1"] * 9, "kind": "wider", "test_set": "a case"})
    ranges = {"smallest_significant": [1.23, 2.34], "largest_not_significant": [3.45, 4.56], "n_between": [17, 18]}
    decided = ["n_pairs", "certain", "uncertain", "uncertain_exact", "exact", "holm", "bh"]
    tables = {
        "groups": pd.DataFrame(groups).assign(test_set=made.MUC_LIKE),
        "intransitive": pd.concat([triples.assign(test_set=made.MUC_LIKE), elsewhere]),
        "gain_ranges": pd.DataFrame({"metric": ["m1", "m2"], **ranges}),
        "decisions": pd.DataFrame([{"metric": "m1", **{name: 20 + k for k, name in enumerate(decided)}}]),
    }
    how_many, warning, by_rules = made.set_sections(tables, {"alpha": 0.1, "certainty": 0.99})
    assert rows(how_many.table) == [["m1", "20", "21", "22 (23)", "24", "25", "26"]]
    assert "the certainty is at least 0.99 that the exact p-value is at or below 0.1" in how_many.text
    assert rows(warning.table) == [["m1", "1.23", "3.45", "17", "1", "1"], ["m2", "2.34", "4.56", "18", "1", "0"]]
    assert list(by_rules.table.text().columns) == ["metric", "maximal", "greedy", "adjacent"]
    assert sorted(rows(by_rules.table)) == [["m1", "5", "4", "3"], ["m2", "2", "1", "6"]]


def test_each_way_of_deciding_is_counted_for_itself() -> None:
    """Of seven pairs: below the cutoff by shuffles 5, exactly 4, Holm 1, Benjamini-Hochberg 3; certain 2."""
    pairs = pd.DataFrame(
        {
            "metric": "m", "at_alpha": 0.1, "p_value": [0.01, 0.02, 0.1, 0.09, 0.08, 0.11, 0.9],
            "exact_p": [0.01, 0.1, 0.11, 0.05, 0.2, 0.09, 0.9], "p_holm": [0.07, 0.12, 0.5, 0.4, 0.3, 0.6, 1],
            "p_bh": [0.07, 0.08, 0.2, 0.1, 0.3, 0.6, 0.9], "significant": [True, True, *[False] * 5],
        }
    )  # fmt: skip
    assert program("chinchor_1992").decisions(pairs).iloc[0].to_dict() == {
        "metric": "m", "n_pairs": 7, "certain": 2, "uncertain": 3, "exact": 4, "uncertain_exact": 1,
        "shuffled_other_than_exact": 3, "holm": 1, "bh": 3,
    }  # fmt: skip


def test_yehs_example() -> None:
    made = program("yeh_2000")
    one, other = made.RELATIONS[:2]
    values = {f"of {n} relations": 1.2341 + k for k, n in enumerate(made.RELATIONS)}
    quantity = {"quantity": "recall of I, %", "printed": 45.6, **values}
    level = {
        "metric": "recall", "alternative": "greater", "printed_p": "0.00009", "printed_n_extreme": 12345,
        f"exact_p_{one}": 0.000111, f"exact_p_{other}": 0.000222, "p_value": 0.00033, "p_low": 0.00031,
        "p_high": 0.00035, "p_value_again": 0.5, "z_of_two_runs": 0.61, "z_ours": -1.52, "z_printed": 2.43,
    }  # fmt: skip
    test = {"metric": "f1", "test": "sign", "p_one_sided": 0.0123, "p_two_sided": 0.0456, "exact": True}
    tables = {
        "example": pd.DataFrame([quantity]),
        "randomization": pd.DataFrame([level]), "example_tests": pd.DataFrame([test, {**test, "exact": False}]),
        "independence": pd.DataFrame({"r12": [0.38], "printed": [1.27], "computed": [1.2699]}),
        "five_flips": pd.DataFrame({"correlation": [0.4], "all_alike": [0.125]}),
    }  # fmt: skip
    example, levels, tests, ratios = made.example_sections(tables)
    assert rows(example.table)[0][:4] == ["recall of I, %", "45.6", "1.234", "2.234"]
    assert rows(levels.table) == [
        ["recall", "greater", "0.00009", "12,345", "0.000111", "0.000222", "0.00033", "0.00031 – 0.00035", "+2.4",
         "-1.5", "+0.6"],
    ]  # fmt: skip
    assert rows(tests.table) == [
        ["F1", "sign", "0.0123", "0.0456", "yes"], ["F1", "sign", "0.0123", "0.0456", ""],
    ]  # fmt: skip
    assert rows(ratios.table) == [["0.38", "1.27", "1.270"]]
    study = load_study("yeh_2000")
    _, flips = made.dependence_sections(tables, study.dependence)  # type: ignore[attr-defined]
    assert rows(flips.table) == [["0.4", "0.1250 (1/8.0)"]]


def test_error_rates_are_marked_where_they_leave_the_ranges() -> None:
    """One test at five sizes: the rates are on the bounds, and just beyond them; the last condition breaks the test."""
    aims = load_study("error_rates").page["aims"]  # type: ignore[attr-defined]
    (low, high), (lowest, highest) = aims["target"], aims["liberal"]
    rates = [low, high, low - 0.001, high + 0.001, lowest - 0.001, highest + 0.001]
    table = pd.DataFrame({"share": rates, "breaks": [""] * 5 + ["null hypothesis"]})
    marked = program("error_rates", "page").marked(table, aims)
    assert (marked["opened"] + marked["marks"] + marked["closed"]).tolist() == ["", "", "▼", "▲", "▼▼", "(▲▲)"]


def test_known_benchmarks_in_points() -> None:
    """Of AP the gain and sd are given as fractions; of accuracy in points, and its units are documents."""
    made, study = program("power_tables", "page"), load_study("power_tables")
    first, second = list(made.titles_of(study).items())[:2]
    shared: dict[str, Any] = {"n_pairs": 21, "score": 0.3456, "r12": 0.51, "r12_10": 0.42, "r12_90": 0.63}
    gain = {"minimum_detectable_gain": 3.14, "minimum_detectable_gain_low": 2.71, "minimum_detectable_gain_high": 4.67}
    ap = {"metric": "ap", "metric_unit": "", "n_items": 50, "unit": "item", "n_units": 50, "sd": 0.151, "sd_10": 0.112}
    ap |= {"sd_90": 0.213, "relation": made.UNLIKE, **{name: value / 100 for name, value in gain.items()}}
    accuracy = {"metric": "accuracy", "metric_unit": "percent", "n_items": 1234, "unit": "document", "n_units": 56}
    accuracy |= {"sd": 31.0, "sd_10": 22.0, "sd_90": 43.0, "relation": made.VARIANTS, **gain}
    benchmarks = pd.DataFrame([shared | {"test_set": k} | row for k, row in ((first[0], ap), (second[0], accuracy))])
    law = {"metric": "ap", "relation": made.UNLIKE, "n_test_sets": 7, "c": 81.0, "c_10": 62.0, "c_90": 103.0}
    ranges = {"metric": "ap", "relation": made.UNLIKE, "quantity": "sd", "n_test_sets": 7, "middle": 0.152}
    ranges |= {"low": 0.113, "high": 0.214, "inside": 0.78, "inside_least": 0.59}
    tables = {"law": pd.DataFrame([law | {"slope": -0.48}]), "ranges": pd.DataFrame([ranges])}
    shown, root, of_plans = made.sections({**tables, "benchmarks": benchmarks}, study)
    points = ["3.14 (2.71 – 4.67)"]
    assert rows(shown.table) == [
        [first[1], "average precision", "50", "", made.UNLIKE, "21", "0.346", "0.51 (0.42 – 0.63)",
         "15.1 (11.2 – 21.3)", *points],
        [second[1], "accuracy", "1,234", "56 documents", made.VARIANTS, "21", "0.346", "0.51 (0.42 – 0.63)",
         "31 (22 – 43)", *points],
    ]  # fmt: skip
    assert rows(root.table) == [["average precision", made.UNLIKE, "7", "81 (62 – 103)", "-0.48"]]
    assert rows(of_plans.table)[0][3:] == ["7", "0.152", "0.113 – 0.214", "0.78 (least 0.59)"]
