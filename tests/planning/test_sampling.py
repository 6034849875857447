"""Variance components, and plans for other numbers of samples: algebra, other programs, simulation."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from typer.testing import CliRunner

import simstudy as ss
from simstudy.cli.command import app
from simstudy.outputs.samples import per_question
from simstudy.planning import Components, variance_components
from tests.comparisons.test_sample_noise import samples


def scores(
    rng: np.random.Generator, sizes: list[int], k: int, sds: tuple[float, float, float] = (1.0, 2.0, 3.0)
) -> ss.Outputs:
    """Two systems' normal scores: clusters of questions of these sizes, k samples each; the second is nearly 0."""
    cluster = np.repeat(np.arange(len(sizes)), sizes)
    n = len(cluster)
    mean = sds[0] * rng.normal(size=len(sizes))[cluster] + sds[1] * rng.normal(size=n)
    first = (mean[:, None] + sds[2] * rng.normal(size=(n, k))).ravel()
    second = 1e-9 * rng.normal(size=n * k)
    items = pd.DataFrame(
        {"id": range(n * k), "sample_of": np.repeat(np.arange(n), k), "cluster": np.repeat(cluster, k)}
    )
    return ss.Outputs.from_scores(pd.DataFrame({"a": first, "b": second}), items=items)


def test_balanced_components_are_those_of_the_analysis_of_variance() -> None:
    """Textbook mean squares of a nested design (Searle, Casella and McCulloch 1992, section 3.6)."""
    outputs = scores(np.random.default_rng(1), [4] * 12, 5)
    y = (outputs.statistics[0, :, 0] - outputs.statistics[1, :, 0]).reshape(12, 4, 5)
    ms_sample = y.var(axis=2, ddof=1).mean()
    ms_question = 5 * y.mean(axis=2).var(axis=1, ddof=1).mean()
    ms_cluster = 20 * y.mean(axis=(1, 2)).var(ddof=1)
    found = variance_components(outputs, clip=False)
    assert found.sample == pytest.approx(ms_sample, rel=1e-6)
    assert found.question == pytest.approx((ms_question - ms_sample) / 5, rel=1e-6)
    assert found.cluster == pytest.approx((ms_cluster - ms_question) / 20, rel=1e-6)
    # The standard error of the outputs themselves is that of their clusters.
    assert found.standard_error(48, 5) == pytest.approx(y.mean(axis=(1, 2)).std(ddof=1) / np.sqrt(12), rel=1e-6)


def test_questions_with_unlike_many_samples_count_with_their_harmonic_mean() -> None:
    """The sampling variance of the gain is the mean of s² / k over the questions: 2 and 10 are as 10 / 3."""
    numbers = np.array([2, 10] * 20)
    rng = np.random.default_rng(5)
    items = pd.DataFrame({"id": range(numbers.sum()), "sample_of": np.repeat(np.arange(40), numbers)})
    frame = pd.DataFrame(rng.normal(size=(numbers.sum(), 2)), columns=["a", "b"])
    found = variance_components(ss.Outputs.from_scores(frame, items=items), clip=False)
    assert found.samples == pytest.approx(stats.hmean(numbers))
    assert found.samples == pytest.approx(10 / 3)


def test_the_best_number_of_samples_is_the_one_of_least_variance_for_the_money() -> None:
    found = Components(cluster=0, question=2.0, sample=30.0, samples=4)
    best = found.best_samples(8.0, 1.5)
    cost = {k: (8 + 1.5 * k) * found.variance(k) for k in range(1, 200)}
    assert best == min(cost, key=cost.__getitem__) == 9
    assert Components(0, 0.0, 1.0, 4).best_samples(1, 1) == 16
    assert Components(0, 1.0, 0.0, 4).best_samples(1, 1) == 1
    assert found.factor(4) == 1
    assert found.factor(1) ** 2 == pytest.approx(32 / 9.5)


def test_a_plan_for_another_number_of_samples_has_the_spread_of_it() -> None:
    outputs = samples(np.random.default_rng(2), n=80, k=6, systems=2)
    known = variance_components(outputs)
    costs = ss.Costs(item=5.0, sample=1.0)
    plan = ss.plan(ss.Pilot(outputs, n_sets=0, samples=2), gain=9.0, costs=costs)
    assert plan.cases[0].middle.sd_of(0) == pytest.approx(np.sqrt(known.question + known.sample / 2), rel=1e-9)
    same = ss.plan(ss.Pilot(outputs, n_sets=0), gain=9.0, costs=costs)
    assert same.cases[0].unit == "item"
    assert same.cases[0].middle.sd_of(0) == pytest.approx(np.sqrt(known.question + known.sample / 6), rel=1e-9)
    designs = plan.designs.set_index("samples")
    assert designs.loc[2, "n_units"] == plan.answers["n_units"].item() > same.answers["n_units"].item()
    assert designs.loc[2, "cost"] == designs.loc[2, "n_units"] * (5 + 2)
    # Both systems answer each question so often, and the cost of a sample is that of both.
    assert designs["n_samples"].tolist() == (2 * designs.index * designs["n_units"]).tolist()
    assert designs["cost"].tolist() == (5 * designs["n_items"] + designs["n_samples"] / 2).tolist()
    best = designs[designs["which"].str.contains("best")].index.item()
    assert best == known.best_samples(5, 1)
    assert designs["cost"].min() >= designs.loc[best, "cost"] * 0.97
    limited = ss.plan(ss.Pilot(outputs, n_sets=0, samples=2), costs=ss.Costs(item=5.0, sample=1.0, budget=700))
    assert limited.answers["at_units"].item() == 100
    with pytest.raises(ValueError, match=r"^Costs.sample must be 0 without outputs that have several samples"):
        ss.plan(metric="mean", gain=1, guess=ss.Guess(sd_difference=3), costs=costs)
    with pytest.raises(ValueError, match=r"^Pilot.samples must be"):
        ss.Pilot(outputs, samples=0)


@pytest.mark.parametrize("more", [{}, {"samples": 2}])
def test_what_is_counted_is_called_a_question(more: dict[str, Any]) -> None:
    outputs = samples(np.random.default_rng(2), n=80, k=6, systems=2)
    plan = ss.plan(ss.Pilot(outputs, n_sets=200, **more), gain=9.0)
    simulated = [plan.simulated.text()] if plan.simulated else []
    assert len(simulated) == (not more), "another number of samples is not simulated"
    numbers = "\n".join([*plan.sentences, *simulated, plan.text.split("Test sets of other sizes")[1]])
    assert "difference on one question" in numbers
    n_questions = f"{int(plan.answers['n_items'].item()):,} questions"
    assert all(f"test sets of {n_questions}" in text for text in simulated)
    assert not re.search(r"\bitems?\b", numbers.split("Assumptions")[0])


def test_errors_and_axes_of_plans_of_samples_count_questions() -> None:
    rng = np.random.default_rng(2)
    outputs = samples(rng, n=40, k=6, systems=2)
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=9.0)
    assert [ax.get_xlabel() for ax in plan.figure().axes] == ["questions", "questions"]
    guessed = ss.plan(metric="mean", gain=1, guess=ss.Guess(sd_difference=3))
    assert [ax.get_xlabel() for ax in guessed.figure().axes] == ["items", "items"]
    alike = np.tile(outputs.statistics[:1], (2, 1, 1))
    same = ss.Outputs.from_statistics(alike, "accuracy", ["a", "b"], outputs.items)
    for pilot, asked, message in (
        (samples(rng, n=9, k=6, systems=2), {}, r"^outputs must have at least 10 questions for a plan, not 9$"),
        (outputs, {"gain": 0.1, "power": 0.999, "alpha": 1e-15}, r"^gain must be larger: .* 10,000,000 questions show"),
        (outputs, {"costs": ss.Costs(item=1.0, budget=1.5)}, r"^Costs.budget must be .* two questions, not 1.5$"),
        (outputs, {"gain": 9.0, "costs": ss.Costs(item=1.0, cluster=2.0)}, r"^Costs.cluster must be 0 where questions"),
        (same, {"gain": 9.0}, r"^outputs must be of systems that differ: on these 40 questions 'a' and 'b' are alike"),
    ):
        with pytest.raises(ValueError, match=message):
            ss.plan(ss.Pilot(pilot, n_sets=0), **asked)


def test_clusters_have_questions_where_these_have_samples() -> None:
    outputs = scores(np.random.default_rng(2), [4] * 30, 5)
    plan = ss.plan(ss.Pilot(outputs, n_sets=200), gain=1.0, n_items=41)
    assert plan.cases[0].unit == "cluster"
    assert plan.sentences[1].startswith("With 10 clusters of 4 questions (40 questions) and a standard deviation of ")
    assert "41 questions are no whole number of clusters of 4: planned are 10 clusters, 40 questions" in plan.notes
    assert {"clusters", "questions"} < set(plan._table())
    with pytest.raises(ValueError, match=r"^n_items must be at least 8, the questions of two clusters, not 7$"):
        ss.plan(ss.Pilot(outputs, n_sets=0), gain=1.0, n_items=7)


def test_questions_are_counted_where_only_one_system_has_several_samples_of_each() -> None:
    means = per_question(samples(np.random.default_rng(2), n=80, k=6, systems=2))
    assert means.samples is not None
    number = np.stack([means.samples[0], np.tile([1.0, np.nan], (80, 1))])
    outputs = replace(means, samples=number)
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=9.0)
    assert plan.cases[0].components is None
    n = f"{int(plan.answers['n_items'].item()):,} questions"
    assert plan.sentences[0].startswith(f"You need {n} (")
    assert plan.sentences[1].startswith(f"With {n} and a standard deviation of ")
    assert not re.search(r"\bitems?\b", plan.text.split("Assumptions")[0])
    # What another number of samples changes is not known then.
    with pytest.raises(ValueError, match=r"^outputs must have two samples of some question of each system$"):
        ss.plan(ss.Pilot(outputs, n_sets=0, samples=2), gain=9.0)


def test_the_command_has_both_options(tmp_path: Path) -> None:
    outputs = samples(np.random.default_rng(2), n=80, k=6, systems=2)
    path = tmp_path / "x.csv"
    table = pd.DataFrame(outputs.statistics[..., 0].T, columns=outputs.names).assign(item=outputs.items["sample_of"])
    table["sample"] = np.tile(np.arange(6), 80)
    table.melt(["item", "sample"], var_name="system", value_name="score").to_csv(path, index=False)
    line = ["plan", str(path), "--metric", "accuracy", "--gain", "9", "--samples", "2", "--cost-item", "5",
            "--cost-sample", "1", "--json"]  # fmt: skip
    told = json.loads(CliRunner().invoke(app, line).stdout)
    plan = ss.plan(ss.Pilot(outputs, n_sets=0, samples=2), gain=9.0, costs=ss.Costs(item=5.0, sample=1.0))
    assert told["answers"][0]["n_items"] == plan.answers["n_items"].item()
    assert [row["cost"] for row in told["designs"]] == pytest.approx(plan.designs["cost"].tolist())


def test_a_pilot_without_clear_variance_between_questions_gets_a_safe_plan() -> None:
    """The best design is the cheapest of its table, within four times the pilot's samples, and the plan says why."""
    outputs = scores(np.random.default_rng(3), [1] * 60, 3, (0.0, 0.05, 3.0))
    known = variance_components(outputs)
    assert known.question < known.safe < known.variance(3)
    assert known.planned(3) == known.variance(3)
    assert known.planned(12) == pytest.approx(known.safe + (known.variance(3) - known.safe) / 4)
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=1.0, costs=ss.Costs(item=2.0, sample=0.1))
    designs = plan.designs.set_index("samples")
    best = designs[designs["which"].str.contains("best")]
    assert best["cost"].item() == designs["cost"].min()
    assert designs.index.max() == 12
    said = (
        "between-question variance is not distinguishable from 0 in the outputs: plans for more samples take its upper"
    )
    assert plan.notes[-1].startswith(said)
    asked = designs[designs["which"].str.startswith("as planned")]["cost"].item()
    cheapest = (
        f"The cheapest design is {best['n_items'].item():,.0f} questions with {best.index.item()} samples each, for"
    )
    assert plan.sentences[1] == f"They cost {asked:,.4g}. {cheapest} {best['cost'].item():,.4g}."
    assert best.index.item() > 3
    assert plan.sentences[-1].endswith(
        "designs with more than 3 samples take the upper bound of that variance, and none has more than 12."
    )
    assert plan.sentences[-1].startswith("The outputs do not show that the gain varies between questions: ")
    far = ss.plan(ss.Pilot(outputs, n_sets=0, samples=13), gain=1.0)
    assert far.notes[-1].startswith("13 samples of a question are more than 4 times those of the outputs: the plan ")


def test_a_clear_variance_between_questions_is_planned_with_as_it_is() -> None:
    known = variance_components(scores(np.random.default_rng(4), [1] * 60, 3))
    assert known.safe == 0
    assert [known.planned(k) for k in (1, 3, 12)] == [known.variance(k) for k in (1, 3, 12)]


@pytest.mark.slow
@pytest.mark.parametrize("between", [0.0, 0.3, 0.6, 2.0])
@pytest.mark.parametrize("n", [20, 60])
def test_best_designs_have_the_power_that_is_planned(n: int, between: float) -> None:
    """Standard deviations between questions from 0 on, beside one of 3 within: the power by the noncentral t.

    It is the mean over pilots. Of estimated spreads it is a little below 0.8 where the plan adds no safety.
    """
    rng, powers, most = np.random.default_rng(n), [], []
    for _ in range(150):
        pilot = ss.Pilot(scores(rng, [1] * n, 3, (0.0, between, 3.0)), n_sets=0)
        plan = ss.plan(pilot, gain=0.8, costs=ss.Costs(item=2.0, sample=0.1))
        best = plan.designs[plan.designs["which"].str.contains("best")].iloc[0]
        size, samples = int(best["n_units"]), int(best["samples"])
        true = np.sqrt(between**2 + 9 / samples)
        shift, cut = 0.8 * np.sqrt(size) / true, stats.t.isf(0.025, size - 1)
        powers.append(stats.nct.sf(cut, size - 1, shift))
        most.append(samples)
    assert max(most) <= 12
    assert np.mean(powers) > (0.8 if between < 2 else 0.77)
    assert np.mean(powers) < 0.97


@pytest.mark.slow
def test_components_of_unequal_clusters_are_unbiased_and_near_those_of_a_mixed_model() -> None:
    """Clusters of 1 to 12 questions: means over 300 sets, and REML of statsmodels on one large one."""
    rng = np.random.default_rng(0)
    sizes = [1, 2, 3, 4, 6, 8, 12] * 5
    found = [variance_components(scores(rng, sizes, 3), clip=False) for _ in range(300)]
    for name, true in (("cluster", 1.0), ("question", 4.0), ("sample", 9.0)):
        values = np.array([getattr(one, name) for one in found])
        assert abs(values.mean() - true) < 4 * values.std() / np.sqrt(300), name
    mixed = pytest.importorskip("statsmodels.regression.mixed_linear_model")
    outputs = scores(rng, sizes * 6, 3)
    y = outputs.statistics[0, :, 0] - outputs.statistics[1, :, 0]
    items = outputs.items
    frame = pd.DataFrame({"y": y, "c": items["cluster"], "q": items["sample_of"], "one": 1.0})
    fitted = mixed.MixedLM.from_formula("y ~ 1", frame, groups="c", re_formula="1", vc_formula={"q": "0 + C(q)"}).fit(
        reml=True
    )
    ours = variance_components(outputs)
    assert ours.sample == pytest.approx(fitted.scale, rel=0.01)
    assert ours.question == pytest.approx(float(fitted.vcomp[0]), rel=0.1)
    assert ours.cluster == pytest.approx(float(fitted.cov_re.iloc[0, 0]), rel=0.3)
