"""Systems with different samples of an item: the item's score is the mean of those that each system has."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd

from simstudy.loaders.base import Source, SystemOutputs
from simstudy.loaders.tables import takes_one_score
from simstudy.metrics.base import FloatArray, IntArray
from simstudy.notes import note
from simstudy.outputs.samples import SAMPLE_OF, folded, question_table


def are_unlike(systems: Sequence[SystemOutputs], items: pd.DataFrame, source: Source) -> bool:
    """Whether systems lack samples of others, in a way that means of samples can bridge.

    Samples that are dropped, or scored as no answer, stay samples. A sample that no system has a score of is missing.
    """
    if SAMPLE_OF not in items or source.missing != "error" or not takes_one_score(source.metric):
        return False
    wanted = set(items["id"])
    if all(len(system.ids) == len(wanted) for system in systems):
        return False
    if wanted != {name for system in systems for name in system.ids}:
        return False
    return all((system.statistics[:, 1] == 1).all() and system.samples is None for system in systems)


def as_means(systems: Sequence[SystemOutputs], items: pd.DataFrame) -> tuple[list[SystemOutputs], pd.DataFrame]:
    """The systems with one score for each of their items, and the table of these items. A note says so."""
    table, codes = question_table(items, SAMPLE_OF)
    place = pd.Series(codes, index=items["id"])
    found = [_folded(system, place.loc[list(system.ids)].to_numpy(), table["id"].tolist()) for system in systems]
    numbers = np.concatenate([system.samples[:, 0] for system in found if system.samples is not None])
    note(
        f"systems have different samples of an item, {numbers.min():.0f} to {numbers.max():.0f} each: the score of an "
        "item is the mean of its samples; missing='zero' scores a sample that a system lacks as no answer"
    )
    return found, table


def _folded(system: SystemOutputs, codes: IntArray, names: Sequence[str]) -> SystemOutputs:
    own, within = np.unique(codes, return_inverse=True)
    scores: FloatArray = system.statistics[None, :, 0].astype(np.float64)
    mean, samples = folded(scores, within)
    statistics = np.stack([mean[0], np.ones_like(mean[0])], axis=-1)
    ids = [names[code] for code in own]
    return replace(system, ids=ids, statistics=statistics, answers=None, samples=samples[0])
