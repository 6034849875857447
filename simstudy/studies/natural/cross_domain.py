"""Does the winner here win elsewhere? Test sets and domains as one another's home (Berg-Kirkpatrick 2012, Table 1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from simstudy.analyses.calibration import calibration, with_baseline
from simstudy.analyses.relation_classes import ALL_PAIRS
from simstudy.outputs import Outputs
from simstudy.studies.baselines import baseline, compare_redrawn, n_units
from simstudy.studies.comparing import run_comparisons
from simstudy.studies.definition import StudyError
from simstudy.studies.interface import RunContext
from simstudy.studies.natural.definition import CrossDomain, NaturalStudy

#: Where the winner of one domain is looked for.
OTHERS = "all other domains"
#: Where the winner of a redrawn test set is looked for.
POPULATION = "population"


def cross_domain(
    study: NaturalStudy, part: CrossDomain, outputs: Mapping[tuple[str, str], Outputs], context: RunContext
) -> pd.DataFrame:
    """What `simstudy.calibration` says for every home; the column ``homes`` names them together."""
    homes = homes_of(part, outputs)
    compared = run_comparisons("homes", [(home, study.comparison, study.seed) for home, _ in homes], context)
    options: dict[str, Any] = {"bins": part.bins, "min_pairs": part.min_pairs, "seed": study.seed}
    tables = []
    for pairs, (home, elsewhere) in zip(compared, homes, strict=True):
        found = calibration(pairs.assign(relation=ALL_PAIRS), elsewhere, **options)
        sizes = {name: other.n_items for name, other in elsewhere.items()}
        halved = baseline(
            home, sizes, study.comparison, n_splits=part.n_splits, context=context, relation=ALL_PAIRS, **options
        )
        tables.append(with_baseline(found, halved))
    if part.n_draws and part.domains_of:
        population = outputs[part.domains_of, _metric(part, outputs)]
        size = int(np.median([n_units(home, study.comparison.unit) for home, _ in homes]))
        redrawn = compare_redrawn(population, size, part.n_draws, study.comparison, study.seed, context)
        redrawn = redrawn.assign(relation=ALL_PAIRS, test_set=f"redrawn from {population.test_set}")
        tables.append(calibration(redrawn, {POPULATION: population}, population=True, **options))
    return pd.concat(tables, ignore_index=True).assign(homes=part.domains_of or ", ".join(part.among))


def homes_of(part: CrossDomain, outputs: Mapping[tuple[str, str], Outputs]) -> list[tuple[Outputs, dict[str, Outputs]]]:
    """Each home, and by name the test sets elsewhere; a StudyError where there are not two homes, or two systems."""
    metric = _metric(part, outputs)
    return _test_sets(part, outputs, metric) if part.among else _domains(part, outputs, metric)


def _metric(part: CrossDomain, outputs: Mapping[tuple[str, str], Outputs]) -> str:
    """The first that all test sets have: the definition makes sure that there is one."""
    first, *others = part.among or [str(part.domains_of)]
    return part.metric or next(m for name, m in outputs if name == first and all((o, m) in outputs for o in others))


def _test_sets(
    part: CrossDomain, outputs: Mapping[tuple[str, str], Outputs], metric: str
) -> list[tuple[Outputs, dict[str, Outputs]]]:
    """Each test set, with the systems that all have, and the others."""
    names = outputs[part.among[0], metric].names
    common = [name for name in names if all(name in outputs[other, metric].names for other in part.among)]
    if len(common) < 2:
        raise StudyError(f"fewer than 2 systems are in all of {', '.join(part.among)}")
    sets = {name: outputs[name, metric].select(common) for name in part.among}
    return [(home, {other: sets[other] for other in sets if other != name}) for name, home in sets.items()]


def _domains(
    part: CrossDomain, outputs: Mapping[tuple[str, str], Outputs], metric: str
) -> list[tuple[Outputs, dict[str, Outputs]]]:
    """Each domain of enough items, and all items of the other domains."""
    assert part.domains_of
    whole = outputs[part.domains_of, metric]
    label = whole.labels("domain")
    homes = [
        (replace(domain, test_set=f"{part.domains_of} / {name}"), {OTHERS: whole.take(np.flatnonzero(label != name))})
        for name, domain in whole.by_domain().items()
        if domain.n_items >= part.least_items
    ]
    if len(homes) < 2:
        raise StudyError(f"'{part.domains_of}' has not two domains of {part.least_items} items")
    return homes
