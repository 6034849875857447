"""Which studies there are, and what runs each: the kinds, those that travel with the package, and users' own.

A program, the study.py beside a study.toml, is only ever loaded from the package's own experiments and from a folder
that the user names. Nothing that data or results name is looked at for programs.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

from pydantic import BaseModel, ValidationError

from simstudy.files.datasets import DataError
from simstudy.running import program_files
from simstudy.running.keys import code_of
from simstudy.running.parallel import CellsFailed
from simstudy.studies.context import Findings, RunContext, ShippedTables, Shown, Unfinished
from simstudy.studies.definition import Study, StudyError, place_of, placed
from simstudy.studies.natural import study as natural
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.resampling import overlay
from simstudy.studies.resampling import study as resampling
from simstudy.studies.resampling.definition import ResamplingStudy, with_own_task
from simstudy.studies.simulation import study as simulation
from simstudy.studies.simulation.definition import Simulation, with_functions
from simstudy.training.named import OWN, task_folder
from simstudy.validation import nearest

Run = Callable[[Any, RunContext], Findings]
Show = Callable[[Any, ShippedTables], Shown]

#: The value of `kind` in the study.toml of a program.
PROGRAM = "program"

# The kind whose study.toml may have a study.py beside it, with functions.
_SIMULATION = "simulation"

#: The values of `kind` for studies that are data.
KINDS: dict[str, type[Study]] = {"resampling": ResamplingStudy, "natural": NaturalStudy, _SIMULATION: Simulation}

# What runs a study and what shows its tables, by what its study.toml may say; programs are added when they are loaded.
_PARTS: dict[type[Study], tuple[Run, Show]] = {
    ResamplingStudy: (resampling.run, resampling.show),
    overlay.OverlaidStudy: (overlay.run, resampling.show),
    NaturalStudy: (natural.run, natural.show),
    Simulation: (simulation.run, simulation.show),
}

# What says by itself what is wrong: a definition, data, cells, memory, a disk.
_TOLD = (StudyError, DataError, CellsFailed, Unfinished, MemoryError, OSError)

# Before the keys of a section, in messages.
_KEYS = " (the keys are "

# The kind of studies that do not say theirs.
_DEFAULT_KIND = "resampling"


def load_study(study: str | Path) -> Study:
    """A study by its shipped name, or from a study.toml or the folder that holds one.

    A study of kind "program" has a study.py beside its study.toml, which is executed here, so that its keys are known.
    So is the study.py of a simulation that has one. The task.py of a study with a task of its own is executed when the
    study runs. All are executed for shipped studies
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
        raise StudyError("study", "must be a name, a path or a Study", study)
    known = program_files.shipped_studies()
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
    if (path.parent / "study.py").is_file():
        executing[_SIMULATION] = "study.py"
    kind = content.get("kind", _DEFAULT_KIND)
    if program := executing.get(str(kind)):
        if not may_execute:
            raise StudyError(f"{path} is of a program: name its folder, {path.parent}, to run the {program} in it")
        if kind == PROGRAM:
            model = load_program(path.parent)
        elif kind == _SIMULATION:
            model = with_functions(_loaded(path.parent / program), path.parent)
        else:
            model = with_own_task(_model(kind, content), path.parent)
    made = make_study({"name": path.resolve().parent.name, **content}, str(path), model)
    return made if str(study) in known else placed(made, path.resolve().parent)


def asked_for(study: str | Path | Study, out: str | Path | None, seed: int | None) -> tuple[Study, Path]:
    """The study that is asked for, with a seed of its own or another, and the folder of its results."""
    definition = study if isinstance(study, Study) else load_study(study)
    if seed is not None:
        seeded = make_study({**definition.model_dump(), "seed": seed}, definition.name, type(definition))
        definition = placed(seeded, place_of(definition))
    return definition, Path(out) if out is not None else Path("results") / definition.name


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
        model = _model(kind, content)
    try:
        return model.model_validate(content)
    except ValidationError as error:
        most = overlay.OverlaidStudy if issubclass(model, ResamplingStudy) else model
        problems = [_problem(most, details) for details in error.errors()]
        for k, problem in enumerate(problems):
            head, _, keys = problem.partition(_KEYS)
            if keys and any(later.partition(_KEYS)[2] == keys for later in problems[k + 1 :]):
                # The keys of a section are listed once.
                problems[k] = head
        raise StudyError(f"{source}: {'; '.join(problems)}") from None


def _model(kind: str, content: Mapping[str, Any]) -> type[Study]:
    """What a study.toml of this kind may say."""
    return overlay.OverlaidStudy if kind == "resampling" and "natural" in content else KINDS[kind]


def load_program(folder: Path) -> type[Study]:
    """Load a folder's study.py, and return its `Settings`; a StudyError where it fails, or lacks that or `run`.

    Functions that it gives to `RunContext.run` work in worker processes too.
    """
    path = folder / "study.py"
    if not path.is_file():
        raise StudyError(f"{folder} has no study.py, which kind '{PROGRAM}' needs")
    program_files.load_learners()
    module = _loaded(path)
    settings, run = getattr(module, "Settings", None), getattr(module, "run", None)
    if not (isinstance(settings, type) and issubclass(settings, Study) and callable(run)):
        raise StudyError(f"{path} must define Settings, a subclass of simstudy.studies.Study, and a function run")
    try:
        signature(run).bind(None, None)
    except TypeError:
        raise StudyError(f"{path} must define run(settings, context), not run{signature(run)}") from None
    show = getattr(module, "show", _show_nothing)
    try:
        signature(show).bind(None, None)
    except TypeError:
        raise StudyError(f"{path} must define show(settings, tables), not show{signature(show)}") from None
    settings.folder = folder
    _PARTS[settings] = run, show
    return settings


def _loaded(path: Path) -> ModuleType:
    """The module of a study.py; a StudyError where it fails."""
    try:
        return program_files.load_program(path)
    except (Exception, SystemExit) as error:
        raise StudyError(program_files.told(error, path)) from error


def found_by(study: Study, context: RunContext) -> Findings:
    """What a study finds; a TypeError where a program returns something else."""
    found = _parts_of(study)[0](study, context)
    if not isinstance(found, Findings):
        raise TypeError(f"run must return simstudy.studies.Findings, not {type(found).__name__}")
    return found


def code_behind(study: Study) -> dict[str, str]:
    """Hashes of the Python files that a study's results depend on (`simstudy.running.keys.code_of`).

    They are those of its folder, for a shipped study or task also those of the learners, and those of a shipped task's
    folder.
    """
    shipped = program_files.shipped_studies()
    is_shipped = place_of(study) is None and study.name in shipped
    folder = shipped[study.name].parent if is_shipped else study.folder
    task = task_folder(str(getattr(study, "task", "")))
    others = [task] if task is not None and task != folder else []
    if is_shipped or task is not None:
        others += [path.parent for path in sorted(program_files.shipped_folder().glob("learners/*/__init__.py"))]
    return code_of(folder, *others, loaded=program_files.SOURCES.get(type(study).__module__.partition(".")[0]))


def shown_by(study: Study, tables: ShippedTables) -> Shown:
    """How a study shows its tables; a TypeError where a program returns something else."""
    shown = _parts_of(study)[1](study, tables)
    if not isinstance(shown, Shown):
        raise TypeError(f"show must return simstudy.studies.Shown, not {type(shown).__name__}")
    return shown


def _parts_of(study: Study) -> tuple[Run, Show]:
    return next(_PARTS[model] for model in type(study).__mro__ if model in _PARTS)


def _show_nothing(_: Study, __: ShippedTables) -> Shown:
    """The page of a program without `show`: its facts, and the names of its tables."""
    return Shown(sections=[])


def blaming_program(study: Study) -> AbstractContextManager[None]:
    """Tell what is raised inside as an error of the study's study.py, where it has one."""
    if study.kind not in (PROGRAM, _SIMULATION) or study.folder is None:
        return nullcontext()
    return program_files.blaming(study.folder / "study.py", but=_TOLD)


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
