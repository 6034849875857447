"""Results of promptfoo, as `promptfoo eval -o results.json` writes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simstudy.readers.load import load
from tests.readers.line_files import input_error, scores, texts_of


def result(test: int, model: str, score: float = 1, column: int = 0, question: int | None = None, **more: Any) -> Any:
    variables = {"q": f"q{test if question is None else question}"}
    return {
        "promptIdx": column,
        "testIdx": test,
        "provider": {"id": "openai:gpt", "label": model},
        "prompt": {"raw": f"Answer {variables['q']}", "label": "Answer {{q}}"},
        "vars": variables,
        "testCase": {"vars": variables, "assert": [{"type": "equals", "value": "x"}], "metadata": {"run": column}},
        "response": {"output": "x"},
        "success": score == 1,
        "failureReason": int(score < 1),
        "score": score,
        "namedScores": {"form": score / 2},
        "error": None if score == 1 else "Expected x",
    } | more


def write(path: Path, results: list[Any]) -> Path:
    path.write_text(json.dumps({"evalId": "e", "results": {"version": 3, "prompts": [], "results": results}}))
    return path


# As they come: by hand new has 2 of 2 and old 1 of 2.
RESULTS = [result(1, "old", column=1), result(0, "old", 0, 1), result(1, "new"), result(0, "new")]


@pytest.mark.parametrize("version", ["3", "lines", "early"])
def test_a_file_has_the_results_of_several_systems(version: str, tmp_path: Path) -> None:
    path = write(tmp_path / "results.json", RESULTS)
    if version == "lines":
        path = tmp_path / "results.jsonl"
        path.write_text("".join(json.dumps(one) + "\n" for one in RESULTS))
    if version == "early":
        left_out = ("testIdx", "promptIdx", "testCase", "failureReason")
        early = [{name: one[name] for name in one if name not in left_out} for one in RESULTS]
        path.write_text(json.dumps({"version": 2, "results": early}))
    loaded = load(path)
    items = sorted(loaded.outputs.items["id"])
    assert (scores(loaded), items, len(loaded.notes)) == ({"new": 100, "old": 50}, ["q0", "q1"], 1)
    assert texts_of(loaded).answers_of("new", ["q0"]) == ["x"]
    for score, expected in {"success": {1, 0.5}, "namedScores.form": {0.5, 0.25}}.items():
        assert {*load(path, "mean", columns={"score": score}).outputs.scores()} == expected
    input_error({"x": path}, match="has 2 systems")


def test_prompts_of_a_file_are_systems_and_so_are_files_of_one_provider(tmp_path: Path) -> None:
    prompts = [{"prompt": {"raw": "q", "label": label}} for label in ("short", "a\nlong one")]
    path = write(tmp_path / "a.json", [result(0, "m", 1 - k, k, **prompt) for k, prompt in enumerate(prompts)])
    outputs = load(path).outputs
    assert (outputs.names, outputs.scores().tolist()) == (["m / short", "m / a long one"], [100, 0])
    paths = [write(tmp_path / f"{name}.json", [result(0, "m", **prompts[0])]) for name in ("v1", "v2")]
    assert load(paths).outputs.names == ["v1", "v2"]
    input_error(
        write(path, [result(0, "m"), result(0, "m", column=1)]), match="two providers, or two prompts, are called 'm'"
    )


def test_repeats_of_a_test_are_samples_whatever_their_numbers(tmp_path: Path) -> None:
    """With --repeat 2 tests 0 and 1 are results 0, 1 and 2, 3; the other file has no repeats."""
    path = write(tmp_path / "a.json", [result(2 * q + r, "a", (q + r) % 2, question=q) for q in (0, 1) for r in (0, 1)])
    outputs = load(path).outputs
    assert outputs.items["id"].tolist() == ["q0#1", "q0#2", "q1#1", "q1#2"]
    assert outputs.statistics[0, :, 0].tolist() == [0, 1, 1, 0]
    other = write(tmp_path / "b.json", [result(q, "b", q) for q in (0, 1)])
    assert load([path, other], "accuracy").outputs.statistics[..., 0].tolist() == [[0.5, 0.5], [0, 1]]
    write(other, [result(q, "b", question=q + 5) for q in (0, 1)])
    input_error([path, other], "accuracy", match="items differ")
    write(other, [result(q, "b", q, question=q) for q in (1, 0)])
    assert load([path, other], "accuracy").outputs.statistics[1, :, 0].tolist() == [0, 1]


@pytest.mark.parametrize("response", [{"error": "504"}, None, {"output": "", "error": "504"}])
def test_a_result_that_is_an_error_is_missing(response: Any, tmp_path: Path) -> None:
    failed = result(0, "new", 0, error="504", response=response, failureReason=2)
    path = write(tmp_path / "a.json", [*RESULTS[:3], failed])
    input_error(path, match="result 4: item 'q0' has no score 'score'; missing='drop'")
    assert load(path, missing="drop").outputs.n_items == 1
    assert load(path, missing="zero").outputs.scores().tolist() == [50, 50]
