"""The test sets that a study names: whole ones, and single domains of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations

import pandas as pd

from simstudy.outputs import Outputs
from simstudy.studies.definition import StudyError
from simstudy.studies.problems import Problems, check_comparison, stand_in
from simstudy.studies.resampling.definition import ResamplingStudy
from simstudy.training import Task
from simstudy.training.resampling import variants
from simstudy.validation import check_choice, nearest

_SEPARATOR = " / "


def find(outputs: Mapping[str, Outputs], name: str) -> Outputs:
    """The Outputs of a test set, or of one domain of it where the name is "<test set> / <domain>"."""
    if name in outputs:
        return outputs[name]
    test_set, domain = name.rsplit(_SEPARATOR, 1)
    return replace(outputs[test_set].domain(domain), test_set=name)


def domain_home(study: ResamplingStudy, outputs: Mapping[str, Outputs]) -> Outputs:
    """The Outputs whose winners are followed to other domains."""
    if study.domains and study.domains.home:
        return find(outputs, study.domains.home)
    return find(outputs, study.home.test_set).head(study.home.sizes[-1])


def check(study: ResamplingStudy, task: Task) -> None:
    """Raise a StudyError that says all that a study asks for and the task has not: test sets, items, columns, tests.

    This is before any training, so that nobody waits an hour for a misspelt name.
    """
    problems = Problems(study.name)
    asked = [("home.test_set", study.home.test_set)]
    if study.domains:
        asked += [("domains.home", study.domains.home)] if study.domains.home else []
        asked += [("domains.test_sets", name) for name in study.domains.test_sets]
    if study.calibration:
        asked += [("calibration.population", name) for name in study.calibration.population]
    known: dict[str, pd.DataFrame] = {}
    for key, name in asked:
        with problems.at(key):
            known[name] = _items(task, name)
    _check_names(study, known, problems)
    compared = _compared(study, known)
    for key, name, size in compared:
        if size > len(known[name]):
            problems.add(key, f"{size} is more than the {len(known[name])} items of test set '{name}'")
    for key, column in (("unit", study.comparison.unit), ("strata", study.comparison.strata)):
        for name, items in known.items():
            if column not in (None, "item", *items.columns):
                columns = ", ".join(items.columns)
                problem = f"the items of test set '{name}' have no column '{column}'; they have {columns}"
                problems.add(f"comparison.{key}", problem)
    if study.calibration and study.comparison.strata:
        problems.add("calibration", "redrawn test sets do not keep the sizes of comparison.strata; leave out one")
    if study.calibration and study.calibration.unit not in (None, "item"):
        for name in study.calibration.population:
            if name in known and study.calibration.unit not in known[name]:
                problem = f"the items of test set '{name}' have no column '{study.calibration.unit}'"
                problems.add("calibration.unit", problem)
    for metric in study.metrics:
        with problems.at("metrics"):
            check_choice(f"a metric of task '{task.name}'", metric, task.metrics)
    first = (study.metrics or [*task.metrics])[0]
    study.check_first_metric(first, problems)
    with problems.at("training"):
        variants(task, study.training.fractions, study.training.replicates)
    # What is wrong by name or number would be said a second time by the comparison.
    problems.raise_any()
    for metric in study.metrics or task.metrics:
        outputs = {name: stand_in(task, name, metric) for name in task.test_sets}
        for key, name, size in compared:
            with problems.at(f"{key} {size}"):
                check_comparison(study.comparison.on(find(outputs, name).head(size), study.seed))
    problems.raise_any()


def _check_names(study: ResamplingStudy, known: Mapping[str, pd.DataFrame], problems: Problems) -> None:
    """Find test sets that are there twice or share items."""
    if study.domains:
        home = study.domains.home or study.home.test_set
        for name in study.domains.test_sets:
            if _overlap(name, home):
                problems.add("domains.test_sets", f"'{name}' and the home test set '{home}' share items")
            if study.domains.test_sets.count(name) > 1:
                problems.add("domains.test_sets", f"'{name}' is there twice")
        for name in study.domains.curves or []:
            if name not in study.domains.test_sets:
                problems.add("domains.curves", f"'{name}' is not in domains.test_sets")
    if study.calibration:
        population = [(name, known[name]) for name in study.calibration.population if name in known]
        for (name, items), (other, others) in combinations(population, 2):
            if set(items["id"]) & set(others["id"]):
                problems.add("calibration.population", f"'{name}' and '{other}' share items")


def _compared(study: ResamplingStudy, known: Mapping[str, pd.DataFrame]) -> list[tuple[str, str, int]]:
    """The key, the test set and the size of every comparison on a test set as it is."""
    home = study.home.test_set
    sizes = [("home.sizes", home, size) for size in study.home.sizes]
    if study.domains:
        others = study.domains.test_sets if study.domains.curves is None else study.domains.curves
        homes = [study.domains.home or home, *others]
        sizes += [("domains.size", name, study.domains.size) for name in dict.fromkeys(homes)]
    return [asked for asked in sizes if asked[1] in known]


def _overlap(name: str, other: str) -> bool:
    """Whether two test sets are the same, or one is a domain of the other."""
    first, second = name.split(_SEPARATOR), other.split(_SEPARATOR)
    return first[0] == second[0] and (len(first) != len(second) or first == second)


def _items(task: Task, name: str) -> pd.DataFrame:
    """The items of a test set or of one domain of it."""
    if name in task.test_sets:
        return task.test_sets[name].items
    test_set, _, domain = name.rpartition(_SEPARATOR)
    if test_set not in task.test_sets:
        names = list(task.test_sets)
        raise StudyError(
            f"task '{task.name}' has no test set '{name}'{nearest(name, names)}; it has {', '.join(names)}"
        )
    items = task.test_sets[test_set].items
    domains = items["domain"] if "domain" in items else pd.Series(dtype=str)
    if not (domains == domain).any():
        known = ", ".join(sorted(domains.unique())) or "none"
        raise StudyError(f"test set '{test_set}' has no items of domain '{domain}'; its domains are {known}")
    return items[domains == domain]
