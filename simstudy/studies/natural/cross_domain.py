"""Does the winner here win elsewhere? Test sets and domains as one another's home (Berg-Kirkpatrick 2012, Table 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.comparisons.calibration import calibration
from simstudy.outputs import Outputs, TestSet
from simstudy.pairs import ALL_PAIRS
from simstudy.studies.baselines import baseline, compare_redrawn, n_units, with_baseline
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.context import RunContext
from simstudy.studies.definition import StudyError
from simstudy.studies.natural.definition import CrossDomain, NaturalStudy

#: Where the winner of one domain is looked for.
OTHERS = "all other domains"
#: Where the winner of a redrawn test set is looked for.
POPULATION = "population"


def cross_domain(
    study: NaturalStudy, part: CrossDomain, test_sets: Sequence[TestSet], context: RunContext
) -> pd.DataFrame:
    """What `simstudy.calibration` says for every home; the column ``homes`` names them together."""
    homes = [(study.comparison.on(home, study.seed), elsewhere) for home, elsewhere in homes_of(part, test_sets)]
    compared = run_comparisons("homes", [home for home, _ in homes], context)
    options: dict[str, Any] = {"bins": part.bins, "min_pairs": part.min_pairs}
    tables = []
    for pairs, (home, elsewhere) in zip(compared, homes, strict=True):
        found = calibration(pairs.assign(relation=ALL_PAIRS), elsewhere, seed=study.seed, **options)
        sizes = {name: other.n_items for name, other in elsewhere.items()}
        halved = baseline(home, sizes, n_splits=part.n_splits, context=context, relation=ALL_PAIRS, **options)
        tables.append(with_baseline(found, halved))
    if part.n_draws and part.domains_of:
        (population,) = _of_metric(part, test_sets)
        size = int(np.median([n_units(home) for home, _ in homes]))
        redrawn = compare_redrawn(study.comparison.on(population, study.seed), size, part.n_draws, context)
        redrawn = redrawn.assign(relation=ALL_PAIRS, test_set=f"redrawn from {population.test_set}")
        tables.append(calibration(redrawn, {POPULATION: population}, population=True, seed=study.seed, **options))
    return pd.concat(tables, ignore_index=True).assign(homes=part.domains_of or ", ".join(part.among))


def homes_of(part: CrossDomain, test_sets: Sequence[TestSet]) -> list[tuple[Outputs, dict[str, Outputs]]]:
    """Each home, and by name the test sets elsewhere; a StudyError where there are not two homes, or two systems."""
    outputs = _of_metric(part, test_sets)
    return _test_sets(outputs) if part.among else _domains(part, outputs[0])


def _of_metric(part: CrossDomain, test_sets: Sequence[TestSet]) -> list[Outputs]:
    """The test sets by one metric, the first that all have: the definition makes sure that there is one."""
    names = part.among or [str(part.domains_of)]
    known = {(one.name, one.metric): one.outputs for one in test_sets}
    shared = (m for name, m in known if name == names[0] and all((other, m) in known for other in names))
    metric = part.metric or next(shared)
    return [known[name, metric] for name in names]


def _test_sets(outputs: Sequence[Outputs]) -> list[tuple[Outputs, dict[str, Outputs]]]:
    """Each test set, with the systems that all have, and the others."""
    common = [name for name in outputs[0].names if all(name in other.names for other in outputs)]
    if len(common) < 2:
        raise StudyError(f"fewer than 2 systems are in all of {', '.join(one.test_set for one in outputs)}")
    homes = [one.select(common) for one in outputs]
    return [(home, {other.test_set: other for other in homes if other is not home}) for home in homes]


def _domains(part: CrossDomain, whole: Outputs) -> list[tuple[Outputs, dict[str, Outputs]]]:
    """Each domain of enough items, and all items of the other domains."""
    label = whole.labels("domain")
    homes = [
        (replace(domain, test_set=f"{part.domains_of} / {name}"), {OTHERS: whole.take(np.flatnonzero(label != name))})
        for name, domain in whole.by_domain().items()
        if domain.n_items >= part.least_items
    ]
    if len(homes) < 2:
        raise StudyError(f"'{part.domains_of}' has not two domains of {part.least_items} items")
    return homes
