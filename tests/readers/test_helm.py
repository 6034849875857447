from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simstudy.readers.load import load
from tests.readers.line_files import input_error, texts_of

TYPOS = {"name": "typos"}


def entry(name: str, split: str = "test", trial: int = 0, perturbation: Any = None, **scores: float) -> dict[str, Any]:
    """An instance with the fields that HELM writes, which leaves out those that are None."""
    stats = [
        {"name": {"name": stat, "split": split}, "count": 1, "sum": value, "min": value, "max": value, "mean": value}
        for stat, value in {**scores, "num_prompt_tokens": 90, "inference_runtime": 0.5}.items()
    ]
    own = {"instance_id": name, "train_trial_index": trial, "stats": stats}
    return own | ({"perturbation": perturbation} if perturbation else {})


def write(folder: Path, run: str, entries: list[Any], **beside: Any) -> Path:
    (folder / run).mkdir(parents=True, exist_ok=True)
    for name, content in {"per_instance_stats": entries, **beside}.items():
        (folder / run / f"{name}.json").write_text(json.dumps(content, indent=2))
    return folder / run / "per_instance_stats.json"


def test_runs_are_models_and_tasks_by_the_names_of_their_folders(tmp_path: Path) -> None:
    """As HELM lays them out, with files of the suite above them."""
    for model, right in {"org_a": 1, "org_b": 0}.items():
        for subject in ("law", "art"):
            own = [entry("id7", exact_match=right), entry("id9", exact_match=1)]
            write(tmp_path / "runs/v1", f"mmlu:subject={subject},method=joint,model={model}", own, stats=[])
    (tmp_path / "runs/v1/summary.json").write_text("{}")
    loaded = load(tmp_path / "runs/v1", "accuracy")
    assert loaded.outputs.names == ["org_a", "org_b"]
    assert loaded.outputs.scores().tolist() == [100, 50]
    tasks = ["mmlu:subject=art,method=joint", "mmlu:subject=law,method=joint"]
    assert loaded.outputs.items["domain"].tolist() == [tasks[0]] * 2 + [tasks[1]] * 2
    assert loaded.outputs.items["id"].tolist()[0] == f"{tasks[0]}/id7"
    assert (len(loaded.notes), loaded.scored_by, loaded.outputs.answers) == (1, ("exact_match",), None)


def test_one_statistic_of_several_is_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, "gsm:model=a", [entry("id1", exact_match=0, quasi_exact_match=1)])
    error = input_error(path, "accuracy")
    assert error.remedy.fields["columns"].value == {"score": "exact_match"}  # type: ignore[attr-defined]
    assert load(path, "accuracy", columns={"score": "quasi_exact_match"}).outputs.scores().tolist() == [100]
    assert load(path, "accuracy", columns={"score@gs*": "exact_match"}).outputs.scores().tolist() == [0]
    # What is no score by itself may be chosen.
    assert load(path, "mean", columns={"score": "num_prompt_tokens"}).outputs.scores().tolist() == [90]


def test_scores_are_sums_over_counts_and_missing_if_nothing_was_counted(tmp_path: Path) -> None:
    entries = [entry("id1", em=1), entry("id2", em=1), entry("id3", em=0)]
    entries[1]["stats"][0] |= {"count": 4}
    entries[2]["stats"][0] |= {"count": 0}
    path = write(tmp_path, "boolq:model=a", entries)
    assert load(path, "mean", missing="drop").outputs.statistics[0, :, 0].tolist() == [1, 0.25]
    input_error(path, "mean", match="item 'id3' has no score 'em'")


def test_perturbed_instances_and_other_splits_are_left_out(tmp_path: Path) -> None:
    entries = [entry("id1", em=1), entry("id1", perturbation=TYPOS, em=0), entry("id2", "valid", em=0)]
    path = write(tmp_path, "boolq:model=a", entries)
    assert load(path, "accuracy").outputs.items["id"].tolist() == ["id1"]
    assert load(path, "accuracy", columns={"filter": "valid"}).outputs.items["id"].tolist() == ["id2"]
    input_error(write(tmp_path, "boolq:model=b", entries[1:2]), "accuracy", match="all 1 instances are perturbed")


def test_entries_of_an_instance_that_come_again_without_the_statistic(tmp_path: Path) -> None:
    path = write(tmp_path, "boolq:model=a", [entry("id1", em=1), entry("id1"), entry("id1", em=0) | {"stats": []}])
    assert load(path, "accuracy").outputs.statistics[0].tolist() == [[1, 1]]


def test_trials_are_samples(tmp_path: Path) -> None:
    own = [entry(name, trial=trial, em=trial) for trial in (0, 1) for name in ("id1", "id2")]
    outputs = load(write(tmp_path, "boolq:model=a", own), "accuracy").outputs
    assert outputs.items["id"].tolist() == ["id1#1", "id2#1", "id1#2", "id2#2"]
    assert outputs.items["sample_of"].tolist() == ["id1", "id2"] * 2
    assert outputs.statistics[0, :, 0].tolist() == [0, 0, 1, 1]


def run(
    folder: Path, model: str, shots: int = 5, text: str = "Is it?", right: str = "yes", instructions: str = "",
    summarized: bool = True,
) -> Path:  # fmt: skip
    instance = {
        "id": "id1",
        "input": {"text": text},
        "references": [{"output": {"text": right}, "tags": ["correct"]}, {"output": {"text": "so"}, "tags": []}],
    }
    # The same instance with a typing error has the same name.
    instances = [{**instance, "input": {"text": f"Is ti, {model}?"}, "perturbation": TYPOS}, instance]
    said = {"instance_id": "id1", "train_trial_index": 0, "predicted_text": " A", "mapped_output": "yes"}
    beside: dict[str, Any] = {"instances": instances, "display_predictions": [said, said | {"perturbation": TYPOS}]}
    if not summarized:
        beside = {"scenario_state": {"request_states": [{"instance": instance} for instance in instances]}}
    spec = {"adapter_spec": {"model": model, "max_train_instances": shots, "instructions": instructions}}
    return write(folder, f"q:model={model}", [entry("id1", em=1)], run_spec=spec, **beside)


@pytest.mark.parametrize("summarized", [True, False])
@pytest.mark.parametrize(
    ("what", "other"),
    [
        ("shots", {"shots": 0}),
        ("input", {"text": "Was it?"}),
        ("target", {"right": "no"}),
        ("prompt", {"instructions": "Think."}),
    ],
)
def test_runs_that_are_not_comparable(what: str, other: dict[str, Any], summarized: bool, tmp_path: Path) -> None:
    one = run(tmp_path, "a", summarized=summarized)
    assert len(load([one, run(tmp_path, "b")], "accuracy").notes) == 1
    two = run(tmp_path, "b", **other)
    input_error([one, two], "accuracy", match=f"allow_different='{what}'")
    notes = load([one, two], "accuracy", allow_different=[what]).notes
    assert [note.fields["what"] for note in notes if note.kind == "logs differ"] == [what]


def test_a_folder_whose_name_is_not_helms(tmp_path: Path) -> None:
    path = run(tmp_path, "a").parent.rename(tmp_path / "mine") / "per_instance_stats.json"
    assert load(path, "accuracy").outputs.names == ["a"]
    (tmp_path / "mine/run_spec.json").unlink()
    assert input_error(path, "accuracy").at == str(path)
    assert load({"b": path}, "accuracy").outputs.names == ["b"]


def test_texts_for_people(tmp_path: Path) -> None:
    texts = texts_of(load(run(tmp_path, "m"), "accuracy"))
    assert (texts.inputs_of(["id1"]), texts.references_of(["id1"])) == (["Is it?"], ["yes"])
    assert texts.answers_of("m", ["id1"]) == ["yes"]


@pytest.mark.parametrize(
    ("own", "at"),
    [
        ([{"instance_id": "a"}], ", instance a"),
        ([3], ""),
        ([entry("a", em=1)] * 2, ", instance a"),
        ([{"instance_id": "a", "stats": entry("a", em=1)["stats"] * 2}], ", instance a"),
        ([{"instance_id": "a", "stats": [{"name": {"name": "em"}, "sum": "1"}]}], ", instance a"),
        ([], ""),
        ([entry("a")], ""),
        ([entry("a", em=3)], ", instance a, system 'a'"),
    ],
)
def test_what_is_no_run(own: list[Any], at: str, tmp_path: Path) -> None:
    path = write(tmp_path, "q:model=a", own)
    assert input_error(path, "accuracy").at == f"{path}{at}"
