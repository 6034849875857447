from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from simstudy.loaders.base import Loaded
from simstudy.loaders.door import load


def entry(name: str, split: str = "test", trial: int = 0, perturbation: Any = None, **scores: float) -> dict[str, Any]:
    """An instance with the fields that HELM writes, which leaves out those that are None."""
    stats = [
        {
            "name": {"name": stat, "split": split} | ({"perturbation": perturbation} if perturbation else {}),
            "count": 1,
            "sum": value,
            "sum_squared": value**2,
            "min": value,
            "max": value,
            "mean": value,
        }
        for stat, value in {**scores, "num_prompt_tokens": 90, "inference_runtime": 0.5}.items()
    ]
    own = {"instance_id": name, "train_trial_index": trial, "stats": stats}
    return own | ({"perturbation": perturbation} if perturbation else {})


def write(folder: Path, run: str, entries: list[dict[str, Any]], **beside: Any) -> Path:
    (folder / run).mkdir(parents=True, exist_ok=True)
    for name, content in {"per_instance_stats": entries, **beside}.items():
        (folder / run / f"{name}.json").write_text(json.dumps(content, indent=2))
    return folder / run / "per_instance_stats.json"


def read(*paths: Path, **columns: str) -> Loaded:
    return load(list(paths), "accuracy", columns=columns)


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
    assert (loaded.notes, loaded.scored_by, loaded.outputs.answers) == ((), ("exact_match",), None)


def test_one_statistic_of_several_is_chosen(tmp_path: Path) -> None:
    path = write(tmp_path, "gsm:model=a", [entry("id1", exact_match=0, quasi_exact_match=1)])
    with pytest.raises(ValueError, match=r"json: samples have statistics exact_match, quasi_exact_match; columns="):
        read(path)
    assert read(path, score="quasi_exact_match").outputs.scores().tolist() == [100]
    assert read(path, **{"score@gsm": "exact_match"}).outputs.scores().tolist() == [0]
    assert load(path, "mean", columns={"score": "num_prompt_tokens"}).outputs.scores().tolist() == [90]


def test_what_was_counted_several_times_without_a_mean_is_its_sum_over_the_count(tmp_path: Path) -> None:
    own = [entry("id1", em=1), entry("id2", em=1)]
    own[1]["stats"][0] |= {"count": 4, "sum": 1}
    del own[1]["stats"][0]["mean"]
    assert load(write(tmp_path, "boolq:model=a", own), "mean").outputs.statistics[0, :, 0].tolist() == [1, 0.25]


def test_perturbed_instances_and_other_splits_are_left_out_with_a_note(tmp_path: Path) -> None:
    own = [entry("id1", em=1), entry("id1", perturbation={"name": "typos"}, em=0), entry("id2", "valid", em=0)]
    path = write(tmp_path, "boolq:model=a", own)
    loaded = read(path)
    assert loaded.outputs.items["id"].tolist() == ["id1"]
    assert loaded.notes == (
        f"{path}: 1 perturbed instance not read",
        f"{path}: 1 instance of other splits than test not read; columns={{'filter': 'valid'}} chooses another",
    )
    assert read(path, filter="valid").outputs.items["id"].tolist() == ["id2"]


def test_trials_are_samples_and_what_was_not_counted_is_missing(tmp_path: Path) -> None:
    own = [entry(name, trial=trial, em=trial) for trial in (0, 1) for name in ("id1", "id2")]
    loaded = read(write(tmp_path, "boolq:model=a", own))
    assert loaded.outputs.items.to_dict("list") == {
        "id": ["id1#1", "id2#1", "id1#2", "id2#2"],
        **dict.fromkeys(("sample_of", "cluster"), ["id1", "id2"] * 2),
    }
    assert loaded.outputs.statistics[0, :, 0].tolist() == [0, 0, 1, 1]
    own[0]["stats"][0] |= {"count": 0, "sum": 0}
    with pytest.raises(ValueError, match=r"lacks 1 of 4 items, first 'id1#1' \(system 'a'\)"):
        read(write(tmp_path, "boolq:model=a", own))


def test_runs_of_other_prompts_inputs_and_references_are_no_mixture(tmp_path: Path) -> None:
    def run(model: str, shots: int = 5, text: str = "Is it?", right: str = "yes", instructions: str = "") -> Path:
        instance = {
            "id": "id1",
            "input": {"text": text},
            "references": [{"output": {"text": right}, "tags": ["correct"]}, {"output": {"text": "so"}, "tags": []}],
        }
        adapter = {"model": model, "max_train_instances": shots, "instructions": instructions}
        spec = {"name": "x", "adapter_spec": adapter}
        # The same instance with a typing error has the same name.
        typos = {**instance, "input": {"text": f"Is ti, {model}?"}, "perturbation": {"name": "typos"}}
        return write(tmp_path, f"q:model={model}", [entry("id1", em=1)], instances=[typos, instance], run_spec=spec)

    one = run("a")
    assert read(one, run("b")).notes == ()
    for what, other in {
        "shots": {"shots": 0},
        "input": {"text": "Was it?"},
        "target": {"right": "no"},
        "prompt": {"instructions": "Think."},
    }.items():
        two = run("b", **other)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=f"; allow_different='{what}' compares such logs all the same$"):
            read(one, two)
        assert len(load([one, two], "accuracy", allow_different=[what]).notes) == 1
    # A folder whose name is not HELM's.
    one = one.parent.rename(tmp_path / "mine") / one.name
    assert read(one).outputs.names == ["a"]
    (tmp_path / "mine/run_spec.json").unlink()
    with pytest.raises(ValueError, match=r"no model in the name of the folder"):
        read(one)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        ([{"instance_id": "a"}], r"entry 1: not as HELM writes it \(no 'stats'\)"),
        ([3], "entry 1: not as HELM writes it"),
        ([entry("a", em=1)] * 2, "entry 2: instance 'a' is there twice, both times in trial 0"),
        ([], "the run has no instances"),
        ([entry("a")], "samples have no statistic"),
        ([entry("a", em=3)], r"instance 'a': a score must be between 0 and 1 for metric 'accuracy', not 3"),
    ],
)
def test_what_is_no_run(own: list[Any], message: str, tmp_path: Path) -> None:
    path = write(tmp_path, "q:model=a", own)
    with pytest.raises(ValueError, match=message):
        read(path)
