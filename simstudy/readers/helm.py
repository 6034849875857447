"""Runs of HELM (Stanford CRFM): ``per_instance_stats.json`` in a folder for each scenario and model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simstudy.files.packed import as_given, plain_name
from simstudy.readers.formats import Format
from simstudy.readers.logs import NO_FILTER, Answer, Log, read_logs
from simstudy.readers.long_table import LongTable, as_text
from simstudy.readers.request import Request
from simstudy.readers.text_files import NUMBER, field_of, first_keys, read_json
from simstudy.validation import InputError

_NAME = "per_instance_stats.json"

# An argument of a run's name (scenario:name=value,name=value), and those of the model.
_ARGUMENT = re.compile(r"[:,]([^=,:]+)=([^,]*)")
_OF_MODEL = ("model", "model_deployment")

# Statistics of every run that are no scores: tokens, times, probabilities of what was said.
_NOT_SCORES = re.compile(
    r"(num_|inference_|training_|finish_reason_|logprob|logprobs|max_prob|batch_size|prompt_truncated|"
    r"predicted_index|log_odds|idealized|denoised|estimated_|instances|cost).*"
)

# The fields of an adapter in run_spec.json that make a prompt.
_PROMPT = re.compile(r"method|instructions|.*_prefix|.*_suffix")


def read(request: Request) -> LongTable:
    """Rows from runs of HELM, one folder for each scenario and model, with the file ``per_instance_stats.json``.

    The system is the model in the name of the folder, and the rest of the name is the task. Items are instances, by
    their ids; trials with other examples in the prompt are samples of an item. The split is the filter of a log: test,
    if a run has several. Perturbed instances are left out. Statistics such as times are scores only if the user names
    them.
    """
    logs = [_log(path, request) for path in request.paths]
    return read_logs(request, logs, "instance", usual_filter="test")


def _holds(path: Path) -> bool:
    """Whether a file has the statistics of a HELM run for each instance: by its name, or by its keys."""
    return plain_name(path) == _NAME or {"instance_id", "stats", "train_trial_index"} <= first_keys(path)


def _log(path: Path, request: Request) -> Log:
    """The log in a file, with model and task from the name of its folder."""
    folder = path.absolute().parent
    spec_path = folder / "run_spec.json"
    adapter = field_of(read_json(spec_path), "adapter_spec", dict, spec_path, {}) if spec_path.is_file() else {}
    name = as_given(folder).name
    arguments = dict(_ARGUMENT.findall(name))
    model = request.names.get(path) or arguments.get("model") or adapter.get("model")
    if not isinstance(model, str) or not model:
        rule = "no model in the name of the folder (scenario:…,model=…), and no run_spec.json with one"
        raise InputError(rule, at=path)
    scenario = re.split("[:,]", name)[0]
    rest = ",".join(f"{name}={value}" for name, value in arguments.items() if name not in _OF_MODEL)
    wanted = {request.asked, *request.columns.values()}
    answers = _answers(path, folder, adapter, wanted)
    task = f"{scenario}:{rest}" if rest else scenario
    return Log(path, model, task, answers, facts={"shots": adapter.get("max_train_instances")})


def _answers(path: Path, folder: Path, adapter: Mapping[str, Any], wanted: set[str]) -> Iterator[Answer]:
    """The answers of a run: one for each instance, trial and statistic."""
    instances = _instances(folder)
    responses: dict[tuple[str, int], str | None] = {}
    predictions = folder / "display_predictions.json"
    for prediction in _entries(predictions):
        trial = field_of(prediction, "train_trial_index", int, predictions, 0)
        response = as_text(prediction.get("mapped_output") or prediction.get("predicted_text"))
        responses[str(prediction.get("instance_id")), trial] = response
    of_prompt = {name: value for name, value in adapter.items() if _PROMPT.fullmatch(name)}
    prompt = json.dumps(of_prompt, sort_keys=True) if of_prompt else None
    for entry in _entries(path):
        item = str(field_of(entry, "instance_id", int | str, path))
        at = f"{path}, instance {item}"
        trial = field_of(entry, "train_trial_index", int, at, 0)
        question, target = instances.get(item, (None, None))
        answer = Answer(
            item=item,
            place=item,
            sample=trial + 1,
            input=question,
            target=target,
            prompt=prompt,
            question=question,
            response=responses.get((item, trial)),
        )
        for stat in field_of(entry, "stats", list, at):
            key = field_of(stat, "name", dict, at)
            name = field_of(key, "name", str, at)
            count = field_of(stat, "count", int, at, 1)
            score = field_of(stat, "sum", NUMBER, at) / count if count > 0 else None
            if name in wanted or not _NOT_SCORES.fullmatch(name):
                yield answer._replace(metric=name, score=score, filter=field_of(key, "split", str, at, NO_FILTER))


def _instances(folder: Path) -> dict[str, tuple[str | None, str | None]]:
    """The question and the right answer of the instances of a run by their ids, as far as files have them."""
    # helm-summarize makes this file of the state of the run.
    path = folder / "instances.json"
    instances = _entries(path)
    if not instances and (path := folder / "scenario_state.json").is_file():
        states = field_of(read_json(path), "request_states", list, path, [])
        instances = _not_perturbed([field_of(state, "instance", dict, path) for state in states], path)
    texts = {}
    for instance in instances:
        right = [
            _text(reference.get("output")) or ""
            for reference in field_of(instance, "references", list, path, [])
            if "correct" in field_of(reference, "tags", list, path, [])
        ]
        texts[str(instance.get("id"))] = _text(instance.get("input")), "\n".join(right) or None
    return texts


def _text(value: Any) -> str | None:
    return as_text(value["text"] if isinstance(value, dict) and "text" in value else value)


def _entries(path: Path) -> list[Mapping[str, Any]]:
    """The objects in a file of JSON that has a list of them; none if there is no such file."""
    entries = read_json(path) if path.is_file() else []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("must be a list of objects, as HELM writes it", at=path)
    return _not_perturbed(entries, path)


def _not_perturbed(entries: list[Mapping[str, Any]], path: Path) -> list[Mapping[str, Any]]:
    kept = [entry for entry in entries if not entry.get("perturbation")]
    if entries and not kept:
        raise InputError(f"all {len(entries)} instances are perturbed", at=path)
    return kept


FORMAT = Format(
    "helm", "HELM runs", read, (_NAME, "*.json"), _holds, scored=True, is_log=True, beside=("*.json", "*.txt")
)
