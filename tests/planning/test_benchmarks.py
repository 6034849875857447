"""What known benchmarks are like: the shipped table, and the ranges made of it."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy
import simstudy as ss
from simstudy.planning.arguments import RELATIONS
from simstudy.planning.benchmarks import central_range, known_as, typical
from tests.planning.options import SHIPPED

RESULTS = Path(simstudy.__file__).parents[1] / "results"


def test_the_table_is_what_the_study_wrote() -> None:
    written = RESULTS / "power_tables" / "benchmarks.csv"
    if not written.is_file():
        pytest.skip("results of the shipped studies are not at hand")
    assert SHIPPED.read_bytes() == written.read_bytes()


def test_the_table_is_of_real_benchmarks_and_in_order() -> None:
    table = pd.read_csv(SHIPPED)
    assert len(table[["test_set", "metric", "relation"]].drop_duplicates()) == len(table)
    assert set(table["relation"]) == set(RELATIONS)
    assert table["test_set"].nunique() >= 50
    points = table.query("test_set == 'SWE-bench Verified' and relation == 'unlike systems'")["detectable"].iloc[0]
    assert 5 < points < 6
    assert (table["n_pairs"] >= 10).all()
    assert (table["n_units"] <= table["n_items"]).all()
    for name in ("r12", "sd"):
        assert (table[f"{name}_10"] <= table[name]).all()
        assert (table[name] <= table[f"{name}_90"]).all()


def test_detectable_gains_are_about_those_of_a_normal_difference_of_the_median_sd() -> None:
    """(1.96 + 0.84) sd / sqrt(n), but that it is an average over pairs, and of t where there are few units."""
    table = pd.read_csv(SHIPPED)
    factor = stats.t.isf(0.025, table["n_units"] - 1) + stats.norm.isf(0.2)
    ratio = table["detectable"] / (factor * table["sd"] / np.sqrt(table["n_units"]))
    # Where pairs differ much in sd, the noisiest weigh more.
    assert ratio.between(0.9, 1.5).all(), ratio.describe()
    assert ratio.median() == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("quantity", ["r12", "sd"])
def test_a_range_holds_80_percent_of_a_mixture(quantity: str) -> None:
    """Two benchmarks, by drawing from both."""
    rng = np.random.default_rng(0)
    ends = np.array([[0.1, 0.5], [0.3, 0.6], [0.4, 0.8]])
    x = np.arctanh(ends) if quantity == "r12" else np.log(ends)
    z = rng.normal(size=(400_000, 2)) / stats.norm.isf(0.1)
    drawn = x[1] + np.where(z < 0, z * (x[1] - x[0]), z * (x[2] - x[1]))
    back = np.tanh(drawn) if quantity == "r12" else np.exp(drawn)
    assert central_range(*ends, quantity=quantity) == pytest.approx(np.percentile(back, [10, 90]), rel=0.01)


def test_a_range_of_equal_pairs_is_a_number() -> None:
    assert central_range(*np.full((3, 2), 0.5), quantity="sd") == pytest.approx((0.5, 0.5), rel=1e-4)
    low, high = central_range(*np.full((3, 1), 1.0), quantity="r12")
    assert low == pytest.approx(1)
    assert high == pytest.approx(1)


def test_typical_is_of_the_metric_or_of_all() -> None:
    table = pd.read_csv(SHIPPED)
    rows = table[(table["metric"] == "accuracy") & (table["relation"] == "variants") & table["right_or_wrong"]]
    found = typical("accuracy", "variants", "r12")
    assert found.low < found.middle < found.high < 1
    assert (found.n_test_sets, found.middle) == (len(rows), rows["r12"].median())
    assert rows["r12_10"].min() <= found.low <= rows["r12_10"].max()
    assert (found.metric, found.relation) == ("accuracy", "variants")
    every = typical("no_such_metric", "variants", "r12")
    assert every.n_test_sets == (table["relation"] == "variants").sum()
    assert (every.metric, every.relation) == ("", "variants")
    assert set(every.studies) <= set(table["study"])


@pytest.mark.parametrize("quantity", ["r12", "sd"])
def test_variants_that_no_benchmark_has_are_as_unlike_systems(quantity: str) -> None:
    assert typical("bleu", "variants", quantity) == typical("bleu", "unlike systems", quantity)


def test_variants_are_more_alike_under_every_metric_that_has_both() -> None:
    """Which makes it careful to take unlike systems for them."""
    middles = pd.read_csv(SHIPPED).groupby(["metric", "relation"])[["r12", "sd"]].median().unstack().dropna()
    assert len(middles) >= 4
    assert (middles["r12", "variants"] > middles["r12", "unlike systems"]).all()
    assert (middles["sd", "variants"] < middles["sd", "unlike systems"]).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ("no_such_metric", "variants", "sd"),
            "metric must be one whose sd is known .accuracy, .* Guess.sd_difference",
        ),
    ],
)
def test_what_is_not_known_is_told(arguments: tuple[str, str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        typical(*arguments)


def test_shipped_studies_are_found_by_the_name_of_a_benchmark() -> None:
    told = "The shipped study {0} has this benchmark: results/{0}.".format
    assert known_as(["SWE-bench Verified", "", "swebench verified", "mbpp++"]) == [told("leaderboards")]
    assert known_as(["en_ewt", "WMT24 en-de"]) == [told("natural_parsing"), told("natural_mt")]


@pytest.mark.slow
def test_guesses_are_less_alike_than_usual(shared_data: Path) -> None:
    """Pairs in doubt of AGIEval English, four options: hardly any has the usual r12 near 25 %, most have above 40 %."""
    scores = pd.read_csv(shared_data / "eval_arena" / "main" / "agi_english.csv.gz")
    right = scores.pivot_table(index="item", columns="system", values="score").dropna(axis="columns")
    usual = typical("accuracy", "unlike systems", "r12")

    def held(systems: list[str]) -> float:
        inside = []
        for one, other in combinations(systems, 2):
            gain = (right[one] - right[other]).mean()
            if abs(gain) < 2 * 1.96 * (right[one] - right[other]).std() / len(right) ** 0.5:
                inside.append(usual.low <= right[one].corr(right[other]) <= usual.high)
        return float(np.mean(inside))

    mean = right.mean()
    assert held(list(mean.index[(mean - 0.25).abs() < 0.05])) < 0.2
    assert held(list(mean.index[mean > 0.4])) > 0.7


@pytest.mark.parametrize(("score", "options"), [(48, 2), (33, 3), (28, 4), (18, 5), (12, 10), (65, 0), (90, 0)])
def test_a_plan_for_a_score_near_chance_says_so(score: float, options: int) -> None:
    said = [note for note in ss.plan(metric="accuracy", gain=2, guess=ss.Guess(score=score)).notes if "guess" in note]
    assert len(said) == (options > 0)
    assert all(f"of guesses among {options} options" in note for note in said)
    # Who knows how alike systems are needs no warning.
    assert not ss.plan(metric="accuracy", gain=2, guess=ss.Guess(score=score, agreement=0.85)).notes
