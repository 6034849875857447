"""The study planning_validation as a whole, small, on made-up sets: its cells, page and outcomes, by a loop."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.files.datasets import DataError
from simstudy.studies import Results, StudyError
from tests.experiments.programs import first_cells, known, program, small
from tests.oracles import compared

HALVES, STUDY, MARGINS = (program("planning_validation", part) for part in ("halves", "study", "margins"))
SMALL: dict[str, Any] = {
    "sets": [
        {"study": study, "kind": kind, "metrics": ["accuracy"], "test_sets": names}
        for study, kind, names in (("made", "first kind", ["few", "tiny"]), ("else", "second kind", ["many"]))
    ],
    "transfers": [{"study": "made", "metric": "accuracy", "sources": ["many", "few", "other"], "targets": ["few"]}],
    "margins": {
        "answers": {
            "title": "answers", "model": "RightOrWrong", "parameters": {"accuracies": [0.8, 0.8], "between": 0.5},
            "margin": 12.0, "population": 2000,
        }
    },
    "margin_sets": 600,
    "splits": 2, "at_once": 1, "n_draws": 100, "n_resamples": 99, "least_items": 100, "pilots": [20, 1000],
}  # fmt: skip


@cache
def made(name: str, n: int, k: int) -> ss.Outputs:
    return ss.truth.correlated_accuracies(np.linspace(0.2, 0.95, k).tolist(), n, test_set=name)


SIZES = {"many": (160, 6), "few": (100, 5), "tiny": (99, 5), "other": (100, 5)}


def reading(**sizes: tuple[int, int]) -> Any:
    """The outputs of test sets of these sizes, in place of those of studies."""

    def outputs_of(_: str, __: object, *, test_sets: list[str], metrics: list[str]) -> Any:
        found = {(name, metrics[0]): ss.TestSet(made(name, *(SIZES | sizes)[name])) for name in test_sets}
        return found, {f"{name}.csv": name for name in test_sets}

    return outputs_of


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Results:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(STUDY, "outputs_of", reading())
        return ss.run_study(small("planning_validation", **SMALL), out=tmp_path_factory.mktemp("plans"), n_jobs=1)


def test_cells_are_known_by_what_changes_their_results(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each part of the study, with other settings and other outputs: the cells of the named parts are other ones."""

    def arguments(outputs_of: Any = None, **changes: Any) -> dict[str, Any]:
        settings = small("planning_validation", **{**SMALL, **changes})
        monkeypatch.setattr(STUDY, "outputs_of", outputs_of or reading())
        parts = (
            lambda context: STUDY.run(settings, context),
            lambda context: STUDY._transfers(settings, context, {}),
            lambda context: STUDY._margins(settings, context),
        )
        found = [first_cells(part)[1] for part in parts]
        return {label: known(cell) for cells in found for label, cell in cells.items()}

    labels = [f"{name}, splits {k} - {k}" for name in ("few", "many") for k in (0, 1)]
    labels += ["few from others", "answers, not worse", "answers, equivalent"]
    first, margin = arguments(), {"answers": SMALL["margins"]["answers"] | {"margin": 13.0}}
    assert list(first) == labels
    changes: list[tuple[dict[str, Any], list[str]]] = [
        ({"seed": 1}, labels), ({"n_draws": 101}, labels[:5]), ({"n_resamples": 98}, labels[:5]),
        ({"pilots": [21]}, labels[:4]), ({"margin_sets": 601}, labels[5:]), ({"margins": margin}, labels[5:]),
        ({"outputs_of": reading(other=(101, 5))}, labels[4:5]),
        ({"outputs_of": reading(many=(161, 6))}, labels[2:5]),
        ({"outputs_of": reading(few=(101, 5))}, [*labels[:2], labels[4]]),
    ]  # fmt: skip
    for change, other in changes:
        again = arguments(**change)
        assert [label for label in labels if first[label] != again[label]] == other, change


def test_rows_are_of_all_sets_sources_and_measures(done: Results) -> None:
    assert done.tables["sets"].to_numpy().tolist() == [
        ["few", "first kind", "accuracy", 5, 100, "item", 100],
        ["many", "second kind", "accuracy", 6, 160, "item", 160],
    ], "without the set of too few items"
    errors = done.tables["errors"]
    assert set(errors["measure"]) == {*HALVES.MEASURES, HALVES.DETECTABLE}
    assert (errors["n_splits"] == 2).all()
    calibration = done.tables["calibration"].set_index(["source", "target", "measure"])
    assert calibration.loc[("half", "half", "ranks"), "n_outcomes"] == 2 * 2
    transfers = done.tables["transfers"]
    assert set(transfers["source"]) == {"many", "other"}, "no set is predicted from itself"
    assert set(transfers["target"]) == {"few"}
    assert (transfers["n_units"] == 100).all(), "of as many items as the target has"


def test_the_manifest_names_every_file_that_was_read(done: Results) -> None:
    """One set is only a source of transfers; one has too few items to be halved."""
    manifest = json.loads((done.folder / "manifest.json").read_text())
    files = {"made": ("few", "tiny", "many", "other"), "else": ("many",)}
    assert manifest["data"]["files"] == {study: {f"{name}.csv": name for name in own} for study, own in files.items()}


def test_the_page_says_what_was_found(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    assert "Two systems have equal true scores." in page
    for figure in ("calibration", "predicted", "transfers"):
        assert f"(figures/{figure}.png)" in page
    assert "From one half to the other, 95 % prediction intervals contain " in page
    assert "nan" not in page.lower()


def test_cells_without_an_interval_have_a_dash(done: Results) -> None:
    """No prediction of the minimum detectable gain has an 80 % interval; nor need there be any outcome."""
    calibration = done.tables["calibration"]
    without = calibration["measure"] == HALVES.DETECTABLE
    nothing = calibration[without].assign(share95=np.nan, share95_low=np.nan, share95_high=np.nan, worst95=np.nan)
    shown = STUDY.show(small("planning_validation", **SMALL), {**done.tables, "calibration": nothing})
    table = shown.sections[0].table.text()
    columns = ["inside the 80 % interval", "inside the 95 % interval", "least share of a set (95 %)"]
    assert table[columns].to_numpy().tolist() == [["-"] * 3] * without.sum()
    one = calibration[~without].head(1).assign(share80=0.5, share80_low=np.nan, share80_high=np.nan)
    table = STUDY.show(small("planning_validation", **SMALL), {**done.tables, "calibration": one}).sections[0].table
    assert table.text()["inside the 80 % interval"].tolist() == ["50%"], "a share of one set has no interval"


def test_two_studies_must_not_have_test_sets_of_one_name() -> None:
    """The second would replace the first."""
    sets = [
        {"study": study, "kind": "kind", "metrics": ["accuracy"], "test_sets": names}
        for study, names in (("made", ["few", "tiny"]), ("else", ["few"]))
    ]
    with pytest.raises(StudyError, match="'few' is a test set of made and of else"):
        small("planning_validation", **{**SMALL, "sets": sets})
    assert small("planning_validation", **{**SMALL, "sets": [sets[0], {**sets[0], "metrics": ["f1"]}]})


def test_margins_are_planned_and_drawn(done: Results) -> None:
    """The plan of a large pilot, and the power that McNemar-like answers of the same disagreement have."""
    rows = done.tables["margins"].set_index("goal")
    assert set(map(tuple, rows[["condition", "metric", "unit", "margin", "n_sets"]].to_numpy().tolist())) == {
        ("answers", "accuracy", "item", 12.0, 600)
    }
    assert list(rows.index) == ["not worse", "equivalent"]
    # Two systems of 80 % with a latent correlation of 0.5 differ on 2 (0.8 - P(both right)).
    both = stats.multivariate_normal([0, 0], [[1, 0.5], [0.5, 1]]).cdf([stats.norm.ppf(0.8)] * 2)
    plan = ss.plan(
        metric="accuracy", margin=12, guess=ss.Guess(score=80, agreement=float(1 - 2 * (0.8 - both)))
    ).answers
    for goal, n_items in zip(plan["goal"], plan["n_items"], strict=True):
        assert rows.loc[goal, "n_units"] == pytest.approx(n_items, rel=0.15)
    # Five standard errors of 600 test sets.
    assert (rows["power"] - rows["planned_power"]).abs().max() < 5 * 0.0165
    assert rows["low"].lt(rows["power"]).all()
    assert rows["high"].gt(rows["power"]).all()


def test_batches_of_drawn_sets_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    """One set at a time: of thirty some show that neither is worse, and some do not."""
    monkeypatch.setattr(MARGINS, "_AT_ONCE", 1)
    settings: Any = small("planning_validation", **SMALL)
    row = MARGINS.shown("answers", settings.margins["answers"], "not worse", 30, seed=1)
    assert 0 < row["power"] < 1
    assert row["power"] != MARGINS.shown("answers", settings.margins["answers"], "not worse", 30, seed=2)["power"]


@pytest.mark.parametrize(("accuracies", "gain"), [([0.8, 0.7], "10"), ([0.7, 0.8], "-10")])
def test_margins_of_unequal_systems_are_refused(accuracies: list[float], gain: str) -> None:
    unequal = {"title": "x", "model": "RightOrWrong", "parameters": {"accuracies": accuracies, "between": 0.5}}
    with pytest.raises(StudyError, match=f"parameters must be those of equal systems, not of a gain of {gain}"):
        small("planning_validation", **(SMALL | {"margins": {"x": unequal | {"margin": 5.0}}}))


def test_an_outcome_is_counted_as_in_a_loop() -> None:
    outputs = made("one", 300, 6)
    found, pairs = HALVES.outcome(outputs, 99), compared(outputs)
    p = {
        frozenset((a, b)): value
        for a, b, value in zip(pairs["system_a"], pairs["system_b"], pairs["p_value"], strict=True)
    }
    assert found["share_significant"] == pytest.approx(np.mean([value <= 0.05 for value in p.values()]))
    order = [name for _, name in sorted(zip(-outputs.scores(), outputs.names, strict=True))]
    neighbours = [p[frozenset(pair)] for pair in zip(order, order[1:], strict=False)]
    assert found["separated"] == sum(value <= 0.05 for value in neighbours)
    holm = 0
    for step, value in enumerate(sorted(neighbours)):
        if value * (len(neighbours) - step) > 0.05:
            break
        holm += 1
    assert found["separated_corrected"] == holm
    ranks, leader = 1, order[0]
    for name in order[1:]:
        if p[frozenset((leader, name))] <= 0.05:
            ranks, leader = ranks + 1, name
    assert found["ranks"] == ranks
    assert np.isnan(found["threshold"]), "fifteen pairs have no twenty in the window"


def test_the_threshold_of_an_outcome_is_a_gain_of_pairs_with_p_near_005() -> None:
    """Ten systems, of which five are right on 16 items of their own and the others on 6: 25 pairs with p = 0.0525."""
    right = np.repeat([[1, 0, 1], [0, 1, 1]], [16, 6, 178], axis=1).repeat(5, axis=0)
    outputs = ss.Outputs.from_scores(pd.DataFrame(right.T, columns=list("abcdefghij")), "accuracy")
    found = HALVES.outcome(outputs, 99)
    assert stats.binomtest(16, 22).pvalue == pytest.approx(0.0525, abs=1e-4)
    assert found["threshold"] == pytest.approx(5.0)
    assert found["share_significant"] == 0


def test_without_the_data_it_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="no such file"):
        ss.run_study("planning_validation", out=tmp_path / "out", n_jobs=1, data_dir=tmp_path)
