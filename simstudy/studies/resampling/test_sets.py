"""The test sets that a study names: whole ones, and single domains of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import pandas as pd

from simstudy.choices import nearest
from simstudy.outputs import Outputs
from simstudy.studies.definition import StudyError
from simstudy.studies.resampling.definition import ResamplingStudy
from simstudy.tasks import Task

_SEPARATOR = " / "


def find(outputs: Mapping[str, Outputs], name: str) -> Outputs:
    """The Outputs of a test set, or of one domain of it where the name is "<test set> / <domain>"."""
    if name in outputs:
        return outputs[name]
    test_set, domain = name.rsplit(_SEPARATOR, 1)
    return replace(outputs[test_set].domain(domain), test_set=name)


def check(study: ResamplingStudy, task: Task) -> None:
    """Raise StudyError where the study asks for test sets, items or item columns that the task has not.

    This is before any training, so that nobody waits an hour for a misspelt name.
    """
    home, domains = study.home.test_set, study.domains
    compared = {home: _items(task, "home.test_set", home)}
    _check_size("home.sizes", home, compared[home], study.home.sizes[-1])
    if domains:
        for name in domains.test_sets:
            items = _items(task, "domains.test_sets", name)
            if _overlap(name, home):
                raise StudyError(f"domains.test_sets: '{name}' and the home test set '{home}' share items")
            if domains.curves is None or name in domains.curves:
                compared[name] = items
        for name in domains.curves or []:
            if name not in domains.test_sets:
                raise StudyError(f"domains.curves: '{name}' is not in domains.test_sets")
        for name, items in compared.items():
            _check_size("domains.size", name, items, domains.size)
    if study.calibration:
        population = [(name, _items(task, "calibration.population", name)) for name in study.calibration.population]
        for (name, items), (other, others) in combinations(population, 2):
            if set(items["id"]) & set(others["id"]):
                raise StudyError(f"calibration.population: '{name}' and '{other}' share items")
        compared |= dict(population)
    for key, column in (("unit", study.comparison.unit), ("strata", study.comparison.strata)):
        for name, items in compared.items():
            if column not in (None, "item", *items.columns):
                raise StudyError(
                    f"comparison.{key}: the items of test set '{name}' have no column '{column}'; they have "
                    f"{', '.join(items.columns)}"
                )

    if study.calibration and study.comparison.strata:
        raise StudyError("calibration: redrawn test sets do not keep the sizes of comparison.strata; leave out one")


def _overlap(name: str, other: str) -> bool:
    """Whether two test sets are the same, or one is a domain of the other."""
    first, second = name.split(_SEPARATOR), other.split(_SEPARATOR)
    return first[0] == second[0] and (len(first) != len(second) or first == second)


def _check_size(key: str, name: str, items: pd.DataFrame, size: int) -> None:
    if size > len(items):
        raise StudyError(f"{key}: {size} is more than the {len(items)} items of test set '{name}'")


def _items(task: Task, key: str, name: str) -> pd.DataFrame:
    """The items of a test set or of one domain of it."""
    if name in task.test_sets:
        return task.test_sets[name].items
    test_set, _, domain = name.rpartition(_SEPARATOR)
    if test_set not in task.test_sets:
        names = list(task.test_sets)
        raise StudyError(
            f"{key}: task '{task.name}' has no test set '{name}'{nearest(name, names)}; it has {', '.join(names)}"
        )
    items = task.test_sets[test_set].items
    domains = items["domain"] if "domain" in items else pd.Series(dtype=str)
    if not (domains == domain).any():
        known = ", ".join(sorted(domains.unique())) or "none"
        raise StudyError(f"{key}: test set '{test_set}' has no items of domain '{domain}'; its domains are {known}")
    return items[domains == domain]
