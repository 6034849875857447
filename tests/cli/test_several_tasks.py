"""`simstudy compare` on several tasks: which average is the answer, and which options ask for one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import simstudy as ss
from tests.cli.command import as_json, compare, compare_signed


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


@pytest.mark.usefixtures("empty_figures", "undrawn")
def test_logs_of_several_tasks_have_their_macro_average_first(logs: Path, tmp_path: Path) -> None:
    code, out, err = compare(str(logs), "--metric", "accuracy", "--out", str(tmp_path / "out"))
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0].startswith("Macro average of 3 tasks: new")
    assert lines[1].startswith("These tasks (new items, the same 3 tasks; 110 items): 95 % interval")
    assert lines[2].startswith("Tasks like these (other tasks; 3 tasks are 3 units): 95 % interval")
    assert "4 averages" in lines[-3], "tasks come before averages that the answer does not tell of"
    assert "stem" in compare(str(logs), "--metric", "accuracy", "--verbose")[1]
    assert "tested together" not in out
    assert len(lines) <= 25
    averages = pd.read_csv(tmp_path / "out" / "averages.csv")
    assert averages["average"].unique().tolist() == ["macro", "micro", "stem"]
    assert len(pd.read_csv(tmp_path / "out" / "by_task.csv")) == 3
    assert "## Several tasks" in (tmp_path / "out" / "README.md").read_text()
    assert (tmp_path / "out" / "figures" / "gain_by_task.png").is_file()


def test_notes_of_the_items_stay_beside_averages(logs: Path) -> None:
    """The new model answers twice as the same model does."""
    for path in (logs / "new").iterdir():
        (logs / "again").mkdir(exist_ok=True)
        (logs / "again" / path.name).write_bytes(path.read_bytes())
    asked = (str(logs), "--metric", "accuracy", "--duplicates", "note")
    plain = as_json(*asked, "--test", "t_paired")
    assert "tasks" not in plain
    assert plain["notes"]
    averaged = as_json(*asked)
    assert averaged["tasks"]["average"] == "macro"
    assert averaged["notes"][: len(plain["notes"])] == plain["notes"]


def test_the_answer_in_json_is_at_the_level_that_was_asked_for(tmp_path: Path) -> None:
    """New wins seven items and loses none: p of all items together is 2 / 2^7, between the two levels."""
    table = pd.DataFrame({"item": range(40), "domain": ["x", "y"] * 20, "old": 1, "new": 1})
    table.loc[:6, "old"] = 0
    table.to_csv(tmp_path / "t.csv", index=False)
    asked = (str(tmp_path / "t.csv"), "--metric", "accuracy", "--each", "domain", "--average", "micro")
    for alpha, sure in ((0.01, False), (0.02, True)):
        content = as_json(*asked, "--alpha", f"{alpha}")
        assert (content["answer"]["p_value"], content["answer"]["significant"]) == (2 / 2**7, sure)
        assert ("new is significantly better" in content["verdict"]) == sure
        assert content["verdict"].startswith("Micro average (all items together) of 2 tasks")
        assert content["tasks"]["average"] == content["settings"]["average"] == "micro"


def test_a_gate_asks_for_the_average(logs: Path) -> None:
    gate = (str(logs), "--metric", "accuracy", "--fail-unless-better")
    assert compare(*gate, "old", "new")[0] == 1
    code, out, err = compare(*gate, "new", "old", "--json")
    content = json.loads(out)
    (row,) = [row for row in content["averages"] if (row["average"], row["hypothesis"]) == ("macro", "these tasks")]
    assert content["gates"] == [
        {
            "gate": "better", "system": "new", "other": "old", "margin": None, "of": "macro average, these tasks",
            "p_value": row["p_value"], "alpha": 0.05, "passed": True,
            **{name: row[name] for name in ("gain", "gain_low", "gain_high")},
        }
    ]  # fmt: skip
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


def test_a_gate_names_the_level_of_the_averages_interval(tmp_path: Path) -> None:
    """Each system wins two items of each task: the gain is 0, and the interval is as wide on both sides."""
    table = pd.DataFrame({"item": range(40), "domain": ["x", "y"] * 20, "old": 1, "new": 1})
    table.loc[:3, "new"] = table.loc[4:7, "old"] = 0
    table.to_csv(tmp_path / "t.csv", index=False)
    asked = (str(tmp_path / "t.csv"), "--metric", "accuracy", "--each", "domain", "--fail-if-worse", "new", "old")
    ends = []
    for alpha, level in ((0.1, 90), (0.05, 95)):
        code, out, err = compare(*asked, "--alpha", f"{alpha}", "--json")
        (gate,) = json.loads(out)["gates"]
        assert (code, gate["gain_low"]) == (0, pytest.approx(-gate["gain_high"]))
        assert err.endswith(f" may be worse by {gate['gain_high']:.2f} points ({level} % interval)\n")
        ends.append(gate["gain_high"])
    assert ends[0] < ends[1]
    looks = ("--alpha", "0.1", "--looks", str(tmp_path / "looks.json"), "--planned-looks", "2", "--json")
    (gate,) = json.loads(compare(*asked, *looks)[1])["gates"]
    assert gate["gain_high"] == pytest.approx(ends[1])


def test_another_test_takes_all_items_of_logs_together(logs: Path) -> None:
    gate = ("--fail-if-worse", "old", "new")
    _, told, err = compare(str(logs), "--metric", "accuracy", "--test", "mcnemar", *gate)
    assert "old is significantly worse than new at 0.05 by accuracy on all items together, p " in err
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
    groups = tmp_path / "groups.toml"
    groups.write_text('halves = ["u", "v"]\n')
    _, told, _ = compare(*command, "--each", "group", "--groups", str(groups))
    assert told.startswith("Macro average of 2 tasks")
    assert "halves" in told
    for more, message in (
        (["--average", "macro"], "--average needs --each COLUMN"),
        (["--each", "domain", "--test", "bootstrap"], "--each must not be given with --test bootstrap"),
        (["--each", "domain", "--margin", "1"], "--each must not be given with --margin"),
        (["--each", "domain", "--alpha", "1e-6"], "alpha must be at least 1 / 2,001"),
        (["--each", "subject"], "column of the items, not 'subject'"),
        (["--each", "domain", "--average", "median"], "average must be"),
        (["--each", "domain", "--groups", str(tmp_path / "scores.csv")], "scores.csv: not a TOML file"),
    ):
        code, _, err = compare(*command, *more)
        assert (code, message in err, len(err.strip().splitlines())) == (2, True, 1), (more, err)


@pytest.mark.parametrize(
    "options",
    [{}, {"unit": "item", "alpha": 0.2, "resamples": 300, "seed": 5, "jobs": 1, "average": "micro"}],
    ids=["none", "all"],
)
def test_averages_are_of_what_was_asked(logs: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any]) -> None:
    """The test set's unit, the level, and all that is drawn by, are the command's."""
    asked: list[dict[str, Any]] = []
    found = ss.across_tasks

    def across_tasks(outputs: ss.Outputs, **given: Any) -> Any:
        asked.append(given)
        return found(outputs, **given)

    monkeypatch.setattr("simstudy.suites.across_tasks", across_tasks)
    code, _, err = compare(str(logs), "--metric", "accuracy", *(f"--{name}={value}" for name, value in options.items()))
    assert (code, err) == (0, "")
    expected = {"average": "macro", "unit": None, "alpha": 0.05, "resamples": None, "seed": 0, "jobs": -1} | options
    names = {"resamples": "n_resamples", "jobs": "n_jobs"}
    assert {name: asked[0][names.get(name, name)] for name in expected} == expected


def test_tasks_with_scores_of_several_names_say_so(tmp_path: Path, rng: np.random.Generator) -> None:
    """The table by task has the names, and so has the signature; the test is named, and that p is not corrected."""
    for model, accuracy in (("old", 0.4), ("new", 0.7)):
        for task, names in {"arc": ["acc", "acc_norm"], "gsm8k": ["exact_match"]}.items():
            rows = [
                {"doc_id": k, "metrics": names} | {n: float(rng.random() < accuracy) for n in names} for k in range(40)
            ]
            path = tmp_path / "logs" / model / f"samples_{task}_2026-01-15T10-00-00.000000.jsonl"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    logs = str(tmp_path / "logs")
    _, told, _ = compare_signed(logs, "--metric", "acc")
    assert "Test: sign-flip test (sign_flips), two-sided; p of single tasks is not corrected for the 2 tasks" in told
    assert "|score:acc+exact_match|" in told
    rows = [line.split()[:2] for line in told.splitlines() if line.split()[:1] in (["arc"], ["gsm8k"])]
    assert sorted(rows) == [["arc", "acc"], ["gsm8k", "exact_match"]]
    # A choice may be made in several options; the whole line is one that the error of the other call suggests.
    code, _, err = compare(logs, "--metric", "accuracy")
    suggested = "score=acc,score@gsm8k=exact_match"
    assert (code, err.count(f"--columns {suggested} chooses for all tasks")) == (2, 1)
    assert compare(logs, "--metric", "accuracy", "--columns", suggested)[0] == 0
    columns = ("--columns", "score@arc=acc_norm", "--columns", "score@gsm8k=exact_match")
    content = as_json(logs, "--metric", "accuracy", *columns)
    assert {row["task"]: row["scored_by"] for row in content["by_task"]} == {"arc": "acc_norm", "gsm8k": "exact_match"}
    # Only arc has it.
    assert compare(logs, "--metric", "acc_norm")[0] == 2
    assert compare(logs, "--metric", "acc_norm", "--domain", "arc")[0] == 0
    code, _, err = compare(logs, "--metric", "acc", "--metric", "acc_norm", "--domain", "arc")
    assert (code, err) == (
        2,
        "simstudy: --metric: 'acc' and another are both read as accuracy: compare each by itself\n",
    )


def test_interval_and_p_value_that_disagree_say_why(tmp_path: Path) -> None:
    """Six tasks won by unlike gains: p is 2 / 2^6, and the interval of tasks like these includes 0."""
    tasks, rows = [f"t{k}" for k in range(6)], []
    for k, task in enumerate(tasks):
        rows += [
            {"item": f"{task}/{i}", "domain": task, "old": 0, "new": int(i < (40 if k == 5 else 1))} for i in range(40)
        ]
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    content = as_json(str(tmp_path / "t.csv"), "--metric", "accuracy", "--each", "domain")
    (row,) = [r for r in content["averages"] if (r["average"], r["hypothesis"]) == ("macro", "tasks like these")]
    assert (row["gain_low"] < 0, row["p_value"]) == (True, 2 / 2**6)
    said = "The interval includes 0, but the p-value is at most 0.05: the interval is by the standard error"
    assert content["verdict"].count(said) == 1
