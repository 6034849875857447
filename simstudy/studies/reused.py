"""Studies that are made of other studies: their tables, from results or from a run, and their outputs."""

from __future__ import annotations

import json
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from simstudy.comparisons.duplicates import distinct
from simstudy.outputs import TestSet
from simstudy.running.folders import MANIFEST, verify
from simstudy.running.progress import doing
from simstudy.studies.catalogue import load_study, make_study
from simstudy.studies.context import RunContext, ShippedTables, Unfinished
from simstudy.studies.definition import StudyError
from simstudy.studies.natural.definition import NaturalStudy
from simstudy.studies.natural.sources import n_test_sets, read_all
from simstudy.studies.run import run_study, study_cells


def tables_of(study: str, context: RunContext) -> ShippedTables:
    """Tables of a study by name, from the folder of that name beside the results of the study that asks.

    Results that are there are taken where all files are as a run wrote them and the settings are the study's; whether
    the program was another one is not looked at. Otherwise the study runs, or what is left of it, and writes there.
    """
    folder = _folder(study, context)
    if not _is_whole(folder, study):
        where: dict[str, Any] = {"out": folder, "data_dir": context.data_dir, "allow_outside": context.allow_outside}
        if context.listed is not None:
            context.listed.append(study_cells(study, **where))
            raise Unfinished(study)
        run_study(study, n_jobs=context.n_jobs, executor=context.executor, **where)
    return ShippedTables.of(folder)


def hashes_of(study: str, context: RunContext) -> dict[str, str]:
    """SHA-256 of the files that `tables_of` has read, by name, for a manifest."""
    written = json.loads((_folder(study, context) / MANIFEST).read_text(encoding="utf-8"))["files"]
    return {name: value for name, value in written.items() if name.endswith(".csv")}


def outputs_of(
    study: str, context: RunContext, *, test_sets: Collection[str], metrics: Collection[str]
) -> tuple[dict[tuple[str, str], TestSet], dict[str, str]]:
    """The test sets of a study of natural comparisons, as it reads them, and the SHA-256 of every file that was read.

    Of near-duplicates one is kept, unless the study keeps them.

    Parameters
    ----------
    study
        Its shipped name.
    context
        Where the data are.
    test_sets, metrics
        Names of those that are wanted, by their names in the study; only these are read.

    Returns
    -------
    test_sets
        Name and metric -> the test set, with the columns of the systems table that tell how systems are related.
    hashes
        Of files, by name.

    Raises
    ------
    StudyError
        For a study of another kind, and for a test set or a metric that it does not have.
    """
    asked = load_study(study)
    if not isinstance(asked, NaturalStudy):
        raise StudyError(f"study must be one of natural comparisons, and '{study}' is not")
    wanted = []
    for part in asked.test_sets:
        each = [value for value in part.each if part.name.replace("{}", value) in test_sets]
        written = [metric for metric in part.written if metric in metrics]
        if each and written:
            wanted.append(part.model_copy(update={"each": each, "metric": written}))
    there = {name for part in wanted for name in part.names}
    if unknown := [name for name in test_sets if name not in there]:
        raise StudyError(f"study '{study}' has no test set '{unknown[0]}' with a metric among {', '.join(metrics)}")
    with doing(f"reading outputs of {study}", n_test_sets(wanted)) as advance:
        found, hashes = read_all(
            study, wanted, context.data_dir, advance, allow_outside=context.allow_outside, duplicates=asked.duplicates
        )
    kept = [replace(one, outputs=distinct(one.outputs, one.duplicates)[0]) for one in found]
    return {(one.name, one.metric): one for one in kept}, hashes


def _folder(study: str, context: RunContext) -> Path:
    # Whole, since the results may be written to the working directory itself.
    return context.cells.resolve().parent.parent / study


def _is_whole(folder: Path, study: str) -> bool:
    manifest = folder / MANIFEST
    if not manifest.is_file() or verify(folder, cells=False):
        return False
    asked = load_study(study)
    written = json.loads(manifest.read_text(encoding="utf-8"))
    try:
        # A key that is newer than the results has its default there.
        made = make_study(written["study"], study, type(asked))
    except StudyError:
        return False
    return made.model_dump(mode="json") == asked.model_dump(mode="json")
