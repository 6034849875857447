"""Texts of HELM's runs, from the files beside the statistics: instances.json, display_predictions.json and others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from simstudy.loaders.json_files import read_json
from simstudy.loaders.text_columns import as_text


@dataclass(frozen=True)
class RunTexts:
    """What the instances of a run ask, what is right, and what the model said: empty where no file says so."""

    inputs: Mapping[str, str | None] = field(default_factory=dict)
    references: Mapping[str, str | None] = field(default_factory=dict)
    #: By instance and trial.
    answers: Mapping[tuple[str, int], str | None] = field(default_factory=dict)

    @classmethod
    def of(cls, path: Path) -> Self:
        """The texts beside a file of statistics."""
        folder = path.absolute().parent
        instances = _listed(folder / "instances.json")
        predictions = _listed(folder / "display_predictions.json")
        states = [] if predictions else _states(folder / "scenario_state.json")
        if not instances:
            instances = [state["instance"] for state in states if isinstance(state.get("instance"), dict)]
        return cls(
            {str(one.get("id")): _text(one.get("input")) for one in instances},
            {str(one.get("id")): _right(one.get("references")) for one in instances},
            dict(map(_predicted, predictions)) or dict(map(_completed, states)),
        )


def _listed(path: Path) -> list[dict[str, Any]]:
    """The entries of a file that are not perturbed; none where there is no such file, or it is none of HELM's."""
    found = read_json(path) if path.is_file() else None
    entries = found if isinstance(found, list) else []
    return [one for one in entries if isinstance(one, dict) and not one.get("perturbation")]


def _states(path: Path) -> list[dict[str, Any]]:
    """The requests of a run whose instances are not perturbed."""
    found = read_json(path) if path.is_file() else None
    states = found.get("request_states") if isinstance(found, dict) else None
    kept = []
    for state in states if isinstance(states, list) else ():
        instance = state.get("instance") if isinstance(state, dict) else None
        if isinstance(instance, dict) and not instance.get("perturbation"):
            kept.append(state)
    return kept


def _text(value: Any) -> str | None:
    return as_text(value.get("text") if isinstance(value, dict) else value)


def _right(references: Any) -> str | None:
    """The references that are right, one on a line."""
    right = [
        _text(one.get("output")) or ""
        for one in (references if isinstance(references, list) else ())
        if isinstance(one, dict) and "correct" in (one.get("tags") or ())
    ]
    return "\n".join(right) or None


def _predicted(one: Mapping[str, Any]) -> tuple[tuple[str, int], str | None]:
    """Instance and trial, and the prediction; of a letter also what it stands for."""
    said, meant = as_text(one.get("predicted_text")), as_text(one.get("mapped_output"))
    both = f"{said} [{meant}]" if meant and said and meant.strip() != said.strip() else said
    return (str(one.get("instance_id")), _trial(one)), both


def _completed(state: Mapping[str, Any]) -> tuple[tuple[str, int], str | None]:
    result = state.get("result")
    completions = result.get("completions") if isinstance(result, dict) else None
    first = completions[0] if isinstance(completions, list) and completions else None
    return (str(state["instance"].get("id")), _trial(state)), _text(first)


def _trial(one: Mapping[str, Any]) -> int:
    trial = one.get("train_trial_index")
    return trial if isinstance(trial, int) else 0
