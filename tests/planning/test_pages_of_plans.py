"""The page, the figure, JSON and notes of a plan: all of what was found is there, and why something is not."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.planning.cases import Case
from simstudy.planning.pilots import of_two
from tests.planning.test_equal_plans import FORMS, SCORES, pilot, planned

TABLES = ("answers", "sizes", "designs", "predicted")


@pytest.mark.parametrize("form", ["of many answers", "a range of units"])
def test_a_page_has_every_sentence_table_and_note(form: str, tmp_path: Path) -> None:
    plan = planned(form, gain=8.0, sizes=[90, 200], n_sets=0, power=0.7)
    plan = replace(plan, files={"answers.txt": "c0ffee"}, notes=("of this plan",))
    plan.write(tmp_path / "plan", command="asked so", settings={"asked": 3})
    page, told = (tmp_path / "plan" / "README.md").read_text(), json.loads(plan.to_json())
    plain = page.replace("\\", "")
    for said in (*plan.sentences, *plan.assumptions, *plan.notes):
        assert said in plain or said.replace("*", "") in plain, said
    assert "asked so" in page
    assert "power 0.7" in page
    for name, heading in zip(TABLES, ("Answers", "Other sizes", "Fewer or more items", "These systems"), strict=True):
        table, file = getattr(plan, name), tmp_path / "plan" / f"{name}.csv"
        assert (f"## {heading}" in page) == file.exists() == (len(table) > 0)
        assert len(told[name]) == len(table)
        for row, (_, own) in zip(told[name], table.iterrows(), strict=True):
            for column, value in own.items():
                empty = not isinstance(value, str) and not np.isfinite(value)
                assert row[column] is None if empty else row[column] == value
        if len(table):
            written = pd.read_csv(file)[list(table)]
            pd.testing.assert_frame_equal(
                written, table.reset_index(drop=True).replace("", np.nan), check_dtype=False, rtol=1e-4
            )
    assert (told["notes"], told["assumptions"], told["sentences"]) == tuple(
        list(part) for part in (plan.notes, plan.assumptions, plan.sentences)
    )
    assert (told["simulated"] is None) == (plan.simulated is None)
    manifest = json.loads((tmp_path / "plan" / "manifest.json").read_text())
    assert manifest["plan"] == {"asked": 3}
    assert "c0ffee" in json.dumps(manifest)
    assert json.loads(plan.to_json({"asked": 4}))["settings"] == {"asked": 4}


@pytest.mark.parametrize("asked", [{"gain": 8.0, "power": 0.7}, {"n_items": 300}])
def test_a_figure_draws_the_power_and_the_gains_of_the_tables(asked: dict[str, Any]) -> None:
    plan = planned("a range of scores", **asked, sizes=[90, 200, 700])
    drawn = plan.figure()
    has_gain = "gain" in asked
    titles = [ax.get_title(loc=loc) for ax in drawn.axes for loc in ("left", "center") if ax.get_title(loc=loc)]
    assert titles == ["Power, mean", "Detectable gain, mean"] if has_gain else ["Detectable gain, mean"]
    lines = [[(line.get_xdata(), line.get_ydata()) for line in ax.lines] for ax in drawn.axes]

    def is_drawn(on: int, x: pd.Series[Any], y: pd.Series[Any]) -> bool:
        return any(len(a) == len(x) and np.allclose(a, x) and np.allclose(b, y) for a, b in lines[on])

    assert is_drawn(-1, plan.sizes["n_items"], plan.sizes["detectable_gain"])
    if has_gain:
        curve = plan.power_curve()
        assert is_drawn(0, curve["n_items"], curve["power"])
        assert is_drawn(0, plan.answers["n_items"], pd.Series([0.7]))
        assert curve["n_units"].iloc[[0, -1]].tolist() == [45, 700], "from half of the smallest size to the largest"
        assert 38 <= len(curve) <= 40


def test_a_plan_that_is_not_held_against_a_simulation_says_why() -> None:
    documents, answers = pilot("of documents"), pilot("of answers")

    def notes(outputs: ss.Outputs, *, unit: str | None = None, **asked: Any) -> list[str]:
        plan = ss.plan(ss.Pilot(outputs, unit=unit, n_sets=200, n_draws=0), **({"sizes": []} | asked))
        assert plan.simulated is None
        return [note for note in plan.notes if note.startswith("Not held against simulation")]

    assert notes(answers, n_items=200) == ["Not held against simulation, which needs a gain above 0."]
    assert notes(answers, margin=9.0, gain=-1.0) == notes(answers, n_items=200)
    assert notes(documents, unit="item", gain=8.0) == [
        "Not held against simulation: resampling units are not the natural ones (cluster)."
    ]
    assert notes(answers, gain=0.05) == [
        f"Not held against simulation: test sets of {needed(answers, 0.05):,} items are too large to draw."
    ]
    scores = pd.DataFrame({"new": np.arange(20.0), "old": np.arange(20.0)[::-1]})
    (beyond,) = notes(ss.Outputs.from_scores(scores), gain=40.0, n_items=20)
    assert beyond.startswith("Not held against simulation: no population of these items has the gain (gain must be ")


def needed(outputs: ss.Outputs, gain: float) -> int:
    plan = ss.plan(ss.Pilot(outputs, n_sets=0), gain=gain, sizes=[])
    return int(plan.answers["n_items"].item())


@pytest.mark.parametrize(
    ("power", "zeros", "n_items"),
    [(0.0, 0, 400), (0.7, 0, 400), (3.0, 0, 400), (3.0, 0, 60), (3.0, 0, 4000), (0.0, 160, 60), (0.0, 160, 400)],
)
def test_long_tails_of_a_pilot_are_told_with_their_kurtosis(power: float, zeros: int, n_items: int) -> None:
    """Of normal differences and of their powers; of as many units as tell of long tails in the mean, nothing.

    Where most differences are 0, their kurtosis is large; the interval of the spread hangs on that of the others.
    """
    rng = np.random.default_rng(3)
    values = rng.normal(size=200)
    values *= np.abs(values) ** power
    values[:zeros] = 0.0
    plan = ss.plan(
        ss.Pilot(ss.Outputs.from_scores(pd.DataFrame({"new": values, "old": 0.0})), n_sets=0),
        gain=float(values.std() / 5), n_items=n_items, sizes=[],
    )  # fmt: skip
    kurtosis = float(((values - values.mean()) ** 4).mean() / values.var() ** 2)
    assert plan.answers["kurtosis"].item() == pytest.approx(kurtosis)
    assert stats.kurtosis(values, fisher=False) == pytest.approx(kurtosis)
    others = stats.kurtosis(values[zeros:], fisher=False)
    assert (6 < others < 8.5) == (power == 0.7), "excess kurtosis is another number"
    assert ("holds 82 to 89 % for tails as long" in plan.cases[0].range) == (others > 6)
    text = "\n".join(plan.sentences)
    long = kurtosis - 3 > 0.1 * n_items
    assert (f"(kurtosis {kurtosis:.0f})" in text) == ("with 90 items or more" in text) == long
    assert ("This plan has fewer: do not rely on it." in text) == (long and n_items < 90)


def test_the_ends_of_a_case_are_its_least_and_its_most_spread() -> None:
    unlike = SCORES | {"cluster_size": 6.0, "icc": -0.05, "cluster_cv": (0.2, 0.9)}
    cases: list[Case] = [planned(form, n_items=300, n_sets=0, n_draws=0, sizes=[]).cases[0] for form in FORMS]
    cases.append(planned(unlike, n_items=300, sizes=[]).cases[0])
    for case in [*cases, of_two(pilot("of precision"))]:
        spreads = [end.sd_of(0.0) for end in (case.low, case.middle, case.high)]
        assert spreads == sorted(spreads)
        assert (spreads[0] < spreads[2]) == bool(case.range)
        if case.single is not None:
            assert spreads[0] / 3 < case.single[0].sd_of(0.0) < case.single[1].sd_of(0.0) < 3 * spreads[2]
