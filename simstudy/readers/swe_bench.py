"""Reports of SWE-bench's harness: one for a run (``resolved_ids``), or one for each instance (``report.json``)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.files.packed import as_given, plain_name
from simstudy.notes import Argument, Words, note
from simstudy.readers.formats import Format
from simstudy.readers.long_table import LongTable
from simstudy.readers.paths import system_files
from simstudy.readers.request import Request
from simstudy.readers.tables import read_table
from simstudy.readers.text_files import field_of, first_keys, read_json
from simstudy.validation import InputError

_NAME = "report.json"
_RESOLVED = "resolved_ids"

# Instances that a run has no patch for that works, each in one list; and lists that name all of them.
_FAILED = ("unresolved_ids", "empty_patch_ids", "error_ids")
_ALL = ("submitted_ids", "completed_ids")

# An instance: owner, repository and the number of the pull request.
_INSTANCE = re.compile(r"([^\s/]+?)__([^\s/]+)-[^\s/-]+")


def read(request: Request) -> LongTable:
    """Rows from reports of SWE-bench's harness; an instance scores 1 if it is resolved, else 0.

    A report of a run, ``<model>.<run>.json``, is a system of the file's name. Reports of instances,
    ``<run>/<model>/<instance>/report.json``, are a system for each model. The repository is the domain
    (django__django-11099 is of django/django) and the column ``repo``. Instances that were not submitted, or have no
    report, are missing.
    """
    reports = {path: _report(path, request) for path in request.paths}
    names = _system_names(reports, request)
    rows = [
        (names[path], instance, int(resolved), str(path))
        for path, report in reports.items()
        for instance, resolved in report.items()
    ]
    frame = pd.DataFrame(rows, columns=["system", "item", "score", "file"])
    repositories = frame["item"].str.extract(f"^{_INSTANCE.pattern}$")
    if repositories.notna().all(axis=None):
        frame["domain"] = frame["repo"] = repositories[0] + "/" + repositories[1]
        some = 1 < frame["repo"].nunique() < frame["item"].nunique()
        if some and "cluster" not in request.columns:
            note("repositories", repo=Argument("unit", "repo"))
    frame.index = pd.MultiIndex.from_frame(frame[["file", "item"]], names=["file", "instance"])
    of_items = ["repo"] if "repo" in frame else []
    return LongTable(frame.drop(columns="file"), ("score",), of_items=of_items, scored_by=("resolved",))


def _holds(path: Path) -> bool:
    """Whether a file is a report of SWE-bench's harness: by its keys."""
    keys = first_keys(path)
    if _RESOLVED in keys or "patch_successfully_applied" in keys:
        return True
    return "resolved" in keys and any(map(_INSTANCE.fullmatch, keys))


def _report(path: Path, request: Request) -> dict[str, bool]:
    """Whether each instance of a report is resolved."""
    report = read_json(path)
    if isinstance(report, dict) and _RESOLVED in report:
        return _report_of_run(path, report, request)
    if not isinstance(report, dict) or not report:
        raise InputError(f"not a report of SWE-bench's harness: it has no {_RESOLVED}, and no instance", at=path)
    return {instance: field_of(fate, "resolved", bool, f"{path}, {instance}") for instance, fate in report.items()}


def _report_of_run(path: Path, report: Mapping[str, Any], request: Request) -> dict[str, bool]:
    lists = {name: field_of(report, name, list, path) for name in (*_ALL, _RESOLVED, *_FAILED) if name in report}
    for name, instances in lists.items():
        if not all(isinstance(instance, str) for instance in instances):
            raise InputError(f"'{name}'", "must be a list of instances", instances, at=path)
    right = {*lists[_RESOLVED]}
    for name in _FAILED:
        if both := right.intersection(lists.get(name, ())):
            raise InputError(f"instance '{min(both)}' is in {_RESOLVED} and in {name}", at=path)
    named = dict.fromkeys(instance for instances in lists.values() for instance in instances)
    if "submitted_ids" not in lists and "unresolved_ids" not in lists:
        named |= dict.fromkeys(_instances_of_table(path, request))
    if not named:
        raise InputError("the report names no instance", at=path)
    return {instance: instance in right for instance in named}


def _instances_of_table(path: Path, request: Request) -> list[str]:
    """The instances of the table of items, for a report that names only those that are resolved."""
    table = None if request.items is None else read_table(request.items)
    key = request.columns.get("id", request.columns.get("item", "id"))
    if table is None or key not in table:
        rule = f"the report has only {_RESOLVED}: which instances were submitted is not known"
        remedy = Words("{items} may name a table with all instances in a column 'id'", items=Argument("items"))
        raise InputError(rule, remedy=remedy, at=path)
    return [str(instance) for instance in table[key]]


def _system_names(reports: Mapping[Path, Mapping[str, bool]], request: Request) -> dict[Path, str]:
    """The system of each report: the name that the user gave, the model's folder, or the file."""
    folders = {path: as_given(path.absolute().parent) for path in reports if plain_name(path) == _NAME}
    # A report of an instance lies in a folder of the instance's name. Other reports of this name are of a run.
    models = {path: folder.parent for path, folder in folders.items() if [*reports[path]] == [folder.name]}
    names = {path: name for name, path in system_files([path for path in reports if path not in folders]).items()}
    names |= {path: folder.name for path, folder in folders.items()}
    runs = Counter(model.name for model in {*models.values()})
    for path, model in models.items():
        names[path] = f"{model.parent.name}/{model.name}" if runs[model.name] > 1 else model.name
    return names | {path: name for path, name in request.names.items() if path in reports}


FORMAT = Format(
    "swe-bench",
    "reports of SWE-bench",
    read,
    (_NAME, "*.json"),
    _holds,
    scored=True,
    is_log=True,
    beside=("patch.diff", "eval.sh", "run_instance.log", "test_output.txt"),
)
