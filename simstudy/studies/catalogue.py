"""Which studies there are: the kinds, those that travel with the package, and those that users write."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from simstudy.running.program_files import shipped_studies
from simstudy.studies.context import Findings, RunContext
from simstudy.studies.definition import Study, StudyError
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.natural.study import run as run_natural
from simstudy.studies.programs import PROGRAM, load_program, run_of
from simstudy.studies.resampling.definition import ResamplingStudy, with_own_task
from simstudy.studies.resampling.study import run as run_resampling
from simstudy.training.named import OWN
from simstudy.validation import brief, nearest


@dataclass(frozen=True)
class Kind:
    """A kind of study: what its study.toml may say, and how it is run."""

    model: type[Study]
    run: Callable[[Any, RunContext], Findings]


# Before the keys of a section, in messages.
_KEYS = " (the keys are "

# The kind of studies that do not say theirs.
_DEFAULT_KIND = "resampling"

#: The values of `kind` in study.toml, for studies that are data; others are programs.
KINDS = {
    "resampling": Kind(ResamplingStudy, run_resampling),
    "natural": Kind(NaturalStudy, run_natural),
}


def load_study(study: str | Path) -> Study:
    """A study by its shipped name, or from a study.toml or the folder that holds one.

    A study of kind "program" has a study.py beside its study.toml, which is executed here, so that its keys are known.
    The task.py of a study with a task of its own is executed when the study runs. Both are executed for shipped studies
    and for a folder that is named as such, not for a study.toml that is.

    Raises
    ------
    StudyError
        For an unknown study and for every wrong key or value; all of them are named in one line.

    Examples
    --------
    >>> load_study("quickstart").title
    'How large must a gain be on a test set of digits?'
    """
    if not isinstance(study, str | Path):
        raise StudyError(f"study must be a name, a path or a Study, not {brief(study)}")
    known = shipped_studies()
    path = known.get(str(study)) or Path(study)
    may_execute = str(study) in known or path.is_dir()
    if path.is_dir():
        path = path / "study.toml"
    if not path.is_file():
        if Path(study).parent != Path():
            raise StudyError(f"there is no study at '{study}': no such file, or a folder without study.toml")
        hint = nearest(study, known)
        raise StudyError(f"no study and no file is called '{study}'{hint}; the studies are {', '.join(known)}")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        # Also numbers of thousands of digits, and brackets in thousands of brackets.
        raise StudyError(f"{path} is not TOML: {error}") from None
    if "name" in content:
        raise StudyError(f"{path}: unknown key 'name': a study is called after its folder")
    model = None
    executing = {PROGRAM: "study.py"}
    if str(content.get("task")).startswith(OWN):
        executing[_DEFAULT_KIND] = "task.py"
    kind = content.get("kind", _DEFAULT_KIND)
    if program := executing.get(str(kind)):
        if not may_execute:
            raise StudyError(f"{path} is of a program: name its folder, {path.parent}, to run the {program} in it")
        model = load_program(path.parent) if kind == PROGRAM else with_own_task(path.parent)
    return make_study({"name": path.resolve().parent.name, **content}, str(path), model)


def make_study(content: Mapping[str, Any], source: str, model: type[Study] | None = None) -> Study:
    """A study from the keys and values of a study.toml and its name; `source` says in messages where they are from.

    Parameters
    ----------
    content, source
        As above.
    model
        The `Settings` of a program; by default what the kind of the study says.

    Raises
    ------
    StudyError
        For every wrong key or value; all of them are named in one line.

    Examples
    --------
    >>> make_study({"name": "mine", "task": "digits", "title": "T", "question": "Q?"}, "here")
    Traceback (most recent call last):
    simstudy.studies.definition.StudyError: here: key 'home' is missing
    """
    if model is None:
        kind = content.get("kind", _DEFAULT_KIND)
        if kind not in list(KINDS):
            known = [*KINDS, PROGRAM]
            raise StudyError(
                f"{source}: kind: it must be one of {', '.join(known)}, not '{kind}'{nearest(kind, known)}"
            )
        model = KINDS[kind].model
    try:
        return model.model_validate(content)
    except ValidationError as error:
        problems = [_problem(model, details) for details in error.errors()]
        for k, problem in enumerate(problems):
            head, _, keys = problem.partition(_KEYS)
            if keys and any(later.partition(_KEYS)[2] == keys for later in problems[k + 1 :]):
                # The keys of a section are listed once.
                problems[k] = head
        raise StudyError(f"{source}: {'; '.join(problems)}") from None


def run_of_kind(study: Study) -> Callable[[Any, RunContext], Findings]:
    """What runs a study, by its kind."""
    return run_of(study) if study.kind == PROGRAM else KINDS[study.kind].run


def _problem(model: type[Study], details: Mapping[str, Any]) -> str:
    """One wrong key or value, in words."""
    where = ".".join(str(part) for part in details["loc"] if part != "[key]")
    if details["type"] == "extra_forbidden":
        *outer, last = details["loc"]
        # A study is called after its folder; what is listed inside it may have names of its own.
        keys = [key for key in _section(model, outer).model_fields if outer or key != "name"]
        return f"unknown key '{where}'" + (nearest(last, keys) or f"{_KEYS}{', '.join(keys)})")
    if details["type"] == "missing":
        return f"key '{where}' is missing"
    # Of what is too short pydantic says how long it is, and then we what it is.
    message = details["msg"].removeprefix("Value error, ").partition(" after validation")[0]
    value = "" if details["type"] == "value_error" else f", not {details['input']!r}"
    # A rule about several keys names them itself.
    return (f"{where}: " if where else "") + f"{message[0].lower()}{message[1:]}{value}"


def _section(model: type[BaseModel], path: Sequence[str | int]) -> type[BaseModel]:
    """The section of a definition that a path of keys leads to."""
    for key in path:
        if isinstance(key, str) and key in model.model_fields:
            annotation = model.model_fields[key].annotation
            inner = [part for part in (annotation, *get_args(annotation)) if isinstance(part, type)]
            model = next((part for part in inner if issubclass(part, BaseModel)), model)
    return model
