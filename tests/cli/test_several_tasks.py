"""`simstudy compare` on several tasks: which average is the answer, and which options ask for one."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.command import as_json, compare


@pytest.fixture
def logs(tmp_path: Path, rng: np.random.Generator) -> Path:
    """Logs of two models on three tasks, and the groups that the harness knows."""
    sizes = {"law": 20, "code": 60, "maths": 30}
    for model, accuracy in (("old", 0.4), ("new", 0.7)):
        folder = tmp_path / "logs" / model
        folder.mkdir(parents=True)
        for task, n in sizes.items():
            rows = [
                {"doc_id": i, "filter": "none", "metrics": ["acc"], "acc": float(rng.random() < accuracy)}
                for i in range(n)
            ]
            text = "".join(json.dumps(row) + "\n" for row in rows)
            (folder / f"samples_{task}_2026-01-15T10-00-00.000000.jsonl").write_text(text)
        (folder / "results_2026-01-15T10-00-00.000000.json").write_text(
            json.dumps({"group_subtasks": {"stem": ["code", "maths"]}})
        )
    return tmp_path / "logs"


def test_logs_of_several_tasks_have_their_macro_average_first(logs: Path, tmp_path: Path) -> None:
    code, out, err = compare(str(logs), "--metric", "accuracy", "--out", str(tmp_path / "out"))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Macro average of 3 tasks: new")
    assert lines[1].startswith("These tasks (new items, the same 3 tasks; 110 items): 95 % interval")
    assert lines[2].startswith("Tasks like these (other tasks; 3 tasks are 3 units): 95 % interval")
    assert "stem" in out
    assert "tested together" not in out
    assert len(lines) <= 25
    averages = pd.read_csv(tmp_path / "out" / "averages.csv")
    assert averages["average"].unique().tolist() == ["macro", "micro", "stem"]
    assert len(pd.read_csv(tmp_path / "out" / "by_task.csv")) == 3
    assert "## Several tasks" in (tmp_path / "out" / "README.md").read_text()
    assert (tmp_path / "out" / "figures" / "gain_by_task.png").is_file()


def test_json_has_the_tables(logs: Path) -> None:
    content = as_json(str(logs), "--metric", "accuracy", "--average", "micro")
    assert content["tasks"]["average"] == "micro"
    assert content["verdict"].startswith("Micro average (all items together) of 3 tasks")
    assert {row["task"] for row in content["by_task"]} == {"law", "code", "maths"}
    assert content["settings"]["average"] == "micro"


def test_a_gate_asks_for_the_average(logs: Path) -> None:
    gate = (str(logs), "--metric", "accuracy", "--fail-unless-better")
    assert compare(*gate, "old", "new")[0] == 1
    code, out, err = compare(*gate, "new", "old", "--json")
    content = json.loads(out)
    (row,) = [row for row in content["averages"] if (row["average"], row["hypothesis"]) == ("macro", "these tasks")]
    assert content["gate"] == {
        "better": "new", "than": "old", "of": "macro average, these tasks", "p_value": row["p_value"], "alpha": 0.05,
        "passed": True,
    }  # fmt: skip
    assert code == 0
    said = (
        "simstudy: gate: new is significantly better than old at 0.05 by macro average over 3 tasks (these tasks), p "
    )
    assert err.startswith(said)
    # The answer is not that of all items together, which stands under pairs.
    assert {name: content["answer"][name] for name in ("average", "hypothesis", "p_value", "significant")} == {
        "average": "macro", "hypothesis": "these tasks", "p_value": row["p_value"], "significant": True,
    }  # fmt: skip
    assert content["pairs"][0]["p_value"] != row["p_value"]
    assert "pairs" in content["all_items_together"]
    (micro,) = [r for r in content["averages"] if (r["average"], r["hypothesis"]) == ("micro", "these tasks")]
    assert content["pairs"][0]["gain"] == micro["gain"]


def test_another_test_takes_all_items_of_logs_together(logs: Path) -> None:
    _, told, _ = compare(str(logs), "--metric", "accuracy", "--test", "mcnemar")
    assert told.startswith("new is better than old")
    assert "tested together" in told


def test_a_table_has_averages_by_any_column_if_asked(tmp_path: Path, rng: np.random.Generator) -> None:
    n = 60
    table = pd.DataFrame({"item": range(n), "a": rng.random(n) < 0.8, "b": rng.random(n) < 0.5}).astype(int)
    table.to_csv(tmp_path / "scores.csv", index=False)
    items = pd.DataFrame({"id": range(n), "domain": ["x", "y", "z"] * 20, "group": ["u", "v"] * 30})
    items.to_csv(tmp_path / "items.csv", index=False)
    command = [str(tmp_path / "scores.csv"), "--metric", "accuracy", "--items", str(tmp_path / "items.csv")]
    assert "Macro average" not in compare(*command)[1]
    assert compare(*command, "--each", "domain")[1].startswith("Macro average of 3 tasks")
    groups = tmp_path / "groups.toml"
    groups.write_text('halves = ["u", "v"]\n')
    _, told, _ = compare(*command, "--each", "group", "--groups", str(groups))
    assert told.startswith("Macro average of 2 tasks")
    assert "halves" in told
    for more, message in (
        (["--average", "macro"], "--average needs --each COLUMN"),
        (["--each", "domain", "--test", "bootstrap"], "--each must not be given with --test bootstrap"),
        (["--each", "domain", "--margin", "1"], "--each must not be given with --margin"),
        (["--each", "subject"], "column of the items, not 'subject'"),
        (["--each", "domain", "--average", "median"], "average must be"),
        (["--each", "domain", "--groups", str(tmp_path / "scores.csv")], "scores.csv: not a TOML file"),
    ):
        code, _, err = compare(*command, *more)
        assert (code, message in err, len(err.strip().splitlines())) == (2, True, 1), (more, err)
