"""The test sets that a study names: whole ones, and single domains of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from simstudy.choices import nearest
from simstudy.outputs import Outputs
from simstudy.studies.definition import Study, StudyError
from simstudy.tasks import Task

_SEPARATOR = " / "


def find(outputs: Mapping[str, Outputs], name: str) -> Outputs:
    """The Outputs of a test set, or of one domain of it where the name is "<test set> / <domain>"."""
    if name in outputs:
        return outputs[name]
    test_set, domain = name.rsplit(_SEPARATOR, 1)
    return replace(outputs[test_set].domain(domain), test_set=name)


def check(study: Study, task: Task) -> None:
    """Raise StudyError where the study names a test set that the task has not, or asks for more items than it has.

    This is before any training, so that nobody waits an hour for a misspelt name.
    """
    _check_size(task, "home", study.home.test_set, study.home.sizes[-1])
    if study.domains:
        for name in study.domains.test_sets:
            _n_items(task, "domains.test_sets", name)
            if study.domains.curves is None or name in study.domains.curves:
                _check_size(task, "domains", name, study.domains.size)
        _check_size(task, "domains", study.home.test_set, study.domains.size)
        for name in study.domains.curves or []:
            if name not in study.domains.test_sets:
                raise StudyError(f"domains.curves: '{name}' is not in domains.test_sets")
    if study.calibration:
        for name in study.calibration.population:
            _n_items(task, "calibration.population", name)


def _check_size(task: Task, key: str, name: str, size: int) -> None:
    n_items = _n_items(task, f"{key}.test_set", name)
    if size > n_items:
        raise StudyError(f"{key}: size {size} is larger than test set '{name}', which has {n_items} items")


def _n_items(task: Task, key: str, name: str) -> int:
    if name in task.test_sets:
        return task.test_sets[name].n_items
    test_set, _, domain = name.rpartition(_SEPARATOR)
    if test_set not in task.test_sets:
        known = list(task.test_sets)
        raise StudyError(
            f"{key}: task '{task.name}' has no test set '{name}'{nearest(name, known)}; it has {', '.join(known)}"
        )
    items = task.test_sets[test_set].items
    n_items = int((items["domain"] == domain).sum()) if "domain" in items else 0
    if n_items == 0:
        domains = ", ".join(sorted(items["domain"].unique())) if "domain" in items else "none"
        raise StudyError(f"{key}: test set '{test_set}' has no items of domain '{domain}'; its domains are {domains}")
    return n_items
