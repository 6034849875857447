"""Studies that are made of other studies: tables from results that are there, or from a run."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd

from simstudy.results_folder import MANIFEST, verify
from simstudy.studies.catalogue import load_study, make_study
from simstudy.studies.interface import RunContext
from simstudy.studies.run import run_study


def tables_of(study: str, context: RunContext) -> dict[str, pd.DataFrame]:
    """Tables of a study by name, from the folder of that name beside the results of the study that asks.

    Results that are there are taken where all files are as a run wrote them and the settings are the study's; whether
    the program was another one is not looked at. Otherwise the study runs, or what is left of it, and writes there.
    """
    folder = _folder(study, context)
    if not _is_whole(folder, study):
        run_study(
            study, out=folder, n_jobs=context.n_jobs, data_dir=context.data_dir, allow_outside=context.allow_outside
        )
    return {path.stem: pd.read_csv(path) for path in sorted(folder.glob("*.csv"))}


def hashes_of(study: str, context: RunContext) -> dict[str, str]:
    """SHA-256 of the files that `tables_of` has read, by name, for a manifest."""
    written = json.loads((_folder(study, context) / MANIFEST).read_text(encoding="utf-8"))["files"]
    return {name: value for name, value in written.items() if name.endswith(".csv")}


def _folder(study: str, context: RunContext) -> Path:
    return context.cells.parent.parent / study


def _is_whole(folder: Path, study: str) -> bool:
    manifest = folder / MANIFEST
    if not manifest.is_file() or [problem for problem in verify(folder) if not problem.startswith("cells/")]:
        return False
    asked = load_study(study)
    written = json.loads(manifest.read_text(encoding="utf-8"))
    try:
        # A key that is newer than the results has its default there.
        made = make_study(written["study"], study, type(asked))
    except ValueError:
        return False
    return made.model_dump(mode="json") == asked.model_dump(mode="json")
