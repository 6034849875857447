"""The bench of tools, small: its adapters against other ways, tools that are missing, its data sets and its counts."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import stats

import simstudy as ss
from simstudy.studies import Results, StudyError, make_study
from tests.experiments.asked_tools import ADAPTERS, DATA, SHIPPED, STUDY, answer, data_set
from tests.experiments.programs import assert_known, program, small
from tests.oracles import compared


def study(tools: list[str], conditions: list[str], **changes: Any) -> Any:
    kept = {name: SHIPPED.tools[name].model_dump() for name in tools}
    drawn = {name: SHIPPED.conditions[name].model_dump() for name in conditions}
    sets = {name: {"quick": n, "moderate": n, "slow": 3} for name, n in (("sets", 12), ("sets_with_gain", 9))}
    return small("tools_bench", **{"tools": kept, "conditions": drawn, "block": 3, **sets, **changes})


def done_study() -> Any:
    return study(["sign_flips", "scipy_t", "two_standard_errors"], ["answers", "skewed"])


@pytest.fixture(scope="module")
def done(tmp_path_factory: pytest.TempPathFactory) -> Results:
    return ss.run_study(done_study(), out=tmp_path_factory.mktemp("tools_bench"), n_jobs=1)


def test_every_tool_has_an_adapter_or_is_ours_and_says_what_is_called() -> None:
    assert {name for name, tool in SHIPPED.tools.items() if not tool.ours} == set(ADAPTERS.ADAPTERS)
    for tool in SHIPPED.tools.values():
        assert all([tool.call, tool.null, tool.claim, tool.source])
        assert not tool.ours or tool.claim == ss.TESTS[tool.ours].null
    for kind in ("answers", "rankings", "translations", "summaries"):
        assert [t.ours for t in SHIPPED.tools.values() if kind in t.kinds and t.ours], "ours is beside the others"


SKEWED = SHIPPED.conditions["skewed"].model_dump()


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 1}, {"levels": [0.2, 0.05]}, {"block": 6}, {"n_resamples": 9},
        {"conditions": {"skewed": {**SKEWED, "n_items": 31}}},
        {"conditions": {"skewed": {**SKEWED, "parameters": [{"margins": [
            {"kind": "Gamma", "average": 1.0, "shape": 1.0}, {"kind": "StudentT", "average": 1.0, "scale": 9.0}
        ]}]}}},
    ],
    ids=str,
)  # fmt: skip
def test_what_changes_the_result_of_a_cell_changes_its_description(change: dict[str, Any]) -> None:
    sets = {"quick": 12, "moderate": 12, "slow": 12}
    given: dict[str, Any] = {"block": 12, "levels": [0.5, 0.1], "sets": sets, "sets_with_gain": sets}
    one = study(["bootstrap"], ["skewed"], **given)
    other = make_study({**one.model_dump(), **change}, "here", type(one))
    assert_known("tools_bench", one, other)


def test_each_block_has_data_sets_of_its_own_which_every_tool_gets() -> None:
    """Whichever blocks are asked for; another condition, gain or seed gives other ones."""
    condition = SHIPPED.conditions["answers"]

    def drawn(name: str = "skewed", gain: int = 0, which: Any = (0, 1, 2), seed: int = 0) -> list[np.ndarray]:
        return [
            np.stack([data.statistics for data in sets])
            for _, sets in DATA.blocks(condition, name, gain, which, 2, seed)
        ]

    one = drawn()
    np.testing.assert_array_equal(one[2], drawn(which=[2])[0])
    others = [*one, *(part for changed in ({"name": "x"}, {"gain": 1}, {"seed": 1}) for part in drawn(**changed))]
    assert len({part.tobytes() for part in others}) == len(others) == 12
    seeds = [own for own, _ in DATA.blocks(condition, "skewed", 0, range(3), 2, 0)]
    assert len(set(seeds)) == 3


def test_the_page_has_a_row_for_every_tool_whatever_its_test_is_called(done: Results) -> None:
    """Two tools say that they have one test; in one condition and in the other both have their rows."""
    bench = done.tables["bench"].assign(test="paired t test")
    page = program("tools_bench", "page").sections({**done.tables, "bench": bench}, done_study())
    rows = {section.heading: section.table.rows for section in page if section.table is not None}
    names = list(dict.fromkeys(bench["name"]))
    assert len(rows["The bench"]) == len(bench) == 2 * len(names) > 2
    for title in ("Null hypotheses and deviations", "The tools' own words"):
        assert rows[title]["name"].tolist() == names


def test_rules_are_those_of_standard_errors() -> None:
    scores = np.random.default_rng(0).random((2, 40))
    a, b = stats.sem(scores, axis=1)
    assert ADAPTERS.standard_error(scores[0]) == pytest.approx(a)
    for size, apart, above in ((1.9, False, False), (2.1, False, True), (4.2, True, True)):
        centred = scores - scores.mean(axis=1)[:, None]
        centred[0] += size * np.hypot(a, b)
        data = DATA.DataSet(centred, centred[..., None])
        assert (size * np.hypot(a, b) > stats.norm.ppf(0.975) * (a + b)) == apart
        assert answer("no_overlap", data) == (None, [apart, size * np.hypot(a, b) > stats.norm.ppf(0.995) * (a + b)])
        assert answer("two_standard_errors", data) == (None, [above, None])


@pytest.mark.parametrize("condition", ["queries", "sentences"])
def test_fair_coins_make_systems_exchangeable_and_others_a_gain(condition: str) -> None:
    """The mean gain of many data sets is the known one, within five standard errors."""
    known = SHIPPED.conditions[condition]
    metric = ss.Outputs.from_statistics(data_set(condition).statistics, known.metric).metric
    gains = known.true_gains()
    assert gains[0] == 0
    assert 0 < gains[1] < gains[2]
    for gain, true in enumerate(gains):
        drawn = known.draw(gain, 200, np.random.default_rng(gain))
        sums = np.array([metric.score(data.statistics.sum(axis=1)) for data in drawn])
        found = sums[:, 0] - sums[:, 1]
        assert abs(found.mean() - true) < 5 * found.std() / np.sqrt(len(found)), gain


def test_a_system_against_itself_differs_on_the_items_that_are_named() -> None:
    data = data_set("queries")
    item = data.first_difference()
    assert (data.statistics[0, :item] == data.statistics[1, :item]).all()
    one, itself = data.against_itself([item]), data.against_itself()
    assert np.flatnonzero(one.scores[0] != one.scores[1]).tolist() == [item]
    assert one.outputs[1][item] == data.outputs[1][item]
    assert (itself.statistics[0] == itself.statistics[1]).all()
    assert itself.outputs[0] == itself.outputs[1]


def test_a_row_says_all_that_there_is_of_a_tool(done: Results) -> None:
    rows = done.tables["bench"].set_index(["name", "condition"])
    assert len(rows) == 6
    assert (rows["n_sets"] == 12).all()
    assert set(rows["n_sets_with_gain"].dropna()) == {9}
    assert np.isnan(rows.loc[("two_standard_errors", "answers"), "type_1_2"]), "it has one level"
    assert rows.loc[("sign_flips", "answers"), "identical_p"] == "1.0"
    assert rows.loc[("scipy_t", "answers"), "identical_p"] == "nan"
    assert (rows["status"] == "").all()
    # Where one of 200 items differs, t is 1, and a flip of its sign is as extreme.
    one_item = rows["one_item_p"].unstack()["answers"]
    assert (one_item["sign_flips"], one_item["two_standard_errors"]) == ("1.0", "none")
    assert float(one_item["scipy_t"]) == pytest.approx(2 * stats.t.sf(1, 199))
    assert not rows["one_item_rejected"].any()
    assert [SHIPPED.n_sets(t, k) for t in ("scipy_t", "rouge_t") for k in (0, 1)] == [10_000, 2500, 500, 125]


def test_answers_are_counted_at_each_level_and_data_sets_have_seeds_of_their_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Of three: p = 0.05, no number, and a rule that says nothing at the second level. The first one is asked twice."""
    asked: list[tuple[int, bytes]] = []
    answers = [(0.05, [True, False]), (np.nan, [False, False]), (None, [True, None])]

    def ask(tool: str, data: Any, study: Any, seed: int) -> Any:
        asked.append((seed, data.statistics.tobytes()))
        return answers[max(0, len(asked) - 2)]

    monkeypatch.setattr(STUDY, "ask", ask)
    rows = STUDY.examine(study(["scipy_t"], ["answers"]), "scipy_t", "answers", 1, [4])
    assert [[row[name] for name in ("level", "n_sets", "n_rejected", "n_undefined", "n_silent")] for row in rows] == [
        [0.05, 3, 2, 1, 0], [0.01, 3, 0, 1, 1],
    ]  # fmt: skip
    ((seed, block),) = DATA.blocks(SHIPPED.conditions["answers"], "answers", 1, [4], 3, 0)
    drawn = [(seed + k, data.statistics.tobytes()) for k, data in enumerate(block)]
    assert asked == [drawn[0], *drawn]


def test_counts_are_those_of_each_data_set_alone(done: Results) -> None:
    condition, found = SHIPPED.conditions["answers"], dict.fromkeys(("sign_flips", "scipy_t"), 0)
    for _, block in DATA.blocks(condition, "answers", 2, range(3), 3, 0):
        for data in block:
            found["scipy_t"] += bool(stats.ttest_rel(*data.scores).pvalue <= 0.05)
            outputs = ss.Outputs.from_statistics(data.statistics, "accuracy")
            found["sign_flips"] += bool(compared(outputs, alternative="two-sided")["p_value"].iloc[0] <= 0.05)
    rates = done.tables["rates"].query("condition == 'answers' and gain == 2 and level == 0.05").set_index("name")
    assert rates.loc[list(found), "n_rejected"].to_dict() == found


def test_the_page_has_the_figure_and_every_table_and_a_second_run_finds_its_cells(done: Results) -> None:
    page = (done.folder / "README.md").read_text()
    assert "(figures/type_1_errors.png)" in page
    assert "scipy.stats.ttest_rel(a, b).pvalue" in page
    assert {path.stem for path in done.folder.glob("*.csv")} == {"bench", "rates", "conditions"}
    cells = {path: path.stat().st_mtime_ns for path in (done.folder / "cells").glob("*.npz")}
    few = study(["sign_flips", "scipy_t", "two_standard_errors"], ["answers", "skewed"])
    ss.run_study(few, out=done.folder, n_jobs=1)
    assert {path: path.stat().st_mtime_ns for path in (done.folder / "cells").glob("*.npz")} == cells


@pytest.mark.parametrize(
    ("p", "rejects", "text"),
    [("1.0", False, "1"), ("9.999e-05", True, "0.0001"), ("nan", False, "nan"), (None, None, ""),
     ("none", True, "no p; significant"), ("none", False, "no p; not significant")],
)  # fmt: skip
def test_what_a_tool_says_of_two_systems_as_text(p: str | None, rejects: bool | None, text: str) -> None:
    assert program("tools_bench", "page").said(p, rejects) == text


def lacking(*packages: str) -> Any:
    known = metadata.version

    def version(package: str) -> str:
        if package in packages:
            raise metadata.PackageNotFoundError(package)
        return known(package)

    return version


def test_a_missing_tool_is_a_line_and_its_rows_say_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metadata, "version", lacking("mlxtend", "rouge-score"))
    few = study(["scipy_t", "mlxtend_mcnemar", "rouge_t", "sign_flips"], ["answers", "summaries"])
    results = ss.run_study(few, out=tmp_path, n_jobs=1)
    rows = results.tables["bench"].set_index(["name", "condition"])
    assert rows["status"].to_dict() == {
        ("scipy_t", "answers"): "", ("mlxtend_mcnemar", "answers"): "not installed",
        ("rouge_t", "summaries"): "not installed", ("sign_flips", "answers"): "",
        ("sign_flips", "summaries"): "not installed",
    }  # fmt: skip
    assert rows.loc[("mlxtend_mcnemar", "answers"), "version"] == "not installed"
    assert r"mlxtend, rouge-score: pip install 'simstudy\[tools\]'" in (tmp_path / "README.md").read_text()


def test_a_tool_that_is_there_is_called_as_the_table_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for mlxtend notes what it is called with, and its p-value is the one that counts."""
    called: list[Any] = []

    def permutation_test(x: Any, y: Any, **options: Any) -> float:
        called.append((x.tolist(), y.tolist(), options))
        return 0.03

    fake = ModuleType("mlxtend")
    monkeypatch.setitem(sys.modules, "mlxtend", fake)
    monkeypatch.setitem(sys.modules, "mlxtend.evaluate", SimpleNamespace(permutation_test=permutation_test))
    data = data_set("answers")
    assert answer("mlxtend_permutation", data, 7) == (0.03, [True, False])
    assert called == [(*data.scores.tolist(), {"method": "approximate", "seed": 7, "paired": True})]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"levels": [0.05]}, "levels: list should have at least 2 items"),
        ({"block": 7}, "sets.quick must be a multiple of block, 7, not 10000"),
        ({"block": 500}, "sets_with_gain.moderate must be a multiple of block, 500, not 250"),
        ({"tools": {"t": SHIPPED.tools["scipy_t"].model_dump()}}, "tools.t must be one of evalstats_compare, "),
        (
            {"conditions": {"c": {"title": "T", "systems": "S", "kind": "rankings", "n_items": 9}}},
            "must have exchanged",
        ),
        (
            {"conditions": {"c": {"title": "", "systems": "", "kind": "rankings", "n_items": 9, "exchanged": [0.4]}}},
            "exchanged must begin with 0.5, which is no gain, not with 0.4",
        ),
    ],
)
def test_wrong_keys_and_values_are_named(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(StudyError) as error:
        small("tools_bench", **changes)
    assert message in str(error.value)
