from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from simstudy.comparisons.comparing import compare
from simstudy.readers.load import load
from tests.readers.line_files import input_error, written

IDS = ["django__django-11099", "django__django-9", "psf__requests-1", "scikit-learn__scikit-learn-7"]


def report(resolved: list[str], **others: list[str]) -> dict[str, Any]:
    """A report of a run with the fields that the harness writes."""
    failed = others.get("empty_patch_ids", []) + others.get("error_ids", []) + others.get("incomplete_ids", [])
    unresolved = [one for one in IDS if one not in [*resolved, *failed]]
    submitted = [one for one in IDS if one not in others.get("incomplete_ids", [])]
    lists = {"completed_ids": [*resolved, *unresolved], "submitted_ids": submitted, "unresolved_ids": unresolved}
    return {"total_instances": 4, **lists, "resolved_ids": resolved, **others, "schema_version": 2}


def test_reports_of_runs(tmp_path: Path) -> None:
    """What has no patch, or ended in an error, was submitted and is not resolved; repositories are domains."""
    one = written(tmp_path / "org__a.full.json", report(IDS[:3], error_ids=IDS[3:]))
    two = written(tmp_path / "org__b.full.json", report(IDS[:1], empty_patch_ids=IDS[1:2]))
    loaded = load(tmp_path, "accuracy")
    assert loaded.outputs.names == ["org__a.full", "org__b.full"]
    assert loaded.outputs.scores().tolist() == [75, 25]
    domains = ["django/django", "django/django", "psf/requests", "scikit-learn/scikit-learn"]
    items = loaded.outputs.items.set_index("id").loc[IDS]
    assert items["domain"].tolist() == items["repo"].tolist() == domains
    assert [note.kind for note in loaded.notes] == ["read", "repositories"]
    assert loaded.outputs.natural_unit == "item"
    assert set(compare(loaded.outputs, unit="repo")["n_units"]) == {3}
    assert load(tmp_path, "accuracy", domain="django/django").outputs.n_items == 2
    written(two, report(IDS[:1], incomplete_ids=IDS[3:]))
    input_error([one, two], "accuracy", match=f"lacks 1 of 4 items, first '{IDS[3]}'")
    assert load([one, two], "accuracy", missing="zero").outputs.scores().tolist() == [75, 25]


def test_reports_of_instances_are_a_system_for_each_model(tmp_path: Path) -> None:
    """Beside each the harness writes patches and logs; two runs of a model need names."""
    for run, model, right in (("r1", "org__a", 3), ("r1", "org__b", 1), ("r2", "org__a", 0)):
        for k, name in enumerate(IDS):
            folder = tmp_path / "logs/run_evaluation" / run / model / name
            about = {"patch_is_None": False, "patch_successfully_applied": True, "resolved": k < right}
            written(folder / "report.json", {name: about})
            (folder / "patch.diff").write_text("+ 1\n")
            (folder / "test_output.txt").write_text("ok\n")
    runs = tmp_path / "logs/run_evaluation"
    loaded = load(runs / "r1", "accuracy")
    assert (loaded.outputs.names, loaded.outputs.scores().tolist()) == (["org__a", "org__b"], [75, 25])
    assert [note.kind for note in loaded.notes] == ["read", "repositories"]
    input_error(tmp_path / "logs", "accuracy", match="name the systems")
    outputs = load({"one": runs / "r1/org__a", "two": runs / "r2/org__a"}, "accuracy").outputs
    assert (outputs.names, outputs.scores().tolist()) == (["one", "two"], [75, 0])


def test_a_report_of_a_run_names_all_instances_in_whatever_list(tmp_path: Path) -> None:
    lists = ("resolved_ids", "unresolved_ids", "empty_patch_ids", "error_ids")
    path = written(tmp_path / "a/report.json", {name: [one] for name, one in zip(lists, IDS, strict=True)})
    outputs = load(path, "accuracy").outputs
    assert (outputs.names, outputs.items["id"].tolist(), outputs.scores().tolist()) == (["a"], IDS, [25])


def test_lists_by_outcome_name_the_instances_or_a_table_of_the_items_does(tmp_path: Path) -> None:
    """As on the leaderboard, and in the harness's first version: 2 of 4 are resolved, by hand."""
    path = written(tmp_path / "a/results/results.json", {"no_generation": IDS[3:], "no_logs": [], "resolved": IDS[:2]})
    input_error(path, match="items='FILE' names a table with the ids of all")
    for table in ("instance_id\n" + "\n".join(IDS), "name,id\n" + "\n".join(f"x,{one}" for one in IDS)):
        (tmp_path / "items.csv").write_text(table)
        outputs = load(path, items=tmp_path / "items.csv").outputs
        assert (outputs.scores().tolist(), outputs.n_items) == ([50], 4)
    input_error(path, items=tmp_path / "items.csv", columns={"item": "ids"}, match="no column 'ids'")
    lists = {"no_generation": IDS[3:], "resolved": IDS[:2]}
    lists |= dict.fromkeys(("generated", "with_logs", "applied"), IDS[:3])
    assert load(written(path, lists)).outputs.scores().tolist() == [50]


@pytest.mark.parametrize(
    "content",
    [
        *(report(IDS[:1], **{name: IDS[:1]}) for name in ("unresolved_ids", "empty_patch_ids", "error_ids")),
        {"resolved_ids": "all", "submitted_ids": []},
        {"resolved_ids": [3], "submitted_ids": []},
        {"resolved_ids": [], "submitted_ids": []},
        {"resolved_ids": IDS[:1]},
        {IDS[0]: {"resolved": "yes"}},
        [1, "resolved_ids"],
    ],
)
def test_what_is_no_report(content: Any, tmp_path: Path) -> None:
    path = written(tmp_path / "m.json", content)
    assert input_error(path, "accuracy", format="swe-bench").at.startswith(str(path))
