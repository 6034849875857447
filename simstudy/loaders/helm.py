"""Runs of HELM (Stanford CRFM): ``per_instance_stats.json`` in a folder for each scenario and model."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from simstudy.files.unpacking import plain_name
from simstudy.loaders.base import Loaded, Source, system_files
from simstudy.loaders.harness_texts import RunTexts
from simstudy.loaders.json_files import first_keys, read_json
from simstudy.loaders.mixtures import Mixtures
from simstudy.loaders.reading import once
from simstudy.loaders.tables import check_takes_one_score
from simstudy.loaders.task_choices import check_tasks, chosen, note_metrics, of_domain, read_each, wanted
from simstudy.loaders.task_logs import Answer, TaskLog, assemble_tasks
from simstudy.notes import note
from simstudy.text.numerals import counted
from simstudy.validation import InputError

_NAME = "per_instance_stats.json"

# An argument of a run's name (scenario:name=value,name=value), and those of the model.
_ARGUMENT = re.compile(r"[:,]([^=,:]+)=([^,]*)")
_OF_MODEL = ("model", "model_deployment")

# Statistics of every run that are no scores: tokens, times, probabilities of what was said.
_NO_SCORES = re.compile(
    r"(num_|inference_|training_|finish_reason_|logprob|logprobs|max_prob|batch_size|prompt_truncated|"
    r"predicted_index|log_odds|idealized|denoised|estimated_|instances|cost).*"
)

# How an adapter asks, in run_spec.json: what must be the same for scores to be comparable.
_PROMPT = (
    *("method", "global_prefix", "global_suffix", "instructions", "input_prefix", "input_suffix", "reference_prefix"),
    *("reference_suffix", "chain_of_thought_prefix", "chain_of_thought_suffix", "output_prefix", "output_suffix"),
    "instance_prefix",
)


@dataclass(frozen=True)
class Run:
    """A run: the answers of a model to the instances of a scenario."""

    path: Path
    system: str
    task: str


@dataclass(frozen=True)
class Instance:
    """The statistics of one instance in one trial, by name: the mean, or None where nothing was counted."""

    id: str
    trial: int
    split: str
    stats: Mapping[str, float | None]


def holds_helm(path: Path) -> bool:
    """Whether a file has the statistics of a HELM run for each instance: by its name, or by its keys."""
    return plain_name(path) == _NAME or {"instance_id", "stats", "train_trial_index"} <= first_keys(path)


def read_helm(source: Source) -> Loaded:
    """Systems from runs of HELM, one folder for each scenario and model, with the file ``per_instance_stats.json``.

    The system is the model in the name of the folder, and the rest of the name is the task; tasks are domains, as
    `assemble_tasks` has it. Items are instances, by their ids; trials with other examples in the prompt are samples of
    an item. `Source.columns` chooses the statistic, {"score": "exact_match"} or {"score@mmlu:*": "exact_match"}, and
    the split, {"filter": "valid"}. If a run has several splits, it is else test. Perturbed instances are left out.

    Runs of one task must agree on the statistic, the number of shots, the prompt, the inputs and the references
    (`simstudy.loaders.mixtures`), as far as ``run_spec.json`` and ``instances.json`` are beside them.
    """
    check_takes_one_score(source.metric)
    runs = _runs(source.paths)
    check_tasks(source.columns, {run.task for run in runs})
    mixtures = Mixtures(source.allow_different)

    def of_run(run: Run, columns: Mapping[str, str]) -> tuple[Run, list[Instance], str]:
        instances = _of_split(run, columns, _parsed(run.path))
        names = list(dict.fromkeys(name for one in instances for name in one.stats))
        said = wanted(columns, "score", run.task) or source.asked in names
        known = names if said else [name for name in names if not _NO_SCORES.match(name)]
        asked_for = source.asked
        return run, instances, chosen(run.path, known, columns, "statistic", "score", task=run.task, asked=asked_for)

    read = read_each(
        of_domain(runs, source.domain, lambda run: run.task), source.columns, of_run,
        lambda one: (one[0].task, one[2], None),
    )  # fmt: skip
    for run, instances, metric in read:
        mixtures.check("metric", run.task, metric, str(run.path))
        _check(run, {one.id for one in instances}, mixtures)
    mixtures.close()
    logs = [_log(run, instances, metric, source) for run, instances, metric in read]
    note_metrics(logs, source.columns)
    return assemble_tasks(logs, source)


def _log(run: Run, instances: Sequence[Instance], metric: str, source: Source) -> TaskLog:
    texts = RunTexts.of(run.path) if source.keeps_texts else RunTexts()
    answers = [
        Answer(
            one.id,
            one.trial + 1 if one.trial > 0 else None,
            one.stats.get(metric),
            f"{run.path}, instance '{one.id}'",
            of=(one.id, one.trial),
        )
        for one in instances
    ]
    return TaskLog(
        run.path,
        source.names.get(run.path, run.system),
        run.task,
        metric,
        answers,
        told=lambda answer: texts.answers.get(answer.of),
        asks=lambda answer: (texts.inputs.get(answer.item), texts.references.get(answer.item)),
    )


def _runs(paths: Sequence[Path]) -> list[Run]:
    """The runs, with model and task from the name of the folder, else of the file."""
    alone = [path for path in paths if plain_name(path) != _NAME]
    files = {path: name for name, path in system_files(alone).items()}
    runs = []
    for path in paths:
        if path in files:
            runs.append(Run(path, files[path], ""))
            continue
        folder = path.absolute().parent
        given = dict(_ARGUMENT.findall(folder.name))
        model = given.get("model") or _spec(folder).get("model")
        if not isinstance(model, str) or not model:
            raise InputError(f"{path}: no model in the name of the folder (scenario:…,model=…), and no run_spec.json")
        scenario = re.split("[:,]", folder.name)[0]
        rest = ",".join(f"{name}={value}" for name, value in given.items() if name not in _OF_MODEL)
        runs.append(Run(path, model, f"{scenario}:{rest}" if rest else scenario))
    return runs


def _of_split(run: Run, columns: Mapping[str, str], instances: Sequence[Instance]) -> list[Instance]:
    """The instances of one split: the one that columns choose, test of several, or the only one."""
    splits = list(dict.fromkeys(one.split for one in instances))
    if wanted(columns, "filter", run.task) is None and "test" in splits and len(splits) > 1:
        rest = counted(sum(one.split != "test" for one in instances), "instance")
        note(
            "text",
            text=(
                f"{run.path}: {rest} of other splits than test not read; columns={{'filter': 'valid'}} chooses another"
            ),
        )
        return [one for one in instances if one.split == "test"]
    split = chosen(run.path, splits, columns, "split", "filter", task=run.task)
    return [one for one in instances if one.split == split]


def _check(run: Run, ids: set[str], mixtures: Mixtures) -> None:
    """Raise a ValueError where a run differs from others of its task in more than the model."""
    folder, task = run.path.absolute().parent, run.task
    if plain_name(run.path) != _NAME:
        return
    spec = _spec(folder)
    if spec:
        place = str(run.path.parent / "run_spec.json")
        mixtures.check("shots", task, spec.get("max_train_instances"), place)
        mixtures.check("prompt", task, _digest({name: spec[name] for name in _PROMPT if name in spec}), place)
    instances = folder / "instances.json"
    if not instances.is_file():
        return
    for one in _json(instances, list):
        if isinstance(one, dict) and str(one.get("id")) in ids and not one.get("perturbation"):
            name, place = str(one["id"]), str(run.path.parent / instances.name)
            mixtures.check("input", task, _digest(one.get("input")), place, item=name)
            mixtures.check("target", task, _correct(one.get("references")), place, item=name)


def _spec(folder: Path) -> Mapping[str, Any]:
    """The adapter of a run; empty where its specification is not there."""
    path = folder / "run_spec.json"
    adapter = _json(path, dict).get("adapter_spec") if path.is_file() else None
    return adapter if isinstance(adapter, dict) else {}


def _correct(references: Any) -> str | None:
    """The references that are right, as JSON."""
    if not isinstance(references, list):
        return None
    right = [one.get("output") for one in references if isinstance(one, dict) and "correct" in (one.get("tags") or ())]
    return json.dumps([one.get("text") if isinstance(one, dict) else one for one in right], ensure_ascii=False)


def _digest(value: Any) -> str | None:
    if value is None:
        return None
    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


@once
def _parsed(path: Path) -> list[Instance]:
    """The instances of a run that are not perturbed."""
    instances: list[Instance] = []
    perturbed = 0
    seen: set[tuple[str, int]] = set()
    for n, one in enumerate(_json(path, list), start=1):
        try:
            if one.get("perturbation"):
                perturbed += 1
                continue
            stats: dict[str, float | None] = {}
            split = ""
            for stat in one["stats"]:
                name = str(stat["name"]["name"])
                split = str(stat["name"].get("split") or split)
                count = int(stat.get("count", 1))
                if name in stats:
                    raise InputError(f"statistic '{name}' is there twice")
                stats[name] = None if count < 1 else stat["mean"] if "mean" in stat else stat["sum"] / count
            found = Instance(str(one["instance_id"]), int(one.get("train_trial_index", 0)), split, stats)
        except (KeyError, TypeError, AttributeError, OverflowError, ValueError) as error:
            problem = f"no {error}" if isinstance(error, KeyError) else error
            raise InputError(f"{path}, entry {n}: not as HELM writes it ({problem})") from None
        if (found.id, found.trial) in seen:
            raise InputError(
                f"{path}, entry {n}: instance '{found.id}' is there twice, both times in trial {found.trial}"
            )
        seen.add((found.id, found.trial))
        instances.append(found)
    if perturbed:
        note("text", text=f"{path}: {counted(perturbed, 'perturbed instance')} not read")
    if not instances:
        raise InputError(f"{path}: the run has no instances")
    return instances


def _json(path: Path, kind: type) -> Any:
    found = read_json(path)
    if not isinstance(found, kind):
        raise InputError(f"{path}: not as HELM writes it (no {'list' if kind is list else 'object'} of JSON)")
    return found
