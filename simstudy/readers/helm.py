"""Runs of HELM (Stanford CRFM): ``per_instance_stats.json`` in a folder for each scenario and model."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from simstudy.files.packed import as_given, plain_name
from simstudy.notes import note
from simstudy.readers.formats import Format
from simstudy.readers.logs import Answer, Log, digest, read_logs
from simstudy.readers.long_table import LongTable, as_text
from simstudy.readers.request import Request
from simstudy.readers.text_files import NUMBER, field_of, first_keys, read_json
from simstudy.text.numerals import counted
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
    if a run has several. Perturbed instances are left out.
    """
    perturbed: dict[Path, int] = {}
    logs = [_log(path, perturbed) for path in request.paths]
    table = read_logs(request, logs, "instance", usual_filter="test", not_scores=_NOT_SCORES)
    if perturbed:
        note("perturbed", n=counted(sum(perturbed.values()), "perturbed instance"), first=next(iter(perturbed)))
    return table


def _holds(path: Path) -> bool:
    """Whether a file has the statistics of a HELM run for each instance: by its name, or by its keys."""
    return plain_name(path) == _NAME or {"instance_id", "stats", "train_trial_index"} <= first_keys(path)


def _log(path: Path, perturbed: dict[Path, int]) -> Log:
    """The log in a file, with model and task from the name of its folder, else of the file."""
    if plain_name(path) != _NAME:
        return Log(path, Path(plain_name(path)).stem, "", _answers(path, None, {}, perturbed))
    folder = path.absolute().parent
    spec_path = folder / "run_spec.json"
    spec = field_of(read_json(spec_path), "adapter_spec", dict, spec_path, {}) if spec_path.is_file() else {}
    name = as_given(folder).name
    given = dict(_ARGUMENT.findall(name))
    model = given.get("model") or spec.get("model")
    if not isinstance(model, str) or not model:
        rule = "no model in the name of the folder (scenario:…,model=…), and no run_spec.json with one"
        raise InputError(rule, at=path)
    scenario = re.split("[:,]", name)[0]
    rest = ",".join(f"{name}={value}" for name, value in given.items() if name not in _OF_MODEL)
    task = f"{scenario}:{rest}" if rest else scenario
    answers = _answers(path, folder, spec, perturbed)
    return Log(path, model, task, answers, shots=spec.get("max_train_instances"))


def _answers(path: Path, folder: Path | None, spec: Mapping[str, Any], perturbed: dict[Path, int]) -> Iterator[Answer]:
    """The answers of a run: one for each instance and trial that is not perturbed."""
    instances, responses = _texts(folder) if folder else ({}, {})
    asks = {name: value for name, value in spec.items() if _PROMPT.fullmatch(name)}
    prompt = digest(json.dumps(asks, sort_keys=True)) if asks else None
    entries = _entries(path)
    n_perturbed = sum(bool(entry.get("perturbation")) for entry in entries)
    if n_perturbed and n_perturbed == len(entries):
        raise InputError(f"all {counted(n_perturbed, 'instance')} of the run are perturbed", at=path)
    if n_perturbed:
        perturbed[path] = n_perturbed
    for n, entry in enumerate(entries, start=1):
        # Entries of an instance may come again without a statistic.
        if entry.get("perturbation") or entry.get("stats") == []:
            continue
        at = f"{path}, entry {n}"
        item = str(field_of(entry, "instance_id", int | str, at))
        trial = field_of(entry, "train_trial_index", int, at, 0)
        scores: dict[str, Any] = {}
        split = ""
        for stat in field_of(entry, "stats", list, at):
            key = field_of(stat, "name", dict, at)
            name, split = field_of(key, "name", str, at), field_of(key, "split", str, at, split)
            if name in scores:
                raise InputError(f"statistic '{name}' is there twice", at=at)
            count = field_of(stat, "count", int, at, 1)
            if count < 1:
                scores[name] = None
            else:
                scores[name] = stat["mean"] if "mean" in stat else field_of(stat, "sum", NUMBER, at) / count
        instance = instances.get(item, {})
        question = _text(instance.get("input"))
        yield Answer(
            *(item, scores, item, trial + 1, split),
            input=question and digest(question),
            target=_right(instance.get("references")),
            prompt=prompt,
            question=question,
            response=responses.get((item, trial)),
        )


def _entries(path: Path) -> list[Mapping[str, Any]]:
    """The objects in a file of JSON that has a list of them; none if there is no such file."""
    entries = read_json(path) if path.is_file() else []
    if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
        raise InputError("must be a list of objects, as HELM writes it", at=path)
    return entries


def _not_perturbed(entries: list[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    return [entry for entry in entries if not entry.get("perturbation")]


def _texts(folder: Path) -> tuple[dict[str, Mapping[str, Any]], dict[tuple[str, int], str | None]]:
    """The instances of a run by their ids, and what the model said, by instance and trial, as far as files say so."""
    instances = {str(entry.get("id")): entry for entry in _not_perturbed(_entries(folder / "instances.json"))}
    responses = {}
    for entry in _not_perturbed(_entries(folder / "display_predictions.json")):
        text, meaning = as_text(entry.get("predicted_text")), as_text(entry.get("mapped_output"))
        # A letter stands for a text.
        both = f"{text} [{meaning}]" if text and meaning and text.strip() != meaning.strip() else text
        responses[str(entry.get("instance_id")), entry.get("train_trial_index", 0)] = both
    state = folder / "scenario_state.json"
    if not state.is_file() or (instances and responses):
        return instances, responses
    of_state: dict[str, Mapping[str, Any]] = {}
    completed = {}
    for entry in field_of(read_json(state), "request_states", list, state, []):
        instance = field_of(entry, "instance", dict, state)
        if not instance.get("perturbation"):
            name = str(instance.get("id"))
            of_state[name] = instance
            completions = field_of(field_of(entry, "result", dict, state, {}), "completions", list, state, [])
            completed[name, entry.get("train_trial_index", 0)] = _text(completions[0]) if completions else None
    return instances or of_state, responses or completed


def _text(value: Any) -> str | None:
    return as_text(value["text"] if isinstance(value, dict) and "text" in value else value)


def _right(references: Any) -> str | None:
    """The references that are right, one on a line."""
    right = [
        _text(reference.get("output")) or ""
        for reference in (references if isinstance(references, list) else ())
        if isinstance(reference, dict) and "correct" in str(reference.get("tags"))
    ]
    return "\n".join(right) or None


FORMAT = Format(
    "helm", "HELM runs", read, (_NAME, "*.json"), _holds, scored=True, is_log=True, beside=("*.json", "*.txt")
)
