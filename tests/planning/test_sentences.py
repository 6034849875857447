"""Sentences, assumptions and printed tables of every form of plan: each number is that of its own column or option."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning.benchmarks import next_edition
from simstudy.planning.cases import Case, coverage_of
from simstudy.planning.page import page_of
from simstudy.planning.solving import size_for
from tests.planning.forms import BONFERRONI, FAST, FORMS, ONE_SIDED, PILOTS, SCORES, many, numbers, pilot, planned, told
from tests.planning.options import majority

HOW = "(one-sided, p <= 0.1, corrected for 5 comparisons)"
#: Judges of the forms who err, so that verdicts show this part of a gain.
SEEN = {"judged answers": 1 - 2 * majority(0.1, 0.2), "judged pairs": 0.8, "units of judged answers": 0.8}


def counted(units: float, items: float, size: float, unit: str) -> str:
    if unit == "item":
        return f"{int(items):,} items"
    return f"{int(units):,} clusters of {size:.3g} items ({int(items):,} items)"


def between(row: pd.Series, name: str, form: str, case: Case) -> str:  # type: ignore[type-arg]
    """A range in brackets, with what it covers; from its lower end only where nothing reaches the upper one."""
    if not case.range:
        return ""
    low, high = row[f"{name}_low"], row[f"{name}_high"]
    ends = f"{low:{form}} to {high:{form}}" if np.isfinite(high) else f"from {low:{form}}"
    return f" ({ends}, {case.coverage})"


@pytest.mark.parametrize("form", FORMS)
def test_the_sentence_of_a_gain_has_its_sizes_its_level_and_its_ranges(form: str) -> None:
    plan = told(form)
    case, row, text = plan.cases[0], plan.answers.iloc[0], "\n".join(plan.sentences)
    assert row["at_units"] != row["n_units"], "the sizes that are needed and given are told apart"
    ranged = form in ("a range of answers", "correlated answers", "a range of scores", "a range of units")
    ranged |= "usual" in form or form in PILOTS
    assert bool(case.range) == bool(case.coverage) == ranged
    of = " (same family)" if form == "usual answers" else " (different families)" if "usual" in form else ""
    ends = between(row, "n_items", ",.0f", case)
    needed = counted(row["n_units"], row["n_items"], case.size, case.unit)
    if case.unit != "item" and ends:
        needed, ends = needed.removesuffix(")"), ends.replace(" (", ", ")
    assert text.startswith(f"You need {needed}{ends} to detect a true gain of 8 ")
    assert f" with power 0.8{of}.\n" in text
    given = counted(row["at_units"], row["at_items"], case.size, case.unit)
    averaged = " on average over these pairs" if many(form) else ""
    power = f"{row['power']:.2f}{between(row, 'power', '.2f', case)}{averaged}. Wrong winner: "
    said = rf"With {re.escape(given)} and .*the test {re.escape(HOW)} detects a true gain of 8 .*with power "
    assert re.search(said + re.escape(power), text), text
    left = re.findall(r"By the pilot, the power with ([\d,]+) items is (\S+) to (\S+) \(95 % interval\)\. (.*)", text)
    assert bool(left) == (form in PILOTS and not many(form))
    if left:
        high = row["n_items_high"]
        assert left[0][:3] == (f"{row['at_items']:,}", f"{row['power_low']:.2f}", f"{row['power_high']:.2f}")
        assert left[0][3].startswith(
            "No number of items"
            if np.isnan(high)
            else f"With {high:,.0f} items the lower end of this interval is at least 0.8."
        )


@pytest.mark.parametrize(
    ("form", "covered"),
    [
        ("a range of answers", "the guessed range"),
        ("correlated answers", "the guessed range"),
        ("a range of units", "the guessed range"),
        ("usual answers", "80 % of known pairs"),
        ("usual scores", "80 % of known pairs"),
        ("of answers", "95 % interval"),
        ("of precision", "95 % interval"),
        ("of many documents", "95 % interval of the average"),
        ("units", ""),
    ],
)
def test_ranges_say_what_they_cover(form: str, covered: str) -> None:
    plan = told(form)
    assert coverage_of(plan.cases) == covered
    brackets = f"; brackets: {covered}" if covered else ""
    assert f"Test sets of other sizes (power 0.8{brackets})\n" in plan.text
    captions = f"{plan.to_latex('sizes')}{page_of(plan, 'simstudy plan').sections[1].text}"
    said = "Brackets: " + covered.replace("%", r"\,\%").replace(" \\", "\\") if covered else ""
    assert (said in captions) if covered else ("Brackets" not in captions)


def test_unequal_clusters_of_usual_sizes_are_a_range_of_their_own() -> None:
    clusters = ss.Clusters(size=6, icc=0.2)
    usual = ss.plan(metric="accuracy", n_items=600, guess=ss.Guess(score=60), clusters=clusters)
    assert coverage_of(usual.cases) == "80 % of known pairs and 80 % of known test sets"
    guessed = ss.plan(metric="mean", n_items=600, guess=ss.Guess(sd_difference=40.0), clusters=clusters)
    assert coverage_of(guessed.cases) == "80 % of known test sets"


@pytest.mark.parametrize("form", FORMS)
def test_the_sentence_of_a_size_has_the_gain_and_its_range(form: str) -> None:
    plan = planned(form, n_items=600, **FAST, **BONFERRONI)
    row, text = plan.answers.iloc[0], plan.sentences[0]
    assert text.startswith(
        f"With {counted(row['at_units'], row['at_items'], plan.cases[0].size, plan.cases[0].unit)} and"
    )
    ends = between(row, "minimum_detectable_gain", ".2f", plan.cases[0])
    gain = f"{row['minimum_detectable_gain']:.3g}"
    assert re.search(rf"\(two-sided, .* detects a true gain of {gain} [^(]*{re.escape(ends)} with power", text)
    assert ("on average over these pairs" in text) == many(form)


@pytest.mark.parametrize("form", ["answers", "a range of scores", *SEEN, "of answers", "of documents"])
def test_sentences_of_margins_have_the_test_that_is_made(form: str) -> None:
    plan = planned(form, gain=8.0, margin=14.0, n_items=600, **FAST, **ONE_SIDED)
    rows = plan.answers.set_index("goal")
    for goal, what, tests in (
        ("not worse", "a system is not worse by 14 .*? or more", "one-sided test"),
        ("equivalent", "two systems are within 14 ", "two one-sided tests"),
    ):
        said = rf"you show with power {rows.loc[goal, 'power']:.2f} that {what}.*?\(a true gain of 8 .*?; "
        found = [one for one in plan.sentences if re.search(said + rf"{tests} at 0\.01\)", one)]
        assert len(found) == 1, goal
        assert sum(f"“{goal}” by 14 " in one for one in plan.sentences) == 1
    said = next(one for one in plan.assumptions if one.startswith("Tests against the margin"))
    assert numbers(said) == [0.01]
    (seen, *_) = [*plan.answers["margin_seen"].dropna()]
    assert seen == pytest.approx(14 * SEEN.get(form, 1.0), rel=1e-4)
    of_verdicts = [one for one in plan.assumptions if one.startswith("The margin is one of true gains")]
    assert [numbers(one) for one in of_verdicts] == ([[round(seen, 2)]] if form in SEEN else [])


@pytest.mark.parametrize("form", FORMS)
def test_each_assumption_is_told_of_the_plans_that_make_it(form: str) -> None:
    """And of no others: the test, closed forms of answers and of scores, clusters, chosen items, pilots, editions."""
    plan = told(form)
    said = "\n".join(plan.assumptions)
    assert "one-sided (the better system was predicted), p <= 0.1, shared by 5 comparisons (Bonferroni)." in said
    answers = form in ("answers", "a range of answers", "of answers", "of many answers")
    answers |= any(name in form for name in ("correlated", "usual answers", "judged answers", "judged pairs"))
    answers &= "units" not in form
    assert ("Power follows from the standard error" in said) == (not answers)
    assert ("Of more candidates the same share is accepted." in said) == (form == "of precision")
    assert ("The plan uses the spread" in said) == (form in PILOTS)
    assert ("Close pairs have" in said) == ("next edition of a benchmark" in said) == many(form)
    design, unit = plan.cases[0].design, plan.cases[0].unit
    of_clusters = [one for one in plan.assumptions if one.startswith("Clusters have")]
    assert len(of_clusters) == (unit == "cluster")
    if of_clusters and design is not None:
        assert numbers(of_clusters[0]) == [float(f"{design.size:.3g}"), float(f"{design.cv:.2g}")]
    assert ("one number, so no range" in said) == (not plan.cases[0].range)
    relation = plan.cases[0].relation
    assert said.count("\nGuess: " if relation == "from guesses" else f"\n{relation.capitalize()}: ") == 1


def test_clusters_of_one_size_equal_systems_and_two_sides_are_said_to_be() -> None:
    plan = planned(SCORES | {"cluster_size": 6.0, "icc": 0.2, "cluster_cv": 0.0}, margin=8.0, alpha=0.02)
    said = plan.assumptions
    assert sum("(equal systems; " in one for one in plan.sentences) == 2
    assert "two-sided, p <= 0.02." in said[0]
    assert sum("6 items on average, all of them the same number, and are independent" in one for one in said) == 1


@pytest.mark.parametrize("asked", [{"gain": 2.0}, {"n_items": 1500}])
def test_the_r12_and_the_agreement_that_are_printed_lead_to_the_same_plan(asked: dict[str, float]) -> None:
    for relation in ("same family", "different families"):
        plan = ss.plan(metric="accuracy", guess=ss.Guess(score=70, relation=relation), sizes=[], **asked)
        row, text = plan.answers.iloc[0], "\n".join(plan.sentences)
        ((agreement, r12),) = re.findall(r"agree on ([\d.]+) % of the items \(r12 = ([\d.]+), the correlation of", text)
        for guess in (ss.Guess(score=70, r12=float(r12)), ss.Guess(score=70, agreement=float(agreement) / 100)):
            again = ss.plan(metric="accuracy", guess=guess, sizes=[], **asked).answers.iloc[0]
            for name in ("n_items", "minimum_detectable_gain"):
                assert again[name] == pytest.approx(row[name], rel=4e-3, nan_ok=True)
        said = next(one for one in plan.assumptions if one.startswith(relation.capitalize()))
        ((low, high),) = re.findall(r"range: r12 from ([\d.]+) to ([\d.]+), as for 80 %", said)
        if "gain" in asked:
            ends = ss.plan(
                metric="accuracy", guess=ss.Guess(score=70, r12=(float(low), float(high))), sizes=[], **asked
            )
            for name in ("n_items_low", "n_items_high"):
                assert ends.answers[name].item() == pytest.approx(row[name], rel=4e-3)


def test_a_plan_of_two_relations_shows_a_smaller_and_a_larger_test_set_of_each() -> None:
    plan = ss.plan(metric="accuracy", gain=2, guess=ss.Guess(score=70))
    for _, row in plan.answers.iterrows():
        shown = re.findall(rf"^ {row['relation']} +([\d,]+) ", plan.text, flags=re.MULTILINE)
        sizes = [int(number.replace(",", "")) for number in shown]
        assert sizes[0] < 0.8 * row["n_items"]
        assert row["n_items"] in sizes
        assert sizes[-1] > 1.25 * row["n_items"]


def test_a_plan_of_clusters_has_one_number_of_items_for_one_number_of_clusters() -> None:
    outputs = pilot("of documents")
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=3)
    row = plan.answers.iloc[0]
    sizes = plan.sizes.set_index("n_units")["n_items"]
    assert row["n_units"] * plan.cases[0].size % 1 > 0
    assert row["n_items"] == row["at_items"] == sizes[row["at_units"]]


@pytest.mark.parametrize("form", ["of many answers", "of many documents", "units"])
def test_errors_single_pairs_and_next_editions_are_told_with_their_numbers(form: str) -> None:
    plan = planned(form, gain=7.0, n_items=120, sizes=[], n_sets=0, n_draws=0, **BONFERRONI)
    row, text = plan.answers.iloc[0], "\n".join(plan.sentences)
    assert re.findall(r"Wrong winner: (.*?) % of such", text)[0] == f"{100 * row['wrong_winner']:.2g}"
    assert re.findall(r"on average ([\d.]+) times", text)[0] == f"{row['exaggeration']:.2f}"
    if many(form):
        ends = [f"{factor**2 * row['n_items']:,.0f}" for factor in next_edition()[::2]]
        assert f"Expect the next one to need {ends[0]} to {ends[1]} items" in text
        single = [end.allowing(7.0) for end in plan.cases[0].single or ()]
        sizes = sorted(size_for(end, 7.0, level=plan.target.level) * plan.cases[0].size for end in single)
        power = sorted(end.power(7.0, row["at_units"], plan.target.level) for end in single)
        assert f"80 % of them need {np.ceil(sizes[0]):,.0f} to {np.ceil(sizes[1]):,.0f} items." in text
        assert f"have power {power[0]:.2f} to {power[1]:.2f}" in text


@pytest.mark.parametrize("asked", [{"gain": 3.0}, {"n_items": 900}])
def test_many_systems_are_told_what_corrected_comparisons_need(asked: dict[str, float]) -> None:
    """Four systems have six pairs, and three comparisons with a baseline.

    Items grow as the squared sum of the two normal quantiles does, and gains as the sum.
    """
    plan = planned("of many answers", n_sets=0, n_draws=0, sizes=[], **asked)
    (said,) = [one for one in plan.sentences if "not corrected" in one]
    name, power = ("n_items", 2) if "gain" in asked else ("minimum_detectable_gain", 1)
    reach = {m: stats.norm.isf(0.05 / (2 * m)) + stats.norm.ppf(0.8) for m in (1, 3, 6)}
    for m, what in ((6, "all 6 pairs, as compare does"), (3, "3 comparisons with one baseline")):
        found = re.findall(rf"for {what}, [a-z ]+ ([\d.,]+) [a-z ]+ \(--comparisons {m}\)\.", said)[0]
        expected = plan.answers[name].item() * (reach[m] / reach[1]) ** power
        assert float(found.replace(",", "")) == pytest.approx(expected, rel=0.02)
    assert "not corrected" not in plan.to_latex()
    for form, more in (("of answers", {}), ("of many answers", BONFERRONI)):
        other = planned(form, n_sets=0, n_draws=0, sizes=[], **asked, **more)
        assert "not corrected" not in " ".join(other.sentences)
