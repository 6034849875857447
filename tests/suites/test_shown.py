"""Averages of tasks in sentences, in the table by system, and in the marks and bold scores of a paper."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from simstudy.metrics.mean import LOWER_MEAN
from simstudy.papers.document import cells
from simstudy.suites import LIKE_THESE, THESE
from simstudy.suites.page import task_sections
from simstudy.suites.paper import paper
from simstudy.suites.printed import system_rows, task_rows
from tests.suites.made_up import SIZES, row, suite


@pytest.mark.parametrize(
    ("gains", "end", "changes"),
    [
        # b leads by 10 / 3 points; without qa it is behind by 15.
        ([20, 10, -40], "-15.00, and the other", {"qa": 10 / 3 + 15, "law": 10 / 3 - 15, "code": 10 / 3 - 10}),
        # a leads by 20 / 3 points; without qa by 25.
        ([30, 20, -30], "25.00.", {"qa": 20 / 3 - 25, "law": 20 / 3 + 5, "code": 20 / 3}),
    ],
)
def test_the_task_that_changes_the_gain_most_is_first(gains: list[int], end: str, changes: dict[str, float]) -> None:
    """Whether the gain is larger or smaller without it; `gains` are those of a, in points."""
    parts = [[[int(gain > 0), int(gain < 0)]] * abs(gain) + [[1, 1]] * (100 - abs(gain)) for gain in gains]
    items = pd.DataFrame({"id": range(300), "domain": np.repeat(["law", "code", "qa"], 100)})
    frame = pd.DataFrame(np.concatenate(parts), columns=["a", "b"])
    found = ss.across_tasks(ss.Outputs.from_scores(frame, "accuracy", items=items), average="macro")
    (said,) = [text for text in found.sentences if text.startswith("Leaving out task ")]
    assert said.startswith(f"Leaving out task qa changes the gain most: without it the gain is {end}")
    *_, without = task_sections(found)
    assert without.heading == "Without one task"
    assert without.table is not None
    rows = without.table.rows
    assert rows["task"].tolist() == [*changes]
    assert rows["change"].tolist() == pytest.approx([*changes.values()])
    assert rows["drives"].tolist() == [True, False, False]


def test_wins_and_losses_of_a_task_are_the_pairs_own() -> None:
    """On code the system that is behind in the average is ahead: 20 wins of 30 items, and 4 losses."""
    right = {"first": [1] * 70 + [0] * 20 + [1] * 4 + [1] * 6, "other": [0] * 70 + [1] * 20 + [0] * 4 + [1] * 6}
    items = pd.DataFrame({"id": range(100), "domain": ["law"] * 70 + ["code"] * 30})
    found = ss.across_tasks(ss.Outputs.from_scores(pd.DataFrame(right), "accuracy", items=items), average="macro")
    # Without either of two tasks the mean changes by half the difference of the two gains.
    assert not [text for text in found.sentences if text.startswith("Leaving out")]
    rows = found.by_task.set_index("task")
    assert rows["system_a"].tolist() == ["first", "first"]
    code = rows.to_dict("index")["code"]
    assert (code["wins"], code["losses"]) == (4, 20)
    assert code["gain"] == pytest.approx(100 * (4 - 20) / 30)
    assert code["gain_high"] < 0
    # A third system is never right, and so is the other one on law.
    frame = pd.DataFrame(right).assign(third=0)
    three = ss.across_tasks(ss.Outputs.from_scores(frame, "accuracy", items=items), n_resamples=200).answer
    assert three[["tasks_won", "tasks_lost", "tasks_tied"]].to_numpy().tolist() == [[1, 1, 0], [2, 0, 0], [1, 0, 1]]


def test_tables_have_all_tasks_and_a_column_for_each_name() -> None:
    """The average is of two tasks, the tables are of three; systems and tasks are called like other columns."""
    items = pd.DataFrame({"id": range(90), "domain": np.repeat(["interval", "system", "z"], 30)})
    right = {name: np.arange(90) % 30 < n for name, n in (("gain", 20), ("items", 15), ("c", 12))}
    outputs = ss.Outputs.from_scores(pd.DataFrame(right), "accuracy", items=items)
    average = {"interval": 1.0, "z": 1.0}
    two = ss.across_tasks(outputs.select(["gain", "items"]), average=average)
    assert "on 3 tasks" in str(paper(two).tables[0].caption)
    (by_task,) = [section.text for section in task_sections(two) if section.heading == "By task"]
    assert "for the 3 tasks." in by_task
    table = task_rows(two).text()
    assert table["gain (2)"].tolist() == [f"{200 / 3:.2f}"] * 3
    assert table["items (2)"].tolist() == ["50.00"] * 3
    assert table["items"].tolist() == ["30"] * 3
    assert table["gain"].tolist() == [f"{50 / 3:.2f}"] * 3
    board = system_rows(ss.across_tasks(outputs, average=average, n_resamples=200), verbose=True).text()
    assert board["system"].tolist() == ["gain", "items", "c"]
    assert board["interval (2)"].tolist() == board["z"].tolist() == [f"{200 / 3:.2f}", "50.00", "40.00"]


def test_the_best_of_a_task_is_bold_whichever_way_is_better(rng: np.random.Generator) -> None:
    """And none is where all have the same score."""
    scores = rng.normal([[0], [1], [2]], 0.1, (3, 60))
    scores[:, :20] = scores[0, :20]
    items = pd.DataFrame({"id": range(60), "domain": np.repeat(["same", "x", "y"], 20)})
    for metric, best in (("mean", "c"), (LOWER_MEAN, "a")):
        outputs = ss.Outputs.from_statistics(
            np.stack([scores, np.ones_like(scores)], axis=-1), metric, list("abc"), items
        )
        (table,) = paper(ss.across_tasks(outputs, n_resamples=200)).tables
        heads = [name for name, _ in table.columns]
        bold = {
            head: [row[0] for row in table.rows if cells(row)[k].bold]
            for k, head in enumerate(heads) if head in ("same", "x", "y")
        }  # fmt: skip
        assert bold == {"same": [], "x": [best], "y": [best]}


@pytest.mark.parametrize(("alpha", "n"), [(0.05, 2), (0.04, 0)])
def test_pairs_of_a_task_and_of_an_average_are_corrected_for_their_number(alpha: float, n: int) -> None:
    """On x two systems lose seven items each to the best one, p 2 / 2^7: times 3 it is 0.047, times 9 above 0.05."""
    right = {"a": np.ones(60, int), "b": np.ones(60, int), "c": np.ones(60, int)}
    right["b"][:7] = right["c"][7:14] = 0
    items = pd.DataFrame({"id": range(60), "domain": np.repeat(["x", "y", "z"], 20)})
    found = ss.across_tasks(
        ss.Outputs.from_scores(pd.DataFrame(right), "accuracy", items=items), n_resamples=200, alpha=alpha
    )
    assert f" {n} of 3 pairs differ significantly (Holm)." in found.sentences[0]
    (table,) = paper(found).tables
    heads = [name for name, _ in table.columns]
    marks = {head: [cells(row)[heads.index(head)].mark for row in table.rows] for head in ("x", "y")}
    assert [bool(mark) for mark in marks["x"]] == [False, n > 0, n > 0]
    assert marks["y"] == [""] * 3
    p = found.by_task.query("task == 'x' and system_a == 'a'")["p_value"]
    assert p.tolist() == [2 / 2**7] * 2


def test_five_tasks_can_not_be_significant(rng: np.random.Generator) -> None:
    sizes = {name: 60 for name in "abcde"}
    n = 300
    better = np.concatenate([np.ones(n - 20), np.zeros(20)])
    items = pd.DataFrame({"id": range(n), "domain": np.repeat(list(sizes), 60)})
    outputs = ss.Outputs.from_scores(
        pd.DataFrame({"new": better, "old": (rng.random(n) < 0.3).astype(int)}), "accuracy", items=items
    )
    found = ss.across_tasks(outputs)
    like = row(found, "macro", LIKE_THESE)
    assert like["p_value"] == like["p_floor"] == 2 / 2**5
    assert like["p_t"] < 0.05
    text = found.text
    assert "5 tasks are 5 units" in text
    assert "the smallest p is 0.0625, so no gain can be significant at 0.05" in text
    assert "new is significantly better" in found.sentences[1]
    assert "new is not significantly better" in found.sentences[2]
    assert len(text.splitlines()) <= 25


def test_many_systems(rng: np.random.Generator) -> None:
    outputs = suite(rng, {f"task-{t}": 30 + 3 * t for t in range(20)}, n_systems=12)
    outputs = outputs.select(outputs.names[::-1])
    found = ss.across_tasks(outputs, n_resamples=2000)
    assert len(found.averages) == 4 * 66
    assert len(found.by_task) == 20 * 66
    board = found.leaderboard.query(f"average == 'macro' and hypothesis == '{THESE}'")
    assert board["score"].is_monotonic_decreasing
    assert ((board["rank_low"] <= board["rank"]) & (board["rank"] <= board["rank_high"])).all()
    assert len(found.text.splitlines()) <= 25
    # Each system's own numbers stand beside its name.
    like = found.leaderboard.query(f"average == 'macro' and hypothesis == '{LIKE_THESE}'").set_index("system")
    tasks = {name: part.scores() for name, part in outputs.by_domain().items()}
    printed = system_rows(found, verbose=True).text().to_dict("records")
    for shown, of in zip(printed, board.itertuples(), strict=True):
        place, other = outputs.names.index(str(of.system)), like.loc[str(of.system)]
        assert shown == {
            "system": of.system, "macro": f"{of.score:.2f}", "interval": f"{of.score_low:.2f}–{of.score_high:.2f}",
            "ranks, these": f"{of.rank_low}–{of.rank_high}",
            "ranks, like these": f"{other['rank_low']}–{other['rank_high']}",
            **{task: f"{scores[place]:.2f}" for task, scores in tasks.items()},
        }  # fmt: skip
    first = found.averages.query(f"average == 'macro' and hypothesis == '{THESE}'").iloc[0]
    assert first["system_a"] == board["system"].iloc[0]
    assert first["score_a"] == pytest.approx(board["score"].iloc[0])


def test_an_average_of_one_task_says_nothing_about_tasks_like_it(rng: np.random.Generator) -> None:
    found = ss.across_tasks(suite(rng, SIZES, n_systems=3), average={next(iter(SIZES)): 1.0}, n_resamples=200)
    assert all(found.sentences)
    assert not any(sentence.startswith("Tasks like these") for sentence in found.sentences)
