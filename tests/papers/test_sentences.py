"""Sentences for papers: each is true of the comparison that it is about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.comparisons.paper import of_pair
from simstudy.engines.registry import TESTS
from simstudy.examination.several import Several
from simstudy.papers.basis import named
from tests.engines.pairs import KINDS
from tests.examination.rows import only_new_is_right, pair, scores
from tests.oracles import GEOMETRIC


def said(outputs: ss.Outputs, **options: Any) -> dict[str, str]:
    """The paragraphs on results and methods, of outputs compared in this way."""
    return paragraphs(ss.examine(outputs, **options).to_markdown())


def paragraphs(text: str) -> dict[str, str]:
    starts = ("Results: ", "Methods: ", "References:")
    return {part.partition(":")[0]: part.partition(": ")[2] for part in text.split("\n\n") if part.startswith(starts)}


def test_a_result_has_the_decision_the_numbers_and_what_they_are_of() -> None:
    outputs = only_new_is_right(10, 30)
    found, row = said(outputs), ss.compare(outputs).pair("new", "old").row
    assert found["Results"] == (
        "new is better than old: the gain is significant at 0.05. new scores 100.0 % accuracy, 25.0 points more than "
        f"old (75.0 %): 95 % confidence interval of the gain {row['gain_low']:.1f} to {row['gain_high']:.1f} points, "
        "p = 0.00195 (two-sided sign-flip test). Wins, losses and ties of new: 10, 0 and 30 of 40 items."
    )
    assert found["Methods"].startswith(
        "We compared the two systems with the two-sided sign-flip test (Hemerik et al., 2020; Noreen, 1989). It "
        "is exact here for independent units. For right or wrong answers it is McNemar's exact test (McNemar, 1947). "
        "The null hypothesis is that in the population the two systems have equal scores. The units are 40 items. The "
        "p-value is exact. The p-value is not corrected for multiple tests. The interval of the gain "
        "is 95 %, two-sided: score intervals for paired proportions (Tango, 1998). All numbers are by simstudy "
    )
    assert f"`{ss.compare(outputs).signature()}`" in found["Methods"]


def test_the_better_of_two_error_rates_scores_less() -> None:
    errors = pd.DataFrame({"new": [0.0, 1.0] * 20, "old": [1.0, 1.0] * 20})
    results = said(ss.Outputs.from_scores(errors, lower_is_better=True))["Results"]
    assert results.startswith("new is better than old: the gain is significant at 0.05. new scores 0.50")
    assert " less than old (1.0" in results
    assert " more than" not in results


def test_no_gain_and_no_significance_are_told_as_the_verdict_tells_them() -> None:
    equal = said(ss.Outputs.from_scores(pd.DataFrame({"a": [1, 0] * 20, "b": [0, 1] * 20}), "accuracy"))["Results"]
    assert equal.startswith(
        "There is no gain to test. a and b have the same score, 50.0 % accuracy: 95 % confidence interval of the gain "
        "of a"
    )
    few = said(only_new_is_right(3, 30))["Results"]
    assert few.startswith(
        "The gain of new over old is not significant at 0.05, and cannot be: too few units differ. Swapping them gives "
        "no p-value below 0.250. This does not show that the two are equally good. "
    )


@pytest.mark.parametrize(
    ("options", "parts"),
    [
        (
            {"monte_carlo": True, "n_resamples": 999, "seed": 3},
            ["from 999 random resamples (seed 3), as (count + 1) / (resamples + 1) (Phipson and Smyth, 2010)"],
        ),
        (
            {"test": "bootstrap", "convention": "koehn2004"},
            [
                "one-sided paired bootstrap",
                "1,000 random resamples (seed 0), counted by the convention koehn2004 (Koehn, 2004)",
                "One-sided p-values are valid only if the better system of a pair was predicted.",
            ],
        ),
        (
            {"test": "mcnemar"},
            [
                "two-sided McNemar's test (McNemar, 1947). It is exact here for independent units.",
                "The p-values are exact.",
            ],
        ),
        (
            {"test": "t_paired"},
            [
                "the two-sided paired t test (Yeh, 2000). It is approximate here.",
                "assumes: the mean difference is normal.",
            ],
        ),
        ({"test": "sign"}, ["The null hypothesis is that either system is as likely to win a unit."]),
    ],
)
def test_the_test_is_told_as_it_was(options: dict[str, Any], parts: list[str]) -> None:
    outputs = ss.truth.correlated_accuracies([0.5, 0.7, 0.8], 100)
    methods = said(outputs, **options)["Methods"]
    for part in parts:
        assert part in methods
    assert "The p-values are corrected for all 3 pairs by Holm's method (Holm, 1979)." in methods
    assert ("One-sided p-values are valid" in methods) == (options.get("convention") == "koehn2004")
    drawn = "monte_carlo" in options or "convention" in options
    assert (" random resamples (seed " in methods) == drawn


@pytest.mark.parametrize(
    ("options", "how"),
    [
        ({}, " and is (count + 1) / (resamples + 1) (Phipson and Smyth, 2010)."),
        ({"convention": "koehn2004", "test": "bootstrap"}, ", counted by the convention koehn2004 (Koehn, 2004)."),
    ],
)
def test_one_p_value_of_resamples_is_told_as_one(options: dict[str, Any], how: str) -> None:
    methods = said(only_new_is_right(10, 30), monte_carlo=True, n_resamples=99, seed=3, **options)["Methods"]
    assert f" The p-value is from 99 random resamples (seed 3){how} " in methods


def test_where_some_p_values_are_computed_it_says_of_how_many() -> None:
    """Shuffles of a geometric mean of sums are drawn where many units differ."""
    counts = np.concatenate([KINDS["geometric"][1](60, np.random.default_rng(2))] * 2)[:3]
    counts[2, 4:] = counts[0, 4:]
    outputs = ss.Outputs.from_statistics(counts, GEOMETRIC, ["a", "b", "c"])
    methods = said(outputs, test="randomization", n_resamples=500)["Methods"]
    assert "2 of the 3 p-values are from at most 500 random resamples (seed 0)" in methods
    scores = pd.DataFrame(np.random.default_rng(3).random((60, 2)), columns=["a", "b"])
    approximated = said(ss.Outputs.from_scores(scores))["Methods"]
    assert "approximated by a saddlepoint approximation (Lugannani and Rice, 1980)" in approximated


def test_clusters_and_strata_are_units_by_name() -> None:
    items = pd.DataFrame(
        {"id": range(40), "cluster": [f"d{k // 4}" for k in range(40)], "kind": ["x", "x", "y", "y"] * 10}
    )
    outputs = replace(only_new_is_right(10, 30), items=items)
    assert "The units are 10 clusters with 40 items in all." in said(outputs)["Methods"]
    # Answers are right or wrong, but their sums in a cluster are not, and need not be symmetric.
    assumed = "The test assumes: many units, or differences that are symmetric around 0."
    assert assumed in said(outputs)["Methods"]
    assert "The test assumes" not in said(outputs, unit="item")["Methods"], "it is exact"
    by_items = said(outputs, unit="item", strata="kind", test="bootstrap")["Methods"]
    assert "The units are 40 items." in by_items
    assert "Resamples keep the number of units of each kind." in by_items
    assert "t intervals with standard errors by the jackknife" in said(outputs)["Methods"]


def test_intervals_of_scores_are_told_by_what_they_are() -> None:
    """Wilson's for right and wrong answers one by one; by the jackknife for clusters; by the bootstrap of an AUC."""
    rng = np.random.default_rng(4)
    accuracies = ss.truth.correlated_accuracies([0.6, 0.7, 0.8], 60)
    assert "Intervals of scores are 95 %, two-sided: score intervals (Wilson, 1927)" in said(accuracies)["Methods"]
    means = ss.Outputs.from_scores(pd.DataFrame(rng.normal(size=(30, 3)), columns=list("abc")), "mean")
    assert (
        "Intervals of gains and scores are 95 %, two-sided: t intervals with standard errors by the jackknife"
        in said(means)["Methods"]
    )
    gold = rng.random(40) < 0.5
    values = np.stack([np.stack([gold, gold + rng.normal(size=40)], axis=-1) for _ in range(3)])
    auc = ss.Outputs.from_statistics(values, "auc", list("abc"))
    assert "standard errors by the bootstrap (Efron and Tibshirani, 1993)" in said(auc, n_resamples=50)["Methods"]


def test_a_baseline_has_its_own_correction_in_results_and_methods() -> None:
    outputs = ss.truth.correlated_accuracies([0.5, 0.7, 0.9], 300)
    found = paragraphs(ss.examine(outputs).to_markdown(baseline="system-2"))
    assert (
        "Of the 2 other systems, 1 is significantly better than system-2 and 1 significantly worse, at 0.05 (two-"
        "sided, Holm's correction for the 2 pairs with system-2)." in found["Results"]
    )
    assert (
        "Comparisons with system-2 are corrected for the 2 pairs with system-2. This is valid if system-2 was chosen "
        "before the results were seen." in found["Methods"]
    )


def test_a_margin_is_in_the_sentence_of_two_systems() -> None:
    text = ss.examine(only_new_is_right(10, 30), margin=1).to_markdown()
    assert "It is larger than the margin of 1 point" in text


def test_every_test_fits_into_the_sentence() -> None:
    phrases = {name: named(one, "two-sided") for name, one in TESTS.items()}
    assert all(TESTS[name].title in phrase for name, phrase in phrases.items())
    assert all(phrases[name].startswith("the two-sided ") for name in ("sign_flips", "bootstrap", "sign", "t_paired"))
    assert not any(phrases[name].startswith("the two-sided ") for name in ("mcnemar", "fisher", "randomization"))


def test_several_metrics_have_one_table_and_each_its_test() -> None:
    first, second = only_new_is_right(10, 30), scores(list(np.linspace(0.4, 1, 40)), list(np.linspace(0.2, 0.9, 40)))
    found = Several((ss.examine(first), ss.examine(second)))
    text = found.to_markdown()
    assert text.startswith("| Metric | new | old | Better | Gain | 95 % CI | p | p (Holm) |")
    told = paragraphs(text)
    assert "accuracy: new is better than old" in told["Results"]
    assert "To claim" not in told["Results"], "advice is not for a paper"
    assert "We compared the two systems (accuracy) with" in told["Methods"]
    assert "We compared the two systems (mean) with" in told["Methods"]
    assert "p (Holm) is corrected for the 2 metrics by Holm's method" in told["Methods"]
    one = found.to_markdown("pairs")
    assert f"{found.table['p_holm_parts'][0]:.3g}" in one


def test_several_domains_of_many_systems_have_a_column_each() -> None:
    outputs = ss.truth.correlated_accuracies([0.5, 0.7, 0.9], 300)
    parts = tuple(ss.examine(replace(outputs.head(n), test_set=f"d{n}")) for n in (300, 200))
    found = Several(parts)
    head, _, *rows = found.to_markdown("scores").split("\n\n")[0].split("\n")
    assert head == "| System | d300 | 95 % CI | d200 | 95 % CI |"
    assert [row.split(" | ")[0] for row in rows] == ["| system-3", "| system-2", "| system-1"]
    assert rows[0].startswith("| system-3 | **")
    caption = found.to_markdown("scores").split("\n\n")[-1]
    assert "significantly worse than the best score of the column at" in caption
    assert "Holm's correction for all pairs of one column, not for the 2 columns" in caption
    beside = found.to_markdown("scores", baseline="system-2")
    assert "Holm's correction for the pairs with system-2 of one column" in beside
    assert "95 % CI: the interval of each score by itself." in beside
    methods = paragraphs(found.to_markdown(baseline="system-2"))["Methods"]
    assert "are corrected for the pairs with system-2 of one domain. This is valid if" in methods
    # The table has intervals of scores, and none of gains.
    assert "Intervals of scores are 95 %, two-sided: score intervals (Wilson, 1927)" in methods
    assert "Intervals of gains" not in methods
    assert (
        "Confidence sets of ranks hold for all systems at once with 95 % confidence (Mogstad et al., 2024). They are "
        "from 2,000 draws of signs (seed 0): a rank at the edge of a set may depend on the seed." in methods
    )


def by_tasks(systems: int, tasks: int) -> ss.Outputs:
    rng = np.random.default_rng(3)
    n = 20 * tasks
    right = rng.random((n, systems)) < np.linspace(0.9, 0.5, systems)
    items = pd.DataFrame({"id": range(n), "domain": np.repeat([f"t{k}" for k in range(tasks)], 20)})
    return ss.Outputs.from_scores(
        pd.DataFrame(right, columns=[f"s{k}" for k in range(systems)]), "accuracy", items=items
    )


def test_two_systems_on_several_tasks_have_rows_for_tasks_and_averages() -> None:
    found = ss.across_tasks(by_tasks(2, 6))
    told = paragraphs(found.to_markdown())
    assert told["Results"] == " ".join(found.sentences)
    assert "Satterthwaite, 1946" in told["Methods"]
    assert f"`{found.signature()}`" in told["Methods"]
    assert "|average:macro by domain|" in found.signature()
    latex = found.to_latex("tasks")
    assert latex.count("\\midrule") == 2, "a rule above the averages"
    assert "macro, these tasks & 6 tasks & " in latex
    assert "macro, tasks like these & 6 tasks & " in latex


@pytest.mark.parametrize(("systems", "tasks", "columns"), [(3, 4, 5), (3, 9, 3), (9, 9, 8)])
def test_many_systems_on_tasks_have_a_column_for_each_or_a_row(systems: int, tasks: int, columns: int) -> None:
    found = ss.across_tasks(by_tasks(systems, tasks), n_resamples=200)
    head, _, *rows = found.to_markdown("tasks").split("\n\n")[0].split("\n")
    assert head.count("|") - 2 == columns
    assert len(rows) == (tasks + 1 if tasks > 8 >= systems else systems)
    everything = found.to_markdown()
    assert all(f"t{k} " in everything for k in range(tasks))


def test_a_plan_says_what_was_planned_and_assumed() -> None:
    plan = ss.plan(metric="accuracy", gain=1, guess=ss.Guess(score=80, agreement=0.9))
    methods = paragraphs(plan.to_markdown())["Methods"]
    assert methods.startswith(
        "With 8,032 items and an agreement of 0.9, the test (two-sided, p ≤ 0.05) detects a true gain"
    )
    assert "you" not in methods.lower().split()
    assert all(assumption.replace("<=", "≤") in methods for assumption in plan.assumptions)
    assert "Type S and type M errors are those of Gelman and Carlin (Gelman and Carlin, 2014)." in methods
    assert "| 8,032 | 1.00 | 0.80 |" in plan.to_markdown("sizes")
    margin = ss.plan(metric="accuracy", margin=1, guess=ss.Guess(score=80, agreement=0.9))
    assert ", tests show with power" in paragraphs(margin.to_markdown())["Methods"]


def test_numbers_of_sentences_have_signs_of_mathematics() -> None:
    """A skewness below 0 has a minus, and the p-value of the first system is one of LaTeX's formulas."""
    row = pd.DataFrame([pair(skewness=-0.5, exact_level=False, metric="mean")])
    said = "".join(map(str, of_pair(row, alpha=0.05, form=".1f")))
    assert said.endswith("Skewness of the differences: −0.50.")
    right = pd.DataFrame({name: np.arange(60) < n for name, n in zip("abc", (40, 30, 20), strict=True)})
    found = ss.examine(ss.Outputs.from_scores(right, "accuracy"))
    # Ten items of which the better system has all: 2^-9, and by Holm twice as much, as one pair of three has less.
    assert "a leads b by 16.7 points: significant (Holm-adjusted $p = 0.00391$)." in found.to_latex()


def test_an_exact_test_of_right_and_wrong_answers_alone_is_called_mcnemars() -> None:
    outputs, told = only_new_is_right(10, 30), "For right or wrong answers it is McNemar's exact test"
    assert told in said(outputs)["Methods"]
    p = [ss.compare(outputs, test=name).frame["p_value"].item() for name in ("sign_flips", "mcnemar")]
    assert p == pytest.approx([2.0**-9, 2.0**-9])
    for other in (scores(list(np.linspace(0.4, 1, 10)), list(np.linspace(0.2, 0.9, 10))), outputs):
        assert told not in said(other, **({"test": "t_paired"} if other is outputs else {}))["Methods"]
