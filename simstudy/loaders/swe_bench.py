"""Reports of SWE-bench's harness: one for a run (``resolved_ids``), or one for each instance (``report.json``)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from simstudy.files.unpacking import plain_name
from simstudy.loaders.assembling import SystemOutputs, assemble
from simstudy.loaders.base import Loaded, Source, system_files
from simstudy.loaders.items import items_by_id
from simstudy.loaders.json_files import first_keys, read_json
from simstudy.loaders.reading import once
from simstudy.loaders.tables import check_takes_one_score, read_table, score_statistics
from simstudy.notes import note
from simstudy.validation import InputError, check_utf8

_NAME = "report.json"
_RESOLVED = "resolved_ids"

# Instances that a run has an answer for, whatever became of it. Those of incomplete_ids have none.
_ANSWERED = ("submitted_ids", "completed_ids", _RESOLVED, "unresolved_ids", "empty_patch_ids", "error_ids")

# An instance: owner, repository and the number of the pull request.
_INSTANCE = re.compile(r"(?P<owner>[^\s/]+?)__(?P<repository>[^\s/]+)-[^\s/-]+")


@dataclass(frozen=True)
class Report:
    """Whether the instances of a report are resolved; `whole` if it is of a run and names all of them."""

    path: Path
    resolved: Mapping[str, bool]
    whole: bool


def holds_swe_bench(path: Path) -> bool:
    """Whether a file is a report of SWE-bench's harness: by its keys."""
    keys = first_keys(path)
    if _RESOLVED in keys or "patch_successfully_applied" in keys:
        return True
    return "resolved" in keys and any(map(_INSTANCE.fullmatch, keys))


def read_swe_bench(source: Source) -> Loaded:
    """Systems from reports of SWE-bench's harness; an instance scores 1 if it is resolved, else 0.

    A report of a run, ``<model>.<run>.json``, is a system of the file's name; ``report.json`` has the name of its
    folder. Reports of instances, ``<run>/<model>/<instance>/report.json``, are a system for each model. Items are
    instances, which tests resample one by one. The repository is the domain (django__django-11099 is of django/django)
    and the column ``repo``: ``unit="repo"`` resamples repositories. Instances that were not submitted, or have no
    report, are missing: ``missing="zero"`` counts them as not resolved.
    """
    check_takes_one_score(source.metric)
    systems = _systems(source.paths, source.names)
    of_all = read_table(source.items) if source.items is not None else None
    logs = []
    for name, (origin, reports) in systems.items():
        resolved: dict[str, bool] = {}
        for report in reports:
            for instance, found in report.resolved.items():
                if instance in resolved:
                    raise InputError(f"{report.path}: instance '{instance}' of system '{name}' is there twice")
                resolved[instance] = found
        if not all(report.whole for report in reports):
            resolved |= {one: False for one in _listed(of_all, source, reports[0].path) if one not in resolved}
        if not resolved:
            raise InputError(f"{origin}: the report names no instance")
        check_utf8(resolved, f"{origin}: instances")
        scores = pd.Series(list(resolved.values()), dtype=np.float64)
        statistics = score_statistics(scores, source.metric, ([origin] * len(scores)).__getitem__)
        logs.append(SystemOutputs(name, origin, list(resolved), statistics))
    ids = list(dict.fromkeys(instance for log in logs for instance in log.ids))
    known = pd.DataFrame({"id": ids})
    parts = [_INSTANCE.fullmatch(instance) for instance in ids]
    if None not in parts:
        known["domain"] = [f"{one['owner']}/{one['repository']}" for one in parts if one]
    items = items_by_id(source, known)
    if "domain" in known and not {"repo", "cluster"} & {*items}:
        # Not before: a column of this name would be taken for the cluster.
        items = items.assign(repo=known["domain"].to_numpy())
        if 1 < items["repo"].nunique() < len(items):
            note(
                "text",
                text="issues are tested one by one, but issues of one repository may depend on each other: unit='repo' "
                "tests repositories",
            )
    return replace(assemble(logs, source, items, lambda item: np.array([0, 1])), scored_by=("resolved",))


def _systems(paths: Sequence[Path], given: Mapping[Path, str]) -> dict[str, tuple[str, list[Report]]]:
    """The systems by their names, each with its origin and its reports."""
    read = {path: _parsed(path) for path in paths}
    folders: dict[Path, list[Report]] = {}
    alone: dict[Path, Report] = {}
    for path, report in read.items():
        folder = path.absolute().parent
        if plain_name(path) == _NAME and list(report.resolved) == [folder.name]:
            folders.setdefault(folder.parent, []).append(report)
        else:
            alone[path] = report
    # A report of a run that is called report.json is of the folder's system.
    called = {path: path.absolute().parent.name for path in alone if plain_name(path) == _NAME}
    files = {path: name for name, path in system_files([path for path in alone if path not in called]).items()}
    models = [folder.name for folder in folders]
    systems: dict[str, tuple[str, list[Report]]] = {}
    for folder, reports in folders.items():
        # One model in several runs.
        name = folder.name if models.count(folder.name) == 1 else f"{folder.parent.name}/{folder.name}"
        name = given.get(reports[0].path, name)
        _add(systems, name, str(reports[0].path.parent.parent), reports)
    for path, report in alone.items():
        _add(systems, given.get(path) or called.get(path) or files[path], str(path), [report])
    return systems


def _add(systems: dict[str, tuple[str, list[Report]]], name: str, origin: str, reports: list[Report]) -> None:
    check_utf8([name], f"{origin}: systems")
    if name in systems:
        raise InputError(f"{systems[name][0]} and {origin} would both be system '{name}': rename one of the folders")
    systems[name] = origin, reports


def _listed(table: pd.DataFrame | None, source: Source, path: Path) -> list[str]:
    """The instances of the table of items, for a report that names only those that are resolved."""
    key = source.columns.get("id", source.columns.get("item", "id"))
    if table is None or key not in table:
        raise InputError(
            f"{path}: only {_RESOLVED}, which instances were submitted is not known; items= may name a table with all "
            "instances in a column 'id'"
        )
    return [str(one) for one in table[key]]


@once
def _parsed(path: Path) -> Report:
    found = read_json(path)
    if isinstance(found, dict) and _RESOLVED in found:
        return _of_run(path, found)
    resolved = {}
    for instance, about in found.items() if isinstance(found, dict) else ():
        state = about.get("resolved") if isinstance(about, dict) else None
        if not isinstance(state, bool):
            raise InputError(f"{path}: instance '{instance}': 'resolved' must be true or false, not {state!r:.60}")
        resolved[str(instance)] = state
    if not resolved:
        raise InputError(f"{path}: not a report of SWE-bench's harness: it has no {_RESOLVED}, and no instance")
    return Report(path, resolved, True)


def _of_run(path: Path, found: Mapping[str, Any]) -> Report:
    lists = {name: found[name] for name in _ANSWERED if name in found}
    for name, ids in lists.items():
        if not isinstance(ids, list) or not all(isinstance(one, str) for one in ids):
            raise InputError(f"{path}: '{name}' must be a list of instances")
        if len(set(ids)) < len(ids):
            raise InputError(f"{path}: '{name}' names an instance twice")
    right = set(lists[_RESOLVED])
    for name in ("unresolved_ids", "empty_patch_ids", "error_ids"):
        if both := right.intersection(lists.get(name, ())):
            raise InputError(f"{path}: instance '{min(both)}' is in {_RESOLVED} and in {name}")
    answered = dict.fromkeys(one for ids in lists.values() for one in ids)
    whole = "submitted_ids" in lists or "unresolved_ids" in lists
    return Report(path, {one: one in right for one in answered}, whole)
