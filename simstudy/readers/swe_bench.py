"""Reports of SWE-bench's harness: one for a run (``resolved_ids``), or one for each instance (``report.json``).

Reports of early versions and of the leaderboard (``results.json``) have lists without ``_ids`` in their names.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd

from simstudy.files.packed import as_given, plain_name
from simstudy.notes import Argument, Words, note
from simstudy.readers.columns import item_column, no_column
from simstudy.readers.formats import Format
from simstudy.readers.logs import check_no_labels
from simstudy.readers.long_table import LongTable
from simstudy.readers.request import Request, system_files
from simstudy.readers.tables import read_table
from simstudy.readers.text_files import field_of, first_keys, read_json
from simstudy.validation import InputError

_NAME = "report.json"
_RESOLVED = "resolved"

# Lists of instances that are not resolved, and lists that name others too. Reports with one of the last ones name all
# instances.
_FAILED = ("unresolved", "empty_patch", "error", "no_generation", "no_apply", "no_logs")
_OTHERS = ("completed", "submitted", "generated")
_COMPLETE = ("unresolved", "submitted", "generated")

# An instance: owner, repository and the number of the pull request.
_INSTANCE = re.compile(r"([^\s/]+?)__([^\s/]+)-[^\s/-]+")


def read(request: Request) -> LongTable:
    """Rows from reports of SWE-bench's harness; an instance scores 1 if it is resolved, else 0.

    A report of a run, ``<model>.<run>.json``, is a system of the file's name, or of its folder if it is called
    report.json. Reports of instances, ``<run>/<model>/<instance>/report.json``, are a system for each model. The
    repository is the domain (django__django-11099 is of django/django) and the column ``repo``. Instances that were not
    submitted, or have no report, are missing. Of a report that names only some instances, all others in the table of
    the items are not resolved.
    """
    check_no_labels(request)
    of_runs = [path for path in request.paths if plain_name(path) != _NAME]
    names = {path: name for name, path in system_files(of_runs, request.names).items()} | dict(request.names)
    rows = []
    for path in request.paths:
        report = _report(path, request)
        folder = as_given(path.absolute().parent)
        # Reports of this name are of an instance if they lie in a folder of its name.
        model = folder.parent if [*report] == [folder.name] else folder
        name = names.get(path, model.name)
        rows += [(name, instance, int(resolved), str(path)) for instance, resolved in report.items()]
    frame = pd.DataFrame(rows, columns=["system", "item", "score", "file"])
    repositories = frame["item"].str.extract(f"^{_INSTANCE.pattern}$")
    if repositories.notna().all(axis=None):
        frame["domain"] = frame["repo"] = repositories[0] + "/" + repositories[1]
        some = 1 < frame["repo"].nunique() < frame["item"].nunique()
        if some and "cluster" not in request.columns:
            note("repositories", repo=Argument("unit", "repo"))
    frame.index = pd.MultiIndex.from_frame(frame[["file", "item"]], names=["file", "instance"])
    return LongTable(
        frame.drop(columns="file"),
        ("score",),
        of_items=["repo"] if "repo" in frame else [],
        scored_by=("resolved",),
        if_again="keep one of them, or name the systems",
    )


def _holds(path: Path) -> bool:
    """Whether a file is a report of SWE-bench's harness: by its keys."""
    keys = first_keys(path)
    names_others = not keys.isdisjoint(_FAILED) or any(map(_INSTANCE.fullmatch, keys))
    return not keys.isdisjoint(("resolved_ids", "patch_successfully_applied")) or (_RESOLVED in keys and names_others)


def _report(path: Path, request: Request) -> dict[str, bool]:
    """Whether each instance of a report is resolved."""
    report: Any = read_json(path)
    if not isinstance(report, dict) or not report:
        raise InputError(f"not a report of SWE-bench's harness: it has no {_RESOLVED}_ids, and no instance", at=path)
    lists = {
        name: field_of(report, key, list, path)
        for name in (*_OTHERS, _RESOLVED, *_FAILED)
        for key in (name, f"{name}_ids")
        if key in report
    }
    if _RESOLVED not in lists:
        return {instance: field_of(fate, "resolved", bool, f"{path}, {instance}") for instance, fate in report.items()}
    for name, instances in lists.items():
        if not all(isinstance(instance, str) for instance in instances):
            raise InputError(f"'{name}'", "must be a list of instances", instances, at=path)
    resolved = {*lists[_RESOLVED]}
    for name in _FAILED:
        if both := resolved.intersection(lists.get(name, ())):
            raise InputError(f"instance '{min(both)}' is in {_RESOLVED} and in {name}", at=path)
    if lists.keys().isdisjoint(_COMPLETE):
        if request.items is None:
            rule = "the report does not name the instances that were evaluated and not resolved"
            remedy = Words("{items} names a table with the ids of all", items=Argument("items", "FILE"))
            raise InputError(rule, remedy=remedy, at=path)
        lists["items"] = _ids(request.items, request)
    every = dict.fromkeys(instance for instances in lists.values() for instance in instances)
    if not every:
        raise InputError("the report names no instance", at=path)
    return {instance: instance in resolved for instance in every}


def _ids(path: Path, request: Request) -> list[str]:
    """The instances in the table of the items."""
    table = read_table(path)
    name = request.columns.get("id", request.columns.get("item")) or item_column(table)
    if name not in table:
        no_column(path, name or "id", table.columns)
    return table[name].astype(str).tolist()


_BESIDE = ("patch.diff", "eval.sh", "run_instance.log", "test_output.txt", "resolved_by_*.json")
FORMAT = Format(
    "swe-bench", "reports of SWE-bench", read, (_NAME, "*.json"), _holds, scored=True, is_log=True, beside=_BESIDE
)
