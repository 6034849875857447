"""Groups of tasks in results files of lm-evaluation-harness."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simstudy.notes import notes_kept
from simstudy.suites import TaskGroup
from simstudy.suites.harness_groups import harness_groups

SUBTASKS = {"exams": ["stem", "law"], "stem": ["maths", "code"], "law": []}
TASKS = ["law", "maths", "code"]


def results(folder: Path, subtasks: Any, scores: dict[str, float] | None = None, time: str = "2026-01-15") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    known = {"law": 0.5, "maths": 0.2, "code": 0.8} | (scores or {})
    content = {
        "results": {name: {"alias": name, "acc,none": score} for name, score in known.items()},
        "group_subtasks": subtasks,
        "n-samples": {
            task: {"original": 9, "effective": n} for task, n in {"law": 10, "maths": 30, "code": 20}.items()
        },
    }
    path = folder / f"results_{time}T10-00-00.000000.json"
    path.write_text(json.dumps(content))
    return path


def test_tasks_below_groups_of_groups(tmp_path: Path) -> None:
    results(tmp_path / "model", SUBTASKS)
    assert harness_groups([tmp_path], TASKS) == {
        "exams": TaskGroup(("maths", "code", "law"), by_size=True),
        "stem": TaskGroup(("maths", "code"), by_size=True),
    }


@pytest.mark.parametrize(("score", "by_size"), [(0.5, False), ((0.2 * 30 + 0.8 * 20) / 50, True), (0.123, True)])
def test_the_groups_own_score_says_how_tasks_count(tmp_path: Path, score: float, by_size: bool) -> None:
    path = results(tmp_path, {"stem": ["maths", "code"]}, {"stem": score})
    sample = path.parent / "samples_maths_2026-01-15T10-00-00.000000.jsonl"
    assert harness_groups([sample], TASKS)["stem"].by_size == by_size


def test_a_system_with_equal_scores_does_not_tell_how_tasks_count(tmp_path: Path) -> None:
    """Both averages of equal scores are the same; those of another system are not."""
    subtasks = {"stem": ["maths", "code"]}
    results(tmp_path / "a", subtasks, {"maths": 0.4, "code": 0.4, "stem": 0.4})
    results(tmp_path / "b", subtasks, {"stem": 0.5})
    assert [harness_groups([tmp_path / name], TASKS)["stem"].by_size for name in "ab"] == [True, False]
    both = [tmp_path / name for name in "ab"]
    assert [harness_groups(paths, TASKS)["stem"].by_size for paths in (both, both[::-1])] == [False, False]


def test_a_group_without_all_its_tasks_is_left_out(tmp_path: Path) -> None:
    results(tmp_path, SUBTASKS)
    with notes_kept() as notes:
        assert list(harness_groups([tmp_path], ["law", "maths"])) == []
    assert any("group 'stem'" in note and "no samples of its task 'code'" in note for note in notes)


def test_the_newest_file_of_a_folder_counts(tmp_path: Path) -> None:
    results(tmp_path, SUBTASKS)
    results(tmp_path, {"all": TASKS}, time="2026-02-01")
    assert list(harness_groups([tmp_path], TASKS)) == ["all"]


@pytest.mark.parametrize(
    ("subtasks", "message"),
    [
        ({"a": "law"}, "group 'a' must be a list of names of tasks"),
        ({"stem": ["maths", "law"]}, "group 'stem' has other tasks than in"),
    ],
)
def test_what_is_no_group(tmp_path: Path, subtasks: Any, message: str) -> None:
    results(tmp_path / "one", {"stem": ["maths", "code"]})
    results(tmp_path / "two", subtasks)
    with pytest.raises(ValueError, match=message):
        harness_groups([tmp_path], TASKS)
