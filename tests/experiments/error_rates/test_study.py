"""The study of error rates: what its cells ask, what its page has, and one run of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simstudy as ss
from simstudy.engines.registry import TESTS
from simstudy.running.fingerprints import derived_seed
from simstudy.studies import DrawnPairs
from tests.experiments.error_rates.made_up import GAINS, NULLS, made_up, of, ran, settings
from tests.experiments.error_rates.small import (
    CONDITIONS,
    SETTINGS,
    examine,
    study,
)  # fmt: skip
from tests.experiments.programs import drawn_lines, figures_of, known_otherwise, program, told

PAGE = program("error_rates")
OF_ACCEPTANCE_SETS = {"precision_score", "fisher"}


def test_every_test_is_asked_where_it_applies() -> None:
    names = ["accuracy", "f1", "bleu_short", "precision_few", "skewed_means"]
    some = study(conditions=names, n_units=[6], shown=[6], sets=2, n_resamples=9)
    rows = {name: examine(some, name, 6, 0)["decisions"] for name in names}
    by_condition = {name: {row["test"] for row in of} for name, of in rows.items()}
    assert set().union(*by_condition.values()) == set(TESTS)
    sums = {"sign_flips", "bootstrap", "randomization", "skew_corrected"}
    assert by_condition["f1"] == by_condition["bleu_short"] == sums
    assert by_condition["precision_few"] == sums | {"two_proportions", "chi_square"} | OF_ACCEPTANCE_SETS
    assert by_condition["accuracy"] == set(TESTS) - OF_ACCEPTANCE_SETS
    of_answers = {"mcnemar", "two_proportions", "chi_square"}
    assert by_condition["skewed_means"] == set(TESTS) - OF_ACCEPTANCE_SETS - of_answers
    assert {row["alternative"] for row in rows["precision_few"] if row["test"] == "fisher"} == {"two-sided"}


def test_figures_have_the_tests_sizes_and_sides_that_their_texts_say() -> None:
    tables = dict(ran()[0].tables)
    shown = PAGE.show(settings(), tables)
    figures = figures_of(shown)
    views = {"skewed_means": "equal means, one skewed", "accuracy": CONDITIONS["accuracy"].title,
             "clusters": "clusters of 5", "accuracy_gain": CONDITIONS["accuracy_gain"].title,
             "turned": "turned"}  # fmt: skip
    two_sided = {"alternative": "two-sided", "alpha": 0.2}
    for name, conditions, tests in (
        ("error_rates", NULLS, ["sign_flips"]), ("power", GAINS, ["sign_flips", "sign", "wilcoxon"])
    ):  # fmt: skip
        table = tables["rates" if name == "error_rates" else "power"]
        axes = [ax for ax in figures[name].axes if ax.containers]
        assert [ax.get_title("left") for ax in axes] == [views[condition] for condition in conditions]
        for ax, condition in zip(axes, conditions, strict=True):
            unit = "cluster" if condition == "clusters" else "item"
            lines = drawn_lines(ax)
            assert [*lines] == tests
            for test, line in lines.items():
                rows = of(table, condition=condition, unit=unit, test=test, n_units=[20, 30, 40], **two_sided)
                rows = rows.sort_values("n_units")
                assert line == tuple(pytest.approx(rows[of].tolist()) for of in ("n_units", "share", "low", "high"))
    drawn = of(tables["rates"], test="sign_flips", n_units=[20, 30, 40], breaks="", **two_sided)["share"]
    assert 0.25 < figures["error_rates"].axes[0].get_ylim()[1] == pytest.approx(np.ceil(20 * drawn.max()) / 20)
    spans = [patch.get_extents().transformed(ax.transData.inverted()) for ax in figures["error_rates"].axes[:1]
             for patch in ax.patches]  # fmt: skip
    assert [(round(box.y0, 6), round(box.y1, 6)) for box in spans] == [(0.05, 0.3), (0.1, 0.22)]
    default = of(tables["power"], test="sign_flips", **two_sided).dropna(subset="type_m")
    (ax,) = figures["exaggeration"].axes
    for name in GAINS:
        rows = of(default, condition=name).sort_values("share")
        columns = ("share", "type_m", "type_m_low", "type_m_high")
        assert drawn_lines(ax)[views[name]] == tuple(pytest.approx(rows[column].tolist()) for column in columns)
    (ax,) = figures["coverage"].axes
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [
        views[name] + own for name in settings().conditions for own in ["", ", by item"][: 1 + (name == "clusters")]
    ]
    assert [round(side, 6) for side in (ax.patches[0].get_x(), ax.patches[0].get_width())] == [0.9, 0.09]
    panels = {ax.get_title("left"): ax for ax in figures["uniformity"].axes if ax.get_lines()}
    for test, ax in panels.items():
        curves = of(tables["quantiles"], test=test).groupby("condition", sort=False)
        for curve, (_, own) in zip(ax.get_lines()[1:], curves, strict=True):
            np.testing.assert_allclose(curve.get_xydata(), own.sort_values("alpha")[["alpha", "excess"]])
    assert {*panels} == {"wilcoxon", "sign_flips"}
    by_heading: dict[str, Any] = {part.heading: part for part in shown.sections}
    for title, heading in (
        ("Which test when", "Which test when"),
        ("Two-sided type I error rates, equal scores", "Which test keeps its level?"),
    ):
        assert shown.summary.pop(title).text().equals(by_heading[heading].table.text())
    assert shown.summary == {}


@pytest.mark.parametrize("names", [["accuracy"], GAINS[:1]], ids=["no gains", "gains alone"])
def test_a_page_has_the_parts_that_its_conditions_give(names: list[str]) -> None:
    some = settings().model_copy(update={"conditions": {name: settings().conditions[name] for name in names}})
    found, _ = told("error_rates", some, lambda cell: made_up(*cell.arguments[1:4]))
    shown = PAGE.show(some, found.tables)
    of_gains = names == GAINS[:1]
    assert ("power" in found.tables, "rates" in found.tables, "choices" in found.tables) == (of_gains, not of_gains, 0)
    headings = {part.heading for part in shown.sections}
    assert ("Power" in headings, "All tests" in headings) == (of_gains, not of_gains)
    assert not {"Cautions", "Which test when"} & headings, "answers have no cautions"
    title = "Coverage" if of_gains else "Two-sided type I error rates, equal scores"
    assert [*shown.summary] == [title]


def test_a_cell_has_what_each_unit_is_asked_alone() -> None:
    """Seeds are of the condition, size and batch; independence is tested for the first unit alone."""
    tests = ["z_independent", "bootstrap", "sign_flips", "chi_square"]
    some = study(
        conditions=["clusters", "accuracy", "skewed_means"],
        n_units=[12, 9],
        shown=[12, 9],
        tests=tests,
        seed=3,
        alphas=[0.05, 0.3],
    )
    for name, n, batch in (("clusters", 12, 1), ("accuracy", 9, 0), ("skewed_means", 12, 0)):
        pair = some.conditions[name].pair
        rng, seed = (derived_seed(3, what, name, n, batch) for what in ("test sets", "resamples"))
        statistics = pair.draw(12, n, np.random.default_rng(rng))
        expected: dict[str, list[dict[str, Any]]] = {"decisions": [], "quantiles": [], "coverage": []}
        for unit in pair.units:
            own = tests if unit == pair.units[0] else ["bootstrap", "sign_flips"]
            alone = DrawnPairs(statistics.by(unit), pair.metric, n_resamples=99, seed=seed % 2**64)
            expected["decisions"] += [{"unit": unit, **row} for row in alone.decisions(own, [0.05, 0.3])]
            expected["coverage"].append({"unit": unit, **alone.coverage(pair.true_gain)})
            if unit == "cluster":
                expected["quantiles"] = [
                    {"unit": unit, **{key: row[key] for key in ("test", "alpha", "n_sets", "n_rejected")}}
                    for row in alone.decisions(["bootstrap", "sign_flips"], SETTINGS.QUANTILES, ["two-sided"])
                ]
        assert examine(some, name, n, batch) == expected


@pytest.mark.usefixtures("empty_figures")
def test_a_run_has_every_figure_and_table_on_its_page(tmp_path: Path) -> None:
    some = study(conditions=["precision_few", "f1", "f1_gain"], n_units=[6, 60], shown=[60], sets=4)
    done = ss.run_study(some, out=tmp_path, n_jobs=1)
    page = (tmp_path / "README.md").read_text()
    drawn = {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert drawn == {"choices", "error_rates", "uniformity", "power", "coverage"}
    for name in drawn:
        assert f"(figures/{name}.png)" in page
    assert {path.stem for path in tmp_path.glob("*.csv")} == set(done.tables)
    for name, table in done.tables.items():
        assert f"[{name}.csv]({name}.csv): {len(table):,} rows" in page
    assert "nan" not in page.lower()
    cautioned = done.tables["cautions"].set_index("condition")["cautioned"]
    assert cautioned["precision_few"] > 0.5 > cautioned["f1"], "8 % of 60 are five answers"


def test_cells_are_computed_again_where_what_they_depend_on_changes() -> None:
    some: dict[str, Any] = {"conditions": ["f1"], "n_units": [20, 21, 22], "shown": [20, 22], "tests": ["sign_flips"]}
    one = study(**some)
    for change in (
        {"n_resamples": 19}, {"sets": 39}, {"seed": 1}, {"alphas": [0.05, 0.2]}, {"tests": ["sign"]},
        {"shown": [20]}, {"shown": [22, 20]},
    ):  # fmt: skip
        assert known_otherwise("error_rates", one, study(**{**some, **change}), 1) == {0}, change
    other = one.conditions["f1"].model_copy(update={"parameters": CONDITIONS["f1_gain"].parameters})
    for of_f1, parts in ((other, {0}), (one.conditions["f1"].model_copy(update={"title": "other"}), set())):
        changed = one.model_copy(update={"conditions": {"f1": of_f1}})
        assert known_otherwise("error_rates", one, changed, 1) == parts
