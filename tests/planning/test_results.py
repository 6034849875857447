"""Tables, pages, figures and JSON of plans: all of what was found is there."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from functools import partial
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import simstudy as ss
from simstudy.metrics import METRICS
from simstudy.planning.answers import merged, sizes_around
from simstudy.planning.benchmarks import typical
from simstudy.planning.cases import Case, check_points
from simstudy.planning.differences import NormalDifference
from simstudy.planning.printed import design_rows, predicted_rows, show, size_rows
from simstudy.text.printing import MOST_LINES, text_of
from tests.planning.forms import FORMS, pilot, planned
from tests.planning.options import size


@pytest.mark.parametrize("n", [2, 7, 31, 120, 969, 2100, 84_000, 3_000_000])
def test_sizes_of_a_table_are_round_and_neither_far_from_the_planned_one_nor_beside_it(n: int) -> None:
    rounds = [step * 10**power for power in range(1, 8) for step in (1, 2, 5)]
    near = [k for k in rounds if n <= 12 * k and k <= 12 * n and k <= 10_000_000]
    assert sizes_around(n) == sorted({n, *(k for k in near if k <= 0.8 * n or k >= 1.25 * n)})


@pytest.mark.parametrize("keep", [[969], [40, 2100], [100, 969, 5000]])
def test_sizes_of_several_cases_are_about_a_dozen_with_those_that_are_kept(keep: list[int]) -> None:
    sizes = sorted({k for n in keep for k in sizes_around(n)} | set(range(300, 900, 70)))
    found = merged(sizes, keep=keep)
    assert found == sorted(set(found))
    assert set(keep) <= set(found) <= set(sizes) | set(keep)
    assert len(keep) < len(found) <= 10 + len(keep)
    far = [k for k in sizes if all(k == own or k <= 0.8 * own or k >= 1.25 * own for own in keep)]
    assert {far[0], far[-1]} <= set(found), "from the smallest to the largest"
    assert set(found) <= {*far, *keep}
    few = far[:4]
    assert merged(few, keep=keep) == sorted({*few, *keep})


@pytest.mark.parametrize(
    ("metric", "given", "refused", "meant"),
    [
        ("accuracy", {"score": 0.8, "gain": 0.01}, "Guess.score must be in percent, not 0.8", "Guess.score=80, gain=1"),
        (
            "accuracy", {"score": 0.3, "gain": 0.5, "margin": 0.7}, "Guess.score must be in percent, not 0.3",
            "Guess.score=30, gain=50, margin=70",
        ),
        ("accuracy", {"score": 0.8, "gain": 2.0}, "Guess.score must be in percent, not 0.8", "80"),
        ("accuracy", {"score": 0.8, "gain": 0.5}, "Guess.score must be in percent, not 0.8", "80"),
        ("accuracy", {"score": 80.0, "gain": 0.05}, "gain must be in points of accuracy, not 0.05", "5"),
        ("accuracy", {"score": 80.0, "gain": 0.1, "margin": 0.5}, None, ""),
        ("accuracy", {"score": 99.5, "gain": 0.05}, None, ""),
        ("bleu", {"gain": 0.02, "margin": 0.03}, "gain must be in points of BLEU, not 0.02", "gain=2, margin=3"),
        ("bleu", {"gain": -0.02, "margin": 0.3}, None, ""),
        ("accuracy", {"gain": 0.02, "of_pilot": 70.0}, "gain must be in points of accuracy, not 0.02", "2"),
        ("accuracy", {"gain": 0.02, "of_pilot": 0.4}, None, ""),
        ("ap", {"gain": 0.02}, None, ""),
        ("mean", {"score": 0.5, "gain": 0.02}, None, ""),
    ],
)  # fmt: skip
def test_fractions_are_told_from_points(metric: str, given: dict[str, float], refused: str | None, meant: str) -> None:
    asked = {"score": None, "gain": None, "margin": None} | given
    if refused is None:
        check_points(METRICS[metric], **asked)
        return
    with pytest.raises(ValueError, match=f"^{re.escape(f'{refused}: did you mean {meant}?')}$"):
        check_points(METRICS[metric], **asked)


def test_usual_ranges_are_those_of_known_benchmarks() -> None:
    usual = typical("bleu", "different families", "sd")
    answers = ss.plan(metric="bleu", gain=1.5).answers.iloc[0]
    for end, sd in (("_low", usual.low), ("", usual.middle), ("_high", usual.high)):
        assert answers[f"n_items{end}"] == pytest.approx(size(sd, 1.5), rel=0.012)


def test_sizes_show_margins_as_the_answers_do() -> None:
    plan = ss.plan(metric="mean", margin=0.2, guess=ss.Guess(sd_difference=1.0), sizes=[150, 400])
    n, se = np.array([150, 400]), 1 / np.sqrt([150, 400])
    # Normal: each of two one-sided tests has this power, less twice what both miss.
    one = stats.norm.sf(stats.norm.isf(0.025) - 0.2 / se)
    np.testing.assert_allclose(plan.sizes["shown_not_worse"], one, atol=0.015)
    np.testing.assert_allclose(plan.sizes["shown_equivalent"], np.maximum(2 * one - 1, 0), atol=0.02)
    shown = size_rows(plan).text()
    for goal, column in (("not worse", "shown_not_worse"), ("equivalent", "shown_equivalent")):
        assert shown[f"{goal} by 0.2"].tolist() == [f"{value:.2f}" for value in plan.sizes[column]]
    assert n.tolist() == plan.sizes["n_items"].tolist()


TABLES = ("answers", "sizes", "designs", "predicted")


@pytest.mark.parametrize("form", ["of many answers", "a range of units"])
@pytest.mark.usefixtures("empty_figures")
def test_a_page_has_every_sentence_table_and_note(form: str, tmp_path: Path) -> None:
    plan = planned(form, gain=8.0, sizes=[90, 200], n_sets=0, power=0.7)
    plan = replace(plan, files={"answers.txt": "c0ffee"}, notes=("of this plan",))
    plan.write(tmp_path / "plan", command="asked so", settings={"asked": 3})
    page, told = (tmp_path / "plan" / "README.md").read_text(), json.loads(plan.to_json())
    plain = page.replace("\\", "")
    shown = [*plan.sentences, *(f"- {one}" for one in plan.assumptions), *(f"Note: {one}" for one in plan.notes)]
    lines = text_of(partial(show, plan, verbose=True)).splitlines()
    assert [line for line in lines if line in shown] == shown
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

    assert is_drawn(-1, plan.sizes["n_items"], plan.sizes["minimum_detectable_gain"])
    if has_gain:
        curve = plan.power_curve()
        assert is_drawn(0, curve["n_items"], curve["power"])
        assert is_drawn(0, plan.answers["n_items"], pd.Series([0.7]))
        assert curve["n_units"].iloc[[0, -1]].tolist() == [45, 700], "from half of the smallest size to the largest"
        assert 38 <= len(curve) <= 40


ENDS, INSIDE = ("low", "high"), ("low80", "high80")
#: Printed tables: the heading of a column, the number that it shows, how, and the ends of its range.
PRINTED: dict[str, list[tuple[str, str, str, tuple[str, str] | None]]] = {
    "sizes": [
        ("items", "n_items", ",", None), ("minimum detectable gain", "minimum_detectable_gain", ".2f", ENDS),
        ("power for a gain of 7", "power", ".2f", ENDS), ("wrong winner", "wrong_winner", ".1%", None),
        ("type S error", "wrong_sign", ".2%", None), ("type M error", "exaggeration", ".2f", None),
    ],
    "predicted": [
        ("significant pairs (uncorrected)", "share_significant", ".0%", INSIDE),
        ("wrong winners", "wrong_winner", ".1%", INSIDE),
        ("significant of 3 neighbours (uncorrected)", "separated", ".0f", INSIDE),
        ("distinct groups (uncorrected)", "ranks", ".0f", INSIDE),
        ("after Holm for neighbours", "separated_corrected", ".0f", INSIDE),
    ],
    "designs": [
        ("items a cluster", "items_per_unit", ".3g", None), ("design effect", "design_effect", ".2f", None),
        ("clusters for the gain", "n_units", ",.0f", None), ("items", "n_items", ",.0f", None),
        ("cost", "cost", ",.0f", None), ("or with clusters", "at_units", ",d", None),
        ("minimum detectable gain", "minimum_detectable_gain", ".2f", None),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    "form", ["units", "a range of units", "a range of answers", "of many answers", "of many documents"]
)
def test_printed_tables_have_each_number_and_its_range(form: str) -> None:
    plan = planned(form, gain=7.0, n_items=120, sizes=[100, 200], n_sets=0)
    # Neighbours are a number of their own; a relation class may lack some of the systems.
    plan = replace(plan, predicted=plan.predicted.assign(separated=9.0))
    if len(plan.predicted):
        plan.predicted.loc[plan.predicted.index[0], "n_systems"] = 2
    ranged, clustered = bool(plan.cases[0].range), plan.cases[0].unit == "cluster"
    for name, rows in (("sizes", size_rows), ("predicted", predicted_rows), ("designs", design_rows)):
        table = getattr(plan, name)
        if table.empty or (name == "designs" and not clustered):
            continue
        cells = rows(plan).text()
        assert ("clusters" in cells) == (clustered and name != "designs")
        for heading, column, way, ends in PRINTED[name]:
            for cell, (_, row) in zip(cells[heading], table.iterrows(), strict=True):
                between = f" ({row[f'{column}_{ends[0]}']:{way}}–{row[f'{column}_{ends[1]}']:{way}})" if ends else ""
                assert cell == f"{row[column]:{way}}{between if ranged else ''}", heading


@pytest.mark.parametrize("form", FORMS)
def test_a_screen_holds_a_plan_and_the_rest_is_counted(form: str) -> None:
    """The first line is the answer; every table and assumption is printed if it is asked for."""
    plan = replace(planned(form, gain=7.0, n_sets=0), notes=("one", "two", "three"))
    lines, every = plan.text.splitlines(), text_of(partial(show, plan, verbose=True)).splitlines()
    assert sum(max(1, -(-len(line) // 100)) for line in lines) <= MOST_LINES == 25, "as 100 columns wrap them"
    assert lines[0] == plan.sentences[0]
    assert re.match(r"You need [\d,]+ (items|clusters of .* items \([\d,]+ items[,)])", lines[0])
    (left_out,) = [line for line in lines if line.startswith("Not shown: ")]
    assert " note" in left_out
    hidden = sum(int(number) for number in re.findall(r"(\d+) (?:sentence|size|design|assumption|note)", left_out))
    printed = [line for line in lines if line and line != left_out and not line.startswith("Column")]
    # A heading that is too wide for 100 columns has another line.
    first = {line.split()[0] for line in every if line}
    hidden -= sum(line.startswith(" ") and line.split()[0] not in first for line in printed)
    # A list of assumptions that is left out has one line of heading, a table has two.
    for heading, n in (("Assumptions", 1), ("Test sets of", 2), ("Predicted", 2), ("Fewer or more", 2)):
        hidden += n * (any(line.startswith(heading) for line in every) > any(heading in line for line in lines))
    assert len([line for line in every if line]) == len(printed) + hidden


@pytest.mark.parametrize("by", [None, "family"])
def test_a_screen_of_a_leaderboard_has_three_sizes_or_one_of_each_relation(by: str | None) -> None:
    """The planned size has a smaller and a larger one beside it where its table has room for three."""
    families = list("aabbcc")
    if by:
        # Scores that are no answers are planned in a fifth of the time.
        scores = np.random.default_rng(5).normal(np.linspace(5, 7, 6)[:, None], size=(6, 200))
        systems = pd.DataFrame({"name": list("uvwxyz"), "family": families})
        outputs = ss.Outputs.from_statistics(np.stack([scores, np.ones_like(scores)], axis=-1), "mean", systems)
    else:
        outputs = ss.truth.correlated_accuracies(list(np.linspace(0.5, 0.7, 6)), 200, families=families)
    plan = ss.plan(ss.Pilot(outputs, by=by, n_sets=200, n_draws=100), gain=0.3 if by else 3)
    title, relations = ("Test sets of", set(plan.answers["relation"])) if by else ("Predicted results", {"all pairs"})
    rows = plan.text.split(title)[1].split("\n\n")[0].splitlines()
    if by:
        relation = r" (\S+ \S+) +[\d,]+ +\d"
        assert (
            {found[1] for row in rows if (found := re.match(relation, row))} == relations == set(plan.sizes["relation"])
        )
        return
    printed = [int(found[1].replace(",", "")) for row in rows if (found := re.match(r" +([\d,]+) +\d+%", row))]
    sizes = plan.predicted["n_items"].tolist()
    at = sizes.index(plan.answers["at_items"].item())
    assert printed == sizes[at - 1 : at + 2]


def test_what_was_asked_for_is_kept() -> None:
    guess, clusters = ss.Guess(sd_difference=(1.0, 2.0)), ss.Clusters(5, 0.1, 0.3)
    level, costs = ss.Level(0.01, "greater", 3), ss.Costs(2.0, 3.0, 900.0)
    asked = {"gain": 0.5, "power": 0.7, "margin": 0.9, "n_items": None, "sizes": [20]}
    plan = ss.plan(metric="mean", alpha=level, guess=guess, clusters=clusters, costs=costs, **asked)  # type: ignore[arg-type]
    nouns = {"alpha": level, "guess": guess, "clusters": clusters, "judge": ss.Judge(), "costs": costs}
    expected = {"metric": "mean", "pilot": None, **asked, **{name: vars(noun) for name, noun in nouns.items()}}
    assert plan.settings == expected
    assert json.loads(plan.to_json())["settings"] == json.loads(json.dumps(expected))
    of_pilot = {
        "by": None,
        "unit": "item",
        "duplicates": "keep",
        "n_sets": 0,
        "n_draws": 200,
        "seed": 9,
        "samples": None,
    }
    assert ss.plan(ss.Pilot(pilot("of answers"), **of_pilot), sizes=[]).settings["pilot"] == of_pilot  # type: ignore[arg-type]


@pytest.mark.parametrize(("low", "middle", "high"), list(permutations([1.0, 2.0, np.nan])))
def test_the_ends_of_a_number_are_its_least_and_its_most_with_the_middle_among_them(
    low: float, middle: float, high: float
) -> None:
    """Power is not monotone in the spread where few units differ; what is nowhere reached (NaN) is the upper end."""
    forms = [NormalDifference(sd) for sd in (1.0, 2.0, 3.0)]
    case = Case("from guesses", forms[1], forms[0], forms[2], "", "a range")
    found = case.ends(dict(zip(forms, (low, middle, high), strict=True)).__getitem__)
    assert found == pytest.approx((middle, 1.0, np.nan), nan_ok=True)
    assert replace(case, range="").ends(lambda _: middle) == pytest.approx((middle, middle, middle), nan_ok=True)
