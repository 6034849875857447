"""What evaluation harnesses asked and what models said, as people read it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from simstudy.loaders.json_files import read_json
from simstudy.loaders.text_columns import INPUTS, as_text, text_column


def asked_of_document(sample: Mapping[str, Any]) -> str | None:
    """What a document of lm-evaluation-harness asks: its field with a usual name and its choices, else the prompt."""
    doc = sample.get("doc")
    if isinstance(doc, dict) and (name := text_column(doc, INPUTS)) is not None:
        choices = doc.get("choices") or doc.get("options")
        if isinstance(choices, dict):
            choices = choices.get("text")
        listed = [as_text(one) or "" for one in choices] if isinstance(choices, list) else []
        return "\n".join([as_text(doc[name]) or "", *(f"{i}. {one}" for i, one in enumerate(listed))])
    prompts = _arguments(sample)
    return prompts[0][0] if prompts else as_text(doc)


def _arguments(sample: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The prompt of each request, and what it would have the model continue with, if that was given."""
    given = sample.get("arguments")
    if isinstance(given, dict):
        # From version 0.4.2 on: {"gen_args_0": {"arg_0": prompt, "arg_1": continuation or settings}}.
        given = [list(one.values()) if isinstance(one, dict) else one for one in given.values()]
    found = []
    for one in given if isinstance(given, list) else ():
        parts = one if isinstance(one, list | tuple) else [one]
        texts = [part if isinstance(part, str) else "" for part in (*parts[:2], "", "")]
        found.append((texts[0], texts[1]))
    return found


def responses_of(sample: Mapping[str, Any]) -> list[str | None]:
    """What the model said to a document, a text for each response; of choices, each with its log-likelihood.

    What a filter took from a response stands above it.
    """
    resps = sample.get("resps")
    if not isinstance(resps, list) or not resps:
        return [None]
    likely = [_log_likelihood(one) for one in resps]
    if None not in likely:
        return [_choices(sample, [one for one in likely if one is not None])]
    of = resps[0] if len(resps) == 1 and isinstance(resps[0], list) else resps
    texts = [as_text(one[0] if isinstance(one, list) and len(one) == 1 else one) for one in of]
    filtered = sample.get("filtered_resps")
    taken = [as_text(one) for one in filtered] if isinstance(filtered, list) else []
    if len(taken) == 1 and len(texts) == 1 and taken[0] not in (None, texts[0]) and isinstance(filtered[0], str):  # type: ignore[index]
        return [f"[read as {taken[0]}]\n{texts[0]}"]
    return texts or [None]


def _log_likelihood(response: Any) -> float | None:
    """The log-likelihood of a choice: a pair of it and of whether the choice is the most likely text at all."""
    while isinstance(response, list) and len(response) == 1:
        response = response[0]
    if isinstance(response, list) and len(response) == 2 and str(response[1]) in ("True", "False"):
        try:
            return float(response[0])
        except (TypeError, ValueError):
            return None
    return None


def _choices(sample: Mapping[str, Any], likely: list[float]) -> str:
    """Choices with their log-likelihoods, the most likely first."""
    texts = [continuation.strip() for _, continuation in _arguments(sample)]
    order = sorted(range(len(likely)), key=lambda i: -likely[i])
    named = [texts[i] if i < len(texts) and texts[i] else f"choice {i}" for i in order]
    return "\n".join(f"{name} ({likely[i]:.2f})" for name, i in zip(named, order, strict=True))


def as_read(content: str | None) -> str | None:
    """What `simstudy.loaders.inspect_logs` keeps of a text or of messages, as JSON, as people read it."""
    return None if content is None else _content(json.loads(content))


def _content(content: Any) -> str:
    """A text, the parts of one message, or messages, (role, content) each."""
    if not isinstance(content, list):
        text = content.get("text") or content.get("reasoning") if isinstance(content, dict) else as_text(content)
        return text or (f"[{content.get('type', 'part')}]" if isinstance(content, dict) else "")
    messages = [part for part in content if isinstance(part, list) and len(part) == 2]
    if not messages or len(messages) < len(content):
        return "\n".join(map(_content, content))
    if len(messages) == 1:
        return _content(messages[0][1])
    return "\n\n".join(f"{role}: {_content(said)}" for role, said in messages)


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
